//===- CheckTest.cpp - Comparing results with the reference ---------------===//

#include "Check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace nm;

static Difference compare(std::vector<float> result,
                          std::vector<double> reference) {
  Shape shape{int64_t(result.size())};
  return compareTensors(Tensor(result.data(), ElementType::F32, shape),
                        Tensor(reference.data(), ElementType::F64, shape));
}

TEST(Check, RelativeError) {
  EXPECT_EQ(compare({1, 2}, {1, 2}).relativeError, 0);
  EXPECT_EQ(compare({0, 0}, {0, 0}).relativeError, 0);
  EXPECT_EQ(compare({}, {}).relativeError, 0);
  Difference difference = compare({3, 4.5, 0}, {3, 4, 0});
  EXPECT_DOUBLE_EQ(difference.relativeError, 0.1);
  EXPECT_EQ(difference.error, 0.5);
  EXPECT_EQ(difference.norm, 5);
  EXPECT_EQ(difference.worst, 1);
  EXPECT_EQ(difference.worstGot, 4.5);
  EXPECT_EQ(difference.worstExpected, 4);
  EXPECT_TRUE(std::isinf(compare({1}, {0}).relativeError));
}

TEST(Check, WhatIsNotFiniteIsTheSame) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      compare({nan, infinity, -infinity, 4}, {nan, infinity, -infinity, 4})
          .relativeError,
      0);
  EXPECT_EQ(compare({nan}, {nan}).relativeError, 0);
  // Too large for f32.
  EXPECT_EQ(compare({infinity, 1}, {1e200, 1}).relativeError, 0);
  // Others count as without them.
  Difference difference = compare({nan, 3, 4.5}, {nan, 3, 4});
  EXPECT_DOUBLE_EQ(difference.relativeError, 0.1);
  EXPECT_EQ(difference.norm, 5);
}

TEST(Check, OneThatIsNotFiniteNeverPasses) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  float infinity = std::numeric_limits<float>::infinity();
  for (auto [got, expected] : {std::pair<float, double>{nan, 1},
                               {1, nan},
                               {nan, infinity},
                               {infinity, -infinity},
                               {infinity, 1},
                               {1, infinity}}) {
    Difference difference = compare({1, got}, {1, expected});
    EXPECT_FALSE(difference.relativeError <= 1e30) << got << " " << expected;
    EXPECT_EQ(difference.worst, 1);
  }
}

TEST(Check, Tolerances) {
  EXPECT_EQ(defaultTolerance(ElementType::F32), 1e-5);
  EXPECT_EQ(defaultTolerance(ElementType::F16), 2e-3);
  EXPECT_EQ(defaultTolerance(ElementType::BF16), 1e-2);
  EXPECT_EQ(defaultTolerance(ElementType::I32), 0);
}
