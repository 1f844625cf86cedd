//===- CpuScheduleTest.cpp - What the CPU's cost model chooses ------------===//

#include "../Format/DrawMatrix.h"

#include "nm/Schedule/CpuSchedule.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace nm;
using namespace nm::test;

namespace {
CpuProduct drawProduct(Random &random) {
  CpuProduct product;
  product.pattern = drawPattern(random);
  const ElementType types[] = {ElementType::F32, ElementType::F16,
                               ElementType::BF16, ElementType::I8};
  product.type = types[draw(random, 0, 3)];
  const int64_t rows[] = {CpuProduct::kUnknown, 1, 2, 7, 15, 16, 17, 100, 5000};
  product.m = rows[draw(random, 0, 8)];
  product.n = draw(random, 1, 5000);
  product.k = draw(random, 1, 5000);
  return product;
}

CpuTarget drawTarget(Random &random) {
  CpuTarget target;
  target.vectorBits = int64_t(128) << draw(random, 0, 2);
  bool isNeon = target.vectorBits == 128 && draw(random, 0, 1);
  target.registers = isNeon || target.vectorBits == 512 ? 32 : 16;
  target.permutes = !isNeon && draw(random, 0, 1);
  target.threads = draw(random, 1, 100);
  return target;
}

TEST(CpuSchedule, IsValidForEveryProduct) {
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    CpuProduct product = drawProduct(random);
    CpuTarget target = drawTarget(random);
    CpuSchedule schedule = selectCpuSchedule(product, target);
    SCOPED_TRACE(product.pattern.str() + " m " + std::to_string(product.m) +
                 " n " + std::to_string(product.n));
    ASSERT_TRUE(bool(schedule.packing.verify(product.pattern)));
    ASSERT_GT(std::min({schedule.blockM, schedule.blockN, schedule.blockK}), 0);
    ASSERT_EQ(schedule.blockN % schedule.packing.panel, 0);
    ASSERT_GT(schedule.sparseMicroseconds, 0);
    ASSERT_GT(schedule.denseMicroseconds, 0);
  }
}

