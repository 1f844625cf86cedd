//===- GlobalMemory.cpp - What a launch may access ------------------------===//

#include "GlobalMemory.h"

#include <algorithm>

#include <sys/mman.h>

using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

namespace {
/// Who accessed which bytes of a word, in 64 bits; zero is nobody. Of large
/// grids and long kernels it keeps the low bits of the block and the clock.
struct Mark {
  static constexpr int64_t kBlocks = (int64_t(1) << 25) - 1;
  static constexpr uint32_t kClocks = (1u << 22) - 1;

  explicit Mark(uint64_t bits) : bits(bits) {}
  Mark(const BlockOrder &block, uint32_t thread, uint32_t mask, bool flag)
      : bits(uint64_t(block.index % kBlocks + 1) << 39 |
             uint64_t(block.order->now(thread).clock() & kClocks) << 17 |
             uint64_t(thread & 1023) << 7 | uint64_t(mask) << 3 |
             uint64_t(flag) << 1) {}

  explicit operator bool() const { return bits != 0; }
  int64_t block() const { return int64_t(bits >> 39) - 1; }
  uint32_t thread() const { return bits >> 7 & 1023; }
  Stamp stamp() const { return Stamp(thread(), bits >> 17 & kClocks); }
  uint32_t mask() const { return bits >> 3 & 15; }
  bool flag() const { return bits >> 1 & 1; }

  /// Whether what it marks comes before what the thread does now.
  bool isBefore(const BlockOrder &other, uint32_t thread) const {
    if (block() == other.index % kBlocks)
      return other.order->isBefore(stamp(), thread);
    for (const BlockOrder::Peer &peer : other.peers)
      if (block() == peer.index % kBlocks &&
          peer.order->isBeforeMeeting(stamp()))
        return true;
    return !other.before.empty() && other.before[block()];
  }

  uint64_t bits;
};
} // namespace

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

