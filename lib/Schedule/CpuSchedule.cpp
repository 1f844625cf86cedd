//===- CpuSchedule.cpp - The CPU's schedules and what they cost -----------===//

#include "nm/Schedule/CpuSchedule.h"

#include <algorithm>

using namespace nm;

static constexpr int64_t kTypicalRows = CpuProduct::kTypicalRows;
/// A's tile is to stay in a 32 KB L1, and C's in half of a 1 MB L2.
static constexpr int64_t kL1Bytes = 32 * 1024;
static constexpr int64_t kL2Bytes = 256 * 1024;
/// Sums in registers beside which four rows leave a vector of values each.
static constexpr int64_t kRowsOfSums = 4;
/// Fewer columns a task do not pay for laying A out again.
static constexpr int64_t kLeastTaskColumns = 64;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

static int64_t rowsOf(const CpuProduct &product) {
  return product.m == CpuProduct::kUnknown ? kTypicalRows : product.m;
}

/// Vectors of sums that registers hold beside operands.
static int64_t accumulators(const CpuTarget &target) {
  return target.registers >= 32 ? 16 : 12;
}

/// Vectors of rows of a register tile whose columns share loads of A, and of
/// one whose columns do not. NEON has no multiplication that loads: of eight
/// vectors of four rows beside two columns, a weight's load and its index come
/// to a quarter of the loads of A. Of 24 sums in 32 registers, LLVM spills
/// some.
static int64_t vectorsOfRows(const CpuTarget &target, bool shared) {
  if (target.vectorBits >= 512)
    return shared ? 2 : 4;
  bool isNarrow = target.vectorBits == 128 && target.registers >= 32;
  if (shared)
    return isNarrow ? 4 : 3;
  return isNarrow ? 8 : 4;
}

//===----------------------------------------------------------------------===//
// The packed form
//===----------------------------------------------------------------------===//

/// Columns of whole units, or a part of one, near `vectors` vectors.
static int64_t panelAlongN(const Pattern &pattern, int64_t lanes,
                           int64_t vectors) {
  int64_t bn = pattern.bn;
  if (bn <= lanes)
    return lanes / bn * bn * vectors;
  int64_t columns = lanes * vectors;
  if (bn <= columns)
    return columns / bn * bn;
  return bn % columns == 0 ? columns : bn;
}

int64_t nm::choosePanel(const CpuProduct &product, const CpuTarget &target,
                        bool packs) {
  const Pattern &pattern = product.pattern;
  int64_t lanes = target.lanes();
  // Where columns share no index, many rows read a few columns of all rows of
  // k, and then the next columns: a panel of a cache line leaves no gaps
  // between what is read one after the other.
  bool isOneLine =
      packs && pattern.bn == 1 && target.vectorBits >= 512 &&
      (elementSize(product.type) == 4 || target.multipliesPairs(product.type));
  int64_t vectors = isOneLine ? 1 : accumulators(target) * kRowsOfSums / lanes;
  if (product.n > 0)
    vectors = std::min(vectors, ceilDiv(product.n, lanes));
  return panelAlongN(pattern, lanes, vectors);
}

/// The form that weights have for every number of rows, so that they are kept
/// once.
static PanelPacking choosePacking(const CpuProduct &product,
                                  const CpuTarget &target) {
  const Pattern &pattern = product.pattern;
  return {choosePanel(product, target, /*packs=*/true),
          pattern.bn >= target.lanes()
              ? 8
              : std::max<int64_t>(1, pattern.indexBits())};
}

//===----------------------------------------------------------------------===//
// Vectors along m
//===----------------------------------------------------------------------===//

/// Cuts m, and n into equal parts of at most `most` columns, so that every
/// thread gets the same number of tasks.
static void chooseTasksAlongM(const CpuProduct &product,
                              const CpuTarget &target, int64_t most,
                              CpuSchedule &schedule) {
  int64_t rows = rowsOf(product);
  int64_t threads = std::max<int64_t>(1, target.threads);
  bool whole = product.m != CpuProduct::kUnknown && rows <= 2 * kTypicalRows;
  schedule.blockM = whole ? rows : roundUp(kTypicalRows, schedule.threadM);
  int64_t mostColumnTasks = std::max<int64_t>(1, product.n / kLeastTaskColumns);
  if (mostColumnTasks < threads) {
    int64_t parts = ceilDiv(threads, mostColumnTasks);
    schedule.blockM = std::min(schedule.blockM,
                               roundUp(ceilDiv(rows, parts), schedule.threadM));
  }
  int64_t rowTasks = ceilDiv(rows, schedule.blockM);
  int64_t columnTasks = ceilDiv(product.n, most);
  if (rowTasks < threads)
    columnTasks = std::min(roundUp(columnTasks, ceilDiv(threads, rowTasks)),
                           mostColumnTasks);
  schedule.blockN =
      roundUp(ceilDiv(product.n, columnTasks), schedule.packing.panel);
}