// Tiles are whole, and no panel has columns of two units that choose.
TEST(CpuSchedule, TilesFitEveryProductThatTheyTake) {
  Random random(5);
  int taken = 0, expanded = 0;
  for (int i = 0; i < 5000; ++i) {
    CpuProduct product = drawProduct(random);
    bool isOfBytes = i % 2 != 0;
    product.type = isOfBytes ? ElementType::I8 : ElementType::BF16;
    product.pattern.bn *= draw(random, 0, 1) ? 16 : 1;
    CpuTarget target = drawTarget(random);
    target.vectorBits = 512;
    target.tiles = target.byteTiles = true;
    target.expands = draw(random, 0, 1) != 0;
    bool takes = bool(checkTiles(product, target));
    CpuSchedule chosen = selectCpuSchedule(product, target);
    ASSERT_TRUE(takes || !chosen.tiles);
    if (!takes)
      continue;
    ++taken;
    CpuSchedule schedule = selectTileSchedule(product, target);
    const Pattern &pattern = product.pattern;
    SCOPED_TRACE(pattern.str() + " m " + std::to_string(product.m) + " n " +
                 std::to_string(product.n));
    ASSERT_TRUE(schedule.tiles);
    ASSERT_TRUE(bool(schedule.packing.verify(pattern)));
    ASSERT_EQ(schedule.packing.panel % 16, 0);
    if (expandsTiles(product, target)) {
      ++expanded;
      int64_t kept = schedule.packing.chunkRows;
      ASSERT_TRUE(schedule.packing.hasBitmaps());
      ASSERT_EQ(kept, schedule.packing.indexRows);
      ASSERT_EQ(kept % pattern.n, 0);
      ASSERT_LE(kept / pattern.n * pattern.m, 32);
      ASSERT_EQ(kept / pattern.n * pattern.m % 2, 0);
      ASSERT_LE(kept, 28);
    } else {
      ASSERT_EQ(schedule.packing.chunkRows, isOfBytes ? 64 : 32);
      ASSERT_TRUE(pattern.n == pattern.m ||
                  pattern.bn % schedule.packing.panel == 0);
    }
    ASSERT_GT(std::min({schedule.blockM, schedule.blockN, schedule.blockK}), 0);
    ASSERT_EQ(schedule.blockN % schedule.packing.columnStep(pattern), 0);
    ASSERT_GT(schedule.sparseMicroseconds, 0);
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(expanded, 50);
}

// Two forms would take more than dense weights do.
TEST(CpuSchedule, OneFormServesAllRowsWhereTilesExpand) {
  CpuTarget target;
  target.tiles = true;
  target.bf16Rate = 16;
  target.vectorCycles = 1.6;
  target.fmaBitsPerCycle = 1024;
  CpuProduct product{{2, 4, 1, 1}, ElementType::BF16, 1, 2048, 2048};
  EXPECT_FALSE(expandsTiles(product, target));
  target.expands = true;
  for (int64_t threads : {1, 2, 8})
    for (int64_t rows : {1, 3, 16, 17, 128, 1024}) {
      target.threads = threads;
      product.m = rows;
      SCOPED_TRACE(std::to_string(rows) + " rows");
      CpuSchedule schedule = selectCpuSchedule(product, target);
      EXPECT_EQ(schedule.packing.str(),
                "panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16");
    }
  EXPECT_EQ(marginOfOneForm(product, target), 2);
  // Of so few weights a second form takes nothing, and a call is a microsecond.
  CpuProduct small{{2, 4, 1, 1}, ElementType::BF16, 1, 48, 64};
  EXPECT_TRUE(expandsTiles(small, target));
  EXPECT_EQ(marginOfOneForm(small, target), 1);
  target.threads = 1;
  EXPECT_FALSE(selectCpuSchedule(small, target).tiles);
  product.type = ElementType::I8;
  EXPECT_FALSE(expandsTiles(product, target));
  product.type = ElementType::BF16;
  for (const Pattern &pattern :
       {Pattern{15, 16, 1, 1}, Pattern{15, 31, 1, 1}, Pattern{2, 64, 1, 1},
        Pattern{2, 4, 2, 1}, Pattern{2, 4, 1, 16}, Pattern{2, 4, 1, 3}}) {
    product.pattern = pattern;
    EXPECT_FALSE(expandsTiles(product, target)) << pattern.str();
  }
}

TEST(CpuSchedule, TilesTakeUnitsOfSixteenColumnsOfBF16) {
  CpuProduct product;
  product.pattern = {2, 4, 1, 1};
  product.type = ElementType::BF16;
  EXPECT_EQ(checkTiles(product, CpuTarget()).error().message,
            "expected units of a multiple of 16 columns for strategy amx, but "
            "got 1");
  product.pattern = {8, 32, 1, 32};
  EXPECT_TRUE(bool(checkTiles(product, CpuTarget())));
  product.type = ElementType::F16;
  EXPECT_EQ(checkTiles(product, CpuTarget()).error().message,
            "expected operands of bf16 or i8 for strategy amx, but got f16");
  product.type = ElementType::BF16;
  product.pattern = {43, 64, 3, 32};
  EXPECT_FALSE(bool(checkTiles(product, CpuTarget())));
  product.pattern = {1, 1, 1, 1};
  EXPECT_TRUE(bool(checkTiles(product, CpuTarget())));
}

// The longer side of the register tile tells the direction of vectors, which it
// holds a whole number of, and the sums leave registers for operands.
TEST(CpuSchedule, RegisterTileFits) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    CpuProduct product = drawProduct(random);
    CpuTarget target = drawTarget(random);
    CpuSchedule schedule = selectCpuSchedule(product, target);
    SCOPED_TRACE(std::to_string(schedule.threadM) + " x " +
                 std::to_string(schedule.threadN));
    ASSERT_EQ(schedule.alongM, schedule.threadM >= schedule.threadN);
    int64_t longer = std::max(schedule.threadM, schedule.threadN);
    int64_t shorter = std::min(schedule.threadM, schedule.threadN);
    ASSERT_EQ(longer % target.lanes(), 0);
    ASSERT_LE(longer / target.lanes() * shorter,
              target.registers >= 32 ? 16 : 12);
  }
}

