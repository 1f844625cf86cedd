//===- FiberTest.cpp - Stacks that take turns on one thread ---------------===//

#include "Fiber.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::sim;

namespace {
/// Fibers that write their name and leave, in turns.
struct Turns {
  Fiber main;
  std::vector<Fiber> fibers;
  std::string text;
};

struct Start {
  Turns *turns;
  size_t index;
};
} // namespace

static void writeThrice(void *argument) {
  auto &start = *static_cast<Start *>(argument);
  Turns &turns = *start.turns;
  double value = double(start.index);
  for (int i = 0; i < 3; ++i) {
    // A value that lives in a register across turns.
    value += std::sqrt(double(start.index + 1));
    turns.text += char('a' + start.index);
    // Aligned stores to the stack fault where it is not aligned.
    alignas(16) volatile char block[16];
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&block) % 16, 0u);
    Fiber::change(turns.fibers[start.index], turns.main);
  }
  double expected = double(start.index);
  for (int i = 0; i < 3; ++i)
    expected += std::sqrt(double(start.index + 1));
  turns.text += value == expected ? '.' : '!';
  Fiber::change(turns.fibers[start.index], turns.main);
}

TEST(FiberTest, KeepsWhatItHasAcrossTurns) {
  constexpr size_t kCount = 3;
  Result<Stacks> stacks = Stacks::create(kCount, 64 << 10);
  ASSERT_TRUE(stacks) << stacks.error().message;
  Turns turns;
  turns.fibers = std::vector<Fiber>(kCount);
  std::vector<Start> starts;
  for (size_t i = 0; i < kCount; ++i)
    starts.push_back({&turns, i});
  for (size_t i = 0; i < kCount; ++i)
    turns.fibers[i].start(stacks->low(i), stacks->high(i), writeThrice,
                          &starts[i]);
  for (int turn = 0; turn < 4; ++turn)
    for (Fiber &fiber : turns.fibers)
      Fiber::change(turns.main, fiber);
  EXPECT_EQ(turns.text, "abcabcabc...");
}

TEST(FiberTest, StacksAreApart) {
  Result<Stacks> stacks = Stacks::create(2, 10'000);
  ASSERT_TRUE(stacks) << stacks.error().message;
  EXPECT_GE(stacks->high(0) - stacks->low(0), 10'000);
  // A guard page.
  EXPECT_GE(stacks->low(1) - stacks->high(0), 4096);
  stacks->low(1)[0] = 1;
  stacks->high(0)[-1] = 1;
  EXPECT_DEATH(*static_cast<volatile char *>(stacks->high(0)) = 1, "");
}
