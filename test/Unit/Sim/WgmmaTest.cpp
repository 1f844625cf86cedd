//===- WgmmaTest.cpp - Products that are in flight ------------------------===//
//
// One kernel, from which each test leaves something away or to which it adds
// something wrong.
//
//===----------------------------------------------------------------------===//

#include "RunKernel.h"
#include "nm/Format/MatrixDescriptor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace nm;

namespace {
/// What the kernel does otherwise.
struct Mutation {
  bool dropBarrier = false, dropFence = false, dropCommit = false;
  bool dropWait = false, dropRelease = false;
  /// Groups that the wait leaves in flight.
  int pending = 0;
  bool overwriteEarly = false, useBetween = false, changeOperand = false;
  bool useOwnLate = false, commitTwice = false, endEarly = false;
  int shiftB = 0, leadingB = 128;
  bool setUnknownBits = false;
  /// Who fences between the proxies, and when.
  enum {
    ByWriter,
    ByReader,
    ByOthers,
    TooEarly,
    ByOneWarp,
    Never
  } fenced = ByWriter;
};
struct Arguments {
  Mutation mutation;
  uint32_t *sums;
};

constexpr int kThreads = 256, kN = 8, kBytesA = 2048, kBytesB = 256;
/// Two slots of A and B.
constexpr int kSlot = kBytesA + kBytesB, kShared = 2 * kSlot;
} // namespace

/// All threads write ones of f16 to a slot.
static void fill(NmSimThread *thread, int slot, int tid) {
  for (int at = tid * 4; at < kSlot; at += kThreads * 4)
    storeShared(thread, slot * kSlot + at, 0x3c003c00);
}

static void start(NmSimThread *thread, int slot, int number,
                  const Mutation &mutation, uint32_t *sums) {
  NmSimWarpgroupProduct operands = {};
  MatrixDescriptor a{slot * kSlot, 1024, 128};
  MatrixDescriptor b{slot * kSlot + kBytesA + mutation.shiftB,
                     mutation.leadingB, 128};
  operands.descriptorA = a.encode();
  operands.descriptorB = b.encode() | uint64_t(mutation.setUnknownBits) << 60;
  operands.a = operands.b = NM_SIM_F16;
  operands.n = kN;
  operands.k = 16;
  operands.scaleA = operands.scaleB = operands.addsSums = 1;
  std::memcpy(operands.sums, sums, kN / 2 * 4);
  nmSimStartProduct(thread, Product, number);
  nmSimCollective(thread, Product, 128, -1, nmSimMultiplyWarpgroup, &operands,
                  sums);
}

/// Each warpgroup multiplies both slots, in a group each; then the slots are
/// written again.
static void multiply(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t tid = getThreadId(thread);
  if (mutation.fenced == Mutation::TooEarly)
    nmSimFenceProxies(thread, Other, 1);
  fill(thread, 0, tid);
  fill(thread, 1, tid);
  if (mutation.fenced == Mutation::ByWriter)
    nmSimFenceProxies(thread, Other, 1);
  if (!mutation.dropBarrier)
    syncThreads(thread);
  if (mutation.fenced == Mutation::ByReader ||
      (mutation.fenced == Mutation::ByOneWarp && tid < 32))
    nmSimFenceProxies(thread, Other, 1);
  if (mutation.fenced == Mutation::ByOthers) {
    if (tid < 32)
      nmSimFenceProxies(thread, Other, 1);
    syncThreads(thread);
  }
  uint32_t sums[2][4] = {};
  if (!mutation.dropFence)
    nmSimFenceProducts(thread, Other);
  if (mutation.endEarly && tid == 130)
    return;
  start(thread, 0, 0, mutation, sums[0]);
  if (!mutation.dropCommit)
    nmSimCommitProducts(thread, Other);
  if (mutation.useBetween)
    nmSimUseSums(thread, Use, 0);
  if (mutation.changeOperand)
    nmSimChangeRegister(thread, Use, 0);
  if (mutation.commitTwice && tid == 5)
    nmSimCommitProducts(thread, Other);
  start(thread, 1, 1, mutation, sums[1]);
  nmSimCommitProducts(thread, Other);
  if (mutation.overwriteEarly)
    fill(thread, 0, tid);
  if (!mutation.dropWait)
    nmSimWaitForProducts(thread, Other, mutation.pending);
  nmSimUseSums(thread, Use, 0);
  if (mutation.useOwnLate)
    start(thread, 0, 0, mutation, sums[0]);
  if (!mutation.dropRelease)
    syncThreads(thread);
  fill(thread, 0, tid);
  if (mutation.pending == 0) {
    nmSimUseSums(thread, Use, 1);
    fill(thread, 1, tid);
  }
  for (int i = 0; i < 4; ++i)
    *static_cast<uint32_t *>(
        nmSimAccess(thread, StoreGlobal, args.sums + 8 * tid + i)) = sums[0][i];
  for (int i = 0; i < 4; ++i)
    *static_cast<uint32_t *>(nmSimAccess(
        thread, StoreGlobal, args.sums + 8 * tid + 4 + i)) = sums[1][i];
}

