//===- SimtModel.cpp - Tile sizes and times of strategy simt --------------===//
//
// How long a product with N:M-sparse weights takes on a chip's CUDA cores, and
// the tiles for which that is least.
//
//===----------------------------------------------------------------------===//

#include "GpuModels.h"
#include "SimtStaging.h"

#include "nm/Support/SimtLimits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
/// How a block's warps, a warp's lanes and a thread's registers share a tile.
struct Shape {
  int64_t warpsM, warpsN, lanesM, lanesN, threadM, threadN;
};
} // namespace

// A thread's tile of 16 x 8 reads the fewest words of shared memory for each
// multiplication, and takes nearly all registers; smaller ones let more blocks
// share a chip where there are few. Eight lanes along m and four along n give a
// warp 32 columns, which share an index from vectors of 32 on.
static constexpr Shape kShapes[] = {
    {1, 8, 8, 4, 16, 8}, {2, 4, 8, 4, 16, 8}, {1, 4, 8, 4, 16, 8},
    {2, 2, 8, 4, 16, 8}, {1, 2, 8, 4, 16, 8}, {2, 4, 8, 4, 8, 8},
    {1, 4, 8, 4, 8, 8},  {2, 2, 8, 4, 8, 8},  {1, 2, 8, 4, 8, 8},
    {1, 4, 8, 4, 8, 4},  {2, 2, 8, 4, 4, 4},  {1, 4, 8, 4, 4, 4},
    {1, 2, 8, 4, 4, 4},
};

// Lanes with indices of their own read A once for each four columns or fewer:
// 16 x 4 has the fewest words of weights beside them, and leaves registers for
// warps enough to hide how long that takes.
static constexpr Shape kGatherShapes[] = {
    {1, 16, 8, 4, 16, 4}, {1, 8, 8, 4, 16, 4}, {1, 4, 8, 4, 16, 4},
    {1, 16, 8, 4, 8, 8},  {2, 8, 8, 4, 8, 8},  {1, 8, 8, 4, 16, 8},
    {1, 8, 8, 4, 8, 8},   {1, 8, 8, 4, 8, 4},
};

// Where rows of A stay as they are, their copies hold no registers, and warps
// of small tiles are many enough without.
static constexpr Shape kRowShapes[] = {{1, 16, 8, 4, 8, 4}, {2, 8, 8, 4, 8, 4}};

static constexpr int64_t kMaxStages = 3;
static constexpr int64_t kRegisters = 65536;
static constexpr int64_t kMaxRegisters = 255;
static constexpr int64_t kMaxThreadsPerMultiprocessor = 2048;
/// Words of shared memory that are served at once.
static constexpr int64_t kBankWords = 32;
/// Shared memory that the driver keeps of every block.
static constexpr int64_t kReservedShared = 1024;

