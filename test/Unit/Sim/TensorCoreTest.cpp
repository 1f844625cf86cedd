//===- TensorCoreTest.cpp - Products of matrices in registers -------------===//

#include "TensorCore.h"

#include "nm/Format/MmaFragments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace nm;
using namespace nm::sim;

/// The bits of a small integer as an element.
static uint32_t encode(NmSimElement type, int value) {
  for (uint32_t bits = 0; bits < 256; ++bits)
    if (getBits(type) == 8 && decodeElement(type, bits) == value)
      return bits;
  auto asFloat = float(value);
  uint32_t bits;
  std::memcpy(&bits, &asFloat, sizeof bits);
  if (type == NM_SIM_TF32)
    return bits;
  if (type == NM_SIM_BF16)
    return bits >> 16;
  for (uint32_t half = 0; half < 0x10000; ++half)
    if (decodeElement(NM_SIM_F16, half) == value)
      return half;
  ADD_FAILURE() << value;
  return 0;
}

static uint32_t encodeSum(bool isInteger, int value) {
  return isInteger ? uint32_t(value) : encode(NM_SIM_TF32, value);
}

namespace {
/// A product of small random integers, which every type has exactly.
struct Product {
  Product(NmSimElement type, int k, bool isSparse, int selector = 0);
  void run();
  int expected(FragmentOffset place) const;
  void expectRight();

  MmaShape shape;
  NmSimElement type;
  std::mt19937 random{1};
  int a[16][128] = {}, b[128][8], c[16][8];
  NmSimMultiply operands[32] = {};
  uint32_t results[32][4] = {};
  NmSimCollective lanes = {};

private:
  int draw() {
    return std::uniform_int_distribution<int>(type == NM_SIM_U8 ? 0 : -4,
                                              4)(random);
  }
  void put(uint32_t &word, int i, int value) {
    word |= encode(type, value) << i * shape.bits;
  }
  int keep(int row, int stored, int selector);
};
} // namespace

/// Draws which columns a group keeps, at its first element; returns the column.
int Product::keep(int row, int stored, int selector) {
  if (!shape.isSparse)
    return stored;
  int group = stored / shape.storedPerGroup();
  MmaMetadataOffset place = getMmaMetadataOffset(shape, row, group, selector);
  uint32_t &word =
      operands[place.lane].words[shape.aRegisters() + shape.bRegisters() + 4];
  if (shape.bits == 32) {
    int column = int(random() % 2);
    word |= uint32_t(encodeMmaSingle(column)) << 4 * place.nibble;
    return 2 * group + column;
  }
  // A pair that depends on where it is, so that neighbours differ.
  static const int kPairs[][2] = {{0, 1}, {0, 2}, {0, 3},
                                  {1, 2}, {1, 3}, {2, 3}};
  const int *pair = kPairs[(5 * row + group) % 6];
  word |= uint32_t(encodeMmaPair(pair[0], pair[1]) << 4 * place.nibble) &
          15u << 4 * place.nibble;
  return 4 * group + pair[stored % 2];
}

Product::Product(NmSimElement type, int k, bool isSparse, int selector)
    : shape{k, getBits(type), isSparse}, type(type) {
  int first = shape.aRegisters(), sums = first + shape.bRegisters();
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < first; ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.aOffset(lane, r, i);
        int &element = a[place.row][keep(place.row, place.column, selector)];
        put(operands[lane].words[r], i, element = draw());
      }
    for (int r = 0; r < shape.bRegisters(); ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.bOffset(lane, r, i);
        put(operands[lane].words[first + r], i,
            b[place.row][place.column] = draw());
      }
    for (int i = 0; i < 4; ++i) {
      FragmentOffset place = getMmaSumOffset(lane, i);
      operands[lane].words[sums + i] =
          encodeSum(isInteger(type), c[place.row][place.column] = draw());
    }
    operands[lane].a = operands[lane].b = type;
    operands[lane].k = k;
    operands[lane].isSparse = isSparse;
    if (isSparse)
      operands[lane].words[sums + 5] = uint32_t(selector);
  }
}

void Product::run() {
  lanes.width = 32;
  for (int lane = 0; lane < 32; ++lane) {
    lanes.operands[lane] = &operands[lane];
    lanes.results[lane] = results[lane];
  }
  nmSimMultiplyMatrices(&lanes);
}

