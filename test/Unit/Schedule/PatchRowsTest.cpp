//===- PatchRowsTest.cpp - Rows of patches that a task makes --------------===//

#include "nm/Schedule/PatchRows.h"

#include <gtest/gtest.h>

using namespace nm;

TEST(PatchRows, TilesAreWholeInside) {
  PatchRows patches{{2, 6, 5}, 4};
  for (int64_t rows : {1, 5, 10, 15, 30, 60})
    EXPECT_TRUE(patches.isTile(rows)) << rows;
  for (int64_t rows : {2, 4, 7, 20, 25, 45})
    EXPECT_FALSE(patches.isTile(rows)) << rows;
  // Of one image of one row, the last tile may be smaller.
  EXPECT_TRUE((PatchRows{{31}, 4}.isTile(8)));
}

TEST(PatchRows, ChoosesTilesThatFillVectorsAndCaches) {
  auto choose = [](std::vector<int64_t> places, int64_t k, int64_t others) {
    return choosePatchRows({std::move(places), k * 4}, 16, 2, others);
  };
  EXPECT_EQ(choose({56, 56}, 576, 1), 224);
  // One task would leave a thread idle.
  EXPECT_LT(choose({14, 14}, 64, 1), 196);
  for (int64_t size : {28, 33, 97, 113})
    EXPECT_TRUE(
        (PatchRows{{size, size}, 4}.isTile(choose({size, size}, 96, 1))));
}