static GpuSchedule makeTile(const GpuProduct &product, const Shape &shape,
                            int64_t windows, bool packs) {
  GpuSchedule tile;
  tile.threadM = shape.threadM;
  tile.threadN = shape.threadN;
  tile.warpM = shape.lanesM * shape.threadM;
  tile.warpN = shape.lanesN * shape.threadN;
  tile.blockM = shape.warpsM * tile.warpM;
  tile.blockN = shape.warpsN * tile.warpN;
  tile.blockK = windows * product.pattern.windowRows();
  tile.packing.panel = choosePanel(product.pattern, tile.blockN, tile.warpN);
  tile.packing.indexBits = 8;
  tile.pack = packs;
  return tile;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

// The constants below are fitted to 400 kernels of 14 tiles and up to 16 parts
// of k, measured on an H200 at 50 to 90.6 % in vectors of 32 and eight shapes.
// Of those the estimates choose schedules that take 1 % more than the best; of
// 600 more in units of 1 to 8 columns, 0.3 % more.

/// Clocks that copies and a barrier take where there is one buffer only.
static constexpr double kSingleBuffered = 1000;
/// Of a barrier where there are more.
static constexpr double kBarrier = 40;
/// Of the lesser of multiplications and loads, what does not overlap with the
/// greater where a scheduler has one warp and a row is held across the barrier.
static constexpr double kNotOverlapped = 0.7;
/// The same by way of a passage, with the next tile's copies and stores among
/// all rows, and where no row is held.
static constexpr double kNotOverlappedPassing = 0.5,
                        kNotOverlappedPassingLong = 0.7;
/// The same where lanes gather, which read some rows ahead.
static constexpr double kNotOverlappedGathering = 0.4;
/// Of a barrier where lanes gather: their first products wait for positions,
/// and for the rows that those name.
static constexpr double kGatherBarrier = 320;
/// Clocks that 32 elements of A take of the first-level cache on their way
/// through registers. It is the shared memory, too, and so what bounds lanes
/// that gather: two to load a line and read it, one to store it, and what the
/// copies of all warps at once leave unused. Stores of single elements meet a
/// bank twice.
static constexpr double kStagedClocks = 4.7, kStagedElementsClocks = 5.2;
/// What does not overlap, and such clocks, where rows of A stay as they are:
/// asynchronous copies bring them, a line at a time, and some products are held
/// across the barrier.
static constexpr double kNotOverlappedRows = 0.6, kRowsClocks = 1.5;
/// Clocks that 32 elements take by way of a passage: to be written there,
/// loaded and stored.
static constexpr double kPassageClocks = 3;
/// Instructions of a warp for 32 elements of A: loads, what joins columns of
/// them, and stores; where there are lists, what finds rows; and by way of a
/// passage a copy, a load and a store for each 128.
static constexpr double kCopyInstructions = 1.5, kListedCopyInstructions = 2.5,
                        kPassageInstructions = 1;
/// Instructions of a warp for a tile, however long: addresses, positions and
/// waits; fewer by way of a passage, where addresses stay.
static constexpr double kTileInstructions = 200, kPassageTileInstructions = 100;
/// Clocks that a tile waits for A where a thread loads so many elements of it
/// that it cannot do so ahead; see nm-pipeline-copies.
static constexpr double kLateLoads = 1000;
/// Of a loop over more rows than are unrolled; copies stand before and after.
static constexpr double kLoopedRows = 1.2;
/// Slots that are no power of two in number cost their remainders, and more of
/// them shared memory.
static constexpr double kManySlots = 1.04;
/// Clocks of a block before its first tile arrives and after its last; with a
/// passage, which that takes with nothing to overlap with, and the next as
/// well.
static constexpr double kBlockStart = 1000, kPassageBlockStart = 2500;
/// Of a packed tile, until the list of its rows arrives.
static constexpr double kListClocks = 150;
/// Clocks of 32 loads of single elements of four rows of A, and what loads of
/// 16 bytes take for as many.
static constexpr double kScatteredLoads = 4, kWideLoads = 1;
/// Packed tiles are chosen where they are faster by more than estimates of them
/// are wrong, as far as 130 kernels of patterns in vectors of 32 to 128 tell.
static constexpr double kPackedMargin = 1.01;
/// Bytes that the second-level cache gives a multiprocessor in a clock.
static constexpr double kCacheBytesPerClock = 27.5;
/// Of a kernel in a graph.
static constexpr double kLaunchMicroseconds = 1.0;
/// How much longer products of few rows take, whose weights no cache holds: the
/// least and most of 12 kernels took 1.1 and 1.75 times as long.
static constexpr double kColdWeights = 1.4;
static constexpr int64_t kFewRows = 16;
/// Accesses of the second-level cache that take the time of a partial sum's
/// store and load.
static constexpr double kSumAccesses = 2.6;
/// Clocks in which threads that sum a tile together wait for each other, and
/// those in which the blocks of a cluster do, before and after.
static constexpr double kMeeting = 200;
/// Bytes that a multiprocessor has of another's shared memory in a clock.
static constexpr double kRemoteBytesPerClock = 16;
/// Bytes of its own.
static constexpr double kSharedBytesPerClock = 128;

namespace {
/// Estimates one candidate.
class Estimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip,
           const GpuSchedule &tile)
      : product(product), chip(chip), tile(tile), threads(countThreads(tile)),
        keptRows(tile.blockK / product.pattern.windowRows() *
                 product.pattern.keptRows()),
        passage(getPassage(product, chip, tile)) {}

  /// Whether the tile fits in registers and shared memory: surely where
  /// `spares` registers for what may be needed besides.
  bool fits(bool spares) const;
  double microseconds() const;

private:
  double warps() const { return double(threads) / kWarp; }
  /// Rows that a warp multiplies, and the warps that multiply a row.
  int64_t rowsOfSlice() const { return keptRows / tile.sliceK; }
  double warpsOfSlice() const { return warps() / double(tile.sliceK); }
  int64_t unitColumns() const { return nm::unitColumns(product.pattern, tile); }
  /// Whether the last row of a tile is multiplied in the next; see
  /// SimtExpansion. Rows that are packed were measured without.
  bool defersRow() const {
    return rowsOfSlice() <= kMaxRowsToDefer && !gathers() && !tile.pack;
  }
  /// Whether A's tile stays row-major; see rowsOfAStay.
  bool rowsStay() const {
    return gathers() && !product.isKMajor && !tile.pack &&
           product.pattern.bk % kChunk == 0 && product.k % kBankWords == 0 &&
           tile.blockK % kBankWords == 0 && tile.blockM % kBankWords == 0;
  }
  /// Whether lanes of a warp read rows of A of their own.
  bool gathers() const { return unitColumns() < tile.warpN; }
  double readsPerRow() const;
  double loadClocks() const;
  double storeClocks() const;
  double notOverlapped() const;
  double multiplyClocks() const;
  double sharedClocks() const;
  double issueClocks() const;
  double cacheClocks() const;
  double tileClocks(double blocks) const;
  int64_t registers() const;
  int64_t spareRegisters() const;
  int64_t blocksPerMultiprocessor() const;
  double partClocks() const;
  int64_t multiprocessors() const;
  double sumMicroseconds() const;

  const GpuProduct &product;
  const GpuChip &chip;
  const GpuSchedule &tile;
  int64_t threads, keptRows;
  std::optional<PassageTile> passage;
};
} // namespace