int Product::expected(FragmentOffset place) const {
  int sum = c[place.row][place.column];
  for (int k = 0; k < shape.k; ++k)
    sum += a[place.row][k] * b[k][place.column];
  return sum;
}

void Product::expectRight() {
  run();
  ASSERT_EQ(lanes.fault, nullptr);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(results[lane][i],
                encodeSum(isInteger(type), expected(getMmaSumOffset(lane, i))))
          << "type " << type << ", k " << shape.k << ", lane " << lane;
}

static int getWidest(NmSimElement type) { return 256 / getBits(type); }
static constexpr NmSimElement kTypes[] = {NM_SIM_F16,  NM_SIM_BF16, NM_SIM_TF32,
                                          NM_SIM_E4M3, NM_SIM_E5M2, NM_SIM_S8,
                                          NM_SIM_U8};

TEST(TensorCoreTest, DenseProducts) {
  for (NmSimElement type : kTypes)
    for (int k : {getWidest(type) / 2, getWidest(type)})
      Product(type, k, /*isSparse=*/false).expectRight();
}

TEST(TensorCoreTest, SparseProducts) {
  for (NmSimElement type : kTypes)
    for (int k : {getWidest(type), 2 * getWidest(type)})
      for (int selector = 0;
           selector < MmaShape{k, getBits(type), true}.selectors(); ++selector)
        Product(type, k, /*isSparse=*/true, selector).expectRight();
}

TEST(TensorCoreTest, MetadataOutOfOrder) {
  Product pairs(NM_SIM_F16, 32, /*isSparse=*/true);
  pairs.operands[0].words[12] = 0b0001 | (pairs.operands[0].words[12] & ~15u);
  pairs.run();
  EXPECT_STREQ(pairs.lanes.fault, "expected metadata to name two columns of "
                                  "each four, the lower one first");
  Product singles(NM_SIM_TF32, 16, /*isSparse=*/true);
  singles.operands[0].words[12] ^= 1;
  singles.run();
  EXPECT_STREQ(singles.lanes.fault, "expected metadata of tf32 to be 0b0100 or "
                                    "0b1110 for each two columns");
}

TEST(TensorCoreTest, BadSelectorsAndMissingLanes) {
  Product product(NM_SIM_F16, 32, /*isSparse=*/true);
  product.operands[0].words[13] = 2;
  product.run();
  ASSERT_NE(product.lanes.fault, nullptr);
  NmSimCollective none = {};
  nmSimMultiplyMatrices(&none);
  EXPECT_STREQ(none.fault, "expected all 32 lanes of a warp to take part");
}

TEST(TensorCoreTest, IntegersWrapAroundOrSaturate) {
  for (bool saturates : {false, true}) {
    Product product(NM_SIM_S8, 32, /*isSparse=*/false);
    for (NmSimMultiply &lane : product.operands) {
      lane.saturates = saturates;
      for (int i = 0; i < 6; ++i)
        lane.words[i] = 0x01010101;
      lane.words[6] = 0x7ffffff0;
    }
    product.run();
    EXPECT_EQ(product.results[0][0], saturates ? 0x7fffffffu : 0x80000010u);
  }
}

/// The first sum of a product of e4m3 or e5m2 whose first row of A is `a`,
/// twos, and whose first column of B is `b`, ones, where A keeps the first two
/// of each four columns.
static float multiplyFirst(NmSimElement type, uint8_t a, uint8_t b,
                           float start = 0) {
  uint32_t two = encode(type, 2), one = encode(type, 1);
  Product product(type, 64, /*isSparse=*/true);
  uint32_t bits;
  std::memcpy(&bits, &start, sizeof bits);
  for (NmSimMultiply &lane : product.operands) {
    for (int r = 0; r < 8; ++r)
      lane.words[r] = (r < 4 ? two : one) * 0x01010101u;
    for (int i = 0; i < 4; ++i)
      lane.words[8 + i] = bits;
    lane.words[12] = 0x44444444;
  }
  // Lane 0 has the first elements of row 0 of A, and of column 0 of B.
  uint32_t *words = product.operands[0].words;
  words[0] = (words[0] & ~0xffu) | a;
  words[4] = (words[4] & ~0xffu) | b;
  product.run();
  EXPECT_EQ(product.lanes.fault, nullptr);
  float sum;
  std::memcpy(&sum, &product.results[0][0], sizeof sum);
  return sum;
}

