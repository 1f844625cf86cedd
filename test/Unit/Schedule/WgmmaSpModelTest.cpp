//===- WgmmaSpModelTest.cpp - Tests of strategy wgmma_sp's cost model -----===//

#include "ModelProduct.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "gtest/gtest.h"

#include <tuple>
#include <vector>

using namespace nm;

static constexpr Pattern kHalf{2, 4, 1, 1};

static GpuProduct getProduct(int64_t m, int64_t n, int64_t k,
                             Pattern pattern = kHalf) {
  return makeHalfProduct(pattern, m, n, k);
}

static Result<GpuSchedule> select(const GpuProduct &product,
                                  const char *chip = "sm_90a") {
  return selectWgmmaSpSchedule(product, *GpuChip::get(chip));
}

TEST(WgmmaSpModel, FitsSharedMemoryAndRegisters) {
  for (bool isMMajor : {false, true})
    for (int64_t m : {2, 64, 250, 1000, 4096})
      for (int64_t n : {1, 64, 1000, 4096}) {
        GpuProduct product = getProduct(m, n, 11008);
        product.isMMajor = isMMajor;
        Result<GpuSchedule> tile = select(product);
        ASSERT_TRUE(tile);
        EXPECT_EQ(tile->blockM % tile->warpgroupM, 0);
        EXPECT_EQ(tile->blockN % tile->warpgroupN, 0);
        EXPECT_GE(tile->stages, 3);
        int64_t bytes =
            tile->blockK * (tile->blockM * 2 + tile->blockN + tile->blockN / 8);
        int64_t barriers = tile->producers != 0 ? 256 : 0;
        EXPECT_EQ(tile->sharedBytes, tile->stages * bytes + barriers);
        EXPECT_LE(tile->sharedBytes, 232448);
        int64_t groups =
            tile->blockM / tile->warpgroupM * (tile->blockN / tile->warpgroupN);
        EXPECT_LE(tile->warpgroupM * tile->warpgroupN / 128 + 40,
                  65536 / (128 * groups));
        EXPECT_GE(tile->microseconds, tile->multiplyFloor);
        EXPECT_GE(tile->microseconds, tile->memoryFloor);
      }
}

/// Tiles have 64 rows of k: those of 1:4 keep 16, and five of them 80.
TEST(WgmmaSpModel, GivesShortSumsOfSplitsResiduals) {
  for (auto [k, pattern, isShort] :
       {std::tuple(32, kHalf, true), std::tuple(380, kHalf, true),
        std::tuple(384, kHalf, false), std::tuple(4096, kHalf, false),
        std::tuple(380, Pattern{1, 4, 1, 1}, true),
        std::tuple(384, Pattern{1, 4, 1, 1}, false)}) {
    GpuProduct product = getProduct(4096, 4096, k, pattern);
    product.type = product.outputType = ElementType::F32;
    product.isMMajor = false;
    product.splits = 2;
    Result<GpuSchedule> two = select(product);
    product.splits = 3;
    Result<GpuSchedule> three = select(product);
    ASSERT_TRUE(two && three);
    EXPECT_FALSE(two->compensated);
    EXPECT_EQ(three->compensated, isShort) << k << " of " << pattern.str();
    EXPECT_NEAR(three->multiplyFloor,
                two->multiplyFloor * (isShort ? 7 : 6) / 3, 1e-6);
  }
}

/// Warpgroups of 192 rows have the most registers to spill.
TEST(WgmmaSpModel, GivesNoWideTilesResiduals) {
  for (int64_t k : {128, 4096}) {
    GpuProduct product = getProduct(4096, 8192, k, kHalf);
    product.type = product.outputType = ElementType::F32;
    product.isMMajor = false;
    product.splits = 3;
    Result<GpuSchedule> tile = select(product);
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->warpgroupM, tile->compensated ? 128 : 192);
  }
}