/// 16-byte loads from shared memory of a thread for one kept row, or as many
/// as take the same time.
double Estimate::readsPerRow() const {
  int64_t unit = unitColumns();
  // Eight lanes on a column read one word of the weights between them, which
  // takes half the time, and positions are loads of a word or less.
  if (gathers()) {
    int64_t columns = std::gcd(unit, tile.threadN);
    double rows = double(tile.threadN) / columns * tile.threadM / kChunk;
    double positions = double(tile.threadN) / std::max(columns, kChunk) * 0.25 /
                       product.pattern.bk;
    return rows + double(tile.threadN) / kChunk * 0.5 + positions;
  }
  // The columns of a thread that have positions of their own.
  double rowsOfA = tile.threadN / double(std::min(unit, kChunk));
  if (unit >= kChunk)
    rowsOfA = std::max(1.0, std::min(rowsOfA, double(tile.warpN) / unit));
  return rowsOfA * tile.threadM / kChunk + double(tile.threadN) / kChunk * 0.5;
}

/// Of the loads of A, beyond those that are in the constants.
double Estimate::loadClocks() const {
  if (!tile.pack || product.isKMajor)
    return 0;
  double rows = stagedRows(product.pattern, tile);
  return tile.blockM / double(kWarp) *
         (kScatteredLoads * rows - kWideLoads * tile.blockK);
}

/// Of A's transposing copy, which goes element by element in blocks of many
/// threads.
double Estimate::storeClocks() const {
  double clocks =
      double(tile.blockM) * stagedRows(product.pattern, tile) / kWarp;
  bool isWide = threads <= 256;
  if (rowsStay())
    return clocks * kRowsClocks;
  if (gathers() && !product.isKMajor)
    return clocks * (isWide ? kStagedClocks : kStagedElementsClocks);
  if (passage)
    return clocks * kPassageClocks;
  return isWide ? clocks : 2 * clocks;
}

double Estimate::multiplyClocks() const {
  return double(tile.blockM) * tile.blockN * keptRows / chip.fmaPerClock;
}

/// A 16-byte access of a warp takes four clocks.
double Estimate::sharedClocks() const {
  double reads = warpsOfSlice() * keptRows * readsPerRow() * 4;
  double copies = double(keptRows) * tile.blockN * 4 / 128;
  return reads + loadClocks() + storeClocks() + copies;
}

