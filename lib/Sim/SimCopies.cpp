//===- SimCopies.cpp - Copies out of shared memory ------------------------===//
//
// A bulk copy out of shared memory is made when it is started. The shadow has
// its source as read until its thread has waited for its group.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>
#include <cstring>

using namespace nm;
using namespace nm::sim;

/// What the thread's copies are numbered by in the shadow.
bool Block::findCopier(NmSimThread &thread, int32_t site) {
  BulkGroups &bulk = thread.bulk;
  if (bulk.copier < 0 && numCopiers < kMaxCopiers)
    bulk.copier = int32_t(numCopiers++);
  if (bulk.copier >= 0)
    return true;
  report(thread, FaultClass::BadOperand, site,
         "expected at most " + std::to_string(kMaxCopiers) +
             " threads of a block that copy out of shared memory: the "
             "simulator tells no more apart");
  return false;
}

/// Reads `bytes` of shared memory for a copy of the thread that is in flight.
bool Block::readForCopy(NmSimThread &thread, int32_t site, size_t offset,
                        size_t bytes) {
  if (!findCopier(thread, site))
    return false;
  uint32_t copier = Order::getCopier(uint32_t(thread.bulk.copier));
  order.startCopy(uint32_t(thread.bulk.copier), thread.warp(),
                  thread.bulk.group);
  thread.bulk.started = thread.bulk.group;
  SharedConflict conflict =
      shadow.readAsync(order, copier, site, offset, bytes, thread.index);
  if (conflict.kind != Conflict::None)
    reportShared(thread, site, offset, conflict);
  return true;
}

std::optional<size_t> Block::checkBulkCopy(NmSimThread &thread, int32_t site,
                                           const char *memory,
                                           const char *inShared,
                                           const char *inGlobal, int32_t bytes,
                                           bool isStore) {
  constexpr int32_t kUnit = 16;
  step(thread, site);
  size_t offset = size_t(uintptr_t(inShared) - uintptr_t(memory));
  std::string what = "copies " + std::to_string(bytes) + " bytes " +
                     (isStore ? "from" : "to") + " byte " +
                     std::to_string(int64_t(offset)) + " of shared memory";
  auto fail = [&](FaultClass fault, const std::string &why) {
    report(thread, fault, site, what + why);
    return std::optional<size_t>();
  };
  if (bytes < kUnit || bytes % kUnit != 0)
    return fail(FaultClass::BadOperand, ", expected a multiple of 16");
  if (offset >= sharedBytes || size_t(bytes) > sharedBytes - offset)
    return fail(FaultClass::SharedBounds,
                ", which has " + std::to_string(sharedBytes));
  std::string other =
      (isStore ? " to " : " from ") + launch.global.describe(inGlobal);
  std::optional<size_t> extent = launch.global.find(inGlobal, size_t(bytes));
  if (!extent)
    return fail(FaultClass::GlobalBounds, other);
  if (offset % kUnit != 0 || launch.global.getOffset(*extent, inGlobal) % kUnit)
    fail(FaultClass::Misaligned,
         other + ", where both must be multiples of 16");
  return extent;
}

void Block::startBulkStore(NmSimThread &thread, int32_t site, char *to,
                           const char *from, int32_t bytes) {
  std::optional<size_t> extent =
      checkBulkCopy(thread, site, shared, from, to, bytes, /*isStore=*/true);
  if (!extent ||
      !readForCopy(thread, site, size_t(from - shared), size_t(bytes)))
    return;
  GlobalConflict other =
      launch.global.write(*extent, blockOrder, thread.index, to, size_t(bytes),
                          /*atomic=*/false);
  if (other.kind != Conflict::None)
    reportGlobal(thread, site, to, other);
  std::memcpy(to, from, size_t(bytes));
}

void Block::waitForBulkGroups(NmSimThread &thread, int32_t pending) {
  BulkGroups &bulk = thread.bulk;
  uint32_t kept = uint32_t(std::max(pending, 0));
  if (bulk.group - 1 > kept + bulk.finished)
    bulk.finished = bulk.group - 1 - kept;
  if (bulk.copier >= 0)
    order.finishCopies(thread.warp(), uint32_t(bulk.copier), bulk.finished);
}

/// A block may end, and its memory be another's, when its threads have.
void Block::checkBulkGroups(NmSimThread &thread) {
  if (thread.bulk.started > thread.bulk.finished)
    report(thread, FaultClass::EndedBlock, thread.bulk.site,
           "the thread ends with this copy out of shared memory in flight, "
           "which it has not waited for");
}

void nmSimStoreBulk(NmSimThread *thread, int32_t site, void *to, void *from,
                    int32_t bytes) {
  thread->bulk.site = site;
  thread->block->startBulkStore(*thread, site, static_cast<char *>(to),
                                static_cast<char *>(from), bytes);
}

void nmSimCommitBulk(NmSimThread *thread, int32_t) { ++thread->bulk.group; }

void nmSimWaitForBulk(NmSimThread *thread, int32_t, int32_t pending) {
  thread->block->waitForBulkGroups(*thread, pending);
}