static void scheduleAlongM(const CpuProduct &product, const CpuTarget &target,
                           CpuSchedule &schedule) {
  const Pattern &pattern = product.pattern;
  int64_t lanes = target.lanes();
  // Columns that share an index share loads of A, which pays for fewer vectors
  // beside more columns; otherwise each multiplication loads A, and a weight
  // should be used often.
  bool shared = pattern.bn > 1;
  bool isOfPairs = target.multipliesPairs(product.type);
  int64_t vectors =
      std::min(vectorsOfRows(target, shared), ceilDiv(rowsOf(product), lanes));
  if (isOfPairs)
    vectors = roundUp(vectors, 2);
  int64_t columns = std::min<int64_t>(8, accumulators(target) /
                                             std::max<int64_t>(vectors, 1));

  schedule.alongM = true;
  schedule.threadM = vectors * lanes;
  schedule.threadN = std::min(columns, schedule.threadM);
  int64_t rowBytes = schedule.threadM * 4,
          rowBytesOfA = isOfPairs ? rowBytes / 2 : rowBytes;
  // Rows of A that a whole unit of columns shares may come from L2.
  int64_t tileBytes = pattern.bn >= 8 ? 2 * kL1Bytes : kL1Bytes;
  schedule.blockK = roundUp(std::max<int64_t>(1, tileBytes / rowBytesOfA),
                            pattern.windowRows());
  schedule.packing = choosePacking(product, target);
  chooseTasksAlongM(product, target,
                    std::min<int64_t>(1024, kL2Bytes / rowBytes), schedule);
}

/// Cycles in which vectors are multiplied, one after the other, and in which
/// as many are loaded.
static double cyclesOfVector(const CpuTarget &target) {
  return target.vectorBits / target.fmaBitsPerCycle;
}

/// Cycles for one weight and all the rows of a register tile. A multiplication
/// for each vector of rows loads A where no other column of the tile has the
/// same index, behind loads of the weight and its index; a target that shuffles
/// weights loads four of them together. Columns that share an index share loads
/// of A, beside which a weight is loaded as it is multiplied, but one of 16
/// bits before, to be converted. Of pairs, weights of four columns are loaded
/// together; what a vector of rows takes was measured on a Zen 5, which
/// interleaves rows beside the products.
static double cyclesPerWeight(const CpuProduct &product,
                              const CpuTarget &target, int64_t vectors) {
  double cycles = cyclesOfVector(target), multiply = cycles * double(vectors);
  if (target.multipliesPairs(product.type))
    return multiply / 2 + (product.pattern.bn > 1 ? 0 : cycles);
  double load = elementSize(product.type) < 4 ? 2 * cycles : cycles;
  // A core whose vectors take longer loads in as many more cycles, too.
  return target.vectorCycles *
         (product.pattern.bn > 1
              ? std::max(load * target.vectorCycles, multiply)
              : (target.shufflesWeights ? cycles + cycles / 4 : 2 * cycles) +
                    multiply);
}

//===----------------------------------------------------------------------===//
// Vectors along n
//===----------------------------------------------------------------------===//

static void scheduleAlongN(const CpuProduct &product, const CpuTarget &target,
                           CpuSchedule &schedule) {
  int64_t lanes = target.lanes();
  // Few rows beside many columns share tables and indices best; the weights of
  // a task stay in L3 for the next rows.
  int64_t passes = ceilDiv(std::max<int64_t>(1, rowsOf(product)), 4);
  int64_t rows = std::max<int64_t>(1, ceilDiv(rowsOf(product), passes));
  int64_t vectors = std::max<int64_t>(1, accumulators(target) / rows);

  schedule.alongM = false;
  schedule.threadM = rows;
  schedule.threadN = vectors * lanes;
  // With as many rows as lanes the longer side would not tell the direction.
  schedule.threadM = std::min(schedule.threadM, schedule.threadN - 1);
  schedule.blockM = rowsOf(product);
  schedule.blockK = product.k;
  schedule.packing = choosePacking(product, target);
  int64_t panel = schedule.packing.panel;
  int64_t together = std::max<int64_t>(1, schedule.threadN / panel) * panel;
  // A few tasks a thread even out what else the machine does.
  int64_t tasks = std::max<int64_t>(1, 4 * target.threads);
  schedule.blockN = roundUp(ceilDiv(product.n, tasks), together);
}