/// Four schedulers issue an instruction a clock each.
double Estimate::issueClocks() const {
  double multiplications = double(tile.blockM) * tile.blockN * keptRows / kWarp;
  double reads = warpsOfSlice() * keptRows * (readsPerRow() + 4);
  double perElement = tile.pack && !product.isKMajor ? kListedCopyInstructions
                      : passage                      ? kPassageInstructions
                                                     : kCopyInstructions;
  double copies = double(tile.blockM) * stagedRows(product.pattern, tile) /
                      kWarp * perElement +
                  double(keptRows) * tile.blockN / kWarp / 2;
  double others = gathers() ? 0
                  : passage ? warps() * kPassageTileInstructions
                            : warps() * kTileInstructions;
  return (multiplications + reads + copies + others) / 4;
}

double Estimate::cacheClocks() const {
  // What is left out of rows of m is read with the rest, 32 bytes at a time.
  int64_t rows =
      product.isKMajor ? stagedRows(product.pattern, tile) : tile.blockK;
  double bytes =
      4 * (double(tile.blockM) * rows + double(tile.blockN) * keptRows);
  return bytes / kCacheBytesPerClock;
}

/// The part of the lesser of multiplications and loads that adds to the greater
/// where a scheduler has one warp.
double Estimate::notOverlapped() const {
  if (gathers())
    return rowsStay() ? kNotOverlappedRows : kNotOverlappedGathering;
  if (passage)
    return defersRow() ? kNotOverlappedPassing : kNotOverlappedPassingLong;
  return defersRow() ? kNotOverlapped : 1;
}

/// Clocks of a tile of k with `blocks` blocks on a multiprocessor, which take
/// turns at its units. With few warps, multiplications wait for the loads of
/// their operands rather than overlap with those of others.
double Estimate::tileClocks(double blocks) const {
  // A scheduler without a warp issues nothing.
  double perScheduler = blocks * warps() / 4;
  double warpsPerScheduler = std::max(1.0, perScheduler);
  double schedulers = std::min(1.0, perScheduler);
  double multiply = blocks * multiplyClocks() / schedulers;
  double shared = blocks * sharedClocks();
  double bound =
      std::max({multiply, shared, blocks * issueClocks() / schedulers,
                blocks * cacheClocks()});
  double apart = std::min(multiply, shared) * notOverlapped();
  apart += tile.stages == 1 ? kSingleBuffered : kBarrier;
  apart += tile.pack ? kListClocks : 0;
  double clocks = bound + apart / warpsPerScheduler;
  if (gathers() && !rowsStay())
    clocks += kGatherBarrier - kBarrier / warpsPerScheduler;
  if (tile.stages > 2)
    clocks *= kManySlots;
  if (!gathers() && rowsOfSlice() > kMaxUnrolledRows)
    clocks *= kLoopedRows;
  if (!gathers() && !tile.pack && !product.isKMajor && !passage &&
      4 * (tile.blockM * tile.blockK / threads) > kMaxEarlyBytes)
    clocks += kLateLoads;
  return clocks;
}

static bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

/// What a thread must have left of its registers for the tile not to spill:
/// edges of A take addresses for each of its rows, and of each element where
/// rows are not aligned, and by way of a passage bounds for each piece. Where
/// lanes gather, addresses take more where they are no sums of bits, loops over
/// kept rows their own, and positions of single columns are held for all rows
/// of a unit.
int64_t Estimate::spareRegisters() const {
  bool hasEdges = product.m % tile.blockM != 0 || product.k % tile.blockK != 0;
  int64_t spare =
      product.k % kChunk == 0 ? 0 : tile.blockM * tile.blockK / threads;
  if (hasEdges && !gathers())
    spare += 40 + (passage ? 16 * passage->piecesPerWarp() : 0);
  if (!gathers())
    return spare;
  const Pattern &pattern = product.pattern;
  bool isEven = isPowerOfTwo(pattern.bk) && tile.packing.panel == tile.blockN &&
                tile.blockK % kWarp == 0;
  int64_t units = tile.threadN / std::gcd(pattern.bn, tile.threadN);
  int64_t sums = tile.threadM * tile.threadN;
  bool loops = keptRows > std::min(kMaxUnrolledFMAs / sums,
                                   kMaxUnrolledStepsPerSum * sums / units);
  spare += isEven ? 0 : 48;
  if (rowsStay() && loops)
    spare += 40;
  spare += loops ? 8 * ceilDiv(units, 2) : 0;
  return spare + (pattern.bk > 1 && pattern.bn < kChunk ? 12 : 0);
}

