//===- WgmmaByteModelTest.cpp - Strategy wgmma for operands of 8 bits -----===//

#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <gtest/gtest.h>

using namespace nm;

static GpuProduct makeProduct(Pattern pattern, ElementType type,
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

static Result<GpuSchedule>
select(const GpuProduct &product,
       std::optional<bool> panelsOfA = std::nullopt) {
  return selectWgmmaSchedule(product, *GpuChip::get("sm_90a"), panelsOfA);
}

static std::string whyNot(const GpuProduct &product) {
  Result<GpuSchedule> found = select(product);
  return found ? "" : found.error().message;
}

TEST(WgmmaByteModel, TellsUnitsThatAreTiles) {
  Pattern pattern{8, 32, 64, 64};
  EXPECT_TRUE(gathersByteUnits(pattern, 64));
  EXPECT_TRUE(gathersByteUnits(pattern, 128));
  // Three units do not go into eight.
  EXPECT_FALSE(gathersByteUnits(pattern, 192));
  // Parts of a unit do.
  EXPECT_TRUE(gathersByteUnits(pattern, 32));
  EXPECT_FALSE(gathersByteUnits(pattern, 96));
  // Units of all rows are no list.
  EXPECT_FALSE(gathersByteUnits({1, 1, 64, 64}, 64));
}

// Tiles have whole instructions, of whole windows or of units that go into one,
// and their stages fit.
TEST(WgmmaByteModel, HasTilesOfWholeInstructions) {
  for (ElementType type :
       {ElementType::I8, ElementType::F8E4M3, ElementType::F8E5M2})
    for (int64_t bk : {16, 32, 64, 128, 256})
      for (int64_t n : {1, 2, 4, 8, 16})
        for (int64_t m : {1, 64, 200, 1024, 4096}) {
          Pattern pattern{n, 32, bk, 64};
          Result<GpuSchedule> found = select(makeProduct(pattern, type, m));
          ASSERT_TRUE(found) << pattern.str();
          int64_t rows = found->packing.tileRows;
          EXPECT_EQ(rows % 32, 0) << pattern.str();
          if (found->blockK < pattern.windowRows()) {
            EXPECT_EQ(found->blockK, rows);
            EXPECT_TRUE(gathersByteUnits(pattern, rows)) << pattern.str();
          } else {
            EXPECT_EQ(found->blockK / pattern.windowRows() * pattern.keptRows(),
                      rows);
          }
          EXPECT_GE(found->stages, 3);
          EXPECT_LE(found->sharedBytes, 232448);
          EXPECT_EQ(found->producers, 4);
          EXPECT_EQ(found->promote, isFloat8(type));
          EXPECT_GE(found->microseconds, found->multiplyFloor);
        }
}

/// What an H200 took (nm-bench of i8 and f8E4M3FN with results of i32 and f32,
/// 2026-11-23), by the tiles that the model chooses.
TEST(WgmmaByteModel, TakesAsLongAsMeasured) {
  struct {
    ElementType type;
    int64_t m, n, k, kept, bk;
    double microseconds;
  } measured[] = {{ElementType::I8, 4096, 4096, 4096, 16, 64, 78.0},
                  {ElementType::I8, 4096, 4096, 4096, 8, 64, 46.1},
                  {ElementType::I8, 4096, 4096, 4096, 4, 64, 31.9},
                  {ElementType::I8, 1024, 4096, 4096, 16, 64, 21.2},
                  {ElementType::I8, 1024, 4096, 4096, 8, 64, 13.3},
                  {ElementType::I8, 1024, 4096, 4096, 4, 64, 9.5},
                  {ElementType::I8, 4096, 11008, 4096, 16, 64, 198.6},
                  {ElementType::I8, 4096, 11008, 4096, 8, 64, 117.3},
                  {ElementType::I8, 4096, 4096, 11008, 16, 64, 216.6},
                  {ElementType::I8, 4096, 4096, 11008, 8, 64, 120.2},
                  {ElementType::I8, 4096, 4096, 4096, 16, 16, 200.1},
                  {ElementType::I8, 4096, 4096, 4096, 8, 16, 123.4},
                  {ElementType::I8, 4096, 4096, 4096, 4, 16, 71.7},
                  {ElementType::I8, 1024, 4096, 4096, 8, 16, 32.4},
                  {ElementType::F8E4M3, 4096, 4096, 4096, 16, 64, 77.4},
                  {ElementType::F8E4M3, 4096, 4096, 4096, 4, 64, 32.8},
                  {ElementType::F8E4M3, 1024, 4096, 4096, 8, 64, 13.3},
                  {ElementType::F8E4M3, 4096, 11008, 4096, 8, 64, 123.4}};
  for (const auto &each : measured) {
    GpuProduct product =
        makeProduct({each.kept, 32, each.bk, 64}, each.type, each.m);
    product.n = each.n;
    product.k = each.k;
    Result<GpuSchedule> found = select(product, /*panelsOfA=*/false);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->microseconds / each.microseconds, 1, 0.12)
        << each.m << " " << each.n << " " << each.k << " " << each.kept << " "
        << each.bk << ": " << found->microseconds << " by " << found->blockM
        << "x" << found->blockN << "x" << found->packing.tileRows;
  }
}

