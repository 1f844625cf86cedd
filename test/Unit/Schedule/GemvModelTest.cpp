//===- GemvModelTest.cpp - Tests of the cost model of strategy gemv -------===//

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

#include <tuple>

using namespace nm;

static const ElementType kTypes[] = {ElementType::F32,    ElementType::F16,
                                     ElementType::BF16,   ElementType::I8,
                                     ElementType::F8E4M3, ElementType::F8E5M2};

static Result<GpuSchedule> select(const Pattern &pattern, int64_t m, int64_t n,
                                  int64_t k,
                                  ElementType type = ElementType::F32,
                                  const char *chip = "sm_90") {
  GpuProduct product;
  product.pattern = pattern;
  product.m = m;
  product.n = n;
  product.k = k;
  product.type = type;
  product.outputType =
      type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  return selectGemvSchedule(product, *GpuChip::get(chip));
}

TEST(GemvModel, TilesAreWholeAndFit) {
  const Pattern patterns[] = {{2, 4, 1, 1},     {16, 32, 1, 1}, {3, 32, 1, 1},
                              {101, 256, 1, 1}, {8, 32, 1, 32}, {1, 2, 64, 64},
                              {1, 4, 4, 4},     {5, 12, 2, 6},  {2, 5, 3, 37},
                              {9, 64, 2, 6},    {11, 12, 2, 6}, {1, 2, 256, 1},
                              {1, 1, 1, 1},     {1, 2, 131, 1}};
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (const Pattern &pattern : patterns)
      for (ElementType type : kTypes)
        for (int64_t m : {int64_t(1), int64_t(7), int64_t(16)}) {
          SCOPED_TRACE(std::string(name) + ", " + pattern.str() + ", " +
                       std::string(elementName(type)) +
                       ", m = " + std::to_string(m));
          Result<GpuSchedule> chosen =
              select(pattern, m, 1000, 1030, type, name);
          ASSERT_TRUE(chosen) << chosen.error().message;
          const PanelPacking &packing = chosen->packing;
          Status packs = packing.verify(pattern);
          ASSERT_TRUE(packs) << packs.error().message;
          EXPECT_EQ(chosen->blockM, m);
          EXPECT_EQ(chosen->blockN % packing.panel, 0);
          EXPECT_EQ(chosen->blockN % chosen->warpN, 0);
          EXPECT_LE(chosen->warpN / chosen->threadN, 32);
          EXPECT_EQ(chosen->blockK %
                        (pattern.windowRows() * packing.windowStep(pattern)),
                    0);
          EXPECT_LE(
              packing.chunkRows * packing.chunkColumns * elementSize(type), 16);
          // Each part of k has rows.
          EXPECT_LT((chosen->splitK - 1) * chosen->blockK, 1030);
          // Only an index row of one unit is cut into steps.
          int64_t rows = packing.indexRows * pattern.bk;
          EXPECT_TRUE(packing.indexRows == 1 || gemvStepRows(rows) == rows);
          EXPECT_EQ(gemvStepRows(packing.indexRows * pattern.bk) %
                        packing.chunkRows,
                    0);
          EXPECT_LE(chosen->sharedBytes, GpuChip::get(name)->sharedPerBlock);
          EXPECT_GE(chosen->microseconds, chosen->memoryFloor);
        }
}

TEST(GemvModel, ReadsSixteenBytesAndTheNarrowestIndices) {
  for (ElementType type : kTypes) {
    Result<GpuSchedule> chosen = select({16, 32, 1, 1}, 1, 8192, 8192, type);
    ASSERT_TRUE(chosen);
    // Two bits for each 16-bit value, as a bit for each row of a window is.
    bool hasBitmaps = elementSize(type) == 2;
    EXPECT_EQ(chosen->packing.indexBits, hasBitmaps ? 0 : 5);
    EXPECT_EQ(chosen->packing.chunkRows * elementSize(type), 16);
    double bits = hasBitmaps ? 2 : 5;
    double bytes = 8192.0 * 4096 * (elementSize(type) + bits / 8);
    EXPECT_NEAR(chosen->memoryFloor, bytes / 4.8e6, 0.01 * bytes / 4.8e6);
  }
}

TEST(GemvModel, BitmapsSaveBytesOfLargeWeights) {
  auto bitsOf = [](const Pattern &pattern, int64_t size) {
    Result<GpuSchedule> chosen =
        select(pattern, 1, size, size, ElementType::F16);
    return chosen ? chosen->packing.indexBits : -1;
  };
  EXPECT_EQ(bitsOf({16, 32, 1, 1}, 4096), 0);
  EXPECT_EQ(bitsOf({12, 32, 1, 1}, 4096), 0);
  EXPECT_EQ(bitsOf({16, 32, 1, 1}, 1024), 5);
  // A twentieth of the bytes, and none.
  EXPECT_EQ(bitsOf({8, 32, 1, 1}, 4096), 5);
  EXPECT_EQ(bitsOf({4, 32, 1, 1}, 4096), 5);
  EXPECT_EQ(bitsOf({2, 4, 1, 1}, 4096), 2);
}

TEST(GemvModel, BlocksHaveFewRows) {
  EXPECT_EQ(select({8, 32, 1, 32}, 100, 4096, 4096, ElementType::F16)->blockM,
            16);
}

TEST(GemvModel, RefusesWindowsThatDoNotFit) {
  Result<GpuSchedule> chosen = select({16, 32, 4095, 64}, 1024, 1024, 4096);
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "expected a row of a window to fit in 232448 bytes of shared "
            "memory, but one of 16:32, block = 4095x64 spans 131040 columns of "
            "A");
}

TEST(GemvModel, CutsKWhereAIsTooLarge) {
  Result<GpuSchedule> chosen = select({2, 4, 1, 1}, 16, 4096, 20480);
  ASSERT_TRUE(chosen);
  EXPECT_LT(chosen->blockK, 20480);
  EXPECT_EQ(gemvStepRows(64), 64);
  EXPECT_EQ(gemvStepRows(256), 32);
  EXPECT_EQ(gemvStepRows(131), 1);
}

/// Half a chip's blocks start beside those of the kernel before, and so do
/// those of the kernel that adds up 8 parts of 16 x 1024 sums. The medians are
/// those of docs/results (one H200, 2026-11-28 to 2026-11-30).
TEST(GemvModel, TakesAsLongAsMeasured) {
  using Timed =
      std::tuple<Pattern, int64_t, int64_t, int64_t, ElementType, double>;
  for (auto [pattern, m, n, k, type, microseconds] :
       {Timed{{6, 24, 1, 8}, 16, 1024, 4608, ElementType::F16, 5.4},
        Timed{{3, 32, 1, 8}, 16, 1024, 4096, ElementType::F32, 4.15},
        Timed{{3, 32, 1, 1}, 1, 1024, 1024, ElementType::F32, 1.25},
        Timed{{3, 32, 1, 1}, 1, 4096, 1024, ElementType::F32, 1.44},
        Timed{{4, 32, 1, 1}, 16, 11008, 4096, ElementType::F16, 19.3}})
    EXPECT_NEAR(select(pattern, m, n, k, type)->microseconds, microseconds,
                microseconds / 6)
        << m << " x " << n << " x " << k << " of " << pattern.str();
}