TEST(CpuSchedule, EveryThreadHasWork) {
  CpuProduct product{{2, 4, 1, 1}, ElementType::F32, 256, 4096, 4096};
  CpuTarget target;
  for (target.threads = 1; target.threads <= 64; target.threads *= 2)
    for (int64_t m : {1, 256}) {
      product.m = m;
      CpuSchedule schedule = selectCpuSchedule(product, target);
      int64_t rowTasks = (m + schedule.blockM - 1) / schedule.blockM;
      int64_t columnTasks = (product.n + schedule.blockN - 1) / schedule.blockN;
      int64_t most = m == 1 ? 16 : 64;
      EXPECT_GE(rowTasks * columnTasks, std::min(target.threads, most));
    }
}

// The speed-ups that were measured over OpenBLAS on one Zen 4 core, roughly:
// k = n = 4096, m = 256 and 1.
TEST(CpuSchedule, EstimatesWhatWasMeasured) {
  struct {
    Pattern pattern;
    int64_t m;
    double speedup;
  } measured[] = {{{16, 32, 1, 32}, 256, 2.0}, {{8, 32, 1, 32}, 256, 4.0},
                  {{4, 32, 1, 32}, 256, 7.2},  {{2, 4, 1, 1}, 256, 1.55},
                  {{1, 4, 1, 1}, 256, 2.9},    {{2, 4, 1, 1}, 1, 2.0},
                  {{1, 4, 1, 1}, 1, 3.9}};
  for (const auto &each : measured) {
    CpuProduct product{each.pattern, ElementType::F32, each.m, 4096, 4096};
    CpuSchedule schedule = selectCpuSchedule(product, CpuTarget());
    double speedup = schedule.denseMicroseconds / schedule.sparseMicroseconds;
    EXPECT_NEAR(speedup / each.speedup, 1, 0.25) << each.pattern.str();
  }
}

/// A Zen 5 beside PyTorch, one thread, 2048 x 2048: microseconds of dense and
/// of sparse products. Where all weights come from caches, both are faster.
TEST(CpuSchedule, EstimatesWhatWasMeasuredOfTwoWidePipes) {
  CpuTarget target;
  target.fmaBitsPerCycle = 1024;
  target.f32Rate = 0.45;
  target.bf16Rate = 2;
  target.f16Rate = 0.13;
  constexpr ElementType kF32 = ElementType::F32, kBF16 = ElementType::BF16,
                        kF16 = ElementType::F16;
  constexpr Pattern kPairs{2, 4, 1, 1}, kBlocks{8, 32, 1, 32};
  struct {
    ElementType type;
    Pattern pattern;
    int64_t m;
    double dense, sparse;
  } measured[] = {
      {kF32, kPairs, 16, 2042, 711},   {kF32, kPairs, 32, 3451, 1080},
      {kF32, kPairs, 64, 5652, 1802},  {kF32, kBlocks, 16, 1989, 172},
      {kF32, kBlocks, 32, 3396, 302},  {kBF16, kPairs, 16, 440, 884},
      {kBF16, kPairs, 64, 1196, 1705}, {kBF16, kPairs, 128, 2424, 3514},
      {kBF16, kBlocks, 16, 434, 277},  {kBF16, kBlocks, 128, 2449, 1282},
      {kBF16, kPairs, 8, 306, 234},    {kBF16, kPairs, 15, 405, 473},
      {kF16, kPairs, 15, 4393, 479},
  };
  for (const auto &each : measured) {
    CpuProduct product{each.pattern, each.type, each.m, 2048, 2048};
    CpuSchedule schedule = selectCpuSchedule(product, target);
    std::string name = each.pattern.str() + ", m = " + std::to_string(each.m);
    EXPECT_NEAR(schedule.denseMicroseconds / each.dense, 1, 0.25) << name;
    EXPECT_NEAR(schedule.sparseMicroseconds / each.sparse, 1, 0.25) << name;
    EXPECT_EQ(schedule.denseMicroseconds < schedule.sparseMicroseconds,
              each.dense < each.sparse)
        << name;
  }
}

