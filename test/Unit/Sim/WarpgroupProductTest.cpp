//===- WarpgroupProductTest.cpp - What wgmma computes ---------------------===//

#include "WarpgroupProduct.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <utility>

using namespace nm;
using namespace nm::sim;

namespace {
/// How an operand is held.
struct Holding {
  bool isMNMajor = false;
  MatrixSwizzle swizzle = MatrixSwizzle::None;
  bool isInRegisters = false;
};

/// A product of small random integers, which every type has exactly.
class Product {
public:
  Product(NmSimElement type, int n, bool isSparse = false,
          uint32_t selector = 0);

  void putA(const Holding &holding);
  void putB(const Holding &holding);
  void expectRight();
  std::string check() { return WarpgroupProduct(lanes).check(); }
  const char *run() {
    return WarpgroupProduct(lanes).run(memory.data(), memory.size());
  }

  MmaShape shape;
  NmSimElement type;
  int n;
  std::mt19937 random{1};
  /// A as it is stored, and the column that each stored element is of.
  int a[64][128], columns[64][128], b[256][256], c[64][256];
  std::vector<char> memory = std::vector<char>(size_t(1) << 17, char(0xff));
  NmSimWarpgroupProduct operands[128] = {};
  uint32_t results[128][128] = {};
  NmSimCollective lanes = {};

private:
  int draw() {
    return std::uniform_int_distribution<int>(type == NM_SIM_U8 ? 0 : -4,
                                              4)(random);
  }
  void drawMetadata(uint32_t selector);
  uint64_t put(const SharedMatrix &matrix, const int *elements, int iStep,
               int kStep);
  MatrixDescriptor describe(const Holding &holding, int start, int extent,
                            int k) const;
};
} // namespace

static uint32_t encode(NmSimElement type, int value) {
  auto asFloat = float(value);
  uint32_t bits;
  std::memcpy(&bits, &asFloat, sizeof bits);
  if (type == NM_SIM_TF32)
    return bits;
  if (type == NM_SIM_BF16)
    return bits >> 16;
  static std::map<std::pair<NmSimElement, int>, uint32_t> found;
  auto [entry, isNew] = found.try_emplace({type, value}, 0);
  uint32_t &other = entry->second;
  for (uint32_t end = 1u << getBits(type);
       isNew && other < end && decodeElement(type, other) != value;)
    ++other;
  EXPECT_EQ(decodeElement(type, other), value);
  return other;
}

Product::Product(NmSimElement type, int n, bool isSparse, uint32_t selector)
    : shape{256 / getBits(type) * (isSparse ? 2 : 1), getBits(type), isSparse},
      type(type), n(n) {
  for (auto &row : a)
    for (int &element : row)
      element = draw();
  for (auto &row : b)
    for (int &element : row)
      element = draw();
  lanes.width = 128;
  for (int thread = 0; thread < 128; ++thread) {
    NmSimWarpgroupProduct &own = operands[thread];
    own.a = own.b = type;
    own.n = n;
    own.k = shape.k;
    own.isSparse = isSparse;
    own.selector = selector;
    own.scaleA = own.scaleB = own.addsSums = 1;
    for (int i = 0; i < n / 2; ++i) {
      FragmentOffset place = getWarpgroupSumOffset(thread, i);
      int sum = c[place.row][place.column] = draw();
      own.sums[i] = isInteger(type) ? uint32_t(sum) : encode(NM_SIM_TF32, sum);
    }
    lanes.operands[thread] = &own;
    lanes.results[thread] = results[thread];
  }
  for (auto &row : columns)
    for (int k = 0; k < 128; ++k)
      row[k] = k;
  if (isSparse)
    drawMetadata(selector);
}

void Product::drawMetadata(uint32_t selector) {
  for (int row = 0; row < 64; ++row)
    for (int group = 0; group < shape.groups(); ++group) {
      MmaMetadataOffset place =
          getMmaMetadataOffset(shape, row % 16, group, int(selector));
      uint32_t &word = operands[row / 16 * 32 + place.lane].metadata;
      int *kept = &columns[row][group * shape.storedPerGroup()];
      if (shape.bits == 32) {
        int column = int(random() % 2);
        kept[0] = 2 * group + column;
        word |= uint32_t(encodeMmaSingle(column)) << 4 * place.nibble;
        continue;
      }
      int first = int(random() % 3),
          second = first + 1 + int(random() % unsigned(3 - first));
      kept[0] = 4 * group + first;
      kept[1] = 4 * group + second;
      word |= uint32_t(encodeMmaPair(first, second)) << 4 * place.nibble;
    }
}

