//===- Access.cpp - What the threads of a block access --------------------===//

#include "Block.h"

#include "Cluster.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace nm;
using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string hex(const void *address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

static const char *verb(const NmSimSite &site) {
  switch (site.kind) {
  case NM_SIM_LOAD:
    return "reads ";
  case NM_SIM_STORE:
    return "writes ";
  case NM_SIM_ATOMIC:
    return "updates ";
  case NM_SIM_COPY:
    return "copies ";
  case NM_SIM_OTHER:
    break;
  }
  return "accesses ";
}

static FaultClass classify(Conflict conflict) {
  switch (conflict) {
  case Conflict::Uninitialized:
    return FaultClass::UninitializedShared;
  case Conflict::Pending:
    return FaultClass::EarlyAsyncRead;
  case Conflict::Unfenced:
    return FaultClass::UnfencedProxy;
  default:
    return FaultClass::SharedRace;
  }
}

/// What the other thread of a race did.
static const char *describeOther(Conflict conflict) {
  switch (conflict) {
  case Conflict::Pending:
    return "has an asynchronous copy in flight to there, which nobody waited "
           "for";
  case Conflict::PendingOverwritten:
    return "has an asynchronous copy in flight to there";
  case Conflict::WriteAfterRead:
    return "reads";
  case Conflict::Unfenced:
    return "wrote through the generic proxy";
  default:
    return "writes";
  }
}

/// What is missing between them.
static const char *endOf(Conflict conflict) {
  switch (conflict) {
  case Conflict::Pending:
    return "";
  case Conflict::Unfenced:
    return ", with no fence.proxy.async between";
  default:
    return ", in no order";
  }
}

/// What `thread` does to this block's memory.
std::string Block::describeShared(const NmSimThread &thread, int32_t site,
                                  size_t offset) const {
  const NmSimSite &info = launch.kernel.sites[site];
  // How many bytes a bulk copy has, its operand says.
  std::string text =
      verb(info) +
      (info.bytes ? std::to_string(info.bytes) + " bytes at byte " : "byte ") +
      std::to_string(int64_t(offset)) +
      (info.bytes ? "" : " and those after it") + " of shared memory";
  if (thread.block != this)
    text += " of block " + std::to_string(rank) + " of its cluster";
  return text;
}

/// Who has made an access, as the shadow numbers them.
std::string Block::describeThread(uint32_t thread) const {
  if (thread >= Order::getCopier(0)) {
    auto copier = int32_t((thread - Order::getCopier(0)) / kWarp);
    auto found = std::find_if(
        threads.begin(), threads.end(),
        [&](const NmSimThread &other) { return other.bulk.copier == copier; });
    return "a copy of thread " + std::to_string(found - threads.begin()) +
           " of " + std::to_string(numThreads) +
           " out of shared memory, which nobody waited for,";
  }
  if (thread >= Order::getTensorCores(0))
    return "a product of warpgroup " +
           std::to_string((thread - Order::getTensorCores(0)) / kWarp) +
           ", which nobody waited for,";
  if (int block = order.getRank(thread); block >= 0)
    return "a thread of block " + std::to_string(block) + " of the cluster";
  return "thread " + std::to_string(thread) + " of " +
         std::to_string(numThreads);
}

void Block::reportShared(const NmSimThread &thread, int32_t site, size_t offset,
                         const SharedConflict &conflict) {
  std::string what = describeShared(thread, site, offset);
  if (conflict.kind != Conflict::Uninitialized) {
    what += ", where " + describeThread(conflict.thread) + " ";
    what += describeOther(conflict.kind) +
            (" (" + describe(launch.kernel, conflict.site)) + ")" +
            endOf(conflict.kind);
  }
  report(thread, classify(conflict.kind), site, what);
}

std::string Block::describeGlobal(int32_t site, const char *address,
                                  const GlobalConflict &conflict) const {
  const NmSimSite &info = launch.kernel.sites[site];
  return verb(info) + std::to_string(info.bytes) + " bytes at " + hex(address) +
         ", " + launch.global.describe(address) + ", where thread " +
         std::to_string(conflict.thread) + " of block " +
         std::to_string(conflict.block) + " " + describeOther(conflict.kind) +
         ", in no order";
}

void Block::reportGlobal(const NmSimThread &thread, int32_t site,
                         const char *address, const GlobalConflict &conflict) {
  report(thread, FaultClass::GlobalRace, site,
         describeGlobal(site, address, conflict));
}

void Block::settleStore(NmSimThread &thread) {
  EqualStore &store = thread.equal;
  if (!store.address)
    return;
  std::copy_n(thread.scratch, store.bytes, store.value.begin());
  launch.equalStores.add(std::exchange(store, {}));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Logs the accesses that the hardware makes of one.
void Block::log(NmSimThread &thread, int32_t site, bool isShared,
                uint64_t address) {
  const NmSimSite &info = launch.kernel.sites[site];
  int width = std::min(std::min(info.bytes, std::max(info.alignment, 1)), 16);
  for (int at = 0; at < info.bytes; at += width)
    logs[thread.warp()].add(int(thread.lane()), uint32_t(site), isShared,
                            address + uint64_t(at));
}

bool Block::noteRemote(NmSimThread &thread, int32_t site, size_t offset) {
  uint32_t other = thread.block->rank;
  remote[other] = {&thread, site, offset,
                   order.now(order.getRemoteThread(other))};
  if (!isDone())
    return true;
  report(thread, FaultClass::EndedBlock, site,
         describeShared(thread, site, offset));
  return false;
}

void *Block::accessShared(NmSimThread &thread, int32_t site,
                          const NmSimSite &info, char *address) {
  size_t offset = size_t(uintptr_t(address) - uintptr_t(shared));
  if (offset >= sharedBytes || size_t(info.bytes) > sharedBytes - offset) {
    report(thread, FaultClass::SharedBounds, site,
           describeShared(thread, site, offset) + ", which has " +
               std::to_string(sharedBytes));
    return thread.scratch;
  }
  if (info.alignment > 1 && offset % size_t(info.alignment) != 0)
    report(thread, FaultClass::Misaligned, site,
           describeShared(thread, site, offset) + ", which is no multiple of " +
               std::to_string(info.alignment));
  bool isRemote = thread.block != this;
  if (isRemote && !noteRemote(thread, site, offset))
    return thread.scratch;
  uint32_t number =
      isRemote ? order.getRemoteThread(thread.block->rank) : thread.index;
  SharedConflict conflict;
  if (info.kind == NM_SIM_LOAD)
    conflict = shadow.read(order, number, site, offset, info.bytes);
  else
    conflict = shadow.write(order, number, site, offset, info.bytes,
                            info.kind == NM_SIM_ATOMIC);
  if (conflict.kind != Conflict::None)
    reportShared(thread, site, offset, conflict);
  // The same bytes of two blocks are not the same word.
  thread.block->log(thread, site, /*isShared=*/true,
                    uint64_t(rank) * kSharedStride + offset);
  return address;
}

/// Whether what is wrong with a store is that another thread stores there.
static bool mayBeEqual(const NmSimSite &info, const GlobalConflict &conflict) {
  return info.kind == NM_SIM_STORE && info.bytes <= EqualStore::kMaxBytes &&
         conflict.kind == Conflict::WriteAfterWrite;
}

void *Block::accessGlobal(NmSimThread &thread, int32_t site,
                          const NmSimSite &info, char *address) {
  std::optional<size_t> extent = launch.global.find(address, info.bytes);
  if (!extent) {
    report(thread, FaultClass::GlobalBounds, site,
           verb(info) + std::to_string(info.bytes) + " bytes at " +
               hex(address) + ", " + launch.global.describe(address));
    return thread.scratch;
  }
  uint64_t offset = launch.global.getOffset(*extent, address);
  if (info.alignment > 1 && offset % size_t(info.alignment) != 0)
    report(thread, FaultClass::Misaligned, site,
           verb(info) + std::to_string(info.bytes) + " bytes at " +
               hex(address) + ", which is no multiple of " +
               std::to_string(info.alignment) + "; " +
               launch.global.describe(address));
  GlobalConflict conflict;
  if (info.kind == NM_SIM_ATOMIC)
    launch.global.synchronize(blockOrder, address);
  if (info.kind == NM_SIM_LOAD || info.kind == NM_SIM_COPY)
    conflict = launch.global.read(*extent, blockOrder, thread.index, address,
                                  info.bytes);
  else
    conflict = launch.global.write(*extent, blockOrder, thread.index, address,
                                   info.bytes, info.kind == NM_SIM_ATOMIC);
  log(thread, site, /*isShared=*/false, offset);
  if (mayBeEqual(info, conflict)) {
    thread.equal = {address,        {},
                    info.bytes,     site,
                    conflict.bytes, id,
                    thread.id,      describeGlobal(site, address, conflict)};
    return thread.scratch;
  }
  if (conflict.kind != Conflict::None)
    reportGlobal(thread, site, address, conflict);
  return address;
}

void *Block::access(NmSimThread &thread, int32_t site, char *address) {
  settleStore(thread);
  step(thread, site);
  const NmSimSite &info = launch.kernel.sites[site];
  if (info.space == NM_SIM_SHARED)
    return accessShared(thread, site, info, address);
  Block *owner = cluster.find(address);
  if (owner && info.space != NM_SIM_GLOBAL)
    return owner->accessShared(thread, site, info, address);
  if (info.space == NM_SIM_SHARED_CLUSTER) {
    report(thread, FaultClass::SharedBounds, site,
           verb(info) + std::to_string(info.bytes) + " bytes at " +
               hex(address) +
               ", which is in the shared memory of no block of its cluster");
    return thread.scratch;
  }
  if (info.space == NM_SIM_GENERIC && isOnStack(thread, address))
    return address;
  return accessGlobal(thread, site, info, address);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Block::fenceProxies(NmSimThread &thread) {
  shadow.fenceProxies(order, thread.index);
}

void Block::startCopy(NmSimThread &thread, int32_t site, char *to,
                      const char *from, int32_t bytes) {
  step(thread, site);
  const NmSimSite &info = launch.kernel.sites[site];
  size_t offset = size_t(uintptr_t(to) - uintptr_t(shared));
  if (bytes < 0 || bytes > info.bytes)
    return report(thread, FaultClass::BadOperand, site,
                  "expected to copy 0 to " + std::to_string(info.bytes) +
                      " bytes, but got " + std::to_string(bytes));
  if (offset >= sharedBytes || size_t(info.bytes) > sharedBytes - offset)
    return report(thread, FaultClass::SharedBounds, site,
                  "copies " + std::to_string(info.bytes) + " bytes to byte " +
                      std::to_string(int64_t(offset)) +
                      " of shared memory, which has " +
                      std::to_string(sharedBytes));
  uint64_t source = WarpLog::kNowhere;
  bool isAligned = offset % size_t(info.bytes) == 0;
  // A copy of no bytes fills with zeros and reads nothing.
  if (bytes > 0) {
    std::optional<size_t> extent = launch.global.find(from, size_t(bytes));
    if (!extent)
      return report(thread, FaultClass::GlobalBounds, site,
                    "copies " + std::to_string(bytes) + " bytes from " +
                        hex(from) + ", " + launch.global.describe(from));
    GlobalConflict conflict = launch.global.read(
        *extent, blockOrder, thread.index, from, size_t(bytes));
    if (conflict.kind != Conflict::None)
      reportGlobal(thread, site, from, conflict);
    source = launch.global.getOffset(*extent, from);
    isAligned &= source % uint64_t(info.bytes) == 0;
  }
  if (!isAligned)
    report(thread, FaultClass::Misaligned, site,
           "copies " + std::to_string(info.bytes) + " bytes from " + hex(from) +
               ", " + launch.global.describe(from) + ", to byte " +
               std::to_string(offset) +
               " of shared memory, where both must be multiples of " +
               std::to_string(info.bytes));
  SharedConflict conflict =
      shadow.startCopy(order, thread.index, site, offset, size_t(info.bytes));
  if (conflict.kind != Conflict::None)
    reportShared(thread, site, offset, conflict);
  logs[thread.warp()].addCopy(int(thread.lane()), uint32_t(site), offset,
                              source);
  thread.uncommitted.push_back({to, from, bytes, site});
}

void Block::checkPrefetch(NmSimThread &thread, int32_t site, const char *from,
                          int32_t bytes) {
  constexpr int32_t kUnit = 16;
  step(thread, site);
  if (bytes < 0 || bytes % kUnit != 0)
    return report(thread, FaultClass::BadOperand, site,
                  "expected to prefetch a multiple of " +
                      std::to_string(kUnit) + " bytes, but got " +
                      std::to_string(bytes));
  std::string what =
      "prefetches " + std::to_string(bytes) + " bytes at " + hex(from) + ", ";
  std::optional<size_t> extent =
      launch.global.find(from, size_t(std::max(bytes, 1)));
  if (!extent)
    return report(thread, FaultClass::GlobalBounds, site,
                  what + launch.global.describe(from));
  if (launch.global.getOffset(*extent, from) % kUnit != 0)
    report(thread, FaultClass::Misaligned, site,
           what + "which is no multiple of " + std::to_string(kUnit) + "; " +
               launch.global.describe(from));
}

void Block::land(NmSimThread &thread, const std::vector<PendingCopy> &copies) {
  for (const PendingCopy &copy : copies)
    land({copy, order.now(thread.index), launch.kernel.sites[copy.site].bytes,
          SharedShadow::Write::Generic});
}

void Block::commitCopies(NmSimThread &thread) {
  // A group may be empty: waits count it all the same.
  thread.groups.push_back(std::move(thread.uncommitted));
  thread.uncommitted.clear();
  ++counts.copyGroups;
}

void Block::waitForCopies(NmSimThread &thread, size_t pending) {
  while (thread.groups.size() > pending) {
    land(thread, thread.groups.front());
    thread.groups.pop_front();
  }
}

void Block::waitForAllCopies(NmSimThread &thread) {
  waitForCopies(thread, 0);
  land(thread, thread.uncommitted);
  thread.uncommitted.clear();
}
