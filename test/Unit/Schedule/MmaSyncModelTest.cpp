//===- MmaSyncModelTest.cpp - Tests of the model of strategy mma_sync -----===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/SumChains.h"

#include <gtest/gtest.h>

using namespace nm;

static GpuProduct makeProduct(int64_t m, int64_t n, int64_t k,
                              const Pattern &pattern) {
  GpuProduct product = makeHalfProduct(pattern, m, n, k);
  product.isMMajor = true;
  return product;
}

static std::string reasonAgainst(const GpuProduct &product) {
  Result<GpuSchedule> found =
      selectMmaSyncSchedule(product, *GpuChip::get("sm_90"));
  return found ? "none" : found.error().message;
}

TEST(MmaSyncModel, SaysWhatItLacks) {
  GpuProduct product = makeProduct(4096, 4096, 4096, {8, 32, 1, 32});
  EXPECT_EQ(reasonAgainst(product), "none");
  GpuProduct rowMajor = product;
  rowMajor.isMMajor = false;
  EXPECT_EQ(reasonAgainst(rowMajor),
            "strategy mma_sync expected activations whose m are contiguous, or "
            "at most 16 rows of them, but got 4096 that are row-major");
  rowMajor.m = 16;
  EXPECT_EQ(reasonAgainst(rowMajor), "none");
  GpuProduct wide = product;
  wide.type = ElementType::F32;
  EXPECT_EQ(reasonAgainst(wide),
            "strategy mma_sync expected operands of f16 or bf16, but got f32");
  GpuProduct narrow = product;
  narrow.pattern.bn = 4;
  EXPECT_EQ(reasonAgainst(narrow), "strategy mma_sync expected units of a "
                                   "multiple of 8 columns, but got 4");
  GpuProduct tall = product;
  tall.pattern = {1, 2, 16384, 32};
  EXPECT_NE(reasonAgainst(tall).find("expected tiles of whole windows of 32768 "
                                     "rows to fit"),
            std::string::npos);
}

// Measured on an H200: 11.6 us with 4, 8 and 16 rows of 4096 x 11008, where
// gemv takes 10.6, 14.0 and 17.1.
TEST(MmaSyncModel, FewRowMajorRowsHaveSlicesOfK) {
  GpuChip chip = *GpuChip::get("sm_90a");
  for (int64_t m : {8, 16}) {
    GpuProduct product = makeProduct(m, 11008, 4096, {8, 32, 1, 32});
    product.isMMajor = false;
    Result<GpuSchedule> tile = selectMmaSyncSchedule(product, chip);
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->blockM, 16);
    EXPECT_EQ(tile->warpN, tile->blockN);
    EXPECT_GT(tile->sliceK, 1);
    EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
    EXPECT_LT(tile->microseconds,
              selectGemvSchedule(product, chip)->microseconds);
  }
}

// Measured on an H200, us, with blocks of 32 columns and 512 rows of k in
// parentheses: 10.3 (14.5) of 8192 x 8192 in vectors of 32; and with one part
// of k, 9.3 (11.4) of 4096 x 11008 in vectors of 64.
TEST(MmaSyncModel, QuantizedWeightsHaveLongTiles) {
  GpuChip chip = *GpuChip::get("sm_90a");
  GpuProduct product = makeProduct(16, 8192, 8192, {8, 32, 1, 32});
  product.isMMajor = false;
  product.weightBits = 4;
  product.scaleGroup = 128;
  Result<GpuSchedule> wide = selectMmaSyncSchedule(product, chip);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->blockN, 64);
  EXPECT_EQ(wide->blockK, 1024);
  EXPECT_EQ(wide->splitK, 1);
  EXPECT_EQ(wide->packing.chunkRows, 16);
  product.n = 4096;
  product.k = 11008;
  product.pattern.bn = 64;
  Result<GpuSchedule> parts = selectMmaSyncSchedule(product, chip);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->splitK, 2);
  EXPECT_EQ(parts->clusterK, 2);
  product.m = 65;
  EXPECT_EQ(reasonAgainst(product),
            "strategy mma_sync expected at most 64 rows of A for quantized "
            "weights, but got 65");
  product.m = 16;
  product.pattern.n = 7;
  EXPECT_EQ(reasonAgainst(product).substr(0, 60),
            "strategy mma_sync expected windows that keep an even number ");
}

