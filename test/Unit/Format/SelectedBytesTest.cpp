//===- SelectedBytesTest.cpp ----------------------------------------------===//

#include "nm/Format/SelectedBytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <vector>

using namespace nm;

/// The patterns that there are, of units of 16 columns.
static std::vector<Pattern> listPatterns() {
  return {{1, 8, 1, 16}, {2, 8, 1, 16}, {4, 8, 1, 16},
          {1, 4, 1, 16}, {2, 4, 1, 16}, {1, 2, 1, 16}};
}

TEST(SelectedBytes, AreOfWindowsThatDivideEightRows) {
  int64_t count = 0;
  for (int64_t m = 1; m <= 32; ++m)
    for (int64_t n = 1; n <= m; ++n)
      for (int64_t bk : {1, 2, 4, 8}) {
        Pattern pattern{n, m, bk, 16};
        std::vector<Pattern> list = listPatterns();
        bool isOne = std::find(list.begin(), list.end(), pattern) != list.end();
        EXPECT_EQ(SelectedBytes::of(pattern).has_value(), isOne)
            << pattern.str();
        count += isOne;
      }
  EXPECT_EQ(count, int64_t(listPatterns().size()));
}

TEST(SelectedBytes, CountsRowsAndGroups) {
  SelectedBytes of1 = *SelectedBytes::of({1, 8}),
                of2 = *SelectedBytes::of({1, 4}),
                of4 = *SelectedBytes::of({2, 4});
  EXPECT_EQ(of1.keptOfGroup, 1);
  EXPECT_EQ(of2.keptOfGroup, 2);
  EXPECT_EQ(of4.keptOfGroup, 4);
  EXPECT_EQ(of1.bytesOfWord(), 32);
  EXPECT_EQ(of2.bytesOfWord(), 16);
  EXPECT_EQ(of4.bytesOfWord(), 8);
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    EXPECT_EQ(bytes.rowsOf(pattern.n), pattern.m);
    // Whole instructions, of whole panels of A, and no more than that.
    int64_t step = bytes.tileStep();
    EXPECT_EQ(step % 32, 0);
    EXPECT_EQ(bytes.rowsOf(step) % 128, 0);
    EXPECT_TRUE(step == 32 || bytes.rowsOf(step / 2) % 128 != 0);
  }
}

//===----------------------------------------------------------------------===//
// Selectors
//===----------------------------------------------------------------------===//

/// PTX's prmt.b32 d, a, b, c: a field's three low bits number a byte of b and
/// a, and the other one asks for copies of its sign.
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t all = uint64_t(b) << 32 | a;
  uint32_t word = 0;
  for (int field = 0; field < 4; ++field) {
    uint32_t number = selector >> 4 * field & 15;
    uint32_t byte = all >> 8 * (number & 7) & 255;
    if (number & 8)
      byte = byte & 128 ? 255 : 0;
    word |= byte << 8 * field;
  }
  return word;
}