/// Tiles that are as small as the swizzle lets them be, with gaps after them.
MatrixDescriptor Product::describe(const Holding &holding, int start,
                                   int extent, int k) const {
  int line = getSwizzleBytes(holding.swizzle);
  bool isPlain = holding.swizzle == MatrixSwizzle::None;
  MatrixDescriptor descriptor{start, 0, 0, 0, holding.swizzle};
  if (!holding.isMNMajor) {
    descriptor.stride = isPlain ? 8 * 16 + 16 : 8 * line;
    descriptor.leading = isPlain ? extent / 8 * descriptor.stride + 32 : 0;
    return descriptor;
  }
  descriptor.stride = 8 * line + (isPlain ? 16 : 1024);
  descriptor.leading = isPlain ? extent / 8 * descriptor.stride
                               : (k + 7) / 8 * descriptor.stride;
  return descriptor;
}

uint64_t Product::put(const SharedMatrix &matrix, const int *elements,
                      int iStep, int kStep) {
  int step = matrix.isMNMajor ? iStep : kStep;
  matrix.forEachChunk([&](int offset, int i, int k) {
    for (int j = 0; j < matrix.perChunk(); ++j) {
      uint32_t bits = encode(type, elements[i * iStep + k * kStep + j * step]);
      std::memcpy(&memory[size_t(offset + j * shape.bits / 8)], &bits,
                  size_t(shape.bits / 8));
    }
  });
  return matrix.descriptor.encode();
}

void Product::putA(const Holding &holding) {
  if (!holding.isInRegisters) {
    MatrixDescriptor descriptor = describe(holding, 1024, 64, shape.storedK());
    uint64_t bits =
        put({type, descriptor, 64, shape.storedK(), holding.isMNMajor}, a[0],
            128, 1);
    for (NmSimWarpgroupProduct &own : operands) {
      own.descriptorA = bits;
      own.isATransposed = holding.isMNMajor;
    }
    return;
  }
  for (int thread = 0; thread < 128; ++thread) {
    operands[thread].isAInRegisters = 1;
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.aOffset(thread % 32, r, i);
        operands[thread].registersA[r] |=
            encode(type, a[thread / 32 * 16 + place.row][place.column])
            << i * shape.bits;
      }
  }
}

void Product::putB(const Holding &holding) {
  MatrixDescriptor descriptor =
      describe(holding, int(memory.size() / 4), n, shape.k);
  uint64_t bits =
      put({type, descriptor, n, shape.k, holding.isMNMajor}, b[0], 1, 256);
  for (NmSimWarpgroupProduct &own : operands) {
    own.descriptorB = bits;
    own.isBTransposed = holding.isMNMajor;
  }
}

void Product::expectRight() {
  ASSERT_EQ(check(), "");
  ASSERT_EQ(run(), nullptr);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < n / 2; ++i) {
      FragmentOffset place = getWarpgroupSumOffset(thread, i);
      int sum = operands[0].addsSums ? c[place.row][place.column] : 0;
      for (int k = 0; k < shape.storedK(); ++k)
        sum += operands[0].scaleA * operands[0].scaleB * a[place.row][k] *
               b[columns[place.row][k]][place.column];
      ASSERT_EQ(results[thread][i],
                isInteger(type) ? uint32_t(sum) : encode(NM_SIM_TF32, sum))
          << "type " << type << ", n " << n << ", thread " << thread << ", sum "
          << i;
    }
}

static constexpr NmSimElement kTypes[] = {NM_SIM_F16,  NM_SIM_BF16, NM_SIM_TF32,
                                          NM_SIM_E4M3, NM_SIM_E5M2, NM_SIM_S8,
                                          NM_SIM_U8};
static constexpr MatrixSwizzle kSwizzles[] = {
    MatrixSwizzle::None, MatrixSwizzle::Bytes32, MatrixSwizzle::Bytes64,
    MatrixSwizzle::Bytes128};

TEST(WarpgroupProductTest, EveryTypeAndWidth) {
  for (NmSimElement type : kTypes)
    for (int n : {8, 24, 64, 136, 256}) {
      Product product(type, n);
      product.putA({});
      product.putB({});
      product.expectRight();
    }
}

TEST(WarpgroupProductTest, EveryLayout) {
  for (bool isATransposed : {false, true})
    for (bool isBTransposed : {false, true})
      for (MatrixSwizzle swizzle : kSwizzles) {
        Product product(NM_SIM_F16, 72);
        product.putA({isATransposed, swizzle});
        product.putB({isBTransposed, swizzle});
        product.expectRight();
        Product other(NM_SIM_BF16, 200);
        other.putA({false, MatrixSwizzle::None, /*isInRegisters=*/true});
        other.putB({isBTransposed, swizzle});
        other.expectRight();
      }
}

