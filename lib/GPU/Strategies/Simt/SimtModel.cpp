//===- SimtModel.cpp - What a tile of strategy simt takes -----------------===//
//
// The time and the registers of products with N:M-sparse weights on a chip's
// CUDA cores.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtModel.h"

#include "GPU/Select/GpuModels.h"

#include "nm/GPU/Stage/LateLoads.h"
#include "nm/Schedule/SumChains.h"

#include <algorithm>
#include <numeric>

using namespace nm;

static constexpr int64_t kMovedRegisters = 40;
/// What a thread counts chains by, and finds promoted sums by.
static constexpr int64_t kPromotionRegisters = 16;

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

// The constants below are fitted to 400 kernels of 14 tiles and up to 16 parts
// of k, measured on an H200 at 50 to 90.6 % in vectors of 32 and eight shapes.
// Of those the estimates choose schedules that take 1 % more than the best; of
// 600 more in units of 1 to 8 columns, 0.3 % more.

/// The part of the lesser of multiplications and loads that does not overlap
/// with the greater where a scheduler has one warp and a row is held across the
/// barrier.
static constexpr double kNotOverlapped = 0.7;
/// The part that does not overlap where A comes by way of a staging buffer,
/// with the next tile's copies and stores among all rows, and where lanes
/// gather, which read some rows ahead.
static constexpr double kNotOverlappedAhead = 0.5;
/// Clocks that 32 elements of A take of the first-level cache on their way
/// through registers. It is the shared memory, too, and so what bounds lanes
/// that gather: two to load a line and read it, one to store it, and what the
/// copies of all warps at once leave unused.
static constexpr double kStagedClocks = 4.7;
/// Accesses of 32 elements by way of a staging buffer: they are written there,
/// loaded and stored.
static constexpr int64_t kStagingAccesses = 3;
/// Instructions of a warp for a tile, however long, by way of a staging buffer:
/// addresses, positions and waits; twice as many where addresses do not stay.
static constexpr double kTileInstructions = 100;
/// Instructions that copy an element of an image: of a row that a list names,
/// whose window is of one tap, and of others.
static constexpr int64_t kListedPixel = 6, kPixel = 18;
/// Bytes that the second-level cache gives a multiprocessor in a clock.
static constexpr double kCacheBytesPerClock = 27.5;
/// How much longer products of few rows take, whose weights no cache holds: the
/// least and most of 12 kernels took 1.1 and 1.75 times as long.
static constexpr double kColdWeights = 1.4;
static constexpr int64_t kFewRows = 16;

/// 16-byte loads from shared memory of a thread for one kept row, or as many
/// as take the same time.
double SimtEstimate::readsPerRow() const {
  int64_t unit = unitColumns();
  // Eight lanes on a column read one word of the weights between them, which
  // takes half the time, and positions are loads of a word or less.
  if (gathers()) {
    int64_t columns = std::gcd(unit, tile.threadN);
    double rows = double(tile.threadN) / columns * tile.threadM / kAccessWords;
    double positions = double(tile.threadN) / std::max(columns, kAccessWords) *
                       1 / double(4 * product.pattern.bk);
    return rows + double(tile.threadN) / kAccessWords * 0.5 + positions;
  }
  // The columns of a thread that have positions of their own.
  double rowsOfA = tile.threadN / double(std::min(unit, kAccessWords));
  if (unit >= kAccessWords)
    rowsOfA = std::max(1.0, std::min(rowsOfA, double(tile.warpN) / unit));
  return rowsOfA * tile.threadM / kAccessWords +
         double(tile.threadN) / kAccessWords * 0.5;
}

/// The clocks that loads of A take beyond those that are in the constants.
double SimtEstimate::loadClocks() const {
  if (!tile.pack || product.isMMajor)
    return 0;
  double rows = stagedRows(product.pattern, tile);
  return tile.blockM / double(kWarpSize) * rows;
}

/// The clocks of A's transposing copy, which goes element by element in blocks
/// of many threads.
double SimtEstimate::storeClocks() const {
  double clocks =
      double(tile.blockM) * stagedRows(product.pattern, tile) / kWarpSize;
  bool isWide = threads <= 256;
  if (isRowMajor())
    return clocks;
  if (gathers() && !product.isMMajor)
    return clocks * kStagedClocks;
  if (usesStagingBuffer)
    return clocks * double(kStagingAccesses);
  return isWide ? clocks : 2 * clocks;
}

double SimtEstimate::multiplyClocks() const {
  return double(tile.blockM) * tile.blockN * keptRows / chip.fmaPerClock;
}

/// Sums of a block that are added to promoted sums in shared memory at the ends
/// of chains, for each tile.
double SimtEstimate::promotedSums() const {
  if (!tile.promote)
    return 0;
  return double(partBytes(tile)) / 4 /
         double(tilesPerSharedChain(rowsOfSlice()));
}

/// A 16-byte access of a warp takes four clocks.
double SimtEstimate::sharedClocks() const {
  double reads = warpsOfSlice() * keptRows * readsPerRow() * 4;
  double copies = double(keptRows) * tile.blockN * 4 / 128;
  // Promoted sums are read and written.
  double promoted = 2 * promotedSums() * 4 / 128;
  return reads + loadClocks() + storeClocks() + copies + promoted;
}

