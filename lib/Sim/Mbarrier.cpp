//===- Mbarrier.cpp - Barriers in shared memory ---------------------------===//

#include "Mbarrier.h"

#include "Block.h"
#include "Cluster.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace nm;
using namespace nm::sim;

static constexpr int64_t kMaxCount = (1 << 20) - 1;
static constexpr size_t kObjectBytes = 8;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

bool Block::isMbarrierPlace(NmSimThread &thread, int32_t site,
                            const char *address) {
  size_t offset = size_t(uintptr_t(address) - uintptr_t(shared));
  if (offset + kObjectBytes <= sharedBytes && offset < sharedBytes &&
      offset % kObjectBytes == 0)
    return true;
  report(thread, FaultClass::SharedBounds, site,
         "expected an mbarrier at a multiple of 8 in the block's " +
             std::to_string(sharedBytes) +
             " bytes of shared memory, but got byte " +
             std::to_string(int64_t(offset)));
  return false;
}

void Block::initMbarrier(NmSimThread &thread, int32_t site, char *address,
                         int32_t count) {
  step(thread, site);
  if (!isMbarrierPlace(thread, site, address))
    return;
  if (count < 1 || count > kMaxCount)
    return report(thread, FaultClass::BadOperand, site,
                  "expected a count of 1 to " + std::to_string(kMaxCount) +
                      ", but got " + std::to_string(count));
  Mbarrier barrier;
  barrier.init = order.now(thread.index);
  barrier.count = barrier.pending = count;
  mbarriers[address] = barrier;
}

void Block::invalidateMbarrier(NmSimThread &thread, int32_t site,
                               char *address) {
  if (findMbarrier(thread, site, address))
    mbarriers.erase(address);
}

/// The mbarrier that a thread uses, or null where there is none.
Mbarrier *Block::findMbarrier(NmSimThread &thread, int32_t site,
                              char *address) {
  step(thread, site);
  if (!isMbarrierPlace(thread, site, address))
    return nullptr;
  auto found = mbarriers.find(address);
  std::string place =
      "uses an mbarrier at byte " + std::to_string(address - shared);
  if (found == mbarriers.end()) {
    report(thread, FaultClass::UninitializedShared, site,
           place + ", which nobody has initialized");
    return nullptr;
  }
  Mbarrier &barrier = found->second;
  if (!order.isBefore(barrier.init, numberOf(thread)))
    report(thread, FaultClass::SharedRace, site,
           place + ", which thread " + std::to_string(barrier.init.thread()) +
               " initializes, in no order");
  return &barrier;
}

//===----------------------------------------------------------------------===//
// Arriving
//===----------------------------------------------------------------------===//

int64_t Block::arriveMbarrier(NmSimThread &thread, int32_t site, char *address,
                              int32_t count, int64_t bytes) {
  Block *owner = cluster.find(address);
  if (owner && owner != this && thread.block == this)
    return owner->arriveMbarrier(thread, site, address, count, bytes);
  Mbarrier *barrier = findMbarrier(thread, site, address);
  if (!barrier || !noteIfRemote(thread, site, address))
    return 0;
  finishPhase(*barrier);
  auto phase = int64_t(barrier->phase);
  if (count < 0 || count > barrier->pending) {
    report(thread, FaultClass::BadOperand, site,
           "arrives " + std::to_string(count) +
               " times at an mbarrier that expects " +
               std::to_string(barrier->pending) + " more of " +
               std::to_string(barrier->count) + " in its phase");
    return phase;
  }
  barrier->expectedBytes += bytes;
  barrier->pending -= count;
  // To expect bytes is not to arrive.
  if (count > 0)
    release(thread, *barrier);
  wakeWaiting(*barrier, address);
  return phase;
}

/// What the thread has done comes before the end of the phase.
void Block::release(NmSimThread &thread, Mbarrier &barrier) {
  order.release(numberOf(thread) / kWarp, barrier.arrived);
  if (thread.block != this)
    thread.block->order.release(thread.warp(),
                                barrier.remote[thread.block->rank].arrived);
}

/// What comes before the end of the last phase comes before what the thread
/// does now; also what others have done in their own blocks.
void Block::acquire(NmSimThread &thread, const Mbarrier &barrier) {
  order.acquire(thread.warp(), barrier.passed);
  for (const auto &[other, clocks] : barrier.remote) {
    Order &theirs = cluster.find(cluster.getShared(other))->order;
    theirs.acquire(theirs.getRemoteThread(rank) / kWarp, clocks.passed);
  }
}

