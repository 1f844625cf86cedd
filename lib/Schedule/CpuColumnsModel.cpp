//===- CpuColumnsModel.cpp - Products by the weights of a column ----------===//

#include "nm/Schedule/CpuSchedule.h"

#include "nm/Format/Columns.h"

#include <algorithm>

using namespace nm;

namespace {
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Vectors of rows whose sums are in registers, and rows of k that are laid out
/// for them at a time.
constexpr int64_t kVectors = 4, kTileRows = 256;
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
      schedule.alongM ? lanes * std::min(kVectors, ceilDiv(rows, lanes)) : 1;
  schedule.threadN = schedule.alongM ? 1 : lanes;
  schedule.kept = std::max<int64_t>(kept, 1);
  schedule.tileRows = schedule.alongM || product.m == CpuProduct::kUnknown
                          ? kTileRows
                          : ColumnsForm::kMostRows;
  schedule.packing.panel = 0;
  schedule.blockK = product.k;
  // All rows of A are laid out for each task, but few tasks leave threads idle.
  int64_t tasks = std::max<int64_t>(1, schedule.alongM ? target.threads
                                                       : 4 * target.threads);
  schedule.blockN =
      std::max(std::min(kLeastColumns, product.n), ceilDiv(product.n, tasks));
  schedule.blockM = std::max<int64_t>(1, rows);
  double compute =
      countCycles(product, kept, target, schedule) /
      (target.gigahertz * 1e3 * double(std::max<int64_t>(target.threads, 1)));
  double bytes =
      double(kept) * double(elementSize(product.type) +
                            ColumnsForm{1, schedule.tileRows}.indexBytes());
  double bandwidth = std::min(target.coreBandwidth * double(target.threads),
                              target.memoryBandwidth);
  schedule.sparseMicroseconds = std::max(compute, bytes / (bandwidth * 1e3));
  schedule.denseMicroseconds = denseProductTime(product, target);
  return schedule;
}
