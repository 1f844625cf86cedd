//===- SplitTermsTest.cpp - f32 as a sum of bf16 terms --------------------===//

#include "nm/Format/SplitTerms.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace nm;

static double toDouble(uint16_t bits) {
  return double(nm::detail::fromBF16(bits));
}

/// What the terms add up to, without rounding, in units of the value.
static double sumTerms(float value, int64_t terms) {
  auto split = splitTerms(value, terms);
  double sum = 0;
  for (int64_t term = 0; term < terms; ++term)
    sum += toDouble(split[term]);
  return sum / double(kTermScale);
}

static float join(float value, int64_t terms) {
  return joinTerms(splitTerms(value, terms).data(), terms);
}

/// Of all exponents below huge ones, with mantissas that have few bits, many,
/// and all.
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

TEST(SplitTerms, ThreeAreTheValue) {
  forEachValue([](float value) {
    ASSERT_EQ(sumTerms(value, 3), double(value)) << value;
    ASSERT_EQ(join(value, 3), value) << value;
  });
}

TEST(SplitTerms, TwoAreClose) {
  forEachValue([](float value) {
    double error = std::fabs(sumTerms(value, 2) - double(value));
    // Below 2^-133 bf16 ends, which is 2^-149 of the value.
    ASSERT_LE(error, std::fabs(double(value)) * 0x1p-17) << value;
    ASSERT_LE(std::fabs(double(join(value, 2)) - double(value)),
              std::fabs(double(value)) * 0x1p-17 + 0x1p-149)
        << value;
  });
}

TEST(SplitTerms, TermsAreFiniteAndDecrease) {
  forEachValue([](float value) {
    auto terms = splitTerms(value, 3);
    double first = std::fabs(toDouble(terms[0])),
           second = std::fabs(toDouble(terms[1])),
           third = std::fabs(toDouble(terms[2]));
    ASSERT_TRUE(std::isfinite(first)) << value;
    ASSERT_LE(second, first * 0x1p-8) << value;
    ASSERT_LE(third, first * 0x1p-16) << value;
  });
}

TEST(SplitTerms, SubnormalsAreExact) {
  for (float value : {0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f,
                      0x1.000002p-126f, 0x1.fffffep-117f}) {
    EXPECT_EQ(sumTerms(value, 3), double(value));
    EXPECT_EQ(join(value, 3), value);
  }
}

TEST(SplitTerms, HugeValuesAreTold) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float value : {0x1p44f, -0x1p44f, 0x1.fffffep127f, -0x1.fffffep127f,
                      0x1.ff0002p127f, kInfinity, -kInfinity}) {
    EXPECT_TRUE(std::isnan(toDouble(splitTerms(value, 3)[0]))) << value;
    EXPECT_TRUE(std::isnan(toDouble(splitTerms(value, 2)[0]))) << value;
    EXPECT_EQ(join(value, 3), value);
    float close = join(value, 2);
    EXPECT_TRUE(close == value ||
                std::fabs(close - value) <= std::fabs(value) * 0x1p-7f)
        << value;
  }
  EXPECT_TRUE(std::isfinite(toDouble(splitTerms(0x1.fffffep43f, 3)[0])));
}

TEST(SplitTerms, NaNsStayNaNs) {
  // One whose upper half is that of an infinity.
  for (uint32_t bits : {0x7fc00000u, 0xffc12345u, 0x7f800001u, 0x7fffffffu})
    for (int64_t terms : {2, 3}) {
      float value = nm::detail::fromBits(bits);
      EXPECT_TRUE(std::isnan(toDouble(splitTerms(value, terms)[0])));
      EXPECT_TRUE(std::isnan(join(value, terms))) << bits;
    }
}

TEST(SplitTerms, ZerosKeepTheirSign) {
  EXPECT_EQ(splitTerms(0.0f, 3)[0], 0);
  EXPECT_EQ(splitTerms(-0.0f, 3)[0], 0x8000);
  EXPECT_EQ(join(-0.0f, 3), 0.0f);
}

/// Sums of a tile: neither a product of terms nor 2^7 of them overflow.
TEST(SplitTerms, SumsOfProductsStayFinite) {
  float largest = std::nextafter(kHuge, 0.0f);
  double term = toDouble(splitTerms(largest, 3)[0]);
  EXPECT_LT(term * term * 0x1p7, double(std::numeric_limits<float>::max()));
}
