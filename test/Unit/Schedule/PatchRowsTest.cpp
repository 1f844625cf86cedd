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

TEST(PatchRows, TilesOfAnImageFillVectors) {
  // Rows of 56 pixels are three and a half vectors, and two rows seven.
  ImageRows two = chooseImageRows(56, 28, 16, 8);
  EXPECT_EQ(two.rows, 2);
  EXPECT_EQ(two.vectors, 7);
  // A wide row is made in equal parts, of whole vectors.
  ImageRows part = chooseImageRows(300, 8, 16, 8);
  EXPECT_EQ(part.rows, 1);
  EXPECT_EQ(part.pixels, 112);
  EXPECT_EQ(part.vectors, 7);
}

TEST(PatchRows, TasksOfAnImageKeepThreadsBusy) {
  auto choose = [](int64_t size, int64_t channels) {
    ImageProduct product;
    product.patches = {{size, size}, channels * 9 * 4};
    product.k = channels * 9;
    product.n = channels;
    product.kept = 0.1 * double(product.k * product.n);
    product.threads = 2;
    return chooseImageTasks(product, channels / 2);
  };
  // Half of the rows each.
  EXPECT_EQ(choose(14, 256).blockM, 98);
  EXPECT_EQ(choose(14, 256).blockN, 256);
  // Too few rows for two threads: half of the columns.
  EXPECT_EQ(choose(7, 512).blockM, 49);
  EXPECT_EQ(choose(7, 512).blockN, 256);
}

TEST(PatchRows, PartsOfAnImageHaveTheRowsOfTheirPlaces) {
  // A 3x3 filter over 64 channels of 56 x 56, with padding.
  ImagePart part;
  part.planes = 64;
  part.rows = part.rowElements = part.placesOfRow = 56;
  part.reach = 3;
  part.first = -1;
  // Two rows of places, which tiles begin with, and the rows around them.
  EXPECT_EQ(part.rowsOf(112), 4);
  // 64 places may begin anywhere in a row, and be in three of them.
  EXPECT_EQ(part.rowsOf(64), 5);
  EXPECT_EQ(part.rowsOf(16), 4);
  // No more than there are.
  EXPECT_EQ(part.rowsOf(3136), 56);
  // Rows of places are two rows of the image apart where the stride is 2.
  part.placesOfRow = 28;
  part.step = 2;
  EXPECT_EQ(part.rowsOf(56), 5);
  EXPECT_EQ(part.rowsOf(32), 7);
}
