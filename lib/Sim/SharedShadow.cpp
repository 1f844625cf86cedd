//===- SharedShadow.cpp - Who wrote and read shared memory ----------------===//

#include "SharedShadow.h"

#include <algorithm>

using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Order::reset(int numWarps, int blocks) {
  warps = numWarps;
  count = blocks > 1 ? numWarps + blocks : numWarps;
  clocks.fill(1);
  arrived.fill(0);
  met.fill(0);
  for (auto &row : known)
    row.fill(0);
}

void Order::join(uint32_t mask) {
  Clocks all{};
  for (int w = 0; w < warps; ++w)
    if (mask >> w & 1) {
      known[w][w] = clocks[w];
      raise(all, known[w]);
    }
  for (int w = 0; w < warps; ++w)
    if (mask >> w & 1) {
      known[w] = all;
      ++clocks[w];
    }
}

void Order::raise(Clocks &clocks, const Clocks &others) {
  for (size_t v = 0; v < clocks.size(); ++v)
    clocks[v] = std::max(clocks[v], others[v]);
}

void Order::release(uint32_t warp, Clocks &others) {
  known[warp][warp] = clocks[warp]++;
  raise(others, known[warp]);
}

/// What it does from here on until it waits is not before the barrier.
void Order::arrive(uint32_t warp) {
  known[warp][warp] = clocks[warp]++;
  raise(arrived, known[warp]);
}

void Order::wait(uint32_t warp) { raise(known[warp], met); }

void Order::meet() {
  for (int w = warps; w < count; ++w)
    arrive(uint32_t(w));
  met = arrived;
  for (int w = warps; w < count; ++w)
    wait(uint32_t(w));
}

void Order::fenceProxies(uint32_t warp) {
  Clocks &own = known[warp];
  for (size_t v = 0; v < kMaxClocks; ++v)
    own[kMaxClocks + v] = std::max(own[kMaxClocks + v], own[v]);
}

void Order::startProduct(uint32_t warpgroup, uint32_t group) {
  uint32_t cores = getTensorCores(warpgroup) / kWarp;
  uint32_t first = warpgroup * kWarpgroupWarps;
  Clocks common;
  common.fill(~0u);
  for (uint32_t w = first; w < first + kWarpgroupWarps; ++w)
    for (size_t v = 0; v < common.size(); ++v)
      common[v] = std::min(common[v], known[w][v]);
  known[cores] = common;
  clocks[cores] = group;
}

void Order::finishProducts(uint32_t warp, uint32_t group) {
  uint32_t &last = known[warp][getTensorCores(warp / kWarpgroupWarps) / kWarp];
  last = std::max(last, group);
}

void Order::startCopy(uint32_t copier, uint32_t warp, uint32_t group) {
  known[getCopier(copier) / kWarp] = known[warp];
  clocks[getCopier(copier) / kWarp] = group;
}

void Order::finishCopies(uint32_t warp, uint32_t copier, uint32_t group) {
  uint32_t &last = known[warp][getCopier(copier) / kWarp];
  last = std::max(last, group);
}