int64_t Estimate::registers() const {
  // Sums, words of A that are read ahead, weights of four rows, and addresses.
  if (rowsStay())
    return tile.threadM * tile.threadN + 88;
  int64_t copiedRows = stagedRows(product.pattern, tile);
  // cp.async needs no registers; without packing, what is fitted has them.
  if (passage || (tile.pack && product.isKMajor))
    copiedRows = 0;
  // Sums, one row of operands, what a thread copies of the next tile of A while
  // it multiplies, and addresses.
  int64_t registers = tile.threadM * tile.threadN + tile.threadM +
                      tile.threadN + tile.blockM * copiedRows / threads;
  // Lanes with units of their own hold positions, and places in A, by column.
  registers += gathers() ? 16 + 2 * tile.threadN / product.pattern.bk : 40;
  // ptxas reads further ahead where a block leaves it registers to.
  if (gathers() && threads <= 256)
    registers += 24;
  // Addresses and bounds of single elements, where rows of A are not aligned.
  if (gathers() && product.k % kChunk != 0)
    registers += 32;
  return registers;
}

int64_t Estimate::blocksPerMultiprocessor() const {
  return std::min(
      {kRegisters / (alignTo(registers(), 8) * threads),
       chip.sharedPerMultiprocessor / (tile.sharedBytes + kReservedShared),
       kMaxThreadsPerMultiprocessor / threads});
}

bool Estimate::fits(bool spares) const {
  int64_t needed = registers() + (spares ? spareRegisters() : 0);
  return needed <= std::min(kMaxRegisters, kRegisters / threads) &&
         blocksPerMultiprocessor() >= 1;
}

/// Of a block's slices and a cluster's blocks, which write what they have of a
/// tile to shared memory, and read their share of it from all others.
double Estimate::partClocks() const {
  int64_t cluster = tile.clusterK;
  if (cluster * tile.sliceK == 1)
    return 0;
  double bytes = double(partBytes(tile));
  double clocks = kMeeting * (cluster > 1 ? 2 : 1);
  clocks += 2 * bytes / kSharedBytesPerClock;
  return clocks +
         bytes * double(cluster - 1) / double(cluster) / kRemoteBytesPerClock;
}

/// Multiprocessors that clusters find room on. They are given out in groups,
/// of 18 and fewer, and a cluster lies in one: of the 132 of an H200, 120 took
/// clusters of four blocks, and 112 of eight.
int64_t Estimate::multiprocessors() const {
  if (tile.clusterK <= 2)
    return chip.multiprocessors;
  return chip.multiprocessors * (tile.clusterK <= 4 ? 10 : 9) / 11;
}

/// Of the kernel that adds up partial sums: they are written, and read back
/// from the cache as far as it holds them.
double Estimate::sumMicroseconds() const {
  int64_t sums = tile.splitK / tile.clusterK;
  if (sums == 1)
    return 0;
  double bytes = 4.0 * product.rows() * product.n * double(sums + 1);
  double cacheGBs = kCacheBytesPerClock * chip.multiprocessors * chip.clockGHz;
  return kLaunchMicroseconds + kSumAccesses * bytes / cacheGBs / 1000;
}