bool Block::noteIfRemote(NmSimThread &thread, int32_t site,
                         const char *address) {
  return thread.block == this ||
         noteRemote(thread, site, size_t(address - shared));
}

/// Begins the next phase if this one is over. Done as late as can be, by who
/// waits for its end or arrives next, so that copies are in flight for long.
void Block::finishPhase(Mbarrier &barrier) {
  if (!barrier.isOver())
    return;
  for (const TrackedCopy &tracked : barrier.copies)
    land(tracked);
  barrier.copies.clear();
  barrier.passed = barrier.arrived;
  for (auto &[other, clocks] : barrier.remote)
    clocks.passed = clocks.arrived;
  barrier.expectedBytes = barrier.startedBytes = 0;
  barrier.pending = barrier.count;
  ++barrier.phase;
}

void Block::wakeWaiting(const Mbarrier &barrier, const char *address) {
  if (!barrier.isOver())
    return;
  idleSteps = 0;
  for (NmSimThread &thread : threads)
    if (thread.state == ThreadState::AtMbarrier && thread.mbarrier == address)
      thread.state = ThreadState::Ready;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void Block::waitMbarrier(NmSimThread &thread, int32_t site, char *address,
                         int32_t parity) {
  Mbarrier *barrier = findMbarrier(thread, site, address);
  if (barrier)
    finishPhase(*barrier);
  while (barrier && !barrier->hasPassed(uint32_t(parity) & 1)) {
    thread.state = ThreadState::AtMbarrier;
    thread.site = site;
    thread.mbarrier = address;
    thread.steps = kTurn;
    leave(thread);
    barrier = findMbarrier(thread, site, address);
    if (barrier)
      finishPhase(*barrier);
  }
  if (barrier)
    acquire(thread, *barrier);
}

bool Block::testMbarrier(NmSimThread &thread, int32_t site, char *address,
                         uint64_t phase, bool isParity) {
  // A test that fails is one of a loop: this many of them are a hang.
  constexpr int64_t kIdle = kTurn / 64;
  Mbarrier *barrier = findMbarrier(thread, site, address);
  if (!barrier)
    return true;
  finishPhase(*barrier);
  bool isOver = isParity ? barrier->hasPassed(uint32_t(phase) & 1)
                         : barrier->phase > phase;
  if (isOver)
    acquire(thread, *barrier);
  else
    passTurn(thread, site, kIdle);
  return isOver;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void Block::land(const TrackedCopy &tracked) {
  const PendingCopy &copy = tracked.copy;
  if (copy.landed && std::exchange(*copy.landed, true))
    return;
  std::memcpy(copy.to, copy.from, size_t(copy.bytes));
  std::memset(copy.to + copy.bytes, 0, size_t(tracked.size - copy.bytes));
  shadow.landCopy(tracked.start, copy.site, size_t(copy.to - shared),
                  size_t(tracked.size), tracked.write);
}

/// All that the thread's cp.async copy is there when the phase is over.
void Block::trackCopies(NmSimThread &thread, int32_t site, char *address,
                        bool counts) {
  Mbarrier *barrier = findMbarrier(thread, site, address);
  if (!barrier)
    return;
  finishPhase(*barrier);
  Stamp now = order.now(thread.index);
  auto track = [&](std::vector<PendingCopy> &copies) {
    copies.erase(std::remove_if(copies.begin(), copies.end(),
                                [](const PendingCopy &copy) {
                                  return copy.landed && *copy.landed;
                                }),
                 copies.end());
    for (PendingCopy &copy : copies) {
      if (!copy.landed)
        copy.landed = std::make_shared<bool>(false);
      barrier->copies.push_back({copy, now,
                                 launch.kernel.sites[copy.site].bytes,
                                 SharedShadow::Write::Tracked});
    }
  };
  for (std::vector<PendingCopy> &group : thread.groups)
    track(group);
  track(thread.uncommitted);
  // Without noinc, the arrival is one more than the count.
  barrier->pending += !counts;
  arriveMbarrier(thread, site, address, 1, 0);
}

/// The blocks that a copy to `to` goes to, at the same place in each: those of
/// the mask, or the one that has it where there is no mask.
std::vector<Block *> Block::findReceivers(NmSimThread &thread, int32_t site,
                                          const char *to, uint32_t mask) {
  std::vector<Block *> receivers;
  auto count = uint32_t(launch.blocksPerCluster());
  if (mask >> count)
    report(thread, FaultClass::BadOperand, site,
           "expected a mask of the cluster's " + std::to_string(count) +
               " blocks, but got " + std::to_string(mask));
  for (uint32_t other = 0; other < count; ++other)
    if (mask >> other & 1)
      receivers.push_back(cluster.find(cluster.getShared(other)));
  if (Block *owner = cluster.find(to); owner && mask == 0)
    receivers.push_back(owner);
  return receivers;
}

/// Copies that a thread of this block or another has started. `address` is of
/// the mbarrier, and what they are copied to, of this block.
void Block::receive(NmSimThread &thread, int32_t site, char *address,
                    std::vector<TrackedCopy> copies) {
  Mbarrier *barrier = findMbarrier(thread, site, address);
  if (!barrier || !noteIfRemote(thread, site, address))
    return;
  finishPhase(*barrier);
  for (TrackedCopy &tracked : copies) {
    auto offset = size_t(tracked.copy.to - shared);
    SharedConflict conflict = shadow.startCopy(order, numberOf(thread), site,
                                               offset, size_t(tracked.size));
    if (conflict.kind != Conflict::None)
      reportShared(thread, site, offset, conflict);
    tracked.start = order.now(numberOf(thread));
    barrier->startedBytes += tracked.size;
    barrier->copies.push_back(std::move(tracked));
  }
  // Only what was started, and not what this thread does after, is there.
  release(thread, *barrier);
  wakeWaiting(*barrier, address);
}

/// Gives each receiver the copies, which are to this block's memory.
void Block::send(NmSimThread &thread, int32_t site, const char *to,
                 char *address, uint32_t mask,
                 const std::vector<TrackedCopy> &copies) {
  Block *holder = cluster.find(to);
  for (Block *receiver : findReceivers(thread, site, to, mask)) {
    std::vector<TrackedCopy> own = copies;
    for (TrackedCopy &tracked : own)
      tracked.copy.to += receiver->shared - holder->shared;
    Block *waiting = cluster.find(address);
    char *there = mask && waiting
                      ? address + (receiver->shared - waiting->shared)
                      : address;
    receiver->receive(thread, site, there, std::move(own));
  }
}

/// PTX ISA, "st.async".
void Block::storeAsync(NmSimThread &thread, int32_t site, char *to,
                       int64_t word, char *address, int32_t bytes) {
  Block *owner = cluster.find(to);
  size_t offset = owner ? size_t(to - owner->shared) : 0;
  if (!owner || owner != cluster.find(address) || offset % size_t(bytes) != 0 ||
      offset + size_t(bytes) > owner->sharedBytes)
    return report(thread, FaultClass::SharedBounds, site,
                  "expected " + std::to_string(bytes) +
                      " bytes, at a multiple of them, of the shared memory of "
                      "the block of the cluster that has the mbarrier");
  auto *low = reinterpret_cast<const char *>(&word);
  auto source = std::make_shared<std::vector<char>>(low, low + bytes);
  owner->receive(thread, site, address,
                 {{{to, source->data(), bytes, site, nullptr},
                   Stamp(),
                   bytes,
                   SharedShadow::Write::Generic,
                   source}});
}

void Block::startBulkCopy(NmSimThread &thread, int32_t site, char *to,
                          const char *from, char *address, int32_t bytes,
                          uint32_t mask) {
  // Another block of the cluster may have the memory.
  Block *owner = cluster.find(to);
  std::optional<size_t> extent =
      checkBulkCopy(thread, site, owner ? owner->shared : shared, to, from,
                    bytes, /*isStore=*/false);
  if (!extent)
    return;
  GlobalConflict other = launch.global.read(*extent, blockOrder, thread.index,
                                            from, size_t(bytes));
  if (other.kind != Conflict::None)
    reportGlobal(thread, site, from, other);
  send(thread, site, to, address, mask,
       {{{to, from, bytes, site, nullptr},
         Stamp(),
         bytes,
         SharedShadow::Write::Asynchronous}});
}
