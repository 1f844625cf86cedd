//===- PipelineTest.cpp - A whole kernel of producers and consumers -------===//
//
// The way of a persistent product on Hopper: a warpgroup of producers fills a
// ring of stages by cp.async and by bulk copies, two of consumers multiply with
// one product in flight, and store their sums by bulk copies that run beside
// the next tile. Each test breaks one thing of it.
//
//===----------------------------------------------------------------------===//

#include "RunKernel.h"
#include "nm/Format/MatrixDescriptor.h"
#include "nm/Format/MmaFragments.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace nm;

namespace {
constexpr int kThreads = 384, kWarpgroup = 128, kStages = 3;
/// A step multiplies 64 x 16 weights with 16 x 64 activations of each consumer.
constexpr int kSteps = 8, kTiles = 2, kRows = 16, kWide = 64;
constexpr int kLine = 128, kRegion = kRows * kLine;
/// Activations of both consumers, then weights.
constexpr int kStage = 3 * kRegion, kRing = kStages * kStage;
constexpr int kSums = kWarpgroupM * kWide, kBarriers = kRing + 2 * kSums * 4;
constexpr int kShared = kBarriers + 2 * kStages * 8;

/// What the kernel does otherwise.
struct Mutation {
  bool dropFence = false, releaseEarly = false, wrongPhase = false;
  bool dropArrival = false, dropEmptyWait = false, waitForNone = false;
  bool dropStoreFence = false, dropStoreWait = false, dropStoreBarrier = false;
  bool expectLess = false, swapSwizzle = false;
};

struct Arguments {
  Mutation mutation;
  char *activations, *weights, *sums;
};

char *getBarrier(NmSimThread *thread, bool isEmpty, int stage) {
  return getShared(thread, kBarriers + (isEmpty * kStages + stage) * 8);
}
} // namespace

/// Row `k` of activations has this in all columns.
static int getActivation(int tile, int k) { return (k + 2 * tile) % 5; }

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// 16 rows of 128 columns, of which each consumer has half.
static void copyActivations(NmSimThread *thread, const Arguments &args,
                            int step, int stage, int producer) {
  constexpr int kChunks = kRows * 16;
  for (int chunk = producer; chunk < kChunks; chunk += kWarpgroup) {
    int row = chunk / 16, column = chunk % 16;
    MatrixDescriptor region{stage * kStage + column / 8 * kRegion, kRegion,
                            8 * kLine, 0, MatrixSwizzle::Bytes128};
    if (args.mutation.swapSwizzle && producer == 5)
      region.swizzle = MatrixSwizzle::Bytes64;
    nmSimCopyAsync(thread, CopyAsync,
                   getShared(thread, region.getMNMajorOffset(row, column % 8)),
                   args.activations + (step * kRows + row) * 256 + column * 16,
                   16);
  }
}

static void produce(NmSimThread *thread, const Arguments &args, int producer) {
  const Mutation &mutation = args.mutation;
  nmSimSetRegisters(thread, Other, 72);
  for (int step = 0; step < kTiles * kSteps; ++step) {
    int stage = step % kStages, round = step / kStages;
    char *full = getBarrier(thread, false, stage);
    if (!mutation.dropEmptyWait)
      nmSimWaitMbarrier(thread, Arrive, getBarrier(thread, true, stage),
                        (round & 1) ^ 1);
    copyActivations(thread, args, step, stage, producer);
    if (!mutation.dropArrival || producer != 7)
      nmSimTrackCopies(thread, CopyAsync, full, /*noinc=*/1);
    if (producer != 0)
      continue;
    nmSimArriveMbarrier(thread, Arrive, full, 1,
                        mutation.expectLess ? kRegion / 2 : kRegion);
    nmSimCopyBulk(thread, BulkLoad,
                  getShared(thread, stage * kStage + 2 * kRegion),
                  args.weights + step % kSteps * kRegion, full, kRegion, 0);
  }
}

//===----------------------------------------------------------------------===//
// Consumers
//===----------------------------------------------------------------------===//