/// Tiles of 132 multiprocessors: 128 of 192 x 128 in one turn, 256 of 192 x 192
/// in two, 126 of 192 x 256 in one, and 128 of 128 x 192 in one. Promoted sums
/// have registers for the first.
TEST(WgmmaSpModel, FillsWavesOfBlocks) {
  for (auto [m, n, k, type, blockM, blockN] :
       {std::tuple(3072, 1024, 1024, ElementType::F16, 192, 128),
        std::tuple(3072, 1024, 4096, ElementType::F8E4M3, 192, 128),
        std::tuple(3072, 3072, 1024, ElementType::F16, 192, 192),
        std::tuple(1024, 5120, 5120, ElementType::F16, 192, 256),
        std::tuple(512, 6144, 4096, ElementType::I8, 128, 192)}) {
    GpuProduct product = getProduct(m, n, k);
    product.isMMajor = false;
    product.type = type;
    product.outputType =
        type == ElementType::I8 ? ElementType::I32 : ElementType::F16;
    Result<GpuSchedule> tile = select(product);
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->blockM, blockM) << m << " x " << n << " x " << k;
    EXPECT_EQ(tile->blockN, blockN) << m << " x " << n << " x " << k;
    EXPECT_EQ(tile->producers, 4);
  }
}

/// Rows of A, n, k, and microseconds.
using Timed = std::tuple<int64_t, int64_t, int64_t, double>;

/// Checks what is estimated for A row-major, to a sixth.
static void expectTimes(ElementType type, ElementType output,
                        const std::vector<Timed> &timed, bool isMMajor = false,
                        bool hasFastAccum = false) {
  for (auto [m, n, k, microseconds] : timed) {
    GpuProduct product = getProduct(m, n, k);
    product.type = type;
    product.outputType = output;
    product.isMMajor = isMMajor;
    product.hasFastAccum = hasFastAccum;
    EXPECT_NEAR(select(product)->microseconds, microseconds, microseconds / 6)
        << m << " x " << n << " x " << k;
  }
}

// nm-bench --target=cuda:sm_90a --pattern=2:4 --type=f16 --result-type=f16, one
// H200, 2026-11-23; in tiles of 192 rows or columns, the first two here and the
// last with --m-major, 2026-12-01.
TEST(WgmmaSpModel, TakesAsLongAsMeasured) {
  expectTimes(ElementType::F16, ElementType::F16,
              {{200, 11008, 4096, 27.9},
               {300, 2048, 8192, 21.1},
               {64, 4096, 4096, 7.8},
               {72, 4096, 4096, 8.4},
               {100, 4096, 4096, 8.5},
               {128, 4096, 4096, 8.3},
               {160, 4096, 4096, 13.2},
               {200, 2048, 8192, 16.0},
               {256, 4096, 4096, 13.2},
               {400, 4096, 4096, 16.5},
               {512, 4096, 4096, 16.8},
               {777, 4096, 4096, 28.3},
               {1000, 4096, 4096, 30.5},
               {1024, 4096, 4096, 31.0},
               {2000, 4096, 4096, 61.9},
               {4096, 4096, 4096, 126.8},
               {256, 11008, 4096, 29.9},
               {4096, 11008, 4096, 356.5},
               {4096, 4096, 11008, 334.2}});
}

// The same with --m-major.
TEST(WgmmaSpModel, MMajorRowsTakeAsLongAsMeasured) {
  expectTimes(ElementType::F16, ElementType::F16,
              {{64, 4096, 4096, 7.6},
               {256, 4096, 4096, 11.7},
               {512, 4096, 4096, 16.9},
               {1024, 4096, 4096, 30.8},
               {4096, 4096, 4096, 125.0},
               {256, 11008, 4096, 28.9}},
              /*isMMajor=*/true);
}

// The same with --type=i8, and of f8E4M3FN with --result-type=f16.
TEST(WgmmaSpModel, BytesTakeAsLongAsMeasured) {
  expectTimes(ElementType::I8, ElementType::I32,
              {{64, 4096, 4096, 5.1},
               {256, 4096, 4096, 7.8},
               {512, 4096, 4096, 10.8},
               {777, 4096, 4096, 17.2},
               {1024, 4096, 4096, 16.9},
               {4096, 4096, 4096, 68.4},
               {256, 11008, 4096, 17.0},
               {4096, 11008, 4096, 194.5},
               {4096, 4096, 11008, 167.4}});
  expectTimes(ElementType::F8E4M3, ElementType::F16,
              {{64, 4096, 4096, 5.6},
               {512, 4096, 4096, 10.3},
               {777, 4096, 4096, 20.5},
               {1024, 4096, 4096, 20.2},
               {4096, 4096, 4096, 80.2},
               {4096, 11008, 4096, 222.9},
               {4096, 4096, 11008, 224.7}});
}