/// Cycles for one vector of values: spreading the indices, and converting
/// values of 16 bits, for four rows at a time, and looking up and multiplying
/// for every row, of which two instructions begin together.
static double cyclesPerVector(const CpuProduct &product,
                              const CpuTarget &target) {
  int64_t lanes = target.lanes();
  int64_t registers = ceilDiv(product.pattern.m, lanes);
  bool inRegisters = target.permutes && lanes >= 8 && registers <= 8;
  bool isShared = product.pattern.bn >= lanes;
  double lookUp = isShared      ? 1
                  : inRegisters ? double(registers)
                                : double(lanes);
  double rows = double(rowsOf(product)),
         passes = double(ceilDiv(std::max<int64_t>(1, rowsOf(product)), 4));
  double spread = elementSize(product.type) < 4 ? 2 : 1;
  return target.vectorCycles *
         (passes * spread + cyclesOfVector(target) * rows * (lookUp + 1) / 2);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// Microseconds to read `bytes` from memory.
static double readTime(double bytes, const CpuTarget &target) {
  double bandwidth =
      std::min(target.coreBandwidth * target.threads, target.memoryBandwidth);
  return bytes / (bandwidth * 1e3);
}

static double peakFlopsPerMicrosecond(const CpuTarget &target) {
  return target.fmaBitsPerCycle / 32 * 2 * target.gigahertz * 1e3 *
         target.threads;
}

static double weightBytes(const CpuProduct &product,
                          const PanelPacking &packing) {
  const Pattern &pattern = product.pattern;
  auto values = packing.valueShape(pattern, product.k, product.n);
  auto indices = packing.indexShape(pattern, product.k, product.n);
  return double(values[0]) * values[1] * values[2] * elementSize(product.type) +
         double(indices[0]) * indices[1] * indices[2];
}

double nm::weightReadTime(const CpuProduct &product, const CpuTarget &target,
                          const PanelPacking &packing) {
  return readTime(weightBytes(product, packing), target);
}

/// Microseconds that all tasks spend on laying A out m-major, and on moving the
/// sums from and to L2 for each tile of k.
static double layoutTime(const CpuProduct &product, const CpuTarget &target,
                         const CpuSchedule &schedule) {
  double rows = rowsOf(product);
  double columnTasks = ceilDiv(product.n, schedule.blockN);
  double kTiles = ceilDiv(product.k, schedule.blockK);
  double elements = rows * (product.k * columnTasks + product.n * kTiles);
  // Vectors of either are moved whole, two at a time.
  return elements / 2 * kLayOutCycles / target.gigahertz / 1e3 / target.threads;
}

static double sparseTime(const CpuProduct &product, const CpuTarget &target,
                         const CpuSchedule &schedule) {
  double kept = double(product.pattern.condensedRows(product.k)) * product.n;
  double compute;
  if (schedule.alongM) {
    int64_t tileVectors = schedule.threadM / target.lanes();
    double tiles = double(ceilDiv(rowsOf(product), target.lanes())) /
                   std::max<int64_t>(1, tileVectors);
    compute = kept * std::max(1.0, tiles) *
                  cyclesPerWeight(product, target, tileVectors) /
                  (target.gigahertz * 1e3 * target.threads) +
              layoutTime(product, target, schedule);
  } else {
    compute = kept / target.lanes() * cyclesPerVector(product, target) /
              (target.gigahertz * 1e3 * target.threads);
  }
  return std::max(compute, weightReadTime(product, target, schedule.packing));
}

double CpuTarget::denseRate(ElementType type) const {
  switch (type) {
  case ElementType::F32:
    return f32Rate;
  case ElementType::BF16:
    return bf16Rate;
  case ElementType::F16:
    return f16Rate;
  case ElementType::I8:
    return i8Rate;
  default:
    return 1;
  }
}

double nm::denseProductTime(const CpuProduct &product,
                            const CpuTarget &target) {
  double elements = double(product.k) * product.n;
  double read = readTime(elements * elementSize(product.type), target);
  // Weights for tiles are laid out anew at each call, for a quarter of the
  // time.
  if (target.tiles && product.type == ElementType::BF16)
    read += read / 4;
  double flopsPerMicrosecond =
      peakFlopsPerMicrosecond(target) * target.denseRate(product.type);
  double compute = 2 * elements * rowsOf(product) / flopsPerMicrosecond;
  if (rowsOf(product) == 1)
    return std::max(compute, read);
  // It lays B out before it computes, but a unit for 16 bits takes pairs of
  // elements, and pairs of those, as they are.
  bool takesPairs =
      elementSize(product.type) == 2 && target.denseRate(product.type) > 1;
  double layOut =
      elements / (takesPairs ? 4 : 1) * kLayOutCycles / target.gigahertz / 1e3;
  return std::max(compute + layOut / target.threads, read);
}

CpuSchedule nm::selectCpuSchedule(const CpuProduct &product,
                                  const CpuTarget &target) {
  CpuSchedule schedule;
  if (rowsOf(product) >= target.lanes())
    scheduleAlongM(product, target, schedule);
  else
    scheduleAlongN(product, target, schedule);
  schedule.sparseMicroseconds = sparseTime(product, target, schedule);
  schedule.denseMicroseconds = denseProductTime(product, target);
  if (!canTile(product, target) || !checkTiles(product, target))
    return schedule;
  CpuSchedule tiles = selectTileSchedule(product, target);
  double margin = double(marginOfOneForm(product, target));
  return tiles.sparseMicroseconds < margin * schedule.sparseMicroseconds
             ? tiles
             : schedule;
}
