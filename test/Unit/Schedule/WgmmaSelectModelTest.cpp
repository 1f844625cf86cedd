//===- WgmmaSelectModelTest.cpp - Strategy wgmma_select -------------------===//

#include "nm/Format/SelectedBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace nm;

static GpuProduct makeProduct(Pattern pattern,
                              ElementType type = ElementType::I8,
                              int64_t m = 4096) {
  GpuProduct product;
  product.pattern = pattern;
  product.m = m;
  product.n = product.k = 4096;
  product.type = type;
  product.outputType =
      type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  return product;
}

static Result<GpuSchedule> select(const GpuProduct &product) {
  return selectWgmmaSelectSchedule(product, *GpuChip::get("sm_90a"));
}

static std::string whyNot(const GpuProduct &product) {
  Result<GpuSchedule> found = select(product);
  return found ? "" : found.error().message;
}

TEST(WgmmaSelectModel, PacksSelectorsOfWords) {
  PanelPacking packing = packForSelection({1, 4, 1, 32}, 128, 256);
  EXPECT_EQ(packing.panel, 128);
  EXPECT_EQ(packing.tileRows, 64);
  // Two bytes, the selector of a word, for each of four units.
  EXPECT_EQ(packing.bytesPerIndexRow({1, 4, 1, 32}), 8);
  EXPECT_EQ(packing.laneWords, 1);
  // Of 3:8 a thread makes three words of its windows.
  packing = packForSelection({3, 8, 1, 32}, 128, 256);
  EXPECT_EQ(packing.tileRows, 96);
  EXPECT_EQ(packing.laneWords, 3);
}

/// The patterns that there are.
static std::vector<Pattern> listPatterns() {
  std::vector<Pattern> list;
  for (int64_t m : {2, 4, 8})
    for (int64_t n = 1; n < m; ++n)
      list.push_back({n, m});
  return list;
}

/// Checks that tiles are of whole steps, and fit.
static void checkTile(const Pattern &pattern, const GpuSchedule &tile) {
  SelectedBytes bytes = *SelectedBytes::of(pattern);
  int64_t kept = tile.packing.tileRows;
  EXPECT_TRUE(tile.packing.verify(pattern));
  EXPECT_EQ(tile.packing.panel, tile.blockN);
  EXPECT_EQ(kept % bytes.tileStep(), 0);
  EXPECT_EQ(tile.blockK, bytes.rowsOf(kept));
  EXPECT_LE(tile.blockK, 512);
  EXPECT_EQ(kept / 4 * tile.packing.bytesPerIndexRow(pattern) % 16, 0);
  EXPECT_EQ(tile.warpgroupM, 64);
  EXPECT_EQ(tile.warpgroupN, tile.blockN);
  EXPECT_EQ(tile.blockM % tile.warpgroupM, 0);
  EXPECT_GE(tile.stages, 3);
  EXPECT_GE(tile.sharedBytes,
            tile.stages * (tile.blockM * tile.blockK + kept * tile.blockN));
  EXPECT_LE(tile.sharedBytes, 232448);
  EXPECT_EQ(tile.producers, 4);
  EXPECT_EQ(tile.splitK, 1);
  EXPECT_GE(tile.microseconds, tile.multiplyFloor);
  EXPECT_GE(tile.microseconds, tile.memoryFloor);
  // Sums, of a tile and in all, leave registers for the rest: of three
  // warpgroups beside producers a thread has 152.
  int64_t sums = tile.blockN / 2 + (tile.promote ? 32 : 0);
  EXPECT_LE(sums + 80, tile.blockM == 192   ? 152
                       : tile.blockM == 128 ? 232
                                            : 240);
}

