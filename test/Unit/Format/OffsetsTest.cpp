//===- OffsetsTest.cpp ----------------------------------------------------===//

#include "nm/Format/Offsets.h"

#include "DrawMatrix.h"

#include "nm/Format/Unstructured.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace nm;
using namespace nm::test;

namespace {
/// The bitmap of k x n weights.
struct Bits {
  int64_t k, n;
  std::vector<uint8_t> bytes;

  Bits(int64_t k, int64_t n) : k(k), n(n), bytes(unstructuredBytes(k, n)) {}

  void keep(int64_t row, int64_t column) {
    bytes[column * bitmapColumnBytes(k) + row / 8] |= uint8_t(1 << row % 8);
  }
  bool has(int64_t row, int64_t column) const {
    return bytes[column * bitmapColumnBytes(k) + row / 8] >> row % 8 & 1;
  }
  std::vector<uint8_t> offsets() const {
    std::vector<uint8_t> result(offsetsBytes(bytes.data(), k, n));
    bitmapToOffsets(bytes.data(), k, n, result.data());
    return result;
  }
};
} // namespace

/// One of `share` kept, columns that are empty or full among them.
static Bits drawBits(Random &random, int64_t k, int64_t n, double share) {
  Bits bits(k, n);
  std::bernoulli_distribution keeps(share);
  for (int64_t column = 0; column < n; ++column) {
    int64_t kind = draw(random, 0, 9);
    for (int64_t row = 0; row < k; ++row)
      if (kind == 1 || (kind != 0 && keeps(random)))
        bits.keep(row, column);
  }
  return bits;
}

static std::string fault(const std::vector<uint8_t> &offsets, int64_t k,
                         int64_t n,
                         const Pattern &pattern = Pattern::unstructured()) {
  Status status =
      verifyOffsets(offsets.data(), offsets.size(), pattern, k, n, "w");
  return status ? "" : status.error().message;
}

TEST(Offsets, AreGapsOfColumns) {
  Bits bits(300, 3);
  for (int64_t row : {2, 3, 290})
    bits.keep(row, 1);
  EXPECT_EQ(bits.offsets(),
            (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 4,   0,
                                  0, 0, 4, 0, 0, 0, 2, 0, 255, 31}));
}

TEST(Offsets, AreThereAndBack) {
  Random random(11);
  int64_t smaller = 0, larger = 0, longGaps = 0;
  for (int i = 0; i < 300; ++i) {
    int64_t k = draw(random, 0, i % 3 == 0 ? 2000 : 90);
    int64_t n = draw(random, 0, 20);
    double shares[] = {0, 0.001, 0.01, 0.05, 0.12, 0.3, 1};
    Bits bits = drawBits(random, k, n, shares[i % 7]);
    std::vector<uint8_t> offsets = bits.offsets();
    EXPECT_EQ(fault(offsets, k, n), "");
    longGaps += std::count(offsets.begin() + 4 * (n + 1), offsets.end(), 255);
    std::vector<uint8_t> back(bits.bytes.size(), 0x5a);
    offsetsToBitmap(offsets.data(), k, n, back.data());
    ASSERT_EQ(back, bits.bytes) << k << "x" << n;
    // The smaller one is chosen, a bitmap where both are alike.
    bool isSmaller = offsets.size() < bits.bytes.size();
    (isSmaller ? smaller : larger) += 1;
    EXPECT_EQ(chooseIndexForm(bits.bytes.data(), k, n) == IndexForm::Offsets,
              isSmaller);
    auto shape = indexShapeOf(IndexForm::Offsets, bits.bytes.data(), k, n);
    EXPECT_EQ(shape[0], int64_t(offsets.size()));
    EXPECT_EQ(indexFormOf(shape[0]), IndexForm::Offsets);
  }
  EXPECT_GT(smaller, 50);
  EXPECT_GT(larger, 50);
  EXPECT_GT(longGaps, 100);
}

