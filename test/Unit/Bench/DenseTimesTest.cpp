//===- DenseTimesTest.cpp - Tests of whether measurements repeat ----------===//

#include "DenseTimes.h"
#include "BenchReport.h"

#include <gtest/gtest.h>

using namespace nm;

TEST(DenseTimes, AgreeWithTheLeastOfTheShape) {
  DenseTimes times;
  ProductShape shape{256, 4096, 4096}, other{1, 4096, 4096};
  EXPECT_FALSE(times.add(shape, 65e-3)) << "nothing to agree with yet";
  EXPECT_FALSE(times.add(other, 2e-3));
  EXPECT_TRUE(times.add(shape, 45e-3));
  EXPECT_TRUE(times.add(shape, 44e-3));
  EXPECT_FALSE(times.add(shape, 65e-3));
  EXPECT_TRUE(times.add(other, 2.1e-3));
}

TEST(DenseTimes, ADisturbedCaseHasNoSpeedUp) {
  CaseResult result;
  result.timings = Timings::of({1e-3});
  result.dense = LibraryResult{Timings::of({2e-3}), 0, "gemm"};
  EXPECT_EQ(result.speedup(), 2);
  result.isDisturbed = true;
  EXPECT_EQ(result.speedup(), 0);
}
