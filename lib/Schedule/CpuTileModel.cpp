//===- CpuTileModel.cpp - Schedules of strategy amx -----------------------===//
//
// Cycles are of one core, which begins a product of 16 x 16 x 32 every 16
// cycles, 1024 floating-point operations in a cycle, where AVX-512 does 64 of
// f32.
//
//===----------------------------------------------------------------------===//

#include "nm/Schedule/CpuSchedule.h"

#include <algorithm>
#include <numeric>
#include <string>

using namespace nm;

/// Columns or rows of m, and rows of k, of a tile.
static constexpr int64_t kTile = 16, kTileRows = 32;
/// Rows of m that A is laid out for at a time, at most.
static constexpr int64_t kMostRows = 256;
/// A task's part of A is to stay in half of a 2 MB L2, and its sums, which are
/// touched once for each tile of k, in as much of L3.
static constexpr int64_t kBytesOfA = 1 << 20, kBytesOfSums = 2 << 20;
/// Rows of k of a tile whose weights many rows of m share: those of a panel of
/// 32 columns are 64 KB, of which the part in use stays in L1.
static constexpr int64_t kSharedBlockK = 1024;
/// Where weights choose rows of A, 32 rows of m of so many are to stay in L1:
/// 32 KB of bf16.
static constexpr int64_t kChosenBlockK = 512;
/// Words of k of a tile whose lanes choose: of eight rows of m 16 KB of A.
static constexpr int64_t kWordsBlockK = 512;
/// Kept rows whose products are summed by one chain.
static constexpr int64_t kMostChainRows = 2048;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

static int64_t rowsOf(const CpuProduct &product) {
  return product.m == CpuProduct::kUnknown ? CpuProduct::kTypicalRows
                                           : product.m;
}

static bool keepsAll(const Pattern &pattern) { return pattern.n == pattern.m; }

/// Whether panels of `columns` can have the weights: of a part of one unit, or
/// of whole units where these do not choose.
static bool fits(const Pattern &pattern, int64_t columns) {
  return pattern.bn % columns == 0 ||
         (keepsAll(pattern) && columns % pattern.bn == 0);
}

/// Values of a column in a lane of 32 bits, which one instruction multiplies.
static int64_t wordOf(const CpuProduct &product) {
  return 4 / elementSize(product.type);
}

/// Windows of the rows of k that a bitmap of a tile has, an even number; 0 of a
/// pattern whose windows are longer, or odd and too long for two.
static int64_t windowsOfBitmap(const Pattern &pattern) {
  int64_t windows = kTileRows / pattern.m;
  return windows * pattern.m % 2 == 0 ? windows : windows - 1;
}

bool nm::expandsTiles(const CpuProduct &product, const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  if (!target.expands || product.type != ElementType::BF16 ||
      keepsAll(pattern) || pattern.bk != 1 || kTile % pattern.bn != 0 ||
      pattern.bn == kTile)
    return false;
  // Bits of a sixteenth of the dense weights, and places of a few rows.
  int64_t kept = windowsOfBitmap(pattern) * pattern.n;
  return kept > 1 && kept <= kTileRows * 7 / 8;
}

/// Kept rows of whole words of whole windows.
static int64_t unitsOfWords(const CpuProduct &product) {
  return std::lcm(product.pattern.n, wordOf(product));
}

/// Bytes of the rows of A in the windows of whole words.
static int64_t bytesOfWords(const CpuProduct &product) {
  return unitsOfWords(product) / product.pattern.n * product.pattern.m *
         elementSize(product.type);
}

/// Panels of two vectors, and index rows of a word of a column, of fields of 1,
/// 2, 4 or 8 bits, so that these are whole windows.
static PanelPacking packWords(const CpuProduct &product) {
  constexpr int64_t kWordBits = 32;
  int64_t bits = 1;
  while (bits < product.pattern.indexBits())
    bits *= 2;
  return {2 * kTile, bits, wordOf(product), 1, kWordBits / bits};
}

bool nm::choosesWords(const CpuProduct &product, const CpuTarget &target) {
  constexpr int64_t kVectorBytes = 64;
  const Pattern &pattern = product.pattern;
  if (!target.choosesWords(product.type) || pattern.bk != 1 ||
      pattern.bn != 1 || 2 * pattern.n > pattern.m)
    return false;
  return bytesOfWords(product) <= kVectorBytes &&
         packWords(product).indexRows % unitsOfWords(product) == 0;
}

bool nm::canTile(const CpuProduct &product, const CpuTarget &target) {
  return target.canTile(product.type) || choosesWords(product, target);
}