/// Rows at the ends of gaps of 254, 255, 510 and 511 rows.
TEST(Offsets, PassOverAnyNumberOfRows) {
  for (int64_t gap : {0, 253, 254, 255, 256, 509, 510, 511, 70000})
    for (int64_t behind : {1, 2, 300}) {
      Bits bits(gap + behind, 1);
      bits.keep(gap, 0);
      bits.keep(gap + behind - 1, 0);
      std::vector<uint8_t> offsets = bits.offsets();
      EXPECT_EQ(fault(offsets, bits.k, 1), "") << gap;
      std::vector<uint8_t> back(bits.bytes.size());
      offsetsToBitmap(offsets.data(), bits.k, 1, back.data());
      EXPECT_EQ(back, bits.bytes) << gap;
    }
}

TEST(Offsets, AreSmallerBelowAnEighth) {
  Random random(12);
  for (auto [share, form] :
       {std::pair(0.11, IndexForm::Offsets), std::pair(0.14, IndexForm::Bitmap),
        std::pair(0.001, IndexForm::Offsets)}) {
    Bits bits(4096, 64);
    std::bernoulli_distribution keeps(share);
    for (int64_t column = 0; column < 64; ++column)
      for (int64_t row = 0; row < 4096; ++row)
        if (keeps(random))
          bits.keep(row, column);
    EXPECT_EQ(chooseIndexForm(bits.bytes.data(), 4096, 64), form) << share;
  }
}

TEST(Offsets, ReachGapsOfFourBytes) {
  int64_t most = (int64_t(1) << 32) - 1 + 4 * 4;
  EXPECT_TRUE(offsetsReach(most, 3));
  EXPECT_FALSE(offsetsReach(most + 1, 3));
}

TEST(Offsets, AreVerified) {
  Bits bits(300, 3);
  for (int64_t row : {2, 3, 290})
    bits.keep(row, 1);
  bits.keep(7, 2);
  const std::vector<uint8_t> good = bits.offsets();
  auto with = [&](size_t place, uint8_t value) {
    std::vector<uint8_t> bad = good;
    bad[place] = value;
    return fault(bad, 300, 3);
  };
  EXPECT_EQ(fault(good, 300, 3), "");
  EXPECT_EQ(with(0, 1), "offsets of 'w', column 0: expected 0, but got 1");
  EXPECT_EQ(with(4, 6), "offsets of 'w', column 1: expected at most 5, the "
                        "number of gaps, but got 6");
  EXPECT_EQ(with(7, 255), "offsets of 'w', column 1: expected at most 5, the "
                          "number of gaps, but got 4278190080");
  std::vector<uint8_t> descending = good;
  descending[4] = 5;
  EXPECT_EQ(fault(descending, 300, 3), "offsets of 'w', column 2: expected at "
                                       "least the 5 before, but got 4");
  EXPECT_EQ(with(12, 4), "offsets of 'w': expected the last to be 5, the "
                         "number of gaps, but got 4");
  EXPECT_EQ(with(19, 41), "offsets of 'w', column 1: expected rows below k = "
                          "300, but its gaps keep row 300");
  EXPECT_EQ(with(19, 40), "");
  EXPECT_EQ(with(19, 255), "offsets of 'w', column 1: expected its last gap to "
                           "keep a row, but got 255");
  std::vector<uint8_t> cut(good.begin(), good.begin() + 15);
  EXPECT_EQ(fault(cut, 300, 3), "offsets of 'w': expected at least 16 bytes "
                                "for 3 columns, but got 15");
  cut.assign(good.begin(), good.end() - 1);
  EXPECT_EQ(fault(cut, 300, 3), "offsets of 'w': expected the last to be 4, "
                                "the number of gaps, but got 5");
  EXPECT_EQ(fault(good, 300, 3, Pattern::unstructured(3)),
            "offsets of 'w': expected at most 3 kept, but got 4");
  EXPECT_NE(fault(good, 300, 3, {0, 0, 2, 1}), "");
  EXPECT_NE(fault(good, kMaxSize, 3), "");
}

TEST(Offsets, OfBlocksAreWhole) {
  Bits bits(9, 5);
  for (int64_t row : {4, 5, 6, 7})
    for (int64_t column : {2, 3})
      bits.keep(row, column);
  Pattern blocks{0, 0, 4, 2};
  EXPECT_EQ(fault(bits.offsets(), 9, 5, blocks), "");
  bits.keep(8, 0);
  EXPECT_NE(fault(bits.offsets(), 9, 5, blocks).find("block 4x2"),
            std::string::npos);
}