double Estimate::microseconds() const {
  int64_t resident = blocksPerMultiprocessor();
  int64_t blocks = ceilDiv(product.rows(), tile.blockM) *
                   ceilDiv(product.n, tile.blockN) * tile.splitK;
  double tiles = double(ceilDiv(ceilDiv(product.k, tile.blockK), tile.splitK));
  int64_t wave = resident * multiprocessors();
  int64_t left = ceilDiv(blocks % wave, multiprocessors());
  // The first tile's copies overlap with nothing.
  auto waveClocks = [&](int64_t count) {
    return tiles * tileClocks(double(count)) +
           double(count) * (cacheClocks() + partClocks()) +
           (passage ? kPassageBlockStart : kBlockStart);
  };
  double clocks = double(blocks / wave) * waveClocks(resident);
  if (left > 0)
    clocks += waveClocks(left);
  double time = clocks / chip.clockGHz / 1000 + kLaunchMicroseconds;
  if (product.rows() <= kFewRows)
    time *= kColdWeights;
  return std::max(time, tile.memoryFloor) + sumMicroseconds();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Rows of A's tile beyond which a longer one saves nothing.
static constexpr int64_t kMaxTileRows = 128;

/// Parts of k that partial sums are worth for, and those of a cluster.
static constexpr int64_t kMaxSplitK = 16;
static constexpr int64_t kMaxCluster = 8;

/// Threads of a block that are worth slicing a tile for: two warps a scheduler.
static constexpr int64_t kMaxSlicedThreads = 256;

/// The shapes for a pattern.
static std::vector<Shape> getShapes(const Pattern &pattern) {
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  for (const Shape &shape : kGatherShapes)
    if (pattern.bn < shape.lanesN * shape.threadN)
      shapes.push_back(shape);
  for (const Shape &shape : kRowShapes)
    if (pattern.bn < shape.lanesN * shape.threadN && pattern.bk % kChunk == 0)
      shapes.push_back(shape);
  return shapes;
}

/// Whether candidates are to be packed, as far as lists leave rows out, and
/// whether they are not to.
static std::vector<bool> packingChoices(const GpuProduct &product) {
  switch (product.rowPacking) {
  case RowPacking::Never:
    return {false};
  case RowPacking::WhereFaster:
    return {false, true};
  case RowPacking::Always:
    return {true};
  }
  return {};
}

/// The blocks of clusters that sums were measured of.
static int64_t mostBlocksOfCluster(const GpuChip &chip) {
  return chip.hasClusters() ? kMaxCluster : 1;
}

/// Calls `visit` with `tile` in every number of parts of k, and of those that a
/// cluster sums, that fits.
template <typename Visit>
static void forEachSplit(const GpuProduct &product, const GpuChip &chip,
                         GpuSchedule tile, Visit visit) {
  int64_t tiles = ceilDiv(product.k, tile.blockK);
  for (tile.clusterK = 1; tile.clusterK <= mostBlocksOfCluster(chip);
       tile.clusterK *= 2) {
    tile.sharedBytes = sharedBytes(product, chip, tile);
    if (tile.sharedBytes > chip.sharedPerBlock)
      continue;
    for (tile.splitK = tile.clusterK; tile.splitK <= kMaxSplitK;
         tile.splitK *= 2)
      // Whole parts: a shorter last one would leave blocks idle.
      if (tiles % tile.splitK == 0)
        visit(tile);
  }
}

/// Calls `visit` with `tile` in every number of stages and parts of k that
/// fits.
template <typename Visit>
static void forEachPipeline(const GpuProduct &product, const GpuChip &chip,
                            GpuSchedule tile, Visit visit) {
  if (tile.pack && !getPacking(tile).verify(product.pattern))
    return;
  for (tile.stages = kMaxStages; tile.stages >= 1; --tile.stages)
    forEachSplit(product, chip, tile, visit);
}

/// Calls `visit` with `tile` in every number of slices along k.
template <typename Visit>
static void forEachSlicing(const GpuProduct &product, GpuSchedule tile,
                           Visit visit) {
  int64_t units =
      tile.blockK / product.pattern.windowRows() * product.pattern.n;
  // Neither packed tiles nor lanes with units of their own were measured.
  bool isKnown = !tile.pack && product.pattern.bn >= tile.warpN;
  for (tile.sliceK = 1;
       tile.sliceK == 1 || (isKnown && countThreads(tile) <= kMaxSlicedThreads);
       tile.sliceK *= 2)
    if (units % tile.sliceK == 0)
      visit(tile);
}

/// Calls `visit` with every candidate that fits.
template <typename Visit>
static void forEachCandidate(const GpuProduct &product, const GpuChip &chip,
                             Visit visit) {
  int64_t windowRows = product.pattern.windowRows();
  int64_t most = std::max<int64_t>(1, kMaxTileRows / windowRows);
  most =
      std::min(most, std::max<int64_t>(1, product.pattern.windows(product.k)));
  for (const Shape &shape : getShapes(product.pattern))
    for (int64_t windows = most; windows >= 1; windows /= 2)
      for (bool packs : packingChoices(product))
        forEachSlicing(product, makeTile(product, shape, windows, packs),
                       [&](const GpuSchedule &tile) {
                         forEachPipeline(product, chip, tile, visit);
                       });
}

/// Fewer rows would not pay for a barrier, nor take whole lines of A.
static constexpr int64_t kMinGatheredRows = 32;

bool nm::canGatherUnits(const Pattern &pattern) {
  return pattern.bk % kMinGatheredRows == 0 && pattern.m > 1;
}

/// Calls `visit` with every candidate whose tiles are kept units or parts of
/// one, which a block's columns must share: a dense product of the kept rows.
template <typename Visit>
static void forEachGathering(const GpuProduct &product, const GpuChip &chip,
                             Visit visit) {
  const Pattern &pattern = product.pattern;
  if (!canGatherUnits(pattern) || product.rowPacking == RowPacking::Always)
    return;
  for (int64_t rows : {pattern.bk, kMinGatheredRows}) {
    GpuProduct kept = product;
    kept.rowPacking = RowPacking::Never;
    kept.pattern = {1, 1, rows, pattern.bn};
    kept.k = pattern.condensedRows(product.k);
    forEachCandidate(kept, chip, [&](GpuSchedule tile) {
      if (tile.blockN == pattern.bn && tile.blockK == rows && tile.splitK == 1)
        visit(kept, tile);
    });
  }
}

/// Whether estimates hold for a packed tile: times were measured of blocks with
/// one row of at least four warps and the largest tiles a thread. Smaller ones
/// take up to twice as long.
static bool isKnownPacked(const GpuProduct &product, const GpuSchedule &tile) {
  // Shorter copies of a k-major A would be as many as its elements.
  bool isAligned = !product.isKMajor || (product.m != GpuProduct::kUnknown &&
                                         product.m % kChunk == 0);
  return isAligned && tile.blockM == tile.warpM &&
         tile.blockN >= 4 * tile.warpN && tile.threadM == 16 &&
         product.pattern.bk == 1 && product.pattern.bn >= tile.warpN;
}

/// What tiles are compared by.
static double getCost(const GpuSchedule &tile) {
  return tile.microseconds * (tile.pack ? kPackedMargin : 1);
}

/// The best tile, with `isSure` of those that do not spill and whose times are
/// known.
static std::optional<GpuSchedule> findBest(const GpuProduct &product,
                                           const GpuChip &chip, bool isSure) {
  std::optional<GpuSchedule> best;
  auto consider = [&](const GpuProduct &estimated, GpuSchedule tile) {
    bool mustKnow = isSure || product.rowPacking == RowPacking::WhereFaster;
    if (tile.pack && mustKnow && !isKnownPacked(product, tile))
      return;
    Estimate estimate(estimated, chip, tile);
    if (!estimate.fits(/*spares=*/isSure))
      return;
    setFloors(product, chip, tile);
    tile.microseconds = estimate.microseconds();
    if (!best || getCost(tile) < getCost(*best))
      best = tile;
  };
  forEachCandidate(product, chip,
                   [&](GpuSchedule tile) { consider(product, tile); });
  forEachGathering(product, chip, consider);
  return best;
}

Result<GpuSchedule> nm::selectSimtSchedule(const GpuProduct &product,
                                           const GpuChip &chip) {
  if (product.isVector)
    return Error{"expected nm.spmm, the product that strategy simt has"};
  if (product.type != ElementType::F32 ||
      product.outputType != ElementType::F32)
    return Error{"expected f32 operands for strategy simt"};
  // Rather a tile that may spill than none.
  for (bool isSure : {true, false})
    if (std::optional<GpuSchedule> best = findBest(product, chip, isSure))
      return *best;
  if (product.rowPacking == RowPacking::Always)
    return Error{"expected a tile whose columns keep fewer than all units of a "
                 "window between them, to pack rows of A, but none is of " +
                 product.pattern.str()};
  return Error{
      "expected a window to fit in " + std::to_string(chip.sharedPerBlock) +
      " bytes of shared memory, but one of " + product.pattern.str() +
      " spans " + std::to_string(product.pattern.windowRows()) + " rows"};
}