/// Four schedulers issue an instruction a clock each.
double SimtEstimate::issueClocks() const {
  double multiplications =
      double(tile.blockM) * tile.blockN * keptRows / kWarpSize;
  double reads = warpsOfSlice() * keptRows * (readsPerRow() + 4);
  double copies =
      double(tile.blockM) * stagedRows(product.pattern, tile) / kWarpSize +
      double(keptRows) * tile.blockN / kWarpSize / 2;
  double others = gathers()           ? 0
                  : usesStagingBuffer ? warps() * kTileInstructions
                                      : warps() * 2 * kTileInstructions;
  double promoted = promotedSums() / kWarpSize;
  return (multiplications + reads + copies + others + promoted +
          imageCopies()) /
         4;
}

/// Instructions of a block's warps that find a tile's elements in an image.
double SimtEstimate::imageCopies() const {
  if (!product.hasImage)
    return 0;
  int64_t perElement = tile.pack ? kListedPixel : kPixel;
  return double(perElement * tile.blockM) *
         double(stagedRows(product.pattern, tile)) / kWarpSize;
}

/// How much of k is read of a row of A that is row-major: the cache hands on 32
/// bytes at a time, and those in which no list has a number stay out.
double SimtEstimate::readOfRow() const {
  if (!tile.pack)
    return double(tile.blockK);
  constexpr int64_t kSector = 8;
  const Pattern &pattern = product.pattern;
  int64_t windows = tile.blockK / pattern.windowRows();
  int64_t units = stagedRows(pattern, tile) / pattern.bk / windows;
  int64_t inSector = std::min(pattern.m, ceilDiv(kSector, pattern.bk));
  double left = 1;
  for (int64_t i = 0; i < units && left > 0; ++i)
    left *=
        std::max(0.0, double(pattern.m - inSector - i)) / double(pattern.m - i);
  return double(tile.blockK) * (1 - left);
}

double SimtEstimate::cacheClocks() const {
  double rows = product.isMMajor ? double(stagedRows(product.pattern, tile))
                                 : readOfRow();
  double bytes =
      4 * (double(tile.blockM) * rows + double(tile.blockN) * keptRows);
  return bytes / kCacheBytesPerClock;
}

/// The part of the lesser of multiplications and loads that adds to the greater
/// where a scheduler has one warp.
double SimtEstimate::notOverlapped() const {
  if (gathers())
    return isRowMajor() ? kNotOverlapped : kNotOverlappedAhead;
  if (usesStagingBuffer)
    return defersRow() ? kNotOverlappedAhead : kNotOverlapped;
  return defersRow() ? kNotOverlapped : 1;
}

/// Clocks of a tile of k with `blocks` blocks on a multiprocessor, which take
/// turns at its units. With few warps, multiplications wait for the loads of
/// their operands rather than overlap with those of others.
double SimtEstimate::tileClocks(double blocks) const {
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
  apart += tile.stages == 1 ? chip.rates.latency : chip.rates.barrier;
  double clocks = bound + apart / warpsPerScheduler;
  if (gathers() && !isRowMajor())
    // First products wait for positions, and for the rows that those name.
    clocks += 2 * chip.rates.barrier - chip.rates.barrier / warpsPerScheduler;
  if (tile.stages > 2)
    // Slots that are no power of two in number cost their remainders, and more
    // of them shared memory.
    clocks *= kMarginOfSimt;
  if (!gathers() && !tile.pack && !product.isMMajor && !usesStagingBuffer &&
      4 * (tile.blockM * tile.blockK / threads) > kMaxEarlyBytes)
    clocks += chip.rates.latency;
  return clocks;
}

static bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

/// What a thread must have left of its registers for the tile not to spill:
/// edges of A take addresses for each of its rows, and of each element where
/// rows are not aligned, and by way of a staging buffer bounds for each
/// fragment. Where lanes gather, addresses take more where they are no sums of
/// bits, loops over kept rows their own, and positions of single columns are
/// held for all rows of a unit.
int64_t SimtEstimate::spareRegisters() const {
  bool hasEdges = product.m % tile.blockM != 0 || product.k % tile.blockK != 0;
  int64_t spare =
      product.k % kAccessWords == 0 ? 0 : tile.blockM * tile.blockK / threads;
  if (hasEdges && !gathers())
    spare += 40 + (usesStagingBuffer
                       ? 16 * describeBlock(product, tile).fragmentsPerWarp()
                       : 0);
  if (!gathers())
    return spare;
  const Pattern &pattern = product.pattern;
  bool isEven = isPowerOfTwo(pattern.bk) && tile.packing.panel == tile.blockN &&
                tile.blockK % kWarpSize == 0;
  int64_t units = tile.threadN / std::gcd(pattern.bn, tile.threadN);
  int64_t sums = tile.threadM * tile.threadN;
  bool loops = keptRows > std::min(kMaxUnrolledFMAs / sums,
                                   kMaxUnrolledStepsPerSum * sums / units);
  spare += isEven ? 0 : 48;
  if (isRowMajor() && loops)
    spare += 40;
  spare += loops ? 8 * ceilDiv(units, 2) : 0;
  return spare + (pattern.bk > 1 && pattern.bn < kAccessWords ? 12 : 0);
}

