//===- WhatRanTest.cpp - Tests of which unit multiplied what --------------===//

#include "WhatRan.h"

#include <gtest/gtest.h>

using namespace nm;

static OpInfo opOf(const std::string &strategy, const std::string &reason = "",
                   bool fallsBack = false) {
  OpInfo op;
  op.strategy = strategy;
  op.reason = reason;
  op.fallsBack = fallsBack;
  return op;
}

static std::string textOf(const BenchCase &bench, const OpInfo &op,
                          bool onCpu = false) {
  WhatRan ran = whatRan(bench, op, onCpu);
  return std::string(unitName(ran.unit)) + ", " + ran.zeros(bench.pattern);
}

TEST(WhatRan, NamesUnitAndZeros) {
  const BenchCase half{{64, 64, 64}, {2, 4}}, quarter{{64, 64, 64}, {1, 4}};
  EXPECT_EQ(textOf(half, opOf("vector"), true), "cpu cores, skipped");
  EXPECT_EQ(textOf(half, opOf("simt")), "cuda cores, skipped");
  EXPECT_EQ(textOf(half, opOf("gemv")), "cuda cores, skipped");
  EXPECT_EQ(textOf(half, opOf("cublas", "", true)), "cublas, multiplied");
  EXPECT_EQ(textOf(half, opOf("wgmma_select")), "tensor cores, skipped");
  EXPECT_EQ(textOf(half, opOf("mma_bitmap")), "tensor cores, multiplied");
  // Dense weights in a kernel of nm.
  EXPECT_EQ(textOf(half, opOf("wgmma", "", true)), "tensor cores, multiplied");
  EXPECT_EQ(textOf(half, opOf("wgmma_sp")), "sparse tensor cores, skipped");
  EXPECT_EQ(textOf(quarter, opOf("mma_sp")), "sparse tensor cores, partly");
}

TEST(WhatRan, ReadsTheWiderPattern) {
  const BenchCase bench{{64, 64, 64}, {8, 32, 1, 32}};
  OpInfo op = opOf("wgmma", "cuBLAS takes 1 us; weights are taken to be 16:32, "
                            "block = 1x64, which is faster: 2 us");
  EXPECT_EQ(whatRan(bench, op, false).multiplied, 0.5);
  EXPECT_EQ(textOf(bench, op), "tensor cores, partly");
}

TEST(Intensity, IsThatOfTheTiles) {
  const BenchCase bench{{1024, 1024, 1024}, {8, 32, 1, 32}};
  OpInfo op = opOf("simt");
  op.schedule = "#nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, "
                "4], stages = 2, pack = false>";
  Intensity got = intensityOf(bench, op, whatRan(bench, op, false));
  // 32 multiply-adds for 12 numbers.
  EXPECT_NEAR(*got.ratio, 32.0 / 12, 1e-9);
  EXPECT_NEAR(*got.shared, 64.0 / 48, 1e-9);
  EXPECT_NEAR(*got.sharedByWarp, 2 * 64 * 32 / (96 * 4.0), 1e-9);
  EXPECT_NEAR(*got.registers, 1.0 / 6, 1e-9);
  // A row of 64 f32, and a quarter of 128 with a byte of index for each 32.
  double indices = double(bench.pattern.indexBits()) / 8 / 32;
  EXPECT_NEAR(*got.l2, 2 * 64 * 128 * 0.25 / (256 + 32 * (4 + indices)), 1e-9);
  op.schedule.replace(op.schedule.find("false"), 5, "true");
  EXPECT_GT(*intensityOf(bench, op, whatRan(bench, op, false)).l2, *got.l2);
  // gemv has no tiles.
  op = opOf("gemv");
  op.schedule = "#nm.gemv<columns = 4>";
  EXPECT_FALSE(intensityOf(bench, op, whatRan(bench, op, false)).l2);
}
