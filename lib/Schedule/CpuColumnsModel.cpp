//===- CpuColumnsModel.cpp - Products by the weights of a column ----------===//

#include "nm/Schedule/CpuSchedule.h"

#include "nm/Format/BitmapPanels.h"
#include "nm/Format/Columns.h"

#include <algorithm>
#include <numeric>

using namespace nm;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

namespace {
/// Vectors of rows whose sums are in registers at most, with 32 of them and
/// with fewer, and bytes of A that L1 has of them.
constexpr int64_t kMostVectors = 8, kVectors = 4, kL1Bytes = 48 * 1024;
/// Lines of L1, in sets of so many.
constexpr int64_t kLineBytes = 64, kSets = 64;
/// Bytes of sums that L2 has beside A.
constexpr int64_t kSumsBytes = 768 * 1024;
/// Columns of a task at least.
constexpr int64_t kLeastColumns = 32;

/// Cycles that a column of a tile takes besides its weights, most of them for a
/// loop whose end is not foreseen.
constexpr double kColumnCycles = 30;

/// Vectors of columns of a panel of weights that are expanded, and registers
/// for sums and rows of A beside those.
constexpr int64_t kPanelVectors = BitmapPanels::kColumns / BitmapPanels::kLanes,
                  kExpandedRegisters = 30;

/// Sixths of a cycle in which a vector of weights is loaded and expanded, in
/// which its bits are counted alone, in which it is multiplied by a row, and in
/// which a row is masked.
constexpr int64_t kSixths = 6, kExpand = 7, kCount = 2, kMultiply = 2,
                  kMask = 1;

/// How vectors along m are multiplied.
struct Choice {
  int64_t vectors = 1;
  int64_t tileRows = 1;
  /// Whether threads share rows; else columns.
  bool cutsRows = false;
  int64_t blockN = 1;
};
} // namespace

static int64_t rowsOf(const CpuProduct &product) {
  return product.m == CpuProduct::kUnknown ? CpuProduct::kTypicalRows
                                           : product.m;
}

static int64_t threadsOf(const CpuTarget &target) {
  return std::max<int64_t>(1, target.threads);
}

bool nm::isInL1(int64_t rows, int64_t bytes, int64_t stride) {
  if (rows * bytes > kL1Bytes)
    return false;
  // Rows a multiple of many lines apart share few sets.
  int64_t step = std::gcd(stride / kLineBytes, kSets);
  return stride % kLineBytes == 0 && step * kLineBytes <= bytes;
}

/// Cycles of the thread that takes longest. Others may wait for it.
static double countCycles(const CpuProduct &product, int64_t kept,
                          const CpuTarget &target, const Choice &choice) {
  int64_t threads = threadsOf(target), lanes = target.lanes(),
          bytes = target.vectorBits / 8;
  int64_t vectors = ceilDiv(rowsOf(product), lanes);
  int64_t ofThread = choice.cutsRows ? ceilDiv(vectors, threads) : vectors;
  int64_t tasks =
      ceilDiv(ceilDiv(product.n, choice.blockN), choice.cutsRows ? 1 : threads);
  double columns = std::min(double(tasks * choice.blockN), double(product.n));
  double weights = double(kept) * columns / double(product.n);
  int64_t tiles = ceilDiv(product.k, choice.tileRows);
  double perVector = target.vectorBits / target.fmaBitsPerCycle,
         lines = double(bytes) / kLineBytes;
  // Cycles for a line of A that is laid out across rows of k, that is copied
  // along them, as for sums behind L2, and that L1 lacks.
  double share =
      target.multipliesPairs(product.type) && choice.vectors > 1 ? 0.5 : 1;
  double transpose = kLayOutCycles * kLineBytes / 8, copy = transpose / 2,
         miss = copy / 2;
  bool areSumsNear = choice.blockN * choice.vectors * bytes <= kSumsBytes;
  // Sums of all of k go from registers to planes of C.
  bool areStored = tiles == 1 && product.isMMajor;
  double perSum = areStored || areSumsNear ? 1 : copy;
  bool isInPlace = product.isMMajor && product.type == ElementType::F32 &&
                   isInL1(std::min(choice.tileRows, product.k),
                          choice.vectors * bytes, rowsOf(product) * 4);
  double perCopy = isInPlace ? miss : product.isMMajor ? copy : transpose;
  auto countGroup = [&](int64_t count) {
    double size =
        share * double(std::min(choice.tileRows, product.k) * count * bytes);
    double misses = std::max(0.0, 1 - double(kL1Bytes) / size);
    double all = double(count);
    double sums =
        columns * all * lines * perSum * double(areStored ? 1 : 2 * tiles + 2);
    return weights * share * (all * (perVector + misses * lines * miss) + 1) +
           columns * double(tiles) * kColumnCycles + sums +
           double(product.k * tasks) * all * lines * perCopy;
  };
  double cycles =
      double(ofThread / choice.vectors) * countGroup(choice.vectors);
  if (int64_t rest = ofThread % choice.vectors)
    cycles += countGroup(rest);
  return cycles;
}