int64_t SimtEstimate::registers() const {
  int64_t ofPromotion = tile.promote ? kPromotionRegisters : 0;
  // Sums, words of A that are read ahead, weights of four rows, and addresses.
  if (isRowMajor())
    return tile.threadM * tile.threadN + 88 + ofPromotion;
  int64_t copiedRows = stagedRows(product.pattern, tile);
  // cp.async needs no registers; without packing, what is fitted has them.
  if (usesStagingBuffer || (tile.pack && product.isMMajor))
    copiedRows = 0;
  // Sums, one row of operands, what a thread copies of the next tile of A while
  // it multiplies, and addresses.
  int64_t registers = tile.threadM * tile.threadN + tile.threadM +
                      tile.threadN + tile.blockM * copiedRows / threads +
                      ofPromotion;
  // Lanes with units of their own hold positions, and places in A, by column.
  registers += gathers() ? 16 + 2 * tile.threadN / product.pattern.bk : 40;
  // ptxas reads further ahead where a block leaves it registers to.
  if (gathers() && threads <= 256)
    registers += 24;
  // Addresses and bounds of single elements, where rows of A are not aligned.
  if (gathers() && product.k % kAccessWords != 0)
    registers += 32;
  return registers;
}

int64_t SimtEstimate::blocksPerMultiprocessor() const {
  // What is taken out of a staging buffer is held until it is stored, where
  // there are registers for it.
  int64_t used = std::min(
      kMaxRegisters, registers() + (usesStagingBuffer ? kMovedRegisters : 0));
  return countResidentBlocks(chip, threads, used, tile.sharedBytes);
}

bool SimtEstimate::fits(bool spares) const {
  int64_t needed = registers() + (spares ? spareRegisters() : 0);
  return needed <= std::min(kMaxRegisters, kRegisters / threads) &&
         blocksPerMultiprocessor() >= 1;
}

/// The clocks in which a block's slices and a cluster's blocks write what they
/// have of a tile to shared memory, and read their share of it from all others.
double SimtEstimate::partClocks() const {
  int64_t cluster = tile.clusterK;
  if (cluster * tile.sliceK == 1)
    return 0;
  // A multiprocessor has an eighth of another's shared memory's bytes.
  double bytes = double(partBytes(tile)), remote = chip.rates.shared / 8;
  // Threads wait for each other at two barriers, and blocks of a cluster before
  // and after.
  double clocks = 2 * chip.rates.barrier * (cluster > 1 ? 2 : 1);
  clocks += 2 * bytes / chip.rates.shared;
  return clocks + bytes * double(cluster - 1) / double(cluster) / remote;
}

/// Multiprocessors that clusters find room on. They are given out in groups,
/// of 18 and fewer, and a cluster lies in one: of the 132 of an H200, 120 took
/// clusters of four blocks, and 112 of eight.
int64_t SimtEstimate::multiprocessors() const {
  if (tile.clusterK <= 2)
    return chip.multiprocessors;
  return chip.multiprocessors * (tile.clusterK <= 4 ? 10 : 9) / 11;
}

/// The microseconds of the kernel that adds up partial sums: they are written,
/// and read back from the cache as far as it holds them.
double SimtEstimate::sumMicroseconds() const {
  int64_t sums = tile.splitK / tile.clusterK;
  if (sums == 1)
    return 0;
  double bytes = 4.0 * product.allRows() * product.n * double(sums + 1);
  double cacheGBs = kCacheBytesPerClock * chip.multiprocessors * chip.clockGHz;
  return chip.rates.earlyLaunch + kSumAccesses * bytes / cacheGBs / 1000;
}

int64_t SimtEstimate::blocks() const {
  return product.batch * ceilDiv(product.rows(), tile.blockM) *
         ceilDiv(product.n, tile.blockN) * tile.splitK;
}

bool SimtEstimate::isOneWave() const {
  return blocks() <= blocksPerMultiprocessor() * multiprocessors();
}

double SimtEstimate::microseconds() const {
  double tiles = double(ceilDiv(ceilDiv(product.k, tile.blockK), tile.splitK));
  // The first tile's copies overlap with nothing.
  auto waveClocks = [&](int64_t count) {
    return tiles * tileClocks(double(count)) +
           double(count) * (cacheClocks() + partClocks()) + chip.rates.latency +
           (usesStagingBuffer ? cacheClocks() : 0);
  };
  double clocks = clocksOfWaves(blocks(), blocksPerMultiprocessor(),
                                multiprocessors(), waveClocks);
  double time = clocks / chip.clockGHz / 1000 + chip.rates.earlyLaunch;
  if (product.rows() <= kFewRows)
    time *= kColdWeights;
  return std::max(time, tile.memoryFloor) + sumMicroseconds();
}