/// What an H100 took with panels of A and without (nm-bench of i8, 2026-11-26);
/// the estimates are those of an H200, which takes a sixth less.
TEST(WgmmaByteModel, EstimatesPanels) {
  struct {
    int64_t m, n, kept, bk;
    double with, without;
  } measured[] = {
      {4096, 4096, 16, 64, 92.2, 93.6},   {4096, 4096, 8, 64, 62.9, 54.9},
      {4096, 4096, 4, 64, 49.1, 38.6},    {1024, 4096, 16, 64, 22.7, 25.9},
      {1024, 4096, 8, 64, 17.1, 15.4},    {4096, 11008, 16, 64, 222.1, 238.2},
      {4096, 11008, 8, 64, 138.3, 139.0}, {4096, 4096, 16, 16, 86.1, 242.8},
      {4096, 4096, 8, 16, 62.6, 148.7},   {4096, 4096, 4, 16, 50.0, 86.8},
      {1024, 4096, 8, 16, 16.2, 39.6},    {4096, 11008, 4, 16, 108.9, 213.3}};
  for (const auto &each : measured) {
    GpuProduct product =
        makeProduct({each.kept, 32, each.bk, 64}, ElementType::I8, each.m);
    product.n = each.n;
    Result<GpuSchedule> with = select(product, true),
                        without = select(product, false);
    ASSERT_TRUE(with && without);
    double ratio = with->microseconds / without->microseconds;
    EXPECT_NEAR(ratio / (each.with / each.without), 1, 0.25)
        << each.m << " " << each.n << " " << each.kept << " " << each.bk << ": "
        << with->microseconds << " and " << without->microseconds;
  }
}

// Units that are narrow come from panels; wide ones where much is kept, or
// where panels cost nothing.
TEST(WgmmaByteModel, ChoosesPanels) {
  EXPECT_EQ(select(makeProduct({8, 32, 16, 64}, ElementType::I8))->copyA,
            CopyKind::Bulk);
  GpuProduct product = makeProduct({8, 32, 64, 64}, ElementType::I8);
  EXPECT_NE(select(product)->copyA, CopyKind::Bulk);
  product.isMadeElementwise = true;
  EXPECT_EQ(select(product)->copyA, CopyKind::Bulk);
  // Windows are filled up, and tiles of several are not.
  product.pattern = {8, 32, 16, 64};
  product.k = 4096 + 16;
  EXPECT_EQ(select(product)->copyA, CopyKind::Bulk);
  product.pattern = {3, 4, 16, 64};
  EXPECT_NE(select(product)->copyA, CopyKind::Bulk);
  EXPECT_FALSE(select(product, true));
  EXPECT_EQ(
      select(product, true).error().message,
      "strategy wgmma has panels of an A of whole tiles of k, but got k = "
      "4112 with 3:4, block = 16x64");
}

// C of 16-bit elements leaves through slots where blocks take several turns.
TEST(WgmmaByteModel, ChoosesSlots) {
  GpuProduct product = makeProduct({8, 32, 64, 64}, ElementType::F8E4M3);
  product.outputType = ElementType::F16;
  EXPECT_EQ(select(product)->storeBuffers, 0);
  product.storesByTensor = true;
  EXPECT_EQ(select(product)->storeBuffers, 2);
  // Short copies of panels take longer: 102 us by tiles of 256 rows, 79 of 512.
  EXPECT_EQ(select(product, true)->blockM, 512);
  EXPECT_LE(select(product)->sharedBytes, 232448);
  product.m = 1024;
  EXPECT_EQ(select(product)->storeBuffers, 0);
}

// One thread starts the copies of few rows, and threads those of many.
TEST(WgmmaByteModel, ChoosesTensorCopies) {
  Pattern pattern{8, 32, 64, 64};
  EXPECT_EQ(select(makeProduct(pattern, ElementType::I8, 64))->copyA,
            CopyKind::Tensor);
  EXPECT_NE(select(makeProduct(pattern, ElementType::I8, 1024))->copyA,
            CopyKind::Tensor);
  GpuProduct product = makeProduct(pattern, ElementType::I8, 64);
  product.k = 4100;
  EXPECT_NE(select(product)->copyA, CopyKind::Tensor);
}

// Twice the rate of f16, and half of the bytes.
TEST(WgmmaByteModel, IsFasterThanF16) {
  GpuProduct halves = makeProduct({8, 32, 64, 64}, ElementType::F16);
  halves.outputType = ElementType::F16;
  halves.isMMajor = true;
  Result<GpuSchedule> ofHalves = select(halves),
                      ofBytes =
                          select(makeProduct({8, 32, 64, 64}, ElementType::I8));
  ASSERT_TRUE(ofHalves && ofBytes);
  EXPECT_LT(ofBytes->microseconds, 0.8 * ofHalves->microseconds);
}

TEST(WgmmaByteModel, SaysWhyNot) {
  GpuProduct product = makeProduct({8, 32, 64, 64}, ElementType::I8);
  EXPECT_EQ(whyNot(product), "");
  product.isMMajor = true;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma cannot transpose an m-major A of i8");
  product.isMMajor = false;
  product.k = 4094;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma copies rows of A at multiples of 4 bytes, but got "
            "rows that are 4094 apart");
  product.strideOfA = 4096;
  EXPECT_EQ(whyNot(product), "");
  product = makeProduct({8, 32, 24, 64}, ElementType::F8E4M3);
  EXPECT_EQ(whyNot(product), "strategy wgmma copies units of a multiple of 16 "
                             "rows of f8E4M3FN, but blocks have 24");
  product.pattern = {3, 8, 48, 64};
  EXPECT_EQ(whyNot(product),
            "strategy wgmma has no tile of a multiple of 32 kept rows of 3:8, "
            "block = 48x64, at most 256");
  product.pattern = {8, 32, 64, 32};
  EXPECT_EQ(whyNot(product),
            "strategy wgmma needs 64 columns that keep the same rows, but "
            "blocks have 32");
}
