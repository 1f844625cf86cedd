//===- NamedBarriersTest.cpp - Barriers of some warps, and registers ------===//

#include "RunKernel.h"

#include <gtest/gtest.h>

namespace {
struct Mutation {
  bool arriveEarly = false, dropArrival = false;
  int32_t count = 64, registers[2] = {0, 0};
  bool readBack = false;
};
} // namespace

/// Warp 0 writes and arrives; warp 1 waits for it and reads.
static void produce(NmSimThread *thread, void *arguments) {
  auto &mutation = *static_cast<Mutation *>(arguments);
  int32_t tid = getThreadId(thread), warp = tid / 32;
  if (mutation.registers[warp])
    nmSimSetRegisters(thread, Arrive, mutation.registers[warp]);
  if (warp == 1) {
    storeShared(thread, 4 * tid, 1);
    nmSimBarrier(thread, Other, 3, mutation.count);
    loadShared(thread, 4 * (tid - 32));
    return;
  }
  if (mutation.arriveEarly)
    nmSimArriveBarrier(thread, Arrive, 3, 64);
  storeShared(thread, 4 * tid, 1);
  if (!mutation.arriveEarly && !mutation.dropArrival)
    nmSimArriveBarrier(thread, Arrive, 3, 64);
  if (mutation.readBack)
    loadShared(thread, 4 * (tid + 32));
}

static std::string run(Mutation mutation) {
  std::vector<uint32_t> memory(1);
  return runKernel(produce, &mutation, 64, 256, memory);
}

TEST(NamedBarriersTest, Arrivals) {
  EXPECT_EQ(run({}), "");
  Mutation early, dropped, count, back;
  early.arriveEarly = true;
  expectFault(run(early), "load-shared at file:1:2");
  dropped.dropArrival = true;
  expectFault(run(dropped), "barrier that not all threads reach: other");
  count.count = 96;
  expectFault(run(count), "barrier that not all threads reach: ");
  // To arrive is not to wait.
  back.readBack = true;
  expectFault(run(back), "load-shared at file:1:2");
}

TEST(NamedBarriersTest, Registers) {
  Mutation right, odd, few;
  right.registers[0] = 240;
  right.registers[1] = 256;
  EXPECT_EQ(run(right), "");
  odd.registers[0] = 60;
  expectFault(run(odd),
              "operand out of range: arrive at file:1:2: block (0, 0, 0), "
              "thread (0, 0, 0): expected 24 to 256 registers, a multiple "
              "of 8, but got 60");
  few.registers[1] = 16;
  expectFault(run(few), "but got 16");
}

static void setRegisters(NmSimThread *thread, void *arguments) {
  const auto *registers = static_cast<int32_t *>(arguments);
  int32_t tid = getThreadId(thread);
  if (int32_t count = registers[tid / 128])
    nmSimSetRegisters(thread, Arrive, count + 8 * (tid == registers[3]));
}

TEST(NamedBarriersTest, RegistersOfABlock) {
  std::vector<uint32_t> memory(1);
  auto ask = [&](std::vector<int32_t> registers) {
    registers.push_back(-1);
    return runKernel(setRegisters, registers.data(), 384, 0, memory);
  };
  EXPECT_EQ(ask({216, 216, 72}), "");
  EXPECT_EQ(ask({240, 240, 24}), "");
  EXPECT_NE(ask({216, 216, 80})
                .find("the block's warps ask for 65536 registers, but it has "
                      "at most 64512, 168 a thread: some have to ask for "
                      "fewer"),
            std::string::npos);
  // Who does not ask for fewer keeps what it has.
  EXPECT_NE(ask({216, 216, 0}).find("registers, but it has at most 64512"),
            std::string::npos);
  std::vector<int32_t> lanes{216, 216, 72, 5};
  EXPECT_NE(runKernel(setRegisters, lanes.data(), 384, 0, memory)
                .find("lanes of a warp ask for different numbers"),
            std::string::npos);
}

static void elect(NmSimThread *thread, void *arguments) {
  auto *memory = static_cast<uint32_t *>(arguments);
  int32_t tid = getThreadId(thread);
  if (tid < 3)
    return;
  bool isFirst = false;
  nmSimCollective(thread, Other, 32, -8, nmSimElect, nullptr, &isFirst);
  storeGlobal(thread, memory + tid, isFirst);
}

TEST(NamedBarriersTest, Elections) {
  std::vector<uint32_t> memory(32, 7), expected(32, 0);
  EXPECT_EQ(runKernel(elect, memory.data(), 32, 0, memory), "");
  expected[0] = expected[1] = expected[2] = 7;
  expected[3] = 1;
  EXPECT_EQ(memory, expected);
}

TEST(NamedBarriersTest, Permutations) {
  auto permute = [](int32_t selector) {
    return uint32_t(
        nmSimPermute(nullptr, 0, int32_t(0x83828180), 0x07060504, selector));
  };
  EXPECT_EQ(permute(0x3210), 0x83828180u);
  EXPECT_EQ(permute(0x0527), 0x80058207u);
  EXPECT_EQ(permute(0x4c08), 0x040080ffu);
}