/// The columns of a task: sums stay in L2, and threads have equal parts.
static int64_t chooseColumns(const CpuProduct &product, const CpuTarget &target,
                             const Choice &choice) {
  int64_t threads = choice.cutsRows ? 1 : threadsOf(target);
  int64_t tasks = threads;
  if (product.k > choice.tileRows || !product.isMMajor) {
    int64_t most = kSumsBytes / (choice.vectors * target.vectorBits / 8);
    tasks = roundUp(std::max(threads, ceilDiv(product.n, most)), threads);
  }
  return std::max(std::min(kLeastColumns, product.n),
                  ceilDiv(product.n, tasks));
}

/// The choice that takes the fewest cycles.
static Choice choose(const CpuProduct &product, int64_t kept,
                     const CpuTarget &target) {
  int64_t lanes = target.lanes(), vectors = ceilDiv(rowsOf(product), lanes);
  int64_t most =
      std::min(target.registers >= 32 ? kMostVectors : kVectors, vectors);
  bool canCutRows = product.m != CpuProduct::kUnknown &&
                    threadsOf(target) > 1 && vectors >= threadsOf(target);
  Choice best;
  double least = 0;
  auto consider = [&](Choice choice) {
    choice.blockN = chooseColumns(product, target, choice);
    double cycles = countCycles(product, kept, target, choice);
    if (least != 0 && cycles >= least)
      return;
    best = choice;
    least = cycles;
  };
  // Where pairs are multiplied, a vector of A has two vectors of rows.
  int64_t together =
      target.multipliesPairs(product.type) && vectors > 1 ? 2 : 1;
  for (int64_t count = roundUp(most, together); count > 0; count -= together) {
    int64_t inL1 = kL1Bytes / (count / together * target.vectorBits / 8);
    for (int64_t rows : {inL1, inL1 * 4 / 3, inL1 * 2, product.k}) {
      rows = std::min({roundUp(rows, lanes), roundUp(product.k, lanes),
                       ColumnsForm::kMostRows});
      consider({count, rows, false});
      if (canCutRows && count <= ceilDiv(vectors, threadsOf(target)))
        consider({count, rows, true});
    }
  }
  return best;
}

static CpuSchedule scheduleAlongM(const CpuProduct &product, int64_t kept,
                                  const CpuTarget &target) {
  Choice choice = choose(product, kept, target);
  int64_t rows = rowsOf(product), lanes = target.lanes();
  CpuSchedule schedule;
  schedule.alongM = true;
  schedule.threadM = choice.vectors * lanes;
  schedule.threadN = 1;
  schedule.tileRows = choice.tileRows;
  schedule.blockM =
      choice.cutsRows ? ceilDiv(ceilDiv(rows, lanes), threadsOf(target)) * lanes
                      : rows;
  schedule.blockN = choice.blockN;
  schedule.sparseMicroseconds =
      countCycles(product, kept, target, choice) / (target.gigahertz * 1e3);
  return schedule;
}

/// Vectors along the weights of a column, of fewer rows than lanes.
static CpuSchedule scheduleAlongK(const CpuProduct &product, int64_t kept,
                                  const CpuTarget &target) {
  int64_t rows = rowsOf(product), threads = threadsOf(target);
  CpuSchedule schedule;
  schedule.threadM = 1;
  schedule.threadN = target.lanes();
  schedule.tileRows = ColumnsForm::kMostRows;
  schedule.blockM = std::max<int64_t>(1, rows);
  schedule.blockN = std::max(std::min(kLeastColumns, product.n),
                             ceilDiv(product.n, 4 * threads));
  // Each lane gathers from a row of A, and 16 of them take as many cycles.
  double cycles = double(rows) * (double(kept) * 16 / double(target.lanes()) +
                                  double(product.n) * kColumnCycles);
  schedule.sparseMicroseconds =
      cycles / (target.gigahertz * 1e3 * double(threads));
  return schedule;
}