static void *mapZeros(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

GlobalMemory::GlobalMemory(const NmSimLaunch &launch)
    : numBlocks(launch.grid[0] * launch.grid[1] * launch.grid[2]) {
  for (int64_t i = 0; i < launch.numExtents; ++i) {
    const NmSimExtent &extent = launch.extents[i];
    if (extent.bytes <= 0)
      continue;
    // One shadow for arguments that are the same memory.
    auto same = std::find_if(extents.begin(), extents.end(),
                             [&](Extent &e) { return e.base == extent.base; });
    if (same != extents.end() && int64_t(same->bytes) >= extent.bytes)
      continue;
    // Counted from the word that the first byte is in.
    size_t words = (size_t(extent.bytes) + 3) / 4 + 1;
    extents.push_back({extent.base, extent.buffer, size_t(extent.bytes), i,
                       static_cast<Word *>(mapZeros(words * sizeof(Word)))});
  }
}

GlobalMemory::~GlobalMemory() {
  for (Extent &extent : extents)
    if (extent.words)
      munmap(extent.words, ((extent.bytes + 3) / 4 + 1) * sizeof(Word));
}

bool GlobalMemory::isWatched() const {
  return std::all_of(extents.begin(), extents.end(),
                     [](const Extent &extent) { return extent.words; });
}

std::optional<size_t> GlobalMemory::find(const char *address,
                                         size_t bytes) const {
  for (size_t i = 0; i < extents.size(); ++i) {
    auto offset = uintptr_t(address) - uintptr_t(extents[i].base);
    if (offset < extents[i].bytes && bytes <= extents[i].bytes - offset)
      return i;
  }
  return std::nullopt;
}

std::string GlobalMemory::describe(const char *address) const {
  const Extent *nearest = nullptr;
  auto distance = [&](const Extent &extent) -> uintptr_t {
    if (address < extent.base)
      return uintptr_t(extent.base) - uintptr_t(address);
    uintptr_t offset = uintptr_t(address) - uintptr_t(extent.base);
    return offset < extent.bytes ? 0 : offset - extent.bytes;
  };
  for (const Extent &extent : extents)
    if (!nearest || distance(extent) < distance(*nearest))
      nearest = &extent;
  if (!nearest)
    return "the kernel has no memory as an argument";
  int64_t offset = int64_t(uintptr_t(address) - uintptr_t(nearest->base));
  return "byte " + std::to_string(offset) + " of memref argument " +
         std::to_string(nearest->argument) + ", which has " +
         std::to_string(nearest->bytes);
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

template <typename Visit>
GlobalConflict GlobalMemory::forEachWord(size_t index, const char *address,
                                         size_t bytes, Visit visit) {
  GlobalConflict found;
  Extent &extent = extents[index];
  // Words are those of the address space, whatever the extent starts at.
  uintptr_t first = uintptr_t(extent.base) / 4;
  for (uintptr_t at = uintptr_t(address), end = at + bytes; at < end;) {
    uintptr_t next = std::min(end, at / 4 * 4 + 4);
    uint32_t mask = ((1u << (next - at)) - 1) << at % 4;
    GlobalConflict conflict = visit(extent.words[at / 4 - first], mask);
    if (found.kind == Conflict::None)
      found = conflict;
    uint64_t ofWord = ((uint64_t(1) << (next - at)) - 1)
                      << (at - uintptr_t(address)) % 32;
    if (conflict.kind != Conflict::None)
      found.bytes |= uint32_t(ofWord);
    at = next;
  }
  return found;
}

GlobalConflict GlobalMemory::readWord(Word &word, const BlockOrder &block,
                                      uint32_t thread, uint32_t mask) {
  GlobalConflict found;
  Mark writer(word.writer.load(std::memory_order_relaxed));
  if (writer && (writer.mask() & mask) && !writer.isBefore(block, thread))
    found = {Conflict::ReadAfterWrite, writer.block(), writer.thread()};
  Mark reader(word.reader.load(std::memory_order_relaxed));
  // The flag says that several blocks have read.
  bool several = reader && (reader.flag() ||
                            reader.block() != block.index % Mark::kBlocks);
  Mark now(block, thread, mask, several);
  if (now.bits != reader.bits)
    word.reader.store(now.bits, std::memory_order_relaxed);
  return found;
}

GlobalConflict GlobalMemory::writeWord(Word &word, const BlockOrder &block,
                                       uint32_t thread, uint32_t mask,
                                       bool atomic) {
  GlobalConflict found;
  Mark now(block, thread, mask, atomic);
  Mark writer(word.writer.exchange(now.bits, std::memory_order_relaxed));
  Mark reader(word.reader.load(std::memory_order_relaxed));
  if (writer && (writer.mask() & mask) && !(atomic && writer.flag()) &&
      !writer.isBefore(block, thread))
    found = {Conflict::WriteAfterWrite, writer.block(), writer.thread()};
  else if (reader && (reader.mask() & mask) && !reader.isBefore(block, thread))
    found = {Conflict::WriteAfterRead, reader.block(), reader.thread()};
  return found;
}

GlobalConflict GlobalMemory::read(size_t extent, const BlockOrder &block,
                                  uint32_t thread, const char *address,
                                  size_t bytes) {
  return forEachWord(extent, address, bytes, [&](Word &word, uint32_t mask) {
    return readWord(word, block, thread, mask);
  });
}

GlobalConflict GlobalMemory::write(size_t extent, const BlockOrder &block,
                                   uint32_t thread, const char *address,
                                   size_t bytes, bool atomic) {
  return forEachWord(extent, address, bytes, [&](Word &word, uint32_t mask) {
    return writeWord(word, block, thread, mask, atomic);
  });
}

void GlobalMemory::synchronize(BlockOrder &block, const char *address) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<bool> &users = atomics[address];
  users.resize(size_t(numBlocks));
  block.before.resize(size_t(numBlocks));
  for (int64_t i = 0; i < numBlocks; ++i)
    if (users[i])
      block.before[i] = true;
  users[block.index] = true;
  // What they did before the cluster's last barrier.
  for (const BlockOrder::Peer &peer : block.peers)
    if (peer.order->hasMet())
      users[peer.index] = true;
}