/// bf16 by pairs on a Zen 5, 2048 x 2048, one thread.
TEST(CpuSchedule, EstimatesWhatWasMeasuredOfPairs) {
  CpuTarget target;
  target.fmaBitsPerCycle = 1024;
  target.bf16Rate = 2;
  target.bf16Pairs = true;
  constexpr Pattern kPairs{2, 4, 1, 1}, kOne{1, 4, 1, 1}, kBlocks{8, 32, 1, 32};
  struct {
    Pattern pattern;
    int64_t m;
    double sparse;
  } measured[] = {
      {kPairs, 16, 657},   {kOne, 16, 335},  {kBlocks, 16, 152},
      {kPairs, 128, 1674}, {kOne, 128, 953}, {kBlocks, 128, 679},
  };
  for (const auto &each : measured) {
    CpuProduct product{each.pattern, ElementType::BF16, each.m, 2048, 2048};
    CpuSchedule schedule = selectCpuSchedule(product, target);
    EXPECT_NEAR(schedule.sparseMicroseconds / each.sparse, 1, 0.25)
        << each.pattern.str() << ", m = " << each.m;
    // Two vectors of rows are one of bf16.
    EXPECT_EQ(schedule.threadM % 32, 0);
  }
}

static CpuTarget getZen5() {
  CpuTarget target;
  target.fmaBitsPerCycle = 1024;
  target.bf16Rate = 2;
  target.i8Rate = 4;
  target.bf16Pairs = target.dots = target.choosesBytes = true;
  return target;
}

/// Words of lanes on a Zen 5, 2048 x 2048, one thread.
TEST(CpuSchedule, EstimatesWhatWasMeasuredOfWords) {
  constexpr Pattern kPairs{2, 4, 1, 1}, kOne{1, 4, 1, 1};
  constexpr ElementType kI8 = ElementType::I8, kBF16 = ElementType::BF16;
  struct {
    ElementType type;
    Pattern pattern;
    int64_t m;
    double sparse;
  } measured[] = {
      {kI8, kPairs, 16, 113},       {kI8, kOne, 16, 68},
      {kI8, kPairs, 128, 851},      {kI8, kOne, 128, 448},
      {kI8, kPairs, 1024, 6723},    {kI8, kOne, 1024, 4029},
      {kBF16, kPairs, 16, 222},     {kBF16, kOne, 16, 124},
      {kBF16, kPairs, 128, 1670},   {kBF16, kOne, 128, 940},
      {kBF16, kPairs, 1024, 14119},
  };
  for (const auto &each : measured) {
    CpuProduct product{each.pattern, each.type, each.m, 2048, 2048};
    CpuSchedule schedule = selectCpuSchedule(product, getZen5());
    EXPECT_NEAR(schedule.sparseMicroseconds / each.sparse, 1, 0.25)
        << each.pattern.str() << ", m = " << each.m;
    EXPECT_TRUE(schedule.tiles);
  }
}