TEST(WarpgroupProductTest, RegistersOfEveryType) {
  for (NmSimElement type : kTypes) {
    Product product(type, 16);
    product.putA({false, MatrixSwizzle::None, /*isInRegisters=*/true});
    product.putB({false, MatrixSwizzle::Bytes128});
    product.expectRight();
  }
}

TEST(WarpgroupProductTest, SparseProducts) {
  for (NmSimElement type : kTypes)
    for (bool isInRegisters : {false, true}) {
      MmaShape shape{512 / getBits(type), getBits(type), true};
      for (int selector = 0; selector < shape.selectors(); ++selector) {
        Product product(type, 40, /*isSparse=*/true, uint32_t(selector));
        product.putA({false, MatrixSwizzle::Bytes64, isInRegisters});
        product.putB({false, MatrixSwizzle::Bytes128});
        product.expectRight();
      }
    }
  Product transposed(NM_SIM_F16, 64, /*isSparse=*/true);
  transposed.putA({true, MatrixSwizzle::Bytes128});
  transposed.putB({true, MatrixSwizzle::Bytes32});
  transposed.expectRight();
}

TEST(WarpgroupProductTest, ScalesAndNoSumsBefore) {
  Product product(NM_SIM_F16, 32);
  product.putA({});
  product.putB({});
  for (NmSimWarpgroupProduct &own : product.operands) {
    own.scaleA = -1;
    own.addsSums = 0;
    // What is not read may be anything.
    std::fill_n(own.sums, 128, 0x7fc00000);
  }
  product.expectRight();
}

/// What a pruned weight would have met contributes nothing, also as infinity.
TEST(WarpgroupProductTest, PrunedColumnsAreNotRead) {
  Product product(NM_SIM_F16, 8, /*isSparse=*/true);
  product.putA({});
  for (int row = 0; row < 64; ++row)
    for (int k = 0; k < 16; ++k)
      product.columns[row][k] = k / 2 * 4 + k % 2;
  for (NmSimWarpgroupProduct &own : product.operands)
    own.metadata = 0x44444444;
  product.putB({});
  SharedMatrix b{NM_SIM_F16,
                 MatrixDescriptor::decode(product.operands[0].descriptorB), 8,
                 32, false};
  uint16_t infinity = 0x7c00;
  b.forEachChunk([&](int offset, int, int) {
    for (int j : {2, 3, 6, 7})
      std::memcpy(&product.memory[size_t(offset + 2 * j)], &infinity, 2);
  });
  product.expectRight();
}

TEST(WarpgroupProductTest, WhatIsRefused) {
  Product product(NM_SIM_F16, 8, /*isSparse=*/true);
  product.putA({});
  product.putB({});
  auto expect = [&](const std::string &text) {
    EXPECT_NE(product.check().find(text), std::string::npos) << product.check();
  };
  NmSimWarpgroupProduct &first = product.operands[0];
  NmSimWarpgroupProduct right = first;
  auto setAll = [&](auto set) {
    for (NmSimWarpgroupProduct &own : product.operands)
      set(own);
  };
  EXPECT_EQ(product.check(), "");
  product.operands[77].descriptorB += 1;
  expect("but thread 77 of it has others");
  product.operands[77].descriptorB -= 1;
  setAll([](auto &own) { own.selector = 2; });
  expect("expected a sparsity selector of 0 to 1, but got 2");
  setAll([](auto &own) { own.selector = 0; });
  setAll([](auto &own) { own.scaleA = 0; });
  expect("multiplied by 1 or -1");
  setAll([](auto &own) { own.scaleA = 1; });
  setAll([](auto &own) { own.descriptorA |= 1ull << 46; });
  expect("expected bits");
  setAll([&](auto &own) { own.descriptorA = right.descriptorA | 1ull << 49; });
  expect("its descriptor of A has a base offset and no swizzle");
  setAll([&](auto &own) { own.descriptorA = right.descriptorA; });
  setAll([](auto &own) { own.descriptorB |= 3ull << 62; });
  expect("its descriptor of B exchanges chunks within 32 bytes");
  setAll([&](auto &own) { own.descriptorB = right.descriptorB; });
  setAll([](auto &own) { own.metadata = 0; });
  EXPECT_STREQ(product.run(), "expected metadata to name two columns of each "
                              "four, the lower one first");
}