/// Whether a warp's columns have whole panels, or a panel whole warps.
static bool fitsPanels(const GpuSchedule &tile) {
  int64_t panel = tile.packing.panel;
  return panel % 8 == 0 && (panel % tile.warpN == 0 || tile.warpN % panel == 0);
}

TEST(MmaSyncModel, ChoosesTilesThatFit) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    GpuChip chip = *GpuChip::get(name);
    for (const Pattern &pattern :
         {Pattern{16, 32, 1, 32}, Pattern{4, 32, 1, 128}, Pattern{3, 5, 1, 8},
          Pattern{7, 20, 1, 16}, Pattern{3, 24, 1, 24}, Pattern{1, 2, 64, 64}})
      for (int64_t m : {1, 200, 4096}) {
        Result<GpuSchedule> tile =
            selectMmaSyncSchedule(makeProduct(m, 4096, 4096, pattern), chip);
        ASSERT_TRUE(tile) << name << ": " << tile.error().message;
        EXPECT_TRUE(fitsPanels(*tile)) << name << " " << pattern.str();
        EXPECT_LE(tile->sharedBytes, chip.sharedPerBlock);
        EXPECT_EQ(tile->blockK % pattern.windowRows(), 0);
        EXPECT_GE(tile->microseconds, tile->multiplyFloor);
        EXPECT_GE(tile->microseconds, tile->memoryFloor);
      }
  }
}

TEST(MmaSyncModel, FewRowsTakeSmallTilesAndPartsOfK) {
  GpuChip chip = *GpuChip::get("sm_90");
  Result<GpuSchedule> few =
      selectMmaSyncSchedule(makeProduct(16, 1024, 4096, {8, 32, 1, 32}), chip);
  ASSERT_TRUE(few);
  EXPECT_LE(few->blockM, 32);
  EXPECT_GT(few->splitK, 1);
}

// 64 rows of 8192 x 8192, bf16, weights cold, on an H200 (2026-11-28): what is
// on its way to fragments is less than memory could bring.
TEST(MmaSyncModel, ColdWeightsWaitForMemory) {
  struct Measured {
    int64_t kept, columns;
    double microseconds;
  };
  for (auto [kept, columns, microseconds] :
       {Measured{16, 16, 37.4}, {16, 32, 35.1}, {8, 16, 22.1}, {8, 32, 20.7}}) {
    GpuSchedule tile = *selectMmaSyncSchedule(
        makeProduct(64, 8192, 8192, {kept, 32, 1, columns}),
        *GpuChip::get("sm_90a"));
    EXPECT_NEAR(tile.microseconds, microseconds, 0.12 * microseconds)
        << kept << " " << columns;
  }
}

// Of long sums a thread needs registers for promoted sums.
TEST(MmaSyncModel, LongSumsLeaveRegisters) {
  GpuChip chip = *GpuChip::get("sm_90");
  Result<GpuSchedule> tile = selectMmaSyncSchedule(
      makeProduct(4096, 4096, 4 * kLongSumRows, {16, 32, 1, 32}), chip);
  ASSERT_TRUE(tile);
  EXPECT_LE(tile->warpM * tile->warpN / 32, 64);
}

// 27.1 us on an H200, and 24.0 where rows start with lines.
TEST(MmaSyncModel, RaggedRowsTakeLonger) {
  GpuProduct product = makeHalfProduct({8, 32, 1, 32}, 500, 4096, 4096);
  product.isMMajor = true;
  EXPECT_NEAR(
      selectMmaSyncSchedule(product, *GpuChip::get("sm_90a"))->microseconds,
      27.1, 2);
  product.strideOfA = 512;
  EXPECT_NEAR(
      selectMmaSyncSchedule(product, *GpuChip::get("sm_90a"))->microseconds, 24,
      2);
}

TEST(MmaSyncModel, ListsRowsWhereTheyAreFewer) {
  GpuChip chip = *GpuChip::get("sm_90");
  GpuProduct product = makeProduct(4096, 4096, 4096, {1, 32, 1, 64});
  EXPECT_FALSE(selectMmaSyncSchedule(product, chip)->pack);
  product.rowPacking = RowPacking::WhereFaster;
  EXPECT_TRUE(selectMmaSyncSchedule(product, chip)->pack);
}