/// Weights pruned anywhere that a Zen 5 expands, 2048 x 2048, one thread; and
/// columns where those are faster.
TEST(CpuSchedule, EstimatesWhatWasMeasuredOfExpandedWeights) {
  constexpr ElementType kF32 = ElementType::F32, kBF16 = ElementType::BF16,
                        kF16 = ElementType::F16, kI8 = ElementType::I8;
  CpuTarget zen5 = getZen5();
  zen5.expandsLanes = zen5.expandsShort = true;
  constexpr int64_t kAll = 2048 * 2048;
  struct {
    ElementType type;
    int64_t m;
    int64_t zeros;
    double sparse;
    int64_t wordRows;
  } measured[] = {
      {kF32, 1, 80, 122, 1}, {kF32, 4, 80, 183, 1},  {kF32, 16, 50, 617, 1},
      {kF32, 1, 95, 63, 0},  {kF16, 1, 80, 131, 1},  {kBF16, 1, 80, 66, 2},
      {kBF16, 2, 80, 77, 2}, {kBF16, 4, 80, 115, 2}, {kBF16, 1, 95, 65, 2},
      {kI8, 1, 80, 40, 4},   {kI8, 4, 95, 51, 4},
  };
  for (const auto &each : measured) {
    CpuProduct product{{1, 1, 1, 1}, each.type, each.m, 2048, 2048};
    CpuSchedule schedule =
        selectColumnsSchedule(product, kAll * (100 - each.zeros) / 100, zen5);
    EXPECT_EQ(schedule.wordRows, each.wordRows)
        << elementName(each.type) << ", m = " << each.m;
    EXPECT_NEAR(schedule.sparseMicroseconds / each.sparse, 1, 0.25)
        << elementName(each.type) << ", m = " << each.m << ", " << each.zeros;
  }
}

/// Of a number of rows that is not known, of images, and without AVX-512.
TEST(CpuSchedule, ExpandsWeightsOfFewRowsAlone) {
  CpuProduct product{{1, 1, 1, 1}, ElementType::BF16, 1, 2048, 2048};
  auto wordRows = [&](const CpuTarget &target) {
    return selectColumnsSchedule(product, 838860, target).wordRows;
  };
  CpuTarget target = getZen5();
  EXPECT_EQ(wordRows(target), 0);
  target.expandsLanes = true;
  EXPECT_EQ(wordRows(target), 1);
  target.expandsShort = true;
  EXPECT_EQ(wordRows(target), 2);
  target.bf16Pairs = false;
  EXPECT_EQ(wordRows(target), 1);
  product.isImage = true;
  EXPECT_EQ(wordRows(target), 0);
  product.isImage = false;
  product.m = CpuProduct::kUnknown;
  EXPECT_EQ(wordRows(target), 0);
}

/// Weights whose columns choose by themselves have one form for all rows.
TEST(CpuSchedule, LanesChooseWordsOfWindowsInAVector) {
  CpuProduct product{{2, 4, 1, 1}, ElementType::BF16, 1, 2048, 2048};
  for (int64_t rows : {1, 3, 16, 17, 128, 1024}) {
    product.m = rows;
    EXPECT_EQ(selectCpuSchedule(product, getZen5()).packing.str(),
              "panel = 32, index_bits = 2, chunk_rows = 2, index_rows = 16");
  }
  product.type = ElementType::I8;
  product.pattern = {8, 61, 1, 1};
  EXPECT_FALSE(choosesWords(product, getZen5()));
  product.pattern = {4, 61, 1, 1};
  EXPECT_TRUE(choosesWords(product, getZen5()));
  EXPECT_EQ(selectTileSchedule(product, getZen5()).packing.str(),
            "panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 4");
  // Two bytes of each of 61 rows are more than a vector, of three rows words
  // are of four windows, and more than half of the weights cost more than
  // dense ones.
  product.type = ElementType::BF16;
  EXPECT_FALSE(choosesWords(product, getZen5()));
  for (const Pattern &pattern :
       {Pattern{3, 8, 1, 1}, Pattern{3, 4, 1, 1}, Pattern{2, 4, 2, 1},
        Pattern{2, 4, 1, 2}, Pattern{1, 1, 1, 1}}) {
    product.pattern = pattern;
    EXPECT_FALSE(choosesWords(product, getZen5())) << pattern.str();
  }
  product = {{2, 4, 1, 1}, ElementType::F16, 1, 2048, 2048};
  EXPECT_FALSE(choosesWords(product, getZen5()));
  // Of Intel's.
  product.type = ElementType::I8;
  CpuTarget other = getZen5();
  other.choosesBytes = false;
  EXPECT_FALSE(choosesWords(product, other));
}