/// Microseconds to read `bytes` bytes of weights.
static double readTime(double bytes, const CpuTarget &target) {
  double bandwidth = std::min(target.coreBandwidth * double(target.threads),
                              target.memoryBandwidth);
  return bytes / (bandwidth * 1e3);
}

/// The faster of vectors along m, which a few rows may not fill, and, for
/// fewer rows than lanes, along the weights of a column.
static CpuSchedule scheduleColumns(const CpuProduct &product, int64_t kept,
                                   const CpuTarget &target) {
  CpuSchedule schedule = scheduleAlongM(product, kept, target);
  if (rowsOf(product) < target.lanes()) {
    CpuSchedule alongK = scheduleAlongK(product, kept, target);
    // Two rows are laid out slowly: LLVM takes squares of theirs apart.
    if (rowsOf(product) <= 2 ||
        alongK.sparseMicroseconds < schedule.sparseMicroseconds)
      schedule = alongK;
  }
  double bytes =
      double(kept) * double(elementSize(product.type) +
                            ColumnsForm{1, schedule.tileRows}.indexBytes());
  schedule.sparseMicroseconds =
      std::max(schedule.sparseMicroseconds, readTime(bytes, target));
  return schedule;
}

namespace {
/// How weights are expanded: for how many rows of m at once, and how many
/// sixths of a cycle a vector of them takes.
struct Expansion {
  int64_t rows = 1, vectors = kPanelVectors, sixths = 0;
};
} // namespace

/// The register tile of `wordRows` rows of k of a lane that takes the fewest
/// cycles. One of half a panel has twice the rows, and counts the bits of the
/// other half.
static Expansion chooseExpansion(int64_t rows, int64_t wordRows) {
  // Of i8, weights are multiplied by the number that A has too much, too.
  int64_t others = wordRows == 4 ? 1 : 0;
  int64_t perRow = wordRows == 2 ? kMultiply + kMask : kMultiply;
  Expansion best;
  for (int64_t vectors : {kPanelVectors, kPanelVectors / 2}) {
    int64_t passes = ceilDiv(rows, kExpandedRegisters / (vectors + 1) - others);
    int64_t skipped = kPanelVectors / vectors - 1;
    int64_t sixths = passes * (kExpand + skipped * kCount) +
                     (rows + passes * others) * perRow;
    if (best.sixths == 0 || sixths < best.sixths)
      best = {ceilDiv(rows, passes), vectors, sixths};
  }
  return best;
}

/// Vectors along n of weights that are expanded once for a few rows of m.
static CpuSchedule scheduleExpanded(const CpuProduct &product, int64_t kept,
                                    const CpuTarget &target) {
  BitmapPanels form{kept, target.expandedRows(product.type)};
  int64_t rows = rowsOf(product), threads = threadsOf(target),
          panels = BitmapPanels::panels(product.n);
  Expansion expansion = chooseExpansion(rows, form.wordRows);
  CpuSchedule schedule;
  schedule.wordRows = form.wordRows;
  schedule.threadM = expansion.rows;
  schedule.threadN = expansion.vectors * BitmapPanels::kLanes;
  schedule.blockM = rows;
  // A few tasks a thread even out what else the machine does.
  int64_t ofTask = ceilDiv(panels, 4 * threads);
  schedule.blockN = ofTask * BitmapPanels::kColumns;
  int64_t tasks = ceilDiv(ceilDiv(panels, ofTask), threads);
  double vectors = double(std::min(tasks * ofTask, panels) *
                          form.steps(product.k) * kPanelVectors);
  double cycles =
      vectors * target.vectorCycles * double(expansion.sixths) / kSixths;
  double bytes = double(kept * elementSize(product.type) +
                        panels * form.steps(product.k) * form.stepBytes());
  schedule.sparseMicroseconds =
      std::max(cycles / (target.gigahertz * 1e3), readTime(bytes, target));
  return schedule;
}

CpuSchedule nm::selectColumnsSchedule(const CpuProduct &product, int64_t kept,
                                      const CpuTarget &target) {
  kept = std::max<int64_t>(kept, 1);
  CpuSchedule schedule = scheduleColumns(product, kept, target);
  if (product.m != CpuProduct::kUnknown && !product.isImage &&
      target.expandedRows(product.type) != 0) {
    CpuSchedule expanded = scheduleExpanded(product, kept, target);
    if (expanded.sparseMicroseconds < schedule.sparseMicroseconds)
      schedule = expanded;
  }
  schedule.kept = kept;
  schedule.packing.panel = 0;
  schedule.blockK = product.k;
  schedule.denseMicroseconds = denseProductTime(product, target);
  return schedule;
}
