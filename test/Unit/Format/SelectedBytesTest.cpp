//===- SelectedBytesTest.cpp ----------------------------------------------===//

#include "nm/Format/PackedForm.h"
#include "nm/Format/SelectedFragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace nm;

/// The patterns that there are, of units of 16 columns.
static std::vector<Pattern> listPatterns() {
  std::vector<Pattern> list;
  for (int64_t m : {2, 4, 8})
    for (int64_t n = 1; n < m; ++n)
      list.push_back({n, m, 1, 16});
  return list;
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

TEST(SelectedBytes, CountsBytesAndWordsOfRuns) {
  struct {
    int64_t n, m, runBytes, words, tileStep;
  } expected[] = {{4, 8, 8, 1, 64},   {2, 4, 8, 1, 64},  {1, 2, 8, 1, 64},
                  {2, 8, 16, 1, 32},  {1, 4, 16, 1, 32}, {6, 8, 16, 3, 96},
                  {3, 4, 16, 3, 96},  {1, 8, 32, 1, 32}, {3, 8, 32, 3, 96},
                  {5, 8, 32, 5, 160}, {7, 8, 32, 7, 224}};
  for (const auto &of : expected) {
    SelectedBytes bytes = *SelectedBytes::of({of.n, of.m});
    SCOPED_TRACE(std::to_string(of.n) + ":" + std::to_string(of.m));
    EXPECT_EQ(bytes.runBytes(), of.runBytes);
    EXPECT_EQ(bytes.wordsOfRun(), of.words);
    EXPECT_EQ(bytes.tileStep(), of.tileStep);
  }
}

TEST(SelectedBytes, HaveTilesOfWholeInstructionsAndPanels) {
  for (const Pattern &pattern : listPatterns()) {
    SCOPED_TRACE(pattern.str());
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    EXPECT_EQ(bytes.rowsOf(pattern.n), pattern.m);
    int64_t step = bytes.tileStep(), panel = bytes.kPanelBytes;
    EXPECT_EQ(step % 32, 0);
    EXPECT_EQ(step % (16 * bytes.wordsOfRun()), 0);
    EXPECT_EQ(bytes.rowsOf(step) % panel, 0);
    // No more than that: half of it is not.
    EXPECT_TRUE(step / 2 % 32 != 0 || bytes.rowsOf(step / 2) % panel != 0);
    EXPECT_EQ(panel % bytes.bytesOfLanes(), 0);
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

/// What a lane does for word `word` of a run that begins at `run`, whose
/// indices are `indices`: it loads the accesses that the word's sources need.
static uint32_t selectWord(const SelectedBytes &bytes, const uint8_t *run,
                           const uint8_t *indices, int64_t word) {
  SelectedWord plan = SelectedWord::of(bytes, word);
  std::vector<uint32_t> words(bytes.runBytes() / 4, 0xdeadbeef);
  for (int64_t access : plan.accesses(bytes.accessBytes()))
    for (int64_t byte = 0; byte < bytes.accessBytes(); byte += 4) {
      int64_t from = access * bytes.accessBytes() + byte;
      words.at(from / 4) = loadWord(run + from);
    }
  uint32_t selector = 0;
  for (int64_t field = 0; field < 4; ++field)
    selector |= uint32_t(indices[field]) << 4 * field;
  selector += uint32_t(plan.firstOfWindows);
  std::vector<std::pair<int64_t, uint32_t>> selected;
  for (const SelectedSource &source : plan.sources) {
    uint32_t low = words.at(source.firstWord()),
             high = words.at(source.firstWord() + 1);
    selected.emplace_back(source.firstField, permute(low, high, selector));
  }
  return joinFields(std::move(selected),
                    [](uint32_t left, uint32_t right, int64_t which) {
                      return permute(left, right, uint32_t(which));
                    });
}

TEST(SelectedBytes, NumbersFirstRowsOfWindows) {
  auto firstOf = [](const Pattern &pattern, int64_t word) {
    return SelectedWord::of(*SelectedBytes::of(pattern), word).firstOfWindows;
  };
  EXPECT_EQ(firstOf({1, 8}, 0), 0);
  EXPECT_EQ(firstOf({2, 8}, 0), 0);
  EXPECT_EQ(firstOf({4, 8}, 0), 0);
  EXPECT_EQ(firstOf({1, 4}, 0), 0x4040);
  EXPECT_EQ(firstOf({2, 4}, 0), 0x4400);
  EXPECT_EQ(firstOf({1, 2}, 0), 0x6420);
}

TEST(SelectedBytes, HaveFewSources) {
  auto sourcesOf = [](const Pattern &pattern, int64_t word) {
    std::vector<std::pair<int64_t, int64_t>> list;
    for (const SelectedSource &source :
         SelectedWord::of(*SelectedBytes::of(pattern), word).sources)
      list.emplace_back(source.firstField, source.firstByte);
    return list;
  };
  using List = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(sourcesOf({1, 8}, 0), (List{{0, 0}, {1, 8}, {2, 16}, {3, 24}}));
  EXPECT_EQ(sourcesOf({2, 8}, 0), (List{{0, 0}, {2, 8}}));
  EXPECT_EQ(sourcesOf({4, 8}, 0), (List{{0, 0}}));
  EXPECT_EQ(sourcesOf({3, 8}, 1), (List{{0, 8}, {2, 16}}));
  EXPECT_EQ(sourcesOf({7, 8}, 3), (List{{0, 8}, {2, 16}}));
  EXPECT_EQ(sourcesOf({3, 4}, 2), (List{{0, 8}}));
  // Of 3:4 windows at bytes 4 and 8 are of one source.
  EXPECT_EQ(sourcesOf({3, 4}, 1), (List{{0, 4}}));
}

// Words are exactly the kept bytes, in order, and no index of a field reaches
// the next field.
TEST(SelectedBytes, AreThoseThatWindowsKeep) {
  std::mt19937 random(1);
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    for (int draw = 0; draw < 20; ++draw) {
      int64_t run = bytes.runBytes(), words = bytes.wordsOfRun();
      DrawnRow drawn = drawRow(pattern, 16 * run, random);
      ASSERT_EQ(int64_t(drawn.kept.size()), 16 * 4 * words);
      for (int64_t word = 0; word < 16 * words; ++word)
        ASSERT_EQ(selectWord(bytes, &drawn.row[word / words * run],
                             &drawn.indices[4 * word], word % words),
                  loadWord(&drawn.kept[4 * word]))
            << pattern.str() << " " << word;
    }
    for (int64_t word = 0; word < bytes.wordsOfRun(); ++word)
      for (int64_t field = 0; field < 4; ++field)
        EXPECT_LE(
            (SelectedWord::of(bytes, word).firstOfWindows >> 4 * field & 15) +
                pattern.m - 1,
            7)
            << pattern.str() << " " << word;
  }
}

// Of a tile's row each lane has each kept byte of its runs once, and step s
// takes a lane's words 2s and 2s + 1, at places of the packed order.
TEST(SelectedBytes, ArePackedInTheOrderOfLanes) {
  for (const Pattern &pattern : listPatterns()) {
    SelectedBytes bytes = *SelectedBytes::of(pattern);
    PanelPacking packing;
    packing.panel = 64;
    packing.tileRows = 2 * bytes.tileStep();
    packing.indexBits = packing.indexRows = 4;
    packing.laneWords = bytes.wordsOfRun();
    ASSERT_TRUE(bool(packing.verify(pattern))) << pattern.str();
    int64_t words = bytes.wordsOfRun(), steps = packing.tileRows / 32;
    for (int64_t lane = 0; lane < 4; ++lane)
      for (int64_t word = 0; word < 2 * steps; ++word)
        for (int64_t i = 0; i < 4; ++i) {
          int64_t byte = (word / words * 4 + lane) * bytes.runBytes();
          int64_t kept = byte / pattern.m * pattern.n + word % words * 4 + i;
          ASSERT_EQ(packing.storedRow(kept), word * 16 + lane * 4 + i)
              << pattern.str();
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
/// `4 * r` to `4 * r + 3` load of row `rowOf(r)`: access `access` of a run.
template <typename RowOf>
static size_t mostOfBank(const SelectedBytes &bytes, int64_t run,
                         int64_t access, RowOf rowOf) {
  int64_t width = bytes.accessBytes(),
          atATime = std::min<int64_t>(32, 128 / width);
  size_t most = 0;
  for (int64_t first = 0; first < 32; first += atATime) {
    std::array<std::set<int64_t>, 32> words;
    for (int64_t lane = first; lane < first + atATime; ++lane) {
      int64_t row = rowOf(lane / 4), panel = bytes.kPanelBytes;
      int64_t column = (4 * run + lane % 4) * bytes.runBytes() + access * width;
      int64_t inRow = column % panel;
      inRow ^= row * 16;
      int64_t begin = column / panel * 8 * panel + row * panel + inRow;
      EXPECT_EQ(begin % width, 0);
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
    int64_t width = bytes.accessBytes();
    for (int64_t run = 0; run < 2 * bytes.runsOfPanel(); ++run)
      for (int64_t access = 0; access < bytes.runBytes() / width; ++access) {
        EXPECT_EQ(mostOfBank(bytes, run, access, rowOfLanes), 1u)
            << pattern.str();
        // Rows in order would not be, where runs are shorter than two chunks of
        // a swizzled panel.
        EXPECT_EQ(mostOfBank(bytes, run, access, inOrder) > 1,
                  bytes.runBytes() < 32)
            << pattern.str();
      }
  }
}