/// The faults, or an empty text.
static std::string run(const Mutation &mutation) {
  std::vector<uint32_t> sums(kThreads * 8);
  Arguments arguments{mutation, sums.data()};
  std::string text = runKernel(multiply, &arguments, kThreads, kShared, sums);
  for (uint32_t sum : sums)
    if (text.empty() && sum != 0x41800000)
      text = "wrong sum";
  return text;
}

TEST(WgmmaTest, Right) {
  EXPECT_EQ(run({}), "");
  Mutation one;
  one.pending = 1;
  EXPECT_EQ(run(one), "");
}

TEST(WgmmaTest, OperandsThatNobodyOrdered) {
  Mutation mutation;
  mutation.dropBarrier = true;
  expectFault(run(mutation),
              "race on shared memory: wgmma.mma_async at file:1:2: "
              "block (0, 0, 0), thread (0, 0, 0): reads 16 bytes at "
              "byte 0 of shared memory, where thread 0 of 256 writes "
              "(store-shared at file:1:2), in no order");
}

/// A fence by the writer after its writes, by each reader, or by somebody who
/// comes between them.
TEST(WgmmaTest, FencesBetweenProxies) {
  Mutation mutation;
  for (auto fenced :
       {Mutation::ByWriter, Mutation::ByReader, Mutation::ByOthers}) {
    mutation.fenced = fenced;
    EXPECT_EQ(run(mutation), "") << fenced;
  }
  for (auto fenced :
       {Mutation::TooEarly, Mutation::ByOneWarp, Mutation::Never}) {
    mutation.fenced = fenced;
    expectFault(run(mutation),
                "asynchronous read of what was written, without a fence: "
                "wgmma.mma_async at file:1:2: ",
                "reads 16 bytes at byte 0 of shared memory, where thread 0 of "
                "256 wrote through the generic proxy (store-shared at "
                "file:1:2), with no "
                "fence.proxy.async between");
  }
}

TEST(WgmmaTest, Fences) {
  Mutation mutation;
  mutation.dropFence = true;
  expectFault(run(mutation),
              "product without a fence: wgmma.mma_async at file:1:2: ",
              "expected a "
              "wgmma.fence between it and what the thread last did "
              "with its registers");
  Mutation again;
  again.useOwnLate = true;
  expectFault(run(again), "product without a fence: wgmma.mma_async");
}

TEST(WgmmaTest, RegistersUnderWay) {
  const std::string fault =
      "register of a product that is in flight: use at file:1:2: block";
  const std::string uses = "): uses the sums of wgmma.mma_async at file:1:2, "
                           "which nobody waited for";
  Mutation between, wait, pending, commit, change;
  between.useBetween = true;
  expectFault(run(between), fault, uses);
  wait.dropWait = true;
  expectFault(run(wait), fault, uses);
  pending.pending = 2;
  expectFault(run(pending), fault, uses);
  // Without its commit, the first product is in the second's group.
  commit.dropCommit = true;
  commit.pending = 1;
  expectFault(run(commit), fault, uses);
  change.changeOperand = true;
  expectFault(run(change), fault,
              "): changes an operand in registers of wgmma.mma_async");
}

TEST(WgmmaTest, OperandsOverwritten) {
  const std::string race =
      "race on shared memory: store-shared at file:1:2: block";
  auto reads = [](int warpgroup) {
    return " of shared memory, where a product of warpgroup " +
           std::to_string(warpgroup) +
           ", which nobody waited for, reads (wgmma.mma_async at file:1:2), in "
           "no order";
  };
  Mutation early, release, wait;
  early.overwriteEarly = true;
  expectFault(run(early), race, reads(0));
  // A thread's own warpgroup has read it; the other may not have.
  release.dropRelease = true;
  expectFault(run(release), race, reads(1));
  wait.dropWait = true;
  expectFault(run(wait), race, reads(0));
}

TEST(WgmmaTest, DescriptorsBeyondMemory) {
  Mutation shift, leading, before;
  shift.shiftB = kShared;
  expectFault(run(shift),
              "shared access out of bounds: wgmma.mma_async at "
              "file:1:2: block (0, 0, 0), thread (0, 0, 0): reads 16 "
              "bytes at byte 6656 of shared memory, which has 4608");
  leading.leadingB = 4096;
  expectFault(run(leading), "shared access out of bounds: wgmma.mma_async");
  before.setUnknownBits = true;
  expectFault(run(before), "operand out of range: wgmma.mma_async");
}

TEST(WgmmaTest, ThreadsThatDiffer) {
  Mutation commit, end;
  commit.commitTwice = true;
  expectFault(run(commit),
              "the threads of its warpgroup have committed different "
              "numbers of groups");
  end.endEarly = true;
  expectFault(run(end), "collective instruction that not all lanes reach: "
                        "wgmma.mma_async");
}
