//===- SimInstructions.cpp - What simulated kernels call ------------------===//

#include "Block.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *nmSimAccess(NmSimThread *thread, int32_t site, void *address) {
  return thread->block->access(*thread, site, static_cast<char *>(address));
}

void *nmSimAccessOfLanes(NmSimThread *thread, int32_t site, void *address,
                         int32_t lanes) {
  return int32_t(thread->lane()) < lanes ? nmSimAccess(thread, site, address)
                                         : nullptr;
}

void *nmSimStaticShared(NmSimThread *thread, int32_t, int64_t offset) {
  return thread->block->sharedMemory() + offset;
}

void *nmSimDynamicShared(NmSimThread *thread, int32_t) {
  Block &block = *thread->block;
  return block.sharedMemory() + block.getLaunch().dynamicOffset();
}

int64_t nmSimSharedToInt(NmSimThread *thread, int32_t, void *address) {
  return static_cast<char *>(address) - thread->block->sharedMemory();
}

void *nmSimIntToShared(NmSimThread *thread, int32_t, int64_t offset) {
  return thread->block->sharedMemory() + offset;
}

void *nmSimMapShared(NmSimThread *thread, int32_t site, void *address,
                     int32_t rank) {
  return thread->block->mapShared(*thread, site, static_cast<char *>(address),
                                  rank);
}

void nmSimCopyAsync(NmSimThread *thread, int32_t site, void *to, void *from,
                    int32_t bytes) {
  thread->block->startCopy(*thread, site, static_cast<char *>(to),
                           static_cast<char *>(from), bytes);
}

void nmSimPrefetchBulk(NmSimThread *thread, int32_t site, void *from,
                       int32_t bytes) {
  thread->block->checkPrefetch(*thread, site, static_cast<char *>(from), bytes);
}

void nmSimCommitCopies(NmSimThread *thread, int32_t) {
  thread->block->commitCopies(*thread);
}

void nmSimWaitForCopies(NmSimThread *thread, int32_t, int32_t pending) {
  thread->block->waitForCopies(*thread, size_t(std::max(pending, 0)));
}