/// Blocks of few steps start and store while the tensor cores idle, at a higher
/// clock: docs/strategies/cublas.md has these times (one H200, 2026-11-30).
TEST(WgmmaSpModel, FewTilesTakeAsLongAsMeasured) {
  auto estimate = [](int64_t m, int64_t n, int64_t k, Pattern pattern,
                     ElementType type) {
    GpuProduct product = getProduct(m, n, k, pattern);
    product.type = type;
    return select(product)->microseconds;
  };
  EXPECT_NEAR(estimate(128, 1024, 8192, {2, 4, 1, 16}, ElementType::F8E4M3),
              6.7, 1.1);
  EXPECT_NEAR(estimate(20, 1024, 4608, {2, 16, 1, 128}, ElementType::F8E4M3),
              5.3, 0.9);
  EXPECT_NEAR(estimate(33, 3584, 4608, {1, 4, 1, 4}, ElementType::F16), 9.4,
              1.9);
}

// The same of f8E4M3FN with --fast-accum, one H100, 2026-11-25. Without
// promoted sums tiles are as large as those of i8.
TEST(WgmmaSpModel, FastAccumulationTakesAsLongAsMeasured) {
  expectTimes(ElementType::F8E4M3, ElementType::F16,
              {{64, 4096, 4096, 5.6},
               {512, 4096, 4096, 10.9},
               {777, 4096, 4096, 16.2},
               {1024, 4096, 4096, 16.3},
               {4096, 4096, 4096, 63.6},
               {4096, 11008, 4096, 186.7},
               {4096, 4096, 11008, 168.9},
               {8192, 8192, 8192, 534.3}},
              /*isMMajor=*/false, /*hasFastAccum=*/true);
  GpuProduct product = getProduct(4096, 4096, 4096);
  product.type = ElementType::F8E4M3;
  int64_t rows = select(product)->blockM;
  product.hasFastAccum = true;
  EXPECT_GT(select(product)->blockM, rows);
}

// Tensor copies take rows at multiples of 16 bytes, and tiles that are mostly
// of rows that there are.
TEST(WgmmaSpModel, HasProducersWhereTheyAreFaster) {
  auto countProducers = [](GpuProduct product) {
    return select(product)->producers;
  };
  for (int64_t m : {64, 256, 384, 768, 777, 1000, 1024, 4096})
    EXPECT_EQ(countProducers(getProduct(m, 4096, 4096)), 4) << m;
  EXPECT_EQ(countProducers(getProduct(GpuProduct::kUnknown, 4096, 4096)), 4);
  EXPECT_EQ(countProducers(getProduct(32, 4096, 4096)), 0);
  EXPECT_EQ(countProducers(getProduct(4096, 4096, 4092)), 0);
  Result<GpuSchedule> wide = select(getProduct(8192, 8192, 8192));
  EXPECT_EQ(wide->stages, 4);
  EXPECT_EQ(wide->groupM, 1);
  EXPECT_EQ(wide->groupN, 22);
  // Bulk copies take whole tiles of packed bytes.
  GpuProduct bytes = getProduct(4096, 4096, 4096 + 64);
  bytes.type = ElementType::I8;
  bytes.outputType = ElementType::I32;
  EXPECT_EQ(countProducers(bytes), 0);
}

// From 64 tiles on, groups of a divisor of the 132 or 114 blocks: fewer tiles
// of weights at once where those of A have fewer rows, as beside promoted sums
// of f8. C then leaves through slots.
TEST(WgmmaSpModel, NumbersManyTilesAlongNInGroups) {
  GpuProduct product = getProduct(4096, 11008, 4096);
  EXPECT_EQ(select(product)->groupN, 22);
  EXPECT_EQ(select(product)->storeBuffers, 0);
  GpuChip smaller = *GpuChip::get("sm_90a");
  smaller.multiprocessors = 114;
  EXPECT_EQ(selectWgmmaSpSchedule(product, smaller)->groupN, 19);
  GpuProduct bytes = product;
  bytes.type = ElementType::F8E4M3;
  EXPECT_EQ(select(bytes)->groupN, 12);
  product.storesByTensor = true;
  EXPECT_EQ(select(product)->storeBuffers, 2);
  EXPECT_LE(select(product)->sharedBytes,
            GpuChip::get("sm_90a")->sharedPerBlock);
  product.n = 4096;
  EXPECT_EQ(select(product)->groupN, 1);
  EXPECT_EQ(select(product)->storeBuffers, 0);
}

// Of few rows, tiles would be mostly of rows that there are not: threads copy
// them, and blocks of a cluster have parts of k.
TEST(WgmmaSpModel, ClustersMakeFewRowsFaster) {
  GpuProduct product = getProduct(32, 4096, 11008);
  EXPECT_EQ(select(product)->producers, 0);
  EXPECT_GT(select(product)->splitK, 1);
  EXPECT_EQ(select(getProduct(768, 4096, 4096))->clusterK, 1);
}

