//===- MulticastTest.cpp - Copies to all blocks of a cluster --------------===//
//
// A cluster of two: each block copies its half of every tile to both, and takes
// it away again when both have released the slot.
//
//===----------------------------------------------------------------------===//

#include "RunKernel.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {
constexpr int kThreads = 64, kBlocks = 2, kTiles = 3, kTile = 512;
constexpr int kFull = kTile, kEmpty = kTile + 8, kShared = kTile + 16;

/// What the kernel does otherwise.
struct Mutation {
  bool dropEmptyWait = false, arriveLocally = false, dropMeeting = false;
  int32_t mask = 3, expected = kTile, arrivals = kBlocks;
  bool readEarly = false;
};
struct Arguments {
  Mutation mutation;
  char *from;
  uint32_t *to;
};
} // namespace

/// All blocks may use each other's barriers, or none uses them any more.
static void meet(NmSimThread *thread) {
  nmSimArriveCluster(thread, Other, 1);
  nmSimWaitCluster(thread, Other, 1);
}

static void copyTile(NmSimThread *thread, const Arguments &args, int tile,
                     int rank) {
  const Mutation &mutation = args.mutation;
  constexpr int kHalf = kTile / kBlocks;
  char *full = getShared(thread, kFull);
  if (!mutation.dropEmptyWait)
    nmSimWaitMbarrier(thread, Arrive, getShared(thread, kEmpty),
                      (tile & 1) ^ 1);
  nmSimArriveMbarrier(thread, Arrive, full, 1, mutation.expected);
  nmSimCopyBulk(thread, BulkLoad, getShared(thread, rank * kHalf),
                args.from + tile * kTile + rank * kHalf, full, kHalf,
                mutation.mask);
}

static void shareTiles(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t tid = getThreadId(thread);
  int32_t rank = nmSimReadRegister(thread, Other, NM_SIM_CLUSTER_CTARANK);
  if (tid == 0) {
    nmSimInitMbarrier(thread, Other, getShared(thread, kFull), 1);
    nmSimInitMbarrier(thread, Other, getShared(thread, kEmpty),
                      mutation.arrivals);
  }
  syncThreads(thread);
  meet(thread);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tid == 0)
      copyTile(thread, args, tile, rank);
    if (!mutation.readEarly)
      nmSimWaitMbarrier(thread, Arrive, getShared(thread, kFull), tile & 1);
    for (int i = tid; i < kTile / 4; i += kThreads)
      storeGlobal(thread, args.to + (rank * kTiles + tile) * (kTile / 4) + i,
                  loadShared(thread, 4 * i));
    syncThreads(thread);
    if (tid < kBlocks) {
      char *empty = getShared(thread, kEmpty);
      int32_t other = mutation.arriveLocally ? rank : tid;
      nmSimArriveMbarrier(
          thread, Arrive,
          static_cast<char *>(nmSimMapShared(thread, Other, empty, other)), 1,
          0);
    }
  }
  if (!mutation.dropMeeting)
    meet(thread);
}

static std::string run(const Mutation &mutation) {
  constexpr size_t kWords = kTiles * kTile / 4;
  std::vector<uint32_t> memory((1 + kBlocks) * kWords);
  std::iota(memory.begin(), memory.begin() + kWords, 1);
  Arguments arguments{mutation, reinterpret_cast<char *>(memory.data()),
                      memory.data() + kWords};
  std::string text =
      runKernel(shareTiles, &arguments, kThreads, kShared, memory, kBlocks);
  for (size_t i = 0; i < kBlocks * kWords && text.empty(); ++i)
    if (arguments.to[i] != memory[i % kWords])
      return "wrong word";
  return text;
}

TEST(MulticastTest, Right) { EXPECT_EQ(run({}), ""); }

TEST(MulticastTest, SlotsThatAreNotReleased) {
  Mutation wait, local;
  wait.dropEmptyWait = true;
  expectFault(run(wait), "race on shared memory: bulk-load");
  // Both arrivals come from the block's own threads; the other may still read.
  local.arriveLocally = true;
  expectFault(run(local), "race on shared memory: bulk-load", "of block ");
}

TEST(MulticastTest, Bytes) {
  Mutation mask, less, early;
  mask.mask = 1;
  expectFault(run(mask), "barrier that not all threads reach: arrive");
  mask.mask = 7;
  expectFault(run(mask), "operand out of range: bulk-load",
              "expected a mask of the cluster's 2 blocks, but got 7");
  less.expected = kTile / 2;
  expectFault(run(less), "barrier that not all threads reach: arrive");
  early.readEarly = true;
  expectFault(run(early), "load-shared at file:1:2");
}

TEST(MulticastTest, BlocksThatEnd) {
  Mutation mutation;
  mutation.dropMeeting = true;
  expectFault(run(mutation),
              "access of shared memory of a block that has ended");
}