TEST(WgmmaSelectModel, HasTilesOfWholeStepsThatFit) {
  for (ElementType type :
       {ElementType::I8, ElementType::F8E4M3, ElementType::F8E5M2})
    for (Pattern pattern : listPatterns())
      for (int64_t bn : {16, 32, 48, 64, 96, 128, 192, 256, 512})
        for (int64_t m : {1, 64, 200, 4096}) {
          pattern.bn = bn;
          SCOPED_TRACE(pattern.str() + " of " + std::string(elementName(type)) +
                       ", " + std::to_string(m) + " rows");
          Result<GpuSchedule> found = select(makeProduct(pattern, type, m));
          ASSERT_TRUE(found);
          checkTile(pattern, *found);
          EXPECT_EQ(found->promote, isFloat8(type));
          // Not much larger than the product.
          EXPECT_TRUE(found->blockM == 64 || found->blockM < 2 * m);
        }
}

// What is loaded is the same, and what is selected and multiplied less.
TEST(WgmmaSelectModel, IsNoSlowerOfFewerKeptRows) {
  for (ElementType type : {ElementType::I8, ElementType::F8E4M3})
    for (int64_t bn : {16, 64, 256})
      for (int64_t m : {16, 256, 4096}) {
        auto estimate = [&](int64_t kept) {
          Result<GpuSchedule> found =
              select(makeProduct({kept, 8, 1, bn}, type, m));
          return found ? found->microseconds : -1;
        };
        double of1 = estimate(1), of2 = estimate(2), of4 = estimate(4);
        EXPECT_GT(of1, 0);
        EXPECT_LE(of1, of2) << bn << " " << m;
        EXPECT_LE(of2, of4) << bn << " " << m;
        if (m == 4096) {
          EXPECT_LT(of1, of4) << bn;
        }
      }
}

// Windows of four rows and of eight are both of groups of eight.
TEST(WgmmaSelectModel, EstimatesByKeptRowsOfGroups) {
  auto estimate = [](const Pattern &pattern) {
    Result<GpuSchedule> found = select(makeProduct(pattern));
    return found ? found->microseconds : -1;
  };
  EXPECT_EQ(estimate({1, 4, 1, 64}), estimate({2, 8, 1, 64}));
  EXPECT_EQ(estimate({2, 4, 1, 64}), estimate({4, 8, 1, 64}));
  EXPECT_EQ(estimate({1, 2, 1, 64}), estimate({4, 8, 1, 64}));
}

// Of the same windows more kept rows take longer, and so does what has more
// permutes: windows of 6:8 are in sources of their own, where two of 3:4 share
// one.
TEST(WgmmaSelectModel, EstimatesByPermutes) {
  auto estimate = [](const Pattern &pattern) {
    Result<GpuSchedule> found = select(makeProduct(pattern));
    return found ? found->microseconds : -1;
  };
  for (int64_t bn : {16, 64}) {
    EXPECT_LT(estimate({2, 8, 1, bn}), estimate({3, 8, 1, bn}));
    EXPECT_LT(estimate({3, 8, 1, bn}), estimate({5, 8, 1, bn}));
    EXPECT_LT(estimate({3, 4, 1, bn}), estimate({6, 8, 1, bn}));
  }
}

// The tensor cores wait for words of each unit that a block has.
TEST(WgmmaSelectModel, IsSlowerOfNarrowUnits) {
  Result<GpuSchedule> narrow = select(makeProduct({2, 8, 1, 16})),
                      wide = select(makeProduct({2, 8, 1, 256}));
  ASSERT_TRUE(narrow && wide);
  EXPECT_LT(wide->microseconds, narrow->microseconds);
}

TEST(WgmmaSelectModel, SaysWhyNot) {
  GpuProduct product = makeProduct({2, 8, 1, 64});
  EXPECT_EQ(whyNot(product), "");
  EXPECT_EQ(selectWgmmaSelectSchedule(product, *GpuChip::get("sm_90"))
                .error()
                .message,
            "strategy wgmma_select needs chip sm_90a, but got sm_90");
  product.isVector = true;
  EXPECT_EQ(whyNot(product), "strategy wgmma_select multiplies matrices");
  product.isVector = false;
  product.type = ElementType::F16;
  EXPECT_EQ(whyNot(product), "strategy wgmma_select multiplies i8, f8E4M3FN "
                             "and f8E5M2, but got f16");
  product.type = ElementType::I8;
  product.isMMajor = true;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma_select cannot transpose an m-major A of i8");
}

