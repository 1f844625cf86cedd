//===- ElementTypeTest.cpp ------------------------------------------------===//

#include "nm/Format/ElementType.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace nm;

static double decode(ElementType type, uint64_t bits) {
  return loadAsDouble(&bits, type, 0);
}

static uint64_t encode(ElementType type, double value) {
  uint64_t bits = 0;
  storeFromDouble(&bits, type, 0, value);
  return bits;
}

/// The value of a small float by its definition, with pow instead of shifts.
static double valueOf(uint32_t bits, int exponentBits, int mantissaBits,
                      bool hasInfinity) {
  double sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  int exponent = bits >> mantissaBits & ((1 << exponentBits) - 1);
  int mantissa = bits & ((1 << mantissaBits) - 1);
  int bias = (1 << (exponentBits - 1)) - 1;
  bool top = exponent == (1 << exponentBits) - 1;
  if (top && hasInfinity)
    return mantissa ? NAN : sign * INFINITY;
  if (top && mantissa == (1 << mantissaBits) - 1)
    return NAN;
  double fraction = mantissa / std::pow(2.0, mantissaBits);
  if (exponent == 0)
    return sign * fraction * std::pow(2.0, 1 - bias);
  return sign * (1 + fraction) * std::pow(2.0, exponent - bias);
}

namespace {
struct Format {
  ElementType type;
  int exponentBits;
  int mantissaBits;
  bool hasInfinity;

  uint32_t patterns() const { return 2u << (exponentBits + mantissaBits); }
  double value(uint32_t bits) const {
    return valueOf(bits, exponentBits, mantissaBits, hasInfinity);
  }
};
} // namespace

static constexpr Format kFormats[] = {{ElementType::F16, 5, 10, true},
                                      {ElementType::BF16, 8, 7, true},
                                      {ElementType::F8E4M3, 4, 3, false},
                                      {ElementType::F8E5M2, 5, 2, true}};

TEST(ElementType, NamesAndSizes) {
  struct Case {
    ElementType type;
    const char *name;
    int64_t size;
    bool isFloat;
  };
  for (Case c : {Case{ElementType::F64, "f64", 8, true},
                 Case{ElementType::F32, "f32", 4, true},
                 Case{ElementType::F16, "f16", 2, true},
                 Case{ElementType::BF16, "bf16", 2, true},
                 Case{ElementType::F8E4M3, "f8E4M3FN", 1, true},
                 Case{ElementType::F8E5M2, "f8E5M2", 1, true},
                 Case{ElementType::I64, "i64", 8, false},
                 Case{ElementType::I32, "i32", 4, false},
                 Case{ElementType::I8, "i8", 1, false}}) {
    EXPECT_EQ(elementName(c.type), c.name);
    EXPECT_EQ(parseElementType(c.name), c.type);
    EXPECT_EQ(elementSize(c.type), c.size);
    EXPECT_EQ(isFloat(c.type), c.isFloat);
    EXPECT_EQ(isFloat8(c.type), c.isFloat && c.size == 1);
  }
  EXPECT_EQ(parseElementType("f33"), std::nullopt);
  EXPECT_EQ(parseElementType(""), std::nullopt);
}

TEST(ElementType, DecodesEveryBitPattern) {
  for (const Format &format : kFormats)
    for (uint32_t bits = 0; bits < format.patterns(); ++bits) {
      double expected = format.value(bits), got = decode(format.type, bits);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << elementName(format.type) << bits;
        continue;
      }
      ASSERT_EQ(got, expected) << elementName(format.type) << " " << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(expected));
    }
}

TEST(ElementType, EncodesEveryValueItDecodes) {
  for (const Format &format : kFormats)
    for (uint32_t bits = 0; bits < format.patterns(); ++bits) {
      double value = format.value(bits);
      if (std::isnan(value))
        EXPECT_TRUE(
            std::isnan(decode(format.type, encode(format.type, value))));
      else
        ASSERT_EQ(encode(format.type, value), bits)
            << elementName(format.type) << " " << value;
    }
}

