//===- StoreAsyncTest.cpp - Words that a cluster's blocks send ------------===//
//
// A cluster of two: the first threads of each block send a word to both, for
// several rows, in buffers and with mbarriers that take turns.
//
//===----------------------------------------------------------------------===//

#include "RunKernel.h"

#include <gtest/gtest.h>

namespace {
constexpr int kThreads = 32, kBlocks = 2, kRows = 5, kWord = 8;
/// Two buffers of a word of each block, and the mbarriers behind them.
constexpr int kBuffer = kBlocks * kWord, kBarriers = 2 * kBuffer,
              kShared = kBarriers + 2 * kWord;

/// What the kernel does otherwise.
struct Mutation {
  bool dropWait = false, hasOneBuffer = false, tellSelf = false;
  int32_t expected = kBlocks * kWord, at = 0;
};
struct Arguments {
  Mutation mutation;
  uint32_t *to;
};
} // namespace

static void sendWord(NmSimThread *thread, const Mutation &mutation, int row,
                     int rank, int receiver) {
  int odd = row & 1, buffer = mutation.hasOneBuffer ? 0 : odd;
  char *place = getShared(thread, buffer * kBuffer + rank * kWord),
       *barrier = getShared(thread, kBarriers + odd * kWord);
  auto map = [&](char *address, int block) {
    return static_cast<char *>(nmSimMapShared(thread, Other, address, block));
  };
  nmSimStoreAsync(thread, BulkLoad, map(place, receiver) + mutation.at,
                  100 * rank + row,
                  map(barrier, mutation.tellSelf ? rank : receiver), kWord);
}

static void exchange(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t tid = getThreadId(thread);
  int32_t rank = nmSimReadRegister(thread, Other, NM_SIM_CLUSTER_CTARANK);
  if (tid == 0)
    for (int odd : {0, 1})
      nmSimInitMbarrier(thread, Other,
                        getShared(thread, kBarriers + odd * kWord), 1);
  nmSimArriveCluster(thread, Other, 1);
  nmSimWaitCluster(thread, Other, 1);
  for (int row = 0; row < kRows; ++row) {
    int odd = row & 1;
    char *barrier = getShared(thread, kBarriers + odd * kWord);
    if (tid == 0)
      nmSimArriveMbarrier(thread, Arrive, barrier, 1, mutation.expected);
    if (tid < kBlocks)
      sendWord(thread, mutation, row, rank, tid);
    if (!mutation.dropWait)
      nmSimWaitMbarrier(thread, Arrive, barrier, row / 2 & 1);
    int buffer = mutation.hasOneBuffer ? 0 : odd;
    if (tid < kBlocks)
      storeGlobal(thread, args.to + ((rank * kRows + row) * kThreads + tid),
                  loadShared(thread, buffer * kBuffer + tid * kWord));
  }
}

static std::string run(const Mutation &mutation) {
  std::vector<uint32_t> memory(kBlocks * kRows * kThreads);
  Arguments arguments{mutation, memory.data()};
  std::string text =
      runKernel(exchange, &arguments, kThreads, kShared, memory, kBlocks);
  for (int row = 0; row < kBlocks * kRows && text.empty(); ++row)
    for (int tid = 0; tid < kThreads; ++tid)
      if (tid < kBlocks &&
          memory[row * kThreads + tid] != uint32_t(100 * (tid) + row % kRows))
        return "wrong word";
  return text;
}

TEST(StoreAsyncTest, Right) { EXPECT_EQ(run({}), ""); }

TEST(StoreAsyncTest, ReadBeforeAllHaveSent) {
  Mutation wait, buffer;
  wait.dropWait = true;
  expectFault(run(wait), "load-shared at file:1:2");
  // A block that has all words of a row may send the next when the other has
  // yet to read them.
  buffer.hasOneBuffer = true;
  expectFault(run(buffer), "race on shared memory");
}

TEST(StoreAsyncTest, Bytes) {
  Mutation less, self, at;
  less.expected = kWord;
  expectFault(run(less), "barrier that not all threads reach: arrive");
  self.tellSelf = true;
  expectFault(run(self), "expected 8 bytes, at a multiple of them, of the "
                         "shared memory of the block of the cluster that has "
                         "the mbarrier");
  at.at = 4;
  expectFault(run(at), "expected 8 bytes, at a multiple of them");
}