TEST(TensorCoreTest, SpecialValuesOf8Bits) {
  constexpr uint8_t kInfinity = 0x7c, kNaN = 0x7f, kMinusOneE5 = 0xbc,
                    kOneE5 = 0x3c, kOneE4 = 0x38;
  EXPECT_EQ(multiplyFirst(NM_SIM_E5M2, kOneE5, kOneE5, 0.5f), 63.5f);
  EXPECT_EQ(multiplyFirst(NM_SIM_E5M2, kInfinity, kOneE5), INFINITY);
  EXPECT_EQ(multiplyFirst(NM_SIM_E5M2, kOneE5, kInfinity), INFINITY);
  EXPECT_EQ(multiplyFirst(NM_SIM_E5M2, kMinusOneE5, kInfinity), -INFINITY);
  EXPECT_TRUE(std::isnan(multiplyFirst(NM_SIM_E5M2, 0, kInfinity)));
  EXPECT_TRUE(std::isnan(multiplyFirst(NM_SIM_E5M2, kNaN, kOneE5)));
  EXPECT_TRUE(
      std::isnan(multiplyFirst(NM_SIM_E5M2, kInfinity, kOneE5, -INFINITY)));
  // What e5m2 has for infinity is a number of e4m3.
  EXPECT_EQ(multiplyFirst(NM_SIM_E4M3, kOneE4, kInfinity, 0.5f), 446.5f);
  EXPECT_TRUE(std::isnan(multiplyFirst(NM_SIM_E4M3, kOneE4, kNaN)));
  EXPECT_TRUE(std::isnan(multiplyFirst(NM_SIM_E4M3, kNaN, 0)));
}

TEST(TensorCoreTest, Elements) {
  EXPECT_EQ(decodeElement(NM_SIM_F16, 0x3c00), 1.0);
  EXPECT_EQ(decodeElement(NM_SIM_F16, 0x8001), -std::ldexp(1.0, -24));
  EXPECT_EQ(decodeElement(NM_SIM_F16, 0x7bff), 65504.0);
  EXPECT_TRUE(std::isinf(decodeElement(NM_SIM_F16, 0x7c00)));
  EXPECT_TRUE(std::isnan(decodeElement(NM_SIM_F16, 0x7c01)));
  EXPECT_EQ(decodeElement(NM_SIM_BF16, 0xbf80), -1.0);
  EXPECT_EQ(decodeElement(NM_SIM_TF32, 0x3f801fff), 1.0);
  EXPECT_EQ(decodeElement(NM_SIM_E4M3, 0x7e), 448.0);
  EXPECT_EQ(decodeElement(NM_SIM_E4M3, 0x01), std::ldexp(1.0, -9));
  EXPECT_TRUE(std::isnan(decodeElement(NM_SIM_E4M3, 0xff)));
  EXPECT_EQ(decodeElement(NM_SIM_E5M2, 0x7b), 57344.0);
  EXPECT_TRUE(std::isinf(decodeElement(NM_SIM_E5M2, 0xfc)));
  EXPECT_EQ(decodeElement(NM_SIM_S8, 0x80), -128.0);
  EXPECT_EQ(decodeElement(NM_SIM_U8, 0x80), 128.0);
}

TEST(TensorCoreTest, SumsAreTruncated) {
  double most = std::numeric_limits<float>::max();
  EXPECT_EQ(truncateSum(1 + std::ldexp(1.0, -23)), 1 + std::ldexp(1.0f, -23));
  EXPECT_EQ(truncateSum(1 + std::ldexp(1.9, -23)), 1 + std::ldexp(1.0f, -23));
  EXPECT_EQ(truncateSum(-1 - std::ldexp(1.9, -23)), -1 - std::ldexp(1.0f, -23));
  EXPECT_EQ(truncateSum(most), std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isinf(truncateSum(2 * most)));
  EXPECT_TRUE(std::isnan(truncateSum(std::nan(""))));
}