int64_t nm::marginOfOneForm(const CpuProduct &product,
                            const CpuTarget &target) {
  // Dense weights of 64 x 48 in bf16 take 6 KB, and a call with one row 1.2 us
  // longer by tiles (one thread of a virtual Intel Xeon with AMX, 2026-11-29).
  constexpr int64_t kLeastBytes = 1 << 16;
  int64_t bytes = product.k * product.n * elementSize(product.type);
  bool hasOwnForm =
      expandsTiles(product, target) || choosesWords(product, target);
  return hasOwnForm && bytes >= kLeastBytes ? 2 : 1;
}

Status nm::checkTiles(const CpuProduct &product, const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  if (product.type != ElementType::BF16 && product.type != ElementType::I8)
    return Error{"expected operands of bf16 or i8 for strategy amx, but got " +
                 std::string(elementName(product.type))};
  if (expandsTiles(product, target) || choosesWords(product, target))
    return Status::success();
  if (!fits(pattern, kTile) && !fits(pattern, 4 * kTile))
    return Error{"expected units of a multiple of " + std::to_string(kTile) +
                 " columns for strategy amx, but got " +
                 std::to_string(pattern.bn)};
  if (keepsAll(pattern))
    return Status::success();
  // What #nm.amx (C3) lets pass.
  if (wordOf(product) == 4 && pattern.bk % 4 == 2 && pattern.keptRows() > 128)
    return Error{"expected at most 128 kept rows in a window of units of no "
                 "multiple of 4 rows for strategy amx and i8, but got " +
                 std::to_string(pattern.keptRows())};
  if (pattern.bk % 2 != 0 && pattern.keptRows() > 128)
    return Error{"expected at most 128 kept rows in a window of units of an "
                 "odd height for strategy amx, but got " +
                 std::to_string(pattern.keptRows())};
  return Status::success();
}

/// Whether a tile of weights has twice the rows of k.
static bool usesByteTiles(const CpuProduct &product, const CpuTarget &target) {
  return product.type == ElementType::I8 && target.byteTiles;
}

/// Few rows of m leave registers for the sums of more columns.
static PanelPacking choosePacking(const CpuProduct &product,
                                  const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  // One packed form serves all numbers of rows.
  if (expandsTiles(product, target)) {
    int64_t kept = windowsOfBitmap(pattern) * pattern.n;
    return {2 * kTile, 0, kept, 1, kept};
  }
  if (choosesWords(product, target))
    return packWords(product);
  int64_t panel = rowsOf(product) <= kTile ? 4 * kTile : 2 * kTile;
  while (panel > kTile && !fits(pattern, panel))
    panel /= 2;
  // Units of 64 columns, too, may be whole where they do not choose.
  if (!fits(pattern, panel))
    panel = 4 * kTile;
  // Index rows of whole chunks.
  int64_t rows = usesByteTiles(product, target) ? 2 * kTileRows : kTileRows;
  return {panel, 8, rows, 1, rows / std::gcd(rows, pattern.bk)};
}

/// Rows of k that A is laid out for at a time. Where many rows of m share
/// weights, a panel's stay in L1 for all of them; else A should be laid out
/// whole, so that weights are read as one stream.
static int64_t chooseBlockK(const CpuProduct &product, const CpuTarget &target,
                            int64_t rows) {
  const Pattern &pattern = product.pattern;
  int64_t windowRows = pattern.windowRows();
  double keptShare = double(pattern.n) / pattern.m;
  int64_t chain = int64_t(double(kMostChainRows) / keptShare);
  if (choosesWords(product, target))
    return std::min(roundUp(product.k, windowRows),
                    roundUp(kWordsBlockK * wordOf(product), windowRows));
  int64_t most = std::min(kBytesOfA / (2 * roundUp(rows, kTile)), chain);
  bool expands = expandsTiles(product, target);
  if (rows > 4 * kTile || expands)
    most = std::min(most, keepsAll(pattern) || expands ? kSharedBlockK
                                                       : kChosenBlockK);
  int64_t whole = roundUp(product.k, windowRows);
  return std::min(whole, std::max(windowRows, most / windowRows * windowRows));
}

static void chooseTasks(const CpuProduct &product, const CpuTarget &target,
                        CpuSchedule &schedule) {
  int64_t step = schedule.packing.columnStep(product.pattern);
  int64_t threads = std::max<int64_t>(1, target.threads);
  int64_t rows = rowsOf(product);
  schedule.blockM = std::min(rows, kMostRows);
  int64_t rowTasks = ceilDiv(rows, schedule.blockM);
  int64_t most =
      std::max(step, kBytesOfSums / (4 * roundUp(schedule.blockM, kTile)));
  int64_t columnTasks = ceilDiv(product.n, most);
  // As many tasks as make every thread's share the same.
  if (rowTasks * columnTasks % threads != 0)
    columnTasks = roundUp(columnTasks, threads / std::gcd(threads, rowTasks));
  schedule.blockN = roundUp(ceilDiv(product.n, columnTasks), step);
}