/// A Sapphire Rapids beside PyTorch 2.11: how many times as fast as the dense
/// layer, the mean of one and two threads, of 16 rows, and of 128 and 1024.
TEST(CpuSchedule, EstimatesWhatWasMeasuredOfSapphireRapids) {
  CpuTarget target;
  target.fmaBitsPerCycle = 1024;
  target.vectorCycles = 1.6;
  constexpr ElementType kF32 = ElementType::F32, kBF16 = ElementType::BF16;
  constexpr Pattern kPairs{2, 4, 1, 1}, kOne{1, 4, 1, 1}, kBlocks{8, 32, 1, 32};
  // Tiles take 2:4 with its zeros.
  constexpr Pattern kWide{1, 1, 1, 8192}, kSquare{1, 1, 1, 4096};
  struct {
    bool tiles;
    ElementType type;
    Pattern pattern;
    int64_t n, k;
    double few, many;
  } measured[] = {
      {false, kF32, kPairs, 8192, 2048, 1.12, 0.84},
      {false, kF32, kPairs, 4096, 4096, 0.99, 0.84},
      {false, kF32, kBlocks, 8192, 2048, 3.64, 2.49},
      {false, kF32, kBlocks, 4096, 4096, 3.64, 2.75},
      {false, kF32, kOne, 8192, 2048, 1.94, 1.88},
      {false, kF32, kOne, 4096, 4096, 1.84, 1.60},
      {true, kBF16, kWide, 8192, 2048, 1.12, 0.77},
      {true, kBF16, kSquare, 4096, 4096, 1.32, 0.98},
      {true, kBF16, kBlocks, 8192, 2048, 2.85, 1.15},
      {true, kBF16, kBlocks, 4096, 4096, 3.44, 1.45},
      // With avx512_bf16 and without AMX, PyTorch 2.15, two threads.
      {false, kBF16, kPairs, 4096, 4096, 1.24, 1.54},
      {false, kBF16, kOne, 4096, 4096, 2.45, 2.58},
      {false, kBF16, kBlocks, 4096, 4096, 3.33, 3.60},
  };
  for (const auto &each : measured)
    for (bool isFew : {true, false}) {
      target.tiles = each.tiles;
      target.bf16Rate = each.tiles ? 16 : 0.55;
      CpuProduct product{each.pattern, each.type,
                         isFew ? 16 : CpuProduct::kUnknown, each.n, each.k};
      CpuSchedule schedule = selectCpuSchedule(product, target);
      double speedup = schedule.denseMicroseconds / schedule.sparseMicroseconds;
      double expected = isFew ? each.few : each.many;
      SCOPED_TRACE(each.pattern.str() + " " +
                   std::string(elementName(each.type)) +
                   (each.tiles ? ", tiles, n = " : ", n = ") +
                   std::to_string(each.n) + (isFew ? ", few" : ", many"));
      EXPECT_NEAR(speedup / expected, 1, 0.35);
      if (std::abs(expected - 1) > 0.1)
        EXPECT_EQ(speedup > 1, expected > 1);
    }
}

TEST(CpuSchedule, DenseIsNoSlowerWhereNothingIsPruned) {
  CpuProduct product{{4, 4, 1, 1}, ElementType::F32, 256, 4096, 4096};
  CpuSchedule schedule = selectCpuSchedule(product, CpuTarget());
  EXPECT_LE(schedule.denseMicroseconds, schedule.sparseMicroseconds);
}

TEST(CpuSchedule, DenseIsEstimatedForItsTypeOnItsUnit) {
  CpuProduct product{{2, 4, 1, 1}, ElementType::BF16, 4096, 4096, 4096};
  CpuTarget plain, dots;
  dots.bf16Rate = 2;
  CpuSchedule slow = selectCpuSchedule(product, plain);
  CpuSchedule fast = selectCpuSchedule(product, dots);
  EXPECT_NEAR(slow.denseMicroseconds / fast.denseMicroseconds, 2, 0.1);
  EXPECT_EQ(slow.sparseMicroseconds, fast.sparseMicroseconds);
  product.type = ElementType::F32;
  EXPECT_EQ(selectCpuSchedule(product, plain).denseMicroseconds,
            selectCpuSchedule(product, dots).denseMicroseconds);
}
} // namespace
