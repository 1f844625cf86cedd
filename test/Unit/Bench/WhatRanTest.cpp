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
