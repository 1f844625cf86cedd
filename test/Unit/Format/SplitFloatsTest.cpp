//===- SplitFloatsTest.cpp - f32 as a sum of bf16 splits ------------------===//

#include "nm/Format/SplitFloats.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace nm;

static double toDouble(uint16_t bits) {
  return double(nm::detail::fromBF16(bits));
}

/// What the splits add up to, without rounding, in units of the value.
static double sumSplits(float value, int64_t splits) {
  auto parts = splitFloat(value, splits);
  double sum = 0;
  for (int64_t split = 0; split < splits; ++split)
    sum += toDouble(parts[split]);
  return sum / double(kSplitScale);
}

static float join(float value, int64_t splits) {
  return joinFloat(splitFloat(value, splits).data(), splits);
}

/// Calls `fn` with values of all exponents below huge ones, with mantissas that
/// have few bits, many, and all.
template <typename Fn>
static void forEachValue(Fn fn) {
  std::mt19937 random(1);
  for (uint32_t exponent = 0; exponent < 127 + 44; ++exponent)
    for (int i = 0; i < 200; ++i) {
      uint32_t mantissa = i == 0   ? 0
                          : i == 1 ? 1
                          : i == 2 ? 0x7fffff
                          : i == 3 ? 0x7f8000
                                   : random() & 0x7fffff;
      for (uint32_t sign : {0u, 1u})
        fn(nm::detail::fromBits(sign << 31 | exponent << 23 | mantissa));
    }
}

TEST(SplitFloats, ThreeAreTheValue) {
  forEachValue([](float value) {
    ASSERT_EQ(sumSplits(value, 3), double(value)) << value;
    ASSERT_EQ(join(value, 3), value) << value;
  });
}

TEST(SplitFloats, TwoAreClose) {
  forEachValue([](float value) {
    double error = std::fabs(sumSplits(value, 2) - double(value));
    // Below 2^-133 bf16 ends, which is 2^-149 of the value.
    ASSERT_LE(error, std::fabs(double(value)) * 0x1p-17) << value;
    ASSERT_LE(std::fabs(double(join(value, 2)) - double(value)),
              std::fabs(double(value)) * 0x1p-17 + 0x1p-149)
        << value;
  });
}

TEST(SplitFloats, SplitsAreFiniteAndDecrease) {
  forEachValue([](float value) {
    auto splits = splitFloat(value, 3);
    double first = std::fabs(toDouble(splits[0])),
           second = std::fabs(toDouble(splits[1])),
           third = std::fabs(toDouble(splits[2]));
    ASSERT_TRUE(std::isfinite(first)) << value;
    ASSERT_LE(second, first * 0x1p-8) << value;
    ASSERT_LE(third, first * 0x1p-16) << value;
  });
}

TEST(SplitFloats, SubnormalsAreExact) {
  for (float value : {0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f,
                      0x1.000002p-126f, 0x1.fffffep-117f}) {
    EXPECT_EQ(sumSplits(value, 3), double(value));
    EXPECT_EQ(join(value, 3), value);
  }
}

TEST(SplitFloats, HugeValuesAreTold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float value : {0x1p44f, -0x1p44f, 0x1.fffffep127f, -0x1.fffffep127f,
                      0x1.ff0002p127f, kInfinity, -kInfinity}) {
    EXPECT_TRUE(std::isnan(toDouble(splitFloat(value, 3)[0]))) << value;
    EXPECT_TRUE(std::isnan(toDouble(splitFloat(value, 2)[0]))) << value;
    EXPECT_EQ(join(value, 3), value);
    float close = join(value, 2);
    EXPECT_TRUE(close == value ||
                std::fabs(close - value) <= std::fabs(value) * 0x1p-7f)
        << value;
  }
  EXPECT_TRUE(std::isfinite(toDouble(splitFloat(0x1.fffffep43f, 3)[0])));
}

TEST(SplitFloats, NaNsStayNaNs) {
  // One whose upper half is that of an infinity.
  for (uint32_t bits : {0x7fc00000u, 0xffc12345u, 0x7f800001u, 0x7fffffffu})
    for (int64_t splits : {2, 3}) {
      float value = nm::detail::fromBits(bits);
      EXPECT_TRUE(std::isnan(toDouble(splitFloat(value, splits)[0])));
      EXPECT_TRUE(std::isnan(join(value, splits))) << bits;
    }
}

TEST(SplitFloats, ZerosKeepTheirSign) {
  EXPECT_EQ(splitFloat(0.0f, 3)[0], 0);
  EXPECT_EQ(splitFloat(-0.0f, 3)[0], 0x8000);
  EXPECT_EQ(join(-0.0f, 3), 0.0f);
}

/// Sums of a tile: neither a product of split floats nor 2^7 of them overflow.
TEST(SplitFloats, SumsOfProductsStayFinite) {
  float largest = std::nextafter(kHuge, 0.0f);
  double split = toDouble(splitFloat(largest, 3)[0]);
  EXPECT_LT(split * split * 0x1p7, double(std::numeric_limits<float>::max()));
}
