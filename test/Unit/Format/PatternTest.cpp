//===- PatternTest.cpp ----------------------------------------------------===//

#include "nm/Format/Pattern.h"

#include <gtest/gtest.h>

using namespace nm;

TEST(Pattern, SizesOfRaggedShapes) {
  Pattern pattern{3, 5, 2, 8};
  EXPECT_EQ(pattern.windowRows(), 10);
  EXPECT_EQ(pattern.keptRows(), 6);
  EXPECT_EQ(pattern.windows(31), 4);
  EXPECT_EQ(pattern.condensedRows(31), 24);
  EXPECT_EQ(pattern.unitRows(31), 12);
  EXPECT_EQ(pattern.blockColumns(17), 3);
  EXPECT_EQ(pattern.paddedColumns(17), 24);
  EXPECT_DOUBLE_EQ(pattern.sparsity(), 0.4);
  EXPECT_EQ(pattern.windows(0), 0);
  EXPECT_EQ(pattern.windows(30), 3);
}

TEST(Pattern, IndexBitsTellTheUnitsApart) {
  for (int64_t m = 1; m <= kMaxWindowUnits; ++m) {
    int64_t bits = Pattern{1, m, 1, 1}.indexBits();
    EXPECT_GE(int64_t(1) << bits, m);
    if (bits > 0)
      EXPECT_LT(int64_t(1) << (bits - 1), m);
  }
}

TEST(Pattern, ParsesWhatItPrints) {
  for (int64_t m = 1; m <= kMaxWindowUnits; ++m)
    for (int64_t n : {int64_t(1), (m + 1) / 2, m})
      for (int64_t bk : {1, 3, 64})
        for (int64_t bn : {1, 32}) {
          Pattern pattern{n, m, bk, bn};
          Result<Pattern> parsed = Pattern::parse(pattern.str());
          ASSERT_TRUE(bool(parsed)) << pattern.str();
          EXPECT_EQ(*parsed, pattern);
        }
}

TEST(Pattern, PrintsTheBlockOnlyWhereThereIsOne) {
  EXPECT_EQ((Pattern{2, 4, 1, 1}).str(), "2:4");
  EXPECT_EQ((Pattern{8, 32, 1, 32}).str(), "8:32, block = 1x32");
}

TEST(Pattern, SpacesAreFree) {
  Result<Pattern> parsed = Pattern::parse(" 8 : 32 ,block=4 x 16 ");
  ASSERT_TRUE(bool(parsed));
  EXPECT_EQ(*parsed, (Pattern{8, 32, 4, 16}));
}

TEST(Pattern, RefusesOtherText) {
  for (const char *text :
       {"", "2", "2:", ":4", "2/4", "2:4x", "2:4,", "2:4, block", "a:b",
        "2:4, block = 4", "2:4, block = 1x", "2:4, block = 1x2, x",
        "2:99999999999999999999", "2:4 2:4"}) {
    Result<Pattern> parsed = Pattern::parse(text);
    ASSERT_FALSE(bool(parsed)) << text;
    EXPECT_NE(parsed.error().message.find("'" + std::string(text) + "'"),
              std::string::npos)
        << parsed.error().message;
  }
}

static std::string errorOf(const Pattern &pattern) {
  Status status = pattern.verify();
  return status ? "" : status.error().message;
}

TEST(Pattern, RefusesWhatCannotBe) {
  EXPECT_EQ(errorOf({2, 4, 1, 1}), "");
  EXPECT_EQ(errorOf({256, 256, 1, 1}), "");
  EXPECT_EQ(errorOf({5, 4, 1, 1}),
            "expected 1 <= N <= M = 4 in pattern N:M, but got N = 5");
  EXPECT_EQ(errorOf({0, 4, 1, 1}),
            "expected 1 <= N <= M = 4 in pattern N:M, but got N = 0");
  EXPECT_EQ(errorOf({1, 257, 1, 1}),
            "expected 1 <= M <= 256 in pattern N:M, but got M = 257");
  EXPECT_EQ(errorOf({1, -1, 1, 1}),
            "expected 1 <= M <= 256 in pattern N:M, but got M = -1");
  EXPECT_EQ(errorOf({1, 2, 0, 1}),
            "expected a block of 1x1 to 65536x65536, but got 0x1");
  EXPECT_EQ(errorOf({1, 2, 1, 65537}),
            "expected a block of 1x1 to 65536x65536, but got 1x65537");
  EXPECT_FALSE(bool(Pattern::parse("3:2")));
  EXPECT_FALSE(bool(Pattern::parse("-1:2")));
}
