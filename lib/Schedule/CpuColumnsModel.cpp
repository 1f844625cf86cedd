//===- CpuColumnsModel.cpp - Products by the weights of a column ----------===//

#include "nm/Schedule/CpuSchedule.h"

#include "nm/Format/Columns.h"

#include <algorithm>

using namespace nm;

namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Vectors of rows whose sums are in registers, and rows of k that are laid out
/// for them at a time.
constexpr int64_t kVectors = 4, kTileRows = 256, kLeastTileRows = 32;
/// Twice as many vectors, which halve what columns take besides their weights,
/// and bytes of A that L1 has of them.
constexpr int64_t kMostVectors = 8, kL1Bytes = 48 * 1024;
/// Tiles of rows for each thread that are worth cutting rows among threads for,
/// so that each row is laid out once, and bytes of sums that L2 has beside A.
constexpr int64_t kTilesOfThread = 8, kSumsBytes = 512 * 1024;
/// Columns of a task at least.
constexpr int64_t kLeastColumns = 32;

/// Cycles that a column of a tile takes besides its weights, most of them for a
/// loop whose end is not foreseen.
constexpr double kColumnCycles = 30;

int64_t rowsOf(const CpuProduct &product) {
  return product.m == CpuProduct::kUnknown ? CpuProduct::kTypicalRows
                                           : product.m;
}
} // namespace

static int64_t threadsOf(const CpuTarget &target) {
  return std::max<int64_t>(1, target.threads);
}

/// Bytes of a row of k of as many vectors.
static int64_t rowBytes(const CpuTarget &target, int64_t vectors) {
  return vectors * target.vectorBits / 8;
}

/// Whether threads have enough tiles of `vectors` vectors to cut rows.
static bool hasManyTiles(const CpuProduct &product, const CpuTarget &target,
                         int64_t vectors) {
  return rowsOf(product) >=
         kTilesOfThread * threadsOf(target) * vectors * target.lanes();
}

/// More where L1 has all of k of them, or where A's rows of k are so long that
/// each part of one is in a page of its own.
static int64_t vectorsOfRows(const CpuProduct &product,
                             const CpuTarget &target) {
  bool isInL1 = product.k * rowBytes(target, kMostVectors) <= kL1Bytes;
  bool isLong = product.isMMajor && hasManyTiles(product, target, kMostVectors);
  int64_t vectors =
      target.registers >= 32 && (isInL1 || isLong) ? kMostVectors : kVectors;
  return std::min(vectors, ceilDiv(rowsOf(product), target.lanes()));
}

static int64_t chooseTileRows(const CpuProduct &product,
                              const CpuTarget &target, int64_t vectors) {
  return vectors > kVectors
             ? std::max(kLeastTileRows, kL1Bytes / rowBytes(target, vectors))
             : kTileRows;
}

/// Cuts m where all of n's sums stay in L2, and n where threads would be idle.
static void chooseTasks(const CpuProduct &product, const CpuTarget &target,
                        CpuSchedule &schedule) {
  int64_t rows = rowsOf(product), threads = threadsOf(target);
  bool isKnown = product.m != CpuProduct::kUnknown;
  int64_t vectors = schedule.threadM / target.lanes();
  bool cutsRows = schedule.alongM && isKnown && threads > 1 &&
                  hasManyTiles(product, target, vectors) &&
                  product.n * rowBytes(target, vectors) <= kSumsBytes;
  schedule.blockM = cutsRows ? roundUp(ceilDiv(rows, threads), schedule.threadM)
                             : std::max<int64_t>(1, rows);
  // All rows of A are laid out for each task, but few tasks leave threads idle.
  int64_t tasks = cutsRows ? 1 : schedule.alongM ? threads : 4 * threads;
  schedule.blockN =
      std::max(std::min(kLeastColumns, product.n), ceilDiv(product.n, tasks));
}

/// Cycles of all threads together.
static double countCycles(const CpuProduct &product, int64_t kept,
                          const CpuTarget &target,
                          const CpuSchedule &schedule) {
  int64_t rows = rowsOf(product);
  if (!schedule.alongM)
    // Each lane gathers from a row of A, and 16 of them take as many cycles.
    return double(kept) * double(rows) * 16 / double(target.lanes());
  double vectors = double(ceilDiv(rows, target.lanes()));
  double groups = double(ceilDiv(rows, schedule.threadM));
  double columns = double(product.n) *
                   double(ceilDiv(product.k, schedule.tileRows)) * groups;
  double perVector = target.vectorBits / target.fmaBitsPerCycle;
  return double(kept) * (vectors * perVector + groups) +
         columns * kColumnCycles +
         double(rows) * double(product.k) *
             double(ceilDiv(product.n, schedule.blockN)) * kLayOutCycles / 2;
}

CpuSchedule nm::selectColumnsSchedule(const CpuProduct &product, int64_t kept,
                                      const CpuTarget &target) {
  CpuSchedule schedule;
  int64_t lanes = target.lanes(), rows = rowsOf(product);
  schedule.alongM = rows >= lanes;
  schedule.threadM =
      schedule.alongM ? lanes * vectorsOfRows(product, target) : 1;
  schedule.threadN = schedule.alongM ? 1 : lanes;
  schedule.kept = std::max<int64_t>(kept, 1);
  schedule.tileRows =
      schedule.alongM || product.m == CpuProduct::kUnknown
          ? chooseTileRows(product, target, schedule.threadM / lanes)
          : ColumnsForm::kMostRows;
  schedule.packing.panel = 0;
  schedule.blockK = product.k;
  chooseTasks(product, target, schedule);
  double compute = countCycles(product, kept, target, schedule) /
                   (target.gigahertz * 1e3 * double(threadsOf(target)));
  double bytes =
      double(kept) * double(elementSize(product.type) +
                            ColumnsForm{1, schedule.tileRows}.indexBytes());
  double bandwidth = std::min(target.coreBandwidth * double(target.threads),
                              target.memoryBandwidth);
  schedule.sparseMicroseconds = std::max(compute, bytes / (bandwidth * 1e3));
  schedule.denseMicroseconds = denseProductTime(product, target);
  return schedule;
}