static void multiplyStage(NmSimThread *thread, int step, int stage,
                          int consumer, uint32_t *sums) {
  NmSimWarpgroupProduct operands = {};
  auto describe = [&](int region) {
    return MatrixDescriptor{stage * kStage + region * kRegion, kRegion,
                            8 * kLine, 0, MatrixSwizzle::Bytes128}
        .encode();
  };
  operands.descriptorA = describe(2);
  operands.descriptorB = describe(consumer);
  operands.a = operands.b = NM_SIM_F16;
  operands.n = kWide;
  operands.k = kRows;
  operands.isATransposed = operands.isBTransposed = 1;
  operands.scaleA = operands.scaleB = 1;
  operands.addsSums = step % kSteps != 0;
  std::memcpy(operands.sums, sums, kWide / 2 * 4);
  nmSimStartProduct(thread, Product, step % 2);
  nmSimCollective(thread, Product, kWarpgroup, -1, nmSimMultiplyWarpgroup,
                  &operands, sums);
  nmSimCommitProducts(thread, Other);
}

static void storeSums(NmSimThread *thread, const Arguments &args, int tile,
                      int consumer, const uint32_t *sums) {
  const Mutation &mutation = args.mutation;
  int me = getThreadId(thread) % kWarpgroup;
  int place = kRing + consumer * kSums * 4;
  if (me == 0 && !mutation.dropStoreWait)
    nmSimWaitForBulk(thread, Other, 0);
  nmSimBarrier(thread, Other, 1 + consumer, kWarpgroup);
  for (int i = 0; i < kWide / 2; ++i) {
    FragmentOffset sum = getWarpgroupSumOffset(me, i);
    storeShared(thread, place + (sum.row * kWide + sum.column) * 4, sums[i]);
  }
  if (!mutation.dropStoreFence)
    nmSimFenceProxies(thread, Other, 1);
  if (!mutation.dropStoreBarrier)
    nmSimBarrier(thread, Other, 1 + consumer, kWarpgroup);
  if (me != 0)
    return;
  nmSimStoreBulk(thread, BulkStore,
                 args.sums + (tile * 2 + consumer) * kSums * 4,
                 getShared(thread, place), kSums * 4);
  nmSimCommitBulk(thread, Other);
}

static void consume(NmSimThread *thread, const Arguments &args, int consumer) {
  const Mutation &mutation = args.mutation;
  nmSimSetRegisters(thread, Other, 216);
  bool isFirst = getThreadId(thread) % kWarpgroup == 0;
  uint32_t sums[kWide / 2] = {};
  auto release = [&](int step) {
    if (isFirst)
      nmSimArriveMbarrier(thread, Arrive,
                          getBarrier(thread, true, step % kStages), 1, 0);
  };
  for (int step = 0; step < kTiles * kSteps; ++step) {
    int stage = step % kStages, round = step / kStages;
    nmSimWaitMbarrier(thread, Arrive, getBarrier(thread, false, stage),
                      (round & 1) ^ mutation.wrongPhase);
    if (!mutation.dropFence)
      nmSimFenceProxies(thread, Other, 1);
    nmSimFenceProducts(thread, Other);
    multiplyStage(thread, step, stage, consumer, sums);
    if (mutation.releaseEarly)
      release(step);
    bool isLast = step % kSteps == kSteps - 1;
    nmSimWaitForProducts(thread, Other,
                         isLast && !mutation.waitForNone ? 0 : 1);
    if (!mutation.releaseEarly && step % kSteps != 0)
      release(step - 1);
    if (!isLast)
      continue;
    nmSimUseSums(thread, Use, step % 2);
    if (!mutation.releaseEarly)
      release(step);
    storeSums(thread, args, step / kSteps, consumer, sums);
  }
  if (isFirst)
    nmSimWaitForBulk(thread, Other, 0);
}