/// Cycles of all tasks for rows of A that weights choose, behind what says
/// which.
static double gatherCycles(const CpuProduct &product, const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  if (keepsAll(pattern) || expandsTiles(product, target) ||
      choosesWords(product, target))
    return 0;
  return double(pattern.condensedRows(product.k)) / wordOf(product) *
         ceilDiv(product.n, pattern.bn) * ceilDiv(rowsOf(product), 2 * kTile) *
         5 * 512 / double(target.vectorBits);
}

/// Cycles for 16 rows of m, 32 rows of k and 16 columns. Loads of tiles are
/// hidden behind products where there are two of either.
static double cyclesOfStep(const CpuProduct &product, const CpuTarget &target) {
  bool isOfBytes = product.type == ElementType::I8;
  double ofTiles = rowsOf(product) > kTile ? 20 : 26;
  if (usesByteTiles(product, target))
    return ofTiles / 2;
  if (!isOfBytes && target.tiles)
    return ofTiles;
  // Vectors multiply four values for one of f32, and matrices of i8 eight.
  int64_t rate = isOfBytes && target.i8Matrices ? 8 : 4;
  return double(kTile) * kTile * kTileRows /
         (target.fmaBitsPerCycle / 32 * double(rate));
}

/// Rows of k of a tile, and rows of a column that are multiplied, zeros of
/// dense tiles and of expanded ones among them.
static double countSteps(const CpuProduct &product, const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  int64_t steps =
      expandsTiles(product, target)
          ? ceilDiv(pattern.windows(product.k), windowsOfBitmap(pattern))
          : ceilDiv(pattern.condensedRows(product.k), kTileRows);
  return double(steps) * double(ceilDiv(product.n, kTile));
}

/// Cycles of all tasks to put zeros between packed weights, once for each block
/// of rows: a column's row of a tile takes two of VPEXPANDW, and one to load
/// its bits, on the one port that has them, and stores of it come in between.
static double expandCycles(const CpuProduct &product, const CpuTarget &target,
                           const CpuSchedule &schedule) {
  constexpr int64_t kCycles = 5;
  if (!expandsTiles(product, target))
    return 0;
  return countSteps(product, target) * double(kTile * kCycles) *
         double(ceilDiv(rowsOf(product), schedule.blockM));
}

/// Cycles of all tasks for the products of words, of eight rows of m at a time
/// or fewer. A column's control takes two instructions, and each row a
/// permutation and a product, of which a Zen 5 begins three in a cycle.
static double wordCycles(const CpuProduct &product, const CpuTarget &target) {
  constexpr int64_t kRows = 8, kBegun = 3;
  double words = double(product.pattern.condensedRows(product.k)) /
                 double(wordOf(product)) * double(ceilDiv(product.n, kTile));
  int64_t rows = rowsOf(product), passes = ceilDiv(rows, kRows);
  return words * double(2 * (passes + rows)) / kBegun *
         (2 * double(target.vectorBits) / target.fmaBitsPerCycle);
}

/// Cycles of all tasks for all else, which reading weights is hidden behind.
static double otherCycles(const CpuProduct &product, const CpuTarget &target,
                          const CpuSchedule &schedule) {
  double rows = rowsOf(product), vectors = ceilDiv(rowsOf(product), kTile);
  double multiply = choosesWords(product, target)
                        ? wordCycles(product, target)
                        : countSteps(product, target) * vectors *
                              cyclesOfStep(product, target);
  double layOut = rows * product.k * ceilDiv(product.n, schedule.blockN) *
                  kLayOutCycles / 2;
  double kTiles = ceilDiv(product.k, schedule.blockK);
  double write = rows * product.n * (10 + kTiles) / 8;
  return multiply + layOut + write + expandCycles(product, target, schedule);
}

CpuSchedule nm::selectTileSchedule(const CpuProduct &product,
                                   const CpuTarget &target) {
  CpuSchedule schedule;
  schedule.tiles = true;
  schedule.packing = choosePacking(product, target);
  chooseTasks(product, target, schedule);
  schedule.blockK = chooseBlockK(product, target, schedule.blockM);
  double cyclesPerMicrosecond =
      target.gigahertz * 1e3 * std::max<int64_t>(1, target.threads);
  schedule.sparseMicroseconds =
      gatherCycles(product, target) / cyclesPerMicrosecond +
      std::max(otherCycles(product, target, schedule) / cyclesPerMicrosecond,
               weightReadTime(product, target, schedule.packing));
  schedule.denseMicroseconds = denseProductTime(product, target);
  return schedule;
}