bool Order::isBeforeAny(Stamp stamp) const {
  uint32_t other = stamp.thread() / kWarp;
  return std::any_of(
      known.begin(), known.begin() + warps,
      [&](const Clocks &row) { return stamp.clock() <= row[other]; });
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

SharedShadow::SharedShadow(size_t size, uint32_t threads)
    : words((size + 3) / 4), bytes(words.size() * 4), isSplit(words.size()),
      fences(threads) {}

void SharedShadow::reset(size_t size) {
  size_t count = std::min((size + 3) / 4, words.size());
  std::fill_n(words.begin(), count, Cell());
  std::fill_n(isSplit.begin(), count, 0);
  for (std::vector<Stamp> &times : fences)
    times.clear();
}

SharedConflict SharedShadow::readCell(Cell &cell, const Order &order,
                                      uint32_t thread, int32_t site,
                                      uint32_t issuer) {
  SharedConflict found;
  if (cell.copier)
    found = {Conflict::Pending, uint32_t(cell.copier - 1), cell.writerSite};
  else if (!cell.writer)
    found.kind = Conflict::Uninitialized;
  else if (cell.writer.thread() != issuer &&
           !order.isBefore(cell.writer, thread))
    found = {Conflict::ReadAfterWrite, cell.writer.thread(), cell.writerSite};
  // One reader that is not yet ordered before all others, and one more, tell
  // every later writer whether somebody else has read.
  Stamp now = order.now(thread);
  if (cell.reader == now)
    return found;
  if (!cell.reader || order.isBefore(cell.reader, thread)) {
    cell.reader = now;
    cell.readerSite = uint16_t(site);
  } else {
    cell.otherReader = now;
  }
  return found;
}

SharedConflict SharedShadow::writeCell(Cell &cell, const Order &order,
                                       uint32_t thread, int32_t site,
                                       bool atomic) {
  SharedConflict found;
  if (cell.copier)
    found = {Conflict::PendingOverwritten, uint32_t(cell.copier - 1),
             cell.writerSite};
  else if (atomic && !cell.writer)
    // It reads too.
    found.kind = Conflict::Uninitialized;
  else if (cell.writer && !(atomic && cell.atomic) &&
           !order.isBefore(cell.writer, thread))
    found = {Conflict::WriteAfterWrite, cell.writer.thread(), cell.writerSite};
  else if (cell.reader && !order.isBefore(cell.reader, thread))
    found = {Conflict::WriteAfterRead, cell.reader.thread(), cell.readerSite};
  else if (cell.otherReader && !order.isBefore(cell.otherReader, thread))
    found = {Conflict::WriteAfterRead, cell.otherReader.thread(),
             cell.readerSite};
  cell.writer = order.now(thread);
  cell.reader = cell.otherReader = Stamp();
  cell.writerSite = uint16_t(site);
  cell.copier = 0;
  cell.atomic = atomic;
  // Of other blocks' threads it is not known what they fence.
  cell.isGeneric = thread < fences.size();
  cell.fences = countFences(thread);
  return found;
}

void SharedShadow::splitWord(size_t word) {
  std::fill_n(bytes.begin() + word * 4, 4, words[word]);
  isSplit[word] = 1;
}

template <typename Visit>
SharedConflict SharedShadow::forEachCell(size_t offset, size_t size,
                                         Visit visit) {
  SharedConflict found;
  auto keep = [&](SharedConflict conflict) {
    if (found.kind == Conflict::None)
      found = conflict;
  };
  for (size_t at = offset, end = offset + size; at < end;) {
    size_t word = at / 4, next = std::min(end, word * 4 + 4);
    bool isWhole = next - at == 4;
    if (isWhole && !isSplit[word]) {
      keep(visit(words[word]));
    } else {
      if (!isSplit[word])
        splitWord(word);
      for (size_t i = at; i < next; ++i)
        keep(visit(bytes[i]));
    }
    at = next;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

SharedConflict SharedShadow::read(const Order &order, uint32_t thread,
                                  int32_t site, size_t offset, size_t size) {
  return forEachCell(offset, size, [&](Cell &cell) {
    return readCell(cell, order, thread, site);
  });
}

SharedConflict SharedShadow::write(const Order &order, uint32_t thread,
                                   int32_t site, size_t offset, size_t size,
                                   bool atomic) {
  return forEachCell(offset, size, [&](Cell &cell) {
    return writeCell(cell, order, thread, site, atomic);
  });
}

SharedConflict SharedShadow::startCopy(const Order &order, uint32_t thread,
                                       int32_t site, size_t offset,
                                       size_t size) {
  return forEachCell(offset, size, [&](Cell &cell) {
    // Nobody has written there until it lands.
    SharedConflict found = writeCell(cell, order, thread, site, false);
    cell.copier = uint16_t(thread + 1);
    return found;
  });
}

void SharedShadow::landCopy(Stamp writer, int32_t site, size_t offset,
                            size_t size, Write write) {
  (void)forEachCell(offset, size, [&](Cell &cell) {
    cell.copier = 0;
    cell.writer = writer;
    cell.writerSite = uint16_t(site);
    cell.isGeneric = write != Write::Asynchronous;
    cell.fences =
        write == Write::Generic ? countFences(writer.thread()) : kNoFences;
    return SharedConflict();
  });
}

//===----------------------------------------------------------------------===//
// Proxies
//===----------------------------------------------------------------------===//

void SharedShadow::fenceProxies(Order &order, uint32_t thread) {
  order.fenceProxies(thread / kWarp);
  fences[thread].push_back(order.now(thread));
}

/// Either somebody has fenced what came before him, or the writer what it had
/// written itself.
bool SharedShadow::isFenced(const Cell &cell, const Order &order,
                            uint32_t reader, uint32_t issuer) const {
  if (order.isFenced(cell.writer, reader))
    return true;
  uint32_t writer = cell.writer.thread();
  return writer < fences.size() && cell.fences < fences[writer].size() &&
         (writer == issuer ||
          order.isBefore(fences[writer][cell.fences], reader));
}

SharedConflict SharedShadow::readAsync(const Order &order, uint32_t reader,
                                       int32_t site, size_t offset, size_t size,
                                       uint32_t issuer) {
  return forEachCell(offset, size, [&](Cell &cell) {
    SharedConflict found = readCell(cell, order, reader, site, issuer);
    if (found.kind == Conflict::None && cell.isGeneric &&
        !isFenced(cell, order, reader, issuer))
      found = {Conflict::Unfenced, cell.writer.thread(), cell.writerSite};
    return found;
  });
}