static uint32_t loadWord(const uint8_t *bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// A row of A, the indices of those kept in each window, and what they keep.
struct DrawnRow {
  std::vector<uint8_t> row, indices, kept;
};

static DrawnRow drawRow(const Pattern &pattern, int64_t rows,
                        std::mt19937 &random) {
  DrawnRow drawn;
  for (int64_t k = 0; k < rows; ++k)
    drawn.row.push_back(uint8_t(random()));
  std::vector<uint8_t> all, ofWindow(pattern.n);
  for (int64_t i = 0; i < pattern.m; ++i)
    all.push_back(uint8_t(i));
  for (int64_t first = 0; first < rows; first += pattern.m) {
    std::sample(all.begin(), all.end(), ofWindow.begin(), pattern.n, random);
    for (uint8_t index : ofWindow) {
      drawn.indices.push_back(index);
      drawn.kept.push_back(drawn.row[first + index]);
    }
  }
  return drawn;
}

/// The word of kept bytes `4 * word` to `4 * word + 3`.
static uint32_t selectWord(const SelectedBytes &bytes, const DrawnRow &drawn,
                           int64_t word) {
  uint32_t selector = 0;
  for (int64_t field = 0; field < 4; ++field)
    selector |= uint32_t(drawn.indices[4 * word + field]) << 4 * field;
  selector += uint32_t(bytes.firstOfWindows());
  const uint8_t *from = &drawn.row[word * bytes.bytesOfWord()];
  uint32_t selected = 0;
  for (int64_t group = 0; group < bytes.groupsOfWord(); ++group) {
    uint32_t all = permute(loadWord(from + 8 * group),
                           loadWord(from + 8 * group + 4), selector);
    for (int64_t i = 0; i < bytes.keptOfGroup; ++i) {
      int64_t field = group * bytes.keptOfGroup + i;
      selected |= all & uint32_t(255) << 8 * field;
    }
  }
  return selected;
}

TEST(SelectedBytes, NumbersFirstRowsOfWindows) {
  auto firstOf = [](const Pattern &pattern) {
    return SelectedBytes::of(pattern)->firstOfWindows();
  };
  EXPECT_EQ(firstOf({1, 8}), 0);
  EXPECT_EQ(firstOf({2, 8}), 0);
  EXPECT_EQ(firstOf({4, 8}), 0);
  EXPECT_EQ(firstOf({1, 4}), 0x4040);
  EXPECT_EQ(firstOf({2, 4}), 0x4400);
  EXPECT_EQ(firstOf({1, 2}), 0x6420);
}

// Words are exactly the kept bytes, in order.
TEST(SelectedBytes, AreThoseThatWindowsKeep) {
  std::mt19937 random(1);
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    for (int draw = 0; draw < 20; ++draw) {
      constexpr int64_t kRows = 512;
      DrawnRow drawn = drawRow(pattern, kRows, random);
      ASSERT_EQ(bytes.rowsOf(int64_t(drawn.kept.size())), kRows);
      for (int64_t word = 0; word < int64_t(drawn.kept.size()) / 4; ++word)
        ASSERT_EQ(selectWord(bytes, drawn, word),
                  loadWord(&drawn.kept[4 * word]))
            << pattern.str() << " " << word;
    }
  }
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

TEST(SelectedBytes, AreOfEachRowOnce) {
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    std::set<int64_t> rows;
    for (int64_t lanes = 0; lanes < 8; ++lanes)
      rows.insert(bytes.rowOfLanes(lanes));
    EXPECT_EQ(rows.size(), 8u) << pattern.str();
    EXPECT_EQ(*rows.begin(), 0) << pattern.str();
    EXPECT_EQ(*rows.rbegin(), 7) << pattern.str();
  }
}

/// The most different words of a bank that lanes load at a time, where lanes
/// `4 * r` to `4 * r + 3` load of row `rowOf(r)`: access `access` of a word's
/// bytes, 16 each at most, and word `half` of an instruction's two.
template <typename RowOf>
static size_t mostOfBank(const SelectedBytes &bytes, int64_t step, int64_t half,
                         int64_t access, RowOf rowOf) {
  int64_t width = std::min<int64_t>(bytes.bytesOfWord(), 16);
  int64_t atATime = 128 / width;
  size_t most = 0;
  for (int64_t first = 0; first < 32; first += atATime) {
    std::array<std::set<int64_t>, 32> words;
    for (int64_t lane = first; lane < first + atATime; ++lane) {
      int64_t row = rowOf(lane / 4);
      int64_t column =
          bytes.rowsOf(step * 32 + half * 16 + lane % 4 * 4) + 16 * access;
      int64_t panel = column / 128, inRow = (column % 128) ^ (row * 16);
      int64_t begin = panel * 8 * 128 + row * 128 + inRow;
      for (int64_t byte = begin; byte < begin + width; byte += 4)
        words[byte / 4 % 32].insert(byte / 4);
    }
    for (const std::set<int64_t> &ofBank : words)
      most = std::max(most, ofBank.size());
  }
  return most;
}

TEST(SelectedBytes, AreLoadedFromDifferentBanks) {
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    auto rowOfLanes = [&](int64_t lanes) { return bytes.rowOfLanes(lanes); };
    auto inOrder = [](int64_t lanes) { return lanes; };
    for (int64_t step = 0; step < bytes.tileStep() / 32; ++step)
      for (int64_t half : {0, 1})
        for (int64_t access = 0; access * 16 < bytes.bytesOfWord(); ++access) {
          EXPECT_EQ(mostOfBank(bytes, step, half, access, rowOfLanes), 1u)
              << pattern.str();
          // Rows in order would not be, but of one kept byte of eight.
          EXPECT_EQ(mostOfBank(bytes, step, half, access, inOrder) > 1,
                    bytes.keptOfGroup > 1)
              << pattern.str();
        }
  }
}
