//===- RandomTest.cpp - Arguments drawn at random -------------------------===//

#include "Random.h"

#include "nm-c/Runtime.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace nm;

TEST(Random, NumbersAndIntegersStayInRange) {
  float numbers[1000];
  int8_t integers[1000];
  fillRandom(Tensor(numbers, ElementType::F32, {1000}), 1);
  fillRandom(Tensor(integers, ElementType::I8, {1000}), 1);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_GE(numbers[i], -1);
    EXPECT_LE(numbers[i], 1);
    EXPECT_GE(integers[i], -8);
    EXPECT_LT(integers[i], 8);
    sum += numbers[i];
  }
  EXPECT_LT(std::abs(sum), 100);
}

TEST(Random, DependsOnTheSeedAndNotOnTheThreads) {
  std::vector<float> one(100000), two(100000), other(100000);
  Shape shape{100000};
  nmSetNumThreads(1);
  fillRandom(Tensor(one.data(), ElementType::F32, shape), 3);
  nmSetNumThreads(4);
  fillRandom(Tensor(two.data(), ElementType::F32, shape), 3);
  fillRandom(Tensor(other.data(), ElementType::F32, shape), 4);
  nmSetNumThreads(0);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, other);
}

TEST(Random, WeightsObeyEveryPatternWithRaggedEnds) {
  for (Pattern pattern :
       {Pattern{2, 4, 1, 1}, Pattern{1, 1, 1, 1}, Pattern{4, 4, 1, 1},
        Pattern{8, 32, 1, 32}, Pattern{1, 3, 2, 5}, Pattern{7, 256, 1, 1},
        Pattern{3, 5, 4, 4}})
    for (int64_t k : {1, 7, 64, 97})
      for (int64_t n : {1, 33})
        for (int64_t dim : {0, 1}) {
          TensorType type{ElementType::F32,
                          dim == 0 ? Shape{k, n} : Shape{n, k},
                          Encoding{pattern, dim}};
          Result<Weight> weight = randomWeight(type, 11);
          ASSERT_TRUE(weight) << weight.error().message;
          EXPECT_TRUE(verifyWeight(type, *weight, "w")) << type.str();
          // The dense tensor gives the weight back: it obeys the pattern, and
          // nothing lies in its padding.
          auto dense = Buffer::allocate(ElementType::F32, type.shape);
          ASSERT_TRUE(decompressWeight(type, *weight, dense->tensor()));
          auto again = compressWeight(type, dense->tensor(), "w");
          ASSERT_TRUE(again) << type.str() << again.error().message;
          EXPECT_EQ(std::memcmp(again->values.data, weight->values.data,
                                weight->values.bytes()),
                    0)
              << type.str();
          EXPECT_EQ(std::memcmp(again->indices.data, weight->indices.data,
                                weight->indices.bytes()),
                    0)
              << type.str();
        }
}