void nmSimWaitForAllCopies(NmSimThread *thread, int32_t) {
  thread->block->waitForAllCopies(*thread);
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void nmSimInitMbarrier(NmSimThread *thread, int32_t site, void *address,
                       int32_t count) {
  thread->block->initMbarrier(*thread, site, static_cast<char *>(address),
                              count);
}

void nmSimInvalidateMbarrier(NmSimThread *thread, int32_t site, void *address) {
  thread->block->invalidateMbarrier(*thread, site,
                                    static_cast<char *>(address));
}

int64_t nmSimArriveMbarrier(NmSimThread *thread, int32_t site, void *address,
                            int32_t count, int32_t bytes) {
  return thread->block->arriveMbarrier(
      *thread, site, static_cast<char *>(address), count, bytes);
}

void nmSimWaitMbarrier(NmSimThread *thread, int32_t site, void *address,
                       int32_t parity) {
  thread->block->waitMbarrier(*thread, site, static_cast<char *>(address),
                              parity);
}

bool nmSimTestMbarrier(NmSimThread *thread, int32_t site, void *address,
                       int64_t phase, int32_t isParity) {
  return thread->block->testMbarrier(*thread, site,
                                     static_cast<char *>(address),
                                     uint64_t(phase), isParity != 0);
}

void nmSimTrackCopies(NmSimThread *thread, int32_t site, void *address,
                      int32_t noinc) {
  thread->block->trackCopies(*thread, site, static_cast<char *>(address),
                             noinc != 0);
}

void nmSimCopyBulk(NmSimThread *thread, int32_t site, void *to, void *from,
                   void *mbarrier, int32_t bytes, int32_t mask) {
  thread->block->startBulkCopy(
      *thread, site, static_cast<char *>(to), static_cast<char *>(from),
      static_cast<char *>(mbarrier), bytes, uint32_t(mask));
}

void nmSimStoreAsync(NmSimThread *thread, int32_t site, void *to, int64_t word,
                     void *mbarrier, int32_t bytes) {
  thread->block->storeAsync(*thread, site, static_cast<char *>(to), word,
                            static_cast<char *>(mbarrier), bytes);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

int32_t nmSimReadRegister(NmSimThread *thread, int32_t, int32_t name) {
  return thread->block->readRegister(*thread, name);
}

void nmSimBarrier(NmSimThread *thread, int32_t site, int32_t id,
                  int32_t count) {
  thread->block->barrier(*thread, site, id, count);
}

void nmSimArriveBarrier(NmSimThread *thread, int32_t site, int32_t id,
                        int32_t count) {
  thread->block->barrier(*thread, site, id, count, /*waits=*/false);
}

void nmSimArriveCluster(NmSimThread *thread, int32_t site, int32_t aligned) {
  thread->block->arriveCluster(*thread, site, aligned != 0);
}

void nmSimWaitCluster(NmSimThread *thread, int32_t site, int32_t aligned) {
  thread->block->waitCluster(*thread, site, aligned != 0);
}

void nmSimSyncWarp(NmSimThread *thread, int32_t site, int32_t mask) {
  thread->block->collective(*thread, site, kWarp, uint32_t(mask), nullptr,
                            nullptr, nullptr, /*ordersMemory=*/true);
}

void nmSimFence(NmSimThread *, int32_t) {}

void nmSimFenceProxies(NmSimThread *thread, int32_t, int32_t isAsyncShared) {
  if (isAsyncShared)
    thread->block->fenceProxies(*thread);
}

void nmSimStep(NmSimThread *thread, int32_t site) {
  thread->block->step(*thread, site);
}

void nmSimCollective(NmSimThread *thread, int32_t site, int32_t width,
                     int32_t mask, NmSimCollectiveFunction function,
                     void *operands, void *results) {
  thread->block->collective(*thread, site, width, uint32_t(mask), function,
                            operands, results, /*ordersMemory=*/false);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Bit 3 of each four of the selector fills the byte with its sign.
int32_t nmSimPermute(NmSimThread *, int32_t, int32_t low, int32_t high,
                     int32_t selector) {
  uint64_t pool = uint64_t(uint32_t(high)) << 32 | uint32_t(low);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    int32_t choice = selector >> 4 * i;
    auto byte = uint8_t(pool >> 8 * (choice & 7));
    if (choice & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t(byte) << 8 * i;
  }
  return int32_t(result);
}

int32_t nmSimDotBytes(NmSimThread *, int32_t, int32_t a, int32_t b,
                      int32_t sum) {
  auto result = uint32_t(sum);
  for (int i = 0; i < 4; ++i)
    result += uint32_t(uint8_t(a >> 8 * i)) * uint8_t(b >> 8 * i);
  return int32_t(result);
}

int32_t nmSimHighestBit(NmSimThread *, int32_t, int32_t value) {
  int32_t bit = -1;
  for (auto rest = uint32_t(value); rest != 0; rest >>= 1)
    ++bit;
  return bit;
}

int32_t nmSimLogic(NmSimThread *, int32_t, int32_t a, int32_t b, int32_t c,
                   int32_t table) {
  uint32_t result = 0;
  for (int place = 0; place < 32; ++place) {
    auto bitOf = [&](int32_t word) { return uint32_t(word) >> place & 1; };
    uint32_t number = bitOf(a) << 2 | bitOf(b) << 1 | bitOf(c);
    result |= (uint32_t(table) >> number & 1) << place;
  }
  return int32_t(result);
}

float nmSimReciprocal(NmSimThread *, int32_t, float value) {
  return 1.0f / value;
}
float nmSimExp2(NmSimThread *, int32_t, float value) {
  float power = std::exp2(value);
  return power < std::numeric_limits<float>::min() ? 0 : power;
}
float nmSimRsqrtF32(float value) { return 1.0f / std::sqrt(value); }
double nmSimRsqrtF64(double value) { return 1.0 / std::sqrt(value); }