TEST(WgmmaSelectModel, SaysWhyNotOfRowsOfA) {
  GpuProduct product = makeProduct({2, 8, 1, 64}, ElementType::F8E4M3);
  product.k = 4088;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma_select copies rows of A at multiples of 16 bytes, "
            "but got rows that are 4088 apart");
  product.strideOfA = 4096;
  EXPECT_EQ(whyNot(product), "");
}

TEST(WgmmaSelectModel, SaysWhyNotOfPatterns) {
  // The rest of the message names the pattern.
  for (Pattern pattern : {Pattern{8, 32, 1, 64},
                          {3, 9, 1, 64},
                          {2, 3, 1, 64},
                          {1, 5, 1, 64},
                          {3, 6, 1, 64},
                          {2, 7, 1, 64},
                          {2, 2, 1, 64},
                          {1, 1, 1, 64},
                          {1, 4, 2, 64}})
    EXPECT_EQ(
        whyNot(makeProduct(pattern)),
        "strategy wgmma_select selects from windows of 2, 4 or 8 rows, in "
        "units of one row, but got " +
            pattern.str());
  EXPECT_EQ(whyNot(makeProduct({2, 8, 1, 24})),
            "strategy wgmma_select needs a multiple of 16 columns that keep "
            "the same rows, but blocks have 24");
  // Five panels are the fewest that are whole units.
  EXPECT_EQ(whyNot(makeProduct({2, 8, 1, 80})),
            "strategy wgmma_select has no block of a multiple of 64 columns, "
            "at most 256, of whole units or of a part of one, but blocks have "
            "80");
}

/// What an H200 took (nm-bench of i8 and f8E4M3FN with results of i32 and f32,
/// 2026-11-24), by the tiles that the model chooses.
TEST(WgmmaSelectModel, TakesAsLongAsMeasured) {
  struct {
    ElementType type;
    int64_t m, n, k, kept, bn;
    double microseconds;
  } measured[] = {{ElementType::I8, 4096, 4096, 4096, 1, 256, 38.8},
                  {ElementType::I8, 4096, 4096, 4096, 1, 64, 49.9},
                  {ElementType::I8, 4096, 4096, 4096, 2, 128, 47.5},
                  {ElementType::I8, 4096, 4096, 4096, 2, 64, 51.8},
                  {ElementType::I8, 4096, 4096, 4096, 2, 32, 70.3},
                  {ElementType::I8, 4096, 4096, 4096, 4, 128, 61.2},
                  {ElementType::I8, 4096, 4096, 4096, 4, 32, 82.2},
                  {ElementType::I8, 4096, 4096, 11008, 2, 64, 113.4},
                  {ElementType::I8, 4096, 11008, 4096, 1, 64, 129.8},
                  {ElementType::I8, 1024, 4096, 4096, 2, 64, 13.8},
                  {ElementType::I8, 256, 4096, 4096, 2, 64, 6.7},
                  {ElementType::I8, 64, 4096, 4096, 4, 64, 6.3},
                  {ElementType::F8E4M3, 4096, 4096, 4096, 2, 128, 69.0},
                  {ElementType::F8E4M3, 4096, 4096, 4096, 4, 64, 87.0},
                  {ElementType::F8E4M3, 256, 4096, 4096, 1, 64, 6.3}};
  for (const auto &taken : measured) {
    GpuProduct product =
        makeProduct({taken.kept, 8, 1, taken.bn}, taken.type, taken.m);
    product.n = taken.n;
    product.k = taken.k;
    Result<GpuSchedule> found = select(product);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->microseconds / taken.microseconds, 1, 0.15)
        << taken.m << " " << product.pattern.str();
  }
}