// Between two neighbours a value goes to the nearer, and the middle to the one
// whose last bit is 0.
TEST(ElementType, RoundsToNearestEven) {
  for (const Format &format : kFormats) {
    uint32_t positive = format.patterns() / 2;
    for (uint32_t bits = 0; bits + 1 < positive; ++bits) {
      double low = format.value(bits), high = format.value(bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        continue;
      double middle = low + (high - low) / 2;
      uint32_t even = bits % 2 == 0 ? bits : bits + 1;
      for (double sign : {1.0, -1.0}) {
        uint32_t signBit = sign < 0 ? positive : 0;
        ASSERT_EQ(encode(format.type, sign * middle), signBit | even) << low;
        ASSERT_EQ(encode(format.type, sign * std::nextafter(middle, low)),
                  signBit | bits);
        ASSERT_EQ(encode(format.type, sign * std::nextafter(middle, high)),
                  signBit | (bits + 1));
      }
    }
  }
}

TEST(ElementType, OverflowsToInfinityOrNaN) {
  EXPECT_EQ(encode(ElementType::F16, 65519.9), 0x7bffu);
  EXPECT_EQ(encode(ElementType::F16, 65520), 0x7c00u);
  EXPECT_EQ(encode(ElementType::F16, -1e300), 0xfc00u);
  EXPECT_EQ(encode(ElementType::BF16, 3.4e38), 0x7f80u);
  EXPECT_EQ(encode(ElementType::BF16, INFINITY), 0x7f80u);
  // e4m3fn has no infinity.
  EXPECT_EQ(encode(ElementType::F8E4M3, 464), 0x7eu);
  EXPECT_EQ(encode(ElementType::F8E4M3, 464.1), 0x7fu);
  EXPECT_EQ(encode(ElementType::F8E4M3, -INFINITY), 0xffu);
  EXPECT_EQ(encode(ElementType::F8E5M2, 61439.9), 0x7bu);
  EXPECT_EQ(encode(ElementType::F8E5M2, 61440), 0x7cu);
  EXPECT_EQ(encode(ElementType::F8E5M2, -INFINITY), 0xfcu);
}

TEST(ElementType, E5M2IsTheUpperByteOfAnF16) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    double narrow = decode(ElementType::F8E5M2, bits),
           wide = decode(ElementType::F16, bits << 8);
    EXPECT_TRUE(narrow == wide || (std::isnan(narrow) && std::isnan(wide)))
        << bits;
  }
}

TEST(ElementType, UnderflowsToSignedZero) {
  for (const Format &format : kFormats) {
    uint32_t sign = format.patterns() / 2;
    EXPECT_EQ(encode(format.type, 1e-300), 0u);
    EXPECT_EQ(encode(format.type, -1e-300), sign);
    EXPECT_EQ(encode(format.type, 5e-324), 0u);
    EXPECT_EQ(encode(format.type, -0.0), sign);
  }
}

#ifdef __FLT16_MAX__
TEST(ElementType, AgreesWithTheCompilersHalf) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000000; ++i) {
    // Doubles of every magnitude that f16 tells apart.
    double value =
        std::ldexp(double(int64_t(random())), int(random() % 48) - 92);
    auto half = static_cast<_Float16>(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof(bits));
    ASSERT_EQ(encode(ElementType::F16, value), bits) << value;
    ASSERT_EQ(decode(ElementType::F16, bits), static_cast<double>(half));
  }
}
#endif

// bf16 is the upper half of an f32: rounding is an addition to its bits.
TEST(ElementType, AgreesWithTheBitsOfFloat) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isnan(value))
      continue;
    uint32_t expected = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    ASSERT_EQ(encode(ElementType::BF16, value), expected) << value;
  }
}

TEST(ElementType, IntegersRoundAndSaturate) {
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, 2.5)), 2);
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, -3.5)), -4);
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, 127.4)), 127);
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, 128)), 127);
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, 300)), 127);
  EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, -300)), -128);
  for (int i = -128; i <= 127; ++i)
    EXPECT_EQ(decode(ElementType::I8, encode(ElementType::I8, i)), i);
  EXPECT_EQ(decode(ElementType::I32, encode(ElementType::I32, 1e30)),
            2147483647.0);
  EXPECT_EQ(decode(ElementType::I32, encode(ElementType::I32, -1e30)),
            -2147483648.0);
  EXPECT_EQ(int64_t(encode(ElementType::I64, 1e30)),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(int64_t(encode(ElementType::I64, -1e30)),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(decode(ElementType::I64, encode(ElementType::I64, -5)), -5);
}
