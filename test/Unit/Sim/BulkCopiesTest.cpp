//===- BulkCopiesTest.cpp - Copies out of shared memory -------------------===//

#include "RunKernel.h"

#include <gtest/gtest.h>

namespace {
/// What the kernel does otherwise.
struct Mutation {
  bool dropBarrier = false, dropFence = false, dropWait = false;
  bool dropCommit = false, dropLastWait = false, copyOwnWord = false;
  int64_t from = 0, to = 0;
  int32_t bytes = 256, pending = 0;
};
struct Arguments {
  Mutation mutation;
  uint32_t *memory;
};
constexpr int kThreads = 64, kShared = 256;
} // namespace

/// All threads write a word each, one copies all of them; then they write
/// again, and another copy follows.
static void copyTwice(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t tid = getThreadId(thread);
  for (int round = 0; round < 2; ++round) {
    storeShared(thread, tid * 4, uint32_t(100 * round + tid));
    if (!mutation.dropFence)
      nmSimFenceProxies(thread, Other, 1);
    if (!mutation.dropBarrier)
      syncThreads(thread);
    if (tid == 32) {
      nmSimStoreBulk(thread, BulkStore,
                     args.memory + round * kThreads + mutation.to,
                     getShared(thread, mutation.from), mutation.bytes);
      if (!mutation.dropCommit)
        nmSimCommitBulk(thread, Other);
      if (round == 0 ? !mutation.dropWait : !mutation.dropLastWait)
        nmSimWaitForBulk(thread, Other, mutation.pending);
    }
    syncThreads(thread);
  }
}

static std::string run(const Mutation &mutation) {
  std::vector<uint32_t> memory(2 * kThreads);
  Arguments arguments{mutation, memory.data()};
  std::string text =
      runKernel(copyTwice, &arguments, kThreads, kShared, memory);
  for (uint32_t i = 0; i < memory.size() && text.empty(); ++i)
    EXPECT_EQ(memory[i], 100 * (i / kThreads) + i % kThreads);
  return text;
}

TEST(BulkCopiesTest, Right) { EXPECT_EQ(run({}), ""); }

TEST(BulkCopiesTest, ReadsWhatNobodyOrderedOrFenced) {
  Mutation barrier, fence;
  barrier.dropBarrier = true;
  expectFault(run(barrier), "race on shared memory: bulk-store at file:1:2");
  fence.dropFence = true;
  expectFault(run(fence),
              "asynchronous read of what was written, without a fence: "
              "bulk-store at file:1:2",
              "wrote through the generic proxy (store-shared at file:1:2), "
              "with no fence.proxy.async between");
}

TEST(BulkCopiesTest, SourceOverwritten) {
  const std::string race = "race on shared memory: store-shared at file:1:2";
  const std::string reads =
      "where a copy of thread 32 of 64 out of shared memory, which nobody "
      "waited for, reads (bulk-store at file:1:2), in no order";
  Mutation wait, pending, commit;
  wait.dropWait = true;
  expectFault(run(wait), race, reads);
  pending.pending = 1;
  expectFault(run(pending), race, reads);
  commit.dropCommit = true;
  expectFault(run(commit), race, reads);
}

TEST(BulkCopiesTest, ThreadsEndWithTheirCopies) {
  Mutation mutation;
  mutation.dropLastWait = true;
  expectFault(run(mutation),
              "access of shared memory of a block that has ended: bulk-store",
              "the thread ends with this copy out of shared memory in flight, "
              "which it has not waited for");
}

TEST(BulkCopiesTest, Operands) {
  Mutation size, from, to, misaligned;
  size.bytes = 24;
  expectFault(run(size), "operand out of range: bulk-store",
              "copies 24 bytes from byte 0 of shared memory, expected a "
              "multiple of 16");
  from.from = 16;
  expectFault(run(from), "shared access out of bounds: bulk-store",
              "copies 256 bytes from byte 16 of shared memory, which has 256");
  to.to = 64;
  to.dropWait = false;
  expectFault(run(to), "global access out of bounds: bulk-store");
  misaligned.from = 8;
  misaligned.bytes = 64;
  expectFault(run(misaligned), "misaligned access: bulk-store");
}

/// What a thread has written itself needs no barrier.
static void copyOwn(NmSimThread *thread, void *arguments) {
  auto *memory = static_cast<uint32_t *>(arguments);
  int32_t tid = getThreadId(thread);
  if (tid % 32)
    return;
  for (int i = 0; i < 4; ++i)
    storeShared(thread, tid + 4 * i, 7);
  nmSimFenceProxies(thread, Other, 1);
  nmSimStoreBulk(thread, BulkStore, memory + tid / 4, getShared(thread, tid),
                 16);
  nmSimCommitBulk(thread, Other);
  nmSimWaitForBulk(thread, Other, 0);
}

TEST(BulkCopiesTest, OwnWords) {
  std::vector<uint32_t> memory(16, 7);
  EXPECT_EQ(runKernel(copyOwn, memory.data(), 64, 256, memory), "");
}

static void copyFromEachThread(NmSimThread *thread, void *arguments) {
  auto *memory = static_cast<uint32_t *>(arguments);
  int32_t tid = getThreadId(thread);
  for (int i = 0; i < 4; ++i)
    storeShared(thread, 16 * tid + 4 * i, 1);
  nmSimFenceProxies(thread, Other, 1);
  nmSimStoreBulk(thread, BulkStore, memory + 4 * tid,
                 getShared(thread, 16 * tid), 16);
  nmSimCommitBulk(thread, Other);
  nmSimWaitForBulk(thread, Other, 0);
}

TEST(BulkCopiesTest, ThreadsThatCopy) {
  std::vector<uint32_t> memory(128);
  EXPECT_EQ(runKernel(copyFromEachThread, memory.data(), 16, 512, memory), "");
  EXPECT_NE(runKernel(copyFromEachThread, memory.data(), 17, 512, memory)
                .find("expected at most 16 threads of a block that copy out"),
            std::string::npos);
}