TEST(WgmmaSpModel, IsFasterThanDenseForManyRows) {
  GpuChip chip = *GpuChip::get("sm_90a");
  for (int64_t m : {1024, 2048, 4096}) {
    GpuProduct product = getProduct(m, 4096, 4096);
    EXPECT_LT(select(product)->microseconds, estimateCublas(product, chip));
  }
}

TEST(WgmmaSpModel, CutsKWhereTilesAreFew) {
  EXPECT_GT(select(getProduct(64, 1024, 16384))->splitK, 1);
  EXPECT_EQ(select(getProduct(4096, 8192, 4096))->splitK, 1);
}

TEST(WgmmaSpModel, FillsRoundsOfKnownRowsAlone) {
  // 128 tiles of 192 x 128 for 132 multiprocessors.
  EXPECT_EQ(select(getProduct(3072, 1024, 1024))->blockM, 192);
  // 120 tiles of 192 x 256, where there are 1024 rows.
  EXPECT_EQ(select(getProduct(1024, 5120, 1280))->blockM, 192);
  for (int64_t n : {1280, 3072, 5120, 6144})
    for (int64_t k : {1024, 1280, 5120}) {
      Result<GpuSchedule> tile = select(getProduct(GpuProduct::kUnknown, n, k));
      ASSERT_TRUE(tile);
      EXPECT_NE(tile->blockM, 192) << n << " x " << k;
      EXPECT_NE(tile->blockN, 192) << n << " x " << k;
    }
}

TEST(WgmmaSpModel, NarrowCopiesTakeLonger) {
  GpuProduct wide = getProduct(4096, 4096, 4096), narrow = wide;
  wide.isMMajor = narrow.isMMajor = true;
  narrow.m = 4094;
  EXPECT_GT(select(narrow)->microseconds, 1.5 * select(wide)->microseconds);
}

static std::string whyNot(const GpuProduct &product,
                          const char *chip = "sm_90a") {
  Result<GpuSchedule> tile = select(product, chip);
  return tile ? "" : tile.error().message;
}

TEST(WgmmaSpModel, SaysWhatItDoesNotHave) {
  GpuProduct product = getProduct(64, 64, 64, {1, 4, 1, 1});
  EXPECT_EQ(whyNot(product), "");
  EXPECT_EQ(whyNot(product, "sm_90"),
            "strategy wgmma_sp expected chip sm_90a, but got sm_90");
  product.avoidsPrunedWeights = true;
  EXPECT_EQ(whyNot(product),
            "strategy wgmma_sp expected a pattern that keeps two of each four "
            "rows, for without dense weights no zero may meet an activation, "
            "but got 1:4");
  product = getProduct(63, 64, 64);
  EXPECT_EQ(whyNot(product), "");
  product.isMMajor = true;
  EXPECT_EQ(whyNot(product), "strategy wgmma_sp expected rows of A of an even "
                             "m, which it copies");
  product = getProduct(GpuProduct::kUnknown, 64, 63);
  EXPECT_EQ(whyNot(product), "strategy wgmma_sp expected rows of A of an even "
                             "k, which it copies");
  product.strideOfA = 64;
  EXPECT_EQ(whyNot(product), "");
}

TEST(WgmmaSpModel, HasTilesOfBytes) {
  for (ElementType type :
       {ElementType::I8, ElementType::F8E4M3, ElementType::F8E5M2})
    for (int64_t m : {16, 64, 256, 4096}) {
      GpuProduct product = getProduct(m, 4096, 4096);
      product.type = type;
      product.outputType =
          type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
      Result<GpuSchedule> tile = select(product);
      ASSERT_TRUE(tile);
      // Rows of A that are whole lines, and registers for promoted sums of f8.
      EXPECT_EQ(tile->blockK % 128, 0);
      int64_t groups =
          tile->blockM / tile->warpgroupM * (tile->blockN / tile->warpgroupN);
      int64_t sums =
          tile->warpgroupM * tile->warpgroupN / 128 * (isFloat8(type) ? 2 : 1);
      EXPECT_LE(sums + 40, 65536 / (128 * groups));
      EXPECT_LE(tile->clusterK, 2);
      product.isMMajor = true;
      EXPECT_FALSE(select(product));
    }
}