static void multiplyTiles(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  int tid = getThreadId(thread);
  if (tid == 0)
    for (int stage = 0; stage < kStages; ++stage) {
      nmSimInitMbarrier(thread, Other, getBarrier(thread, false, stage),
                        kWarpgroup + 1);
      nmSimInitMbarrier(thread, Other, getBarrier(thread, true, stage), 2);
    }
  syncThreads(thread);
  if (tid < 2 * kWarpgroup)
    consume(thread, args, tid / kWarpgroup);
  else
    produce(thread, args, tid - 2 * kWarpgroup);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The faults, or an empty text; "wrong sum" where the kernel computes one.
static std::string run(const Mutation &mutation) {
  static const uint16_t kHalves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  constexpr size_t kDepth = size_t(kTiles) * kSteps * kRows;
  constexpr size_t kActivations = kDepth * 2 * kWide / 2;
  constexpr size_t kWeights = size_t(kSteps) * kRegion / 4;
  std::vector<uint32_t> memory(kActivations + kWeights + kTiles * 2 * kSums);
  for (size_t k = 0; k < kDepth; ++k)
    std::fill_n(&memory[k * kWide], kWide,
                kHalves[getActivation(int(k / (kSteps * kRows)),
                                      int(k % (kSteps * kRows)))] *
                    0x10001u);
  std::fill_n(&memory[kActivations], kWeights, 0x3c003c00);
  auto *bytes = reinterpret_cast<char *>(memory.data());
  Arguments arguments{mutation, bytes, bytes + kActivations * 4,
                      bytes + (kActivations + kWeights) * 4};
  std::string text =
      runKernel(multiplyTiles, &arguments, kThreads, kShared, memory);
  for (int tile = 0; tile < kTiles && text.empty(); ++tile) {
    float expected = 0;
    for (int k = 0; k < kSteps * kRows; ++k)
      expected += float(getActivation(tile, k));
    for (int i = 0; i < 2 * kSums; ++i) {
      float sum;
      std::memcpy(&sum, arguments.sums + (tile * 2 * kSums + i) * 4, 4);
      if (sum != expected)
        return "wrong sum";
    }
  }
  return text;
}

TEST(PipelineTest, Right) { EXPECT_EQ(run({}), ""); }

TEST(PipelineTest, FenceOfConsumers) {
  Mutation mutation;
  mutation.dropFence = true;
  expectFault(run(mutation),
              "asynchronous read of what was written, without a fence: "
              "wgmma.mma_async",
              "wrote through the generic proxy (cp.async at file:1:2)");
}

TEST(PipelineTest, Phases) {
  Mutation phase, empty, arrival, bytes;
  phase.wrongPhase = true;
  expectFault(run(phase),
              "read of shared memory that nobody wrote: wgmma.mma_async");
  empty.dropEmptyWait = true;
  expectFault(run(empty), "race on shared memory: cp.async");
  arrival.dropArrival = true;
  expectFault(run(arrival), "barrier that not all threads reach: arrive");
  bytes.expectLess = true;
  expectFault(run(bytes), "barrier that not all threads reach: arrive");
}

TEST(PipelineTest, StagesReleasedEarly) {
  Mutation early, none;
  early.releaseEarly = true;
  expectFault(run(early),
              "race on shared memory: ", "where a product of warpgroup ");
  none.waitForNone = true;
  expectFault(run(none), "register of a product that is in flight: use");
}

TEST(PipelineTest, Stores) {
  Mutation fence, wait, barrier;
  fence.dropStoreFence = true;
  expectFault(run(fence),
              "asynchronous read of what was written, without a fence: "
              "bulk-store");
  wait.dropStoreWait = true;
  expectFault(run(wait), "race on shared memory: store-shared",
              "out of shared memory, which nobody waited for, reads");
  barrier.dropStoreBarrier = true;
  expectFault(run(barrier), "race on shared memory: bulk-store");
}

TEST(PipelineTest, Swizzles) {
  Mutation mutation;
  mutation.swapSwizzle = true;
  expectFault(run(mutation), "race on shared memory: cp.async",
              "read of shared memory that nobody wrote: wgmma.mma_async");
}
