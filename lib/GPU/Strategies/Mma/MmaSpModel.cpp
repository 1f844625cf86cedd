//===- MmaSpModel.cpp - Tiles of strategy mma_sp --------------------------===//
//
// The tiles that strategy mma_sp has for a product, and the choice among them
// by the time that they are estimated to take: of a tile that of its
// multiplications, of shared memory or of copies to it, whichever is longest,
// and of a block's start and stores.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaModel.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Mma/StreamModel.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/WarpsByFours.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

//===----------------------------------------------------------------------===//
// What chips do
//===----------------------------------------------------------------------===//

/// Operations of a multiprocessor and clock, zeros that are skipped included,
/// where dense ones of f16 are `ofHalves`.
static double operationsPerClock(const GpuProduct &product, double ofHalves) {
  return sparseBytes(product) == 2 ? 2 * ofHalves : 4 * ofHalves;
}

/// Registers that a thread has beside its sums, for fragments and addresses.
static constexpr int64_t kOtherRegisters = 100;
/// The rows of k that share a scale of quantized weights: an instruction's at
/// least, and at most as many as a tile can well have, unless all share one.
static constexpr int64_t kMinGroup = 32, kMaxGroup = 256;
/// Sums of a thread at most, of 8-bit floats, which beside them has those of
/// instructions in flight: more of them ptxas 13.0 spills.
static constexpr int64_t kMostFloat8Sums = 64;
/// Rows of A up to which a block has all, in multiples of those of an
/// instruction, and registers of a thread that such blocks take at least.
static constexpr int64_t kMaxStreamRows = 32, kMatrixRows = 8;
static constexpr int64_t kLeastStreamRegisters = 40;

/// Whether a thread has registers for the sums of `shape`.
static bool hasRegisters(const GpuProduct &product, const MmaTileShape &shape) {
  if (isFloat8(product.type) && shape.sumsOfThread() > kMostFloat8Sums)
    return false;
  return shape.hasRegisters(product.k / 2);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {
class Estimate : public MmaEstimate {
public:
  using MmaEstimate::MmaEstimate;

  int64_t sharedBytes() const override {
    return std::max(tile.stages * (activationBytes() + weightBytes() +
                                   copiedMetadataBytes(product, tile)),
                    tile.sliceK == 1 ? 0 : countSumBytes(tile));
  }
  int64_t residentBlocks() const override {
    return countResident(std::min(kMaxRegisters, sums() + kOtherRegisters));
  }
  double microseconds() const override {
    // More than one warp converts each weight.
    bool isConverted = product.weightBits != 0 && tile.sliceK == 1;
    double converted = isConverted ? kMeasured : 1;
    return microsecondsAt(kMeasuredMma * converted * clocks(), chip.clockGHz,
                          kSharedIngress);
  }

private:
  int64_t tileRows() const { return tile.blockK; }
  int64_t activationBytes() const {
    return tile.blockM * tileRows() * sparseBytes(product);
  }
  int64_t weightBytes() const {
    return tile.blockN * tileRows() / 2 * product.bitsOfWeight() / 8;
  }
  double multiplyClocks() const;
  double sharedClocks() const;
  double copyClocks(int64_t blocks) const;
  double tileClocks(int64_t blocks) const override;
};
} // namespace

double Estimate::multiplyClocks() const {
  return 2.0 * double(tile.blockM * tile.blockN * tileRows()) /
         operationsPerClock(product, chip.rates.mma);
}

/// Each warp reads its weights, and its rows of A, of its slice of k.
double Estimate::sharedClocks() const {
  int64_t weights = tile.warpN * tileRows() / 2 * product.bitsOfWeight() / 8,
          rows = tile.warpM * tileRows() * sparseBytes(product);
  return double(warps() / tile.sliceK * (weights + rows)) / chip.rates.shared;
}

/// The more warps, those of another block among them where k is sliced, the
/// more of the copies is under way.
double Estimate::copyClocks(int64_t blocks) const {
  double bytes = double(activationBytes() + weightBytes());
  int64_t together = tile.sliceK > 1 ? blocks * warps() : warps();
  return bytes / (together > 4 ? kSharedIngress : kLoneIngress);
}

double Estimate::tileClocks(int64_t blocks) const {
  double bound =
      std::max({multiplyClocks(), sharedClocks(), copyClocks(blocks)});
  return double(blocks) * bound + chip.rates.barrier;
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

/// Rows of A of a block whose warps multiply by fours, and its columns. 192
/// columns with two parts of k, which leave no multiprocessor of a wave without
/// work, take 16.8 us of 64 rows of k x n of 4096 x 11008 with 4 bits, and 128
/// columns 18.0. Clusters of three and more blocks do not all run at once, and
/// take 27 us (one H200, 2026-11-28).
static constexpr int64_t kWarpgroupRows[] = {16, 32, 64, 128, 256};
/// More rows of A are dequantized before: 1024 rows take 102 and 140 us by
/// fours where that takes 96 and 107.
static constexpr int64_t kMostWarpgroupRows = 256;
static constexpr int64_t kWarpgroupColumns[] = {64, 128, 192};
static constexpr int64_t kFourWarps = 4;

namespace {
/// What a tile of such a block has of k: slices, and how many times the least
/// rows in each; and in how many parts blocks of a cluster have k.
struct WarpgroupTile {
  int64_t slices, turns, parts;
};
} // namespace

static constexpr WarpgroupTile kWarpgroupTiles[] = {
    {1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 1, 2}, {1, 2, 2}};
/// Registers of such a thread beside its sums.
static constexpr int64_t kWarpgroupRegisters = 64;
/// Instructions by which a warp converts what it has of an instruction's
/// weights, and others of a tile, one a clock.
static constexpr int64_t kConversion = 32, kTileInstructions = 100;

namespace {
/// Warps that multiply by fours, see multipliesByWarpgroups.
class WarpgroupEstimate : public MmaEstimate {
public:
  using MmaEstimate::MmaEstimate;

  int64_t sharedBytes() const override {
    return std::max(tile.stages * tileBytes(),
                    tile.sliceK == 1 ? 0 : countSumBytes(tile));
  }
  int64_t residentBlocks() const override {
    return countResident(std::min(kMaxRegisters, sums() + kWarpgroupRegisters));
  }
  double microseconds() const override {
    double time =
        microsecondsAt(kMeasuredMma * clocks(), chip.clockGHz, kSharedIngress);
    return tile.clusterK > 1 ? time + microsecondsOfLatency(chip) : time;
  }

private:
  int64_t tileBytes() const {
    return tile.blockM * tile.blockK * kMmaBytes +
           tile.blockN * tile.blockK / 2 * product.bitsOfWeight() / 8 +
           copiedMetadataBytes(product, tile);
  }
  double tileClocks(int64_t blocks) const override;
};
} // namespace

double WarpgroupEstimate::tileClocks(int64_t blocks) const {
  constexpr int64_t kRows = 32;
  int64_t groups = warps() / kFourWarps;
  double instructions =
      double(tile.blockK / kRows * tile.blockN) / double(kWarpgroupM);
  // An instruction's operations, and its reads of rows of A, take as long.
  double multiplied = instructions * double(tile.blockM) / 2,
         converted = instructions * double(kConversion),
         issued = converted + double(groups * kTileInstructions),
         copied = double(tileBytes()) / kSharedIngress;
  // From the first conversion to the last product a warpgroup does neither, and
  // where no product is in flight, none hides the next tile's conversions.
  double barriers = chip.rates.barrier, exposed = barriers / 2;
  if (!haveProductsInFlight(tile)) {
    barriers *= 2;
    exposed = barriers + converted / double(groups);
  }
  double alone = barriers + instructions / double(groups) *
                                double(std::max(kConversion, tile.blockM / 2));
  return std::max(
      {double(blocks) * std::max({multiplied, issued, copied}) + exposed, alone,
       chip.rates.latency / double(tile.stages - 1)});
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static constexpr MmaTileShape kShapes[] = {
    {256, 128, 64, 64}, {128, 128, 64, 64}, {128, 256, 64, 64},
    {128, 128, 64, 32}, {128, 64, 64, 32},  {64, 128, 32, 64},
    {64, 64, 32, 32},   {32, 128, 32, 32},  {32, 64, 32, 16},
    {16, 128, 16, 32},  {16, 64, 16, 16},   {8, 128, 8, 32},
};

/// Blocks of quantized weights whose warps have slices of k, and all rows, so
/// that each weight is converted once: 64 rows of k x n of 4096 x 11008 with 4
/// bits take 29.3 us, and 36.6 where two warps convert it (one H200,
/// 2026-11-27). Of more slices, of 32 columns, or of 128 rows, all took longer.
static constexpr int64_t kSlices = 2;
static constexpr MmaTileShape kSlicedShape{64, 64, 64, 32};

/// Columns of a block of few rows, and the warps that have slices of a tile of
/// k, a step each. With 64 columns they take 5 % longer.
static constexpr int64_t kStreamColumns[] = {32, 48};
static constexpr int64_t kStreamSlices[] = {8, 4};

/// Columns of blocks of weights in the form of wgmma_sp, whose blocks have as
/// many. One row took 7.5, 36.9 and 18.6 us with n x k of 4096x4096, 28672x4096
/// and 4096x14336 on an H200 (2026-11-27), the first and the last with two
/// parts of k. Four slices and four parts took 8.4 in the first. With two
/// stages multiprocessors have two blocks: 33.5 us in place of 38.2 in the
/// second, and 36.6 with three stages (2026-11-28).
static constexpr int64_t kPairColumns = 64, kPairSlices = 8;
static constexpr int64_t kMostPairParts = 4;

/// Columns of blocks of 9 to 16 rows where nearly all multiprocessors have one
/// such block, and would have two or one of 32 columns: 16 x 8192 x 8192 takes
/// 11.4 us with 4 bits, 14.1 with 8, 21.3 with f16 and 12.4 in i8, and 13.0,
/// 14.9, 25.4 and 14.8 by blocks of 32 and 48 columns; with n = 11008 and 14336
/// and 4 bits, 11.6 and 11.7, where others take 10.4 and 11.5 (one H200,
/// 2026-11-30). With few tiles of k none was measured.
static constexpr int64_t kWideColumns = 64, kWideRows = 16;
/// Shared memory of a block that has room for three stages of them.
static constexpr int64_t kWideShared = 200 << 10;

/// Tiles of two steps a slice, of 16-bit weights, and what they take of their
/// estimate where multiprocessors have one block each: no other block hides
/// what stands between two tiles, 0.06 us, and these are half as many. With 2
/// rows, n = 4096 and k = 11008, which is 11 of them, they took 13.5 us beside
/// 14.1 and more of one step, on an H200 (2026-11-23); of short k, where tiles
/// are few, none was measured.
static constexpr int64_t kLongSteps = 2, kLeastLongTiles = 8;
static constexpr double kLongShare = 0.87;

namespace {
/// Columns of a block of few rows, its slices of k and the steps of each; and
/// the share of the estimate that they were measured to take.
struct StreamShape {
  int64_t columns, slices, steps = 1, mostStages = kMaxStreamStages;
  double share = 1;
  int64_t leastStages = kMinStreamStages;
};
} // namespace

/// Whether blocks of few columns have a multiprocessor each.
static bool areLone(const GpuProduct &product, const GpuChip &chip) {
  return ceilDiv(product.n, kStreamColumns[0]) <= chip.multiprocessors;
}

/// Whether wide blocks have a multiprocessor each, and nearly all have one.
static bool areWide(const GpuProduct &product, const GpuChip &chip) {
  int64_t blocks = ceilDiv(product.n, kWideColumns),
          tileRows = kStreamSlices[0] * sparseTileRows(product);
  return chip.sharedPerBlock >= kWideShared && product.rows() > kMatrixRows &&
         product.rows() <= kWideRows && blocks <= chip.multiprocessors &&
         16 * blocks > 15 * chip.multiprocessors &&
         product.k >= kLeastLongTiles * tileRows;
}

/// With less than half of the multiprocessors, parts of k are blocks.
static bool hasLongTiles(const GpuProduct &product, const GpuChip &chip) {
  int64_t rowsOfTile = kStreamSlices[0] * kLongSteps * sparseTileRows(product);
  bool areMany =
      2 * ceilDiv(product.n, kStreamColumns[0]) > chip.multiprocessors;
  return areLone(product, chip) && areMany && product.rows() <= kMatrixRows &&
         sparseBytes(product) == 2 &&
         ceilDiv(product.k, rowsOfTile) >= kLeastLongTiles;
}

/// What is tried for `product`. Of quantized weights a tile has few bytes, and
/// what takes time is that its metadata and scales are loaded one tile ahead.
/// Where multiprocessors have one block each, tiles of two steps a slice then
/// take 27 % less than those of one, and where they have more, 10 % more; with
/// 48 columns, or more stages than three, fewer blocks fit. Measured with one
/// row and 4 bits, k x n of 11008x4096 and 4096x11008, on an H200 (2026-11-23).
static std::vector<StreamShape> listStreamShapes(const GpuProduct &product,
                                                 const GpuChip &chip) {
  std::vector<StreamShape> shapes;
  if (areWide(product, chip)) {
    shapes.push_back({kWideColumns, kStreamSlices[0], 1, kMinStreamStages});
    return shapes;
  }
  if (product.weightBits != 0) {
    shapes.push_back({kStreamColumns[0], kStreamSlices[0],
                      areLone(product, chip) ? kLongSteps : 1,
                      kMinStreamStages});
    return shapes;
  }
  for (int64_t columns : kStreamColumns)
    for (int64_t slices : kStreamSlices)
      shapes.push_back({columns, slices});
  if (hasLongTiles(product, chip))
    shapes.push_back({kStreamColumns[0], kStreamSlices[0], kLongSteps,
                      kMinStreamStages, kLongShare});
  return shapes;
}

/// The best tiles of few rows, which are in one block.
static std::optional<GpuSchedule>
chooseStream(const GpuProduct &product, const GpuChip &chip,
             const std::vector<StreamShape> &shapes) {
  std::optional<GpuSchedule> best;
  int64_t rows = kMatrixRows;
  while (rows < product.rows())
    rows *= 2;
  for (const StreamShape &stream : shapes) {
    int64_t columns = stream.columns;
    MmaTileShape shape{rows, columns, rows, columns};
    GpuSchedule tile =
        shape.makeSchedule(SourceKind::MmaSparse, stream.slices * stream.steps *
                                                      sparseTileRows(product));
    tile.sliceK = stream.slices;
    setSparseFloors(product, chip,
                    operationsPerClock(product, chip.rates.tensor), tile);
    StreamTile parts;
    parts.activationBytes = rows * tile.blockK * sparseBytes(product);
    parts.valueBytes = columns * tile.blockK / 2 * product.bitsOfWeight() / 8;
    parts.indexBytes = columns * tile.blockK / 8;
    parts.copiedIndexBytes = copiedMetadataBytes(product, tile);
    // Sums, and operands of two halves of a step.
    parts.registers = std::max<int64_t>(
        kLeastStreamRegisters, shape.sumsOfThread() + rows + columns / 2 + 8);
    parts.clocks =
        double(parts.activationBytes + parts.valueBytes) / chip.rates.shared;
    std::optional<GpuSchedule> found = chooseStages(
        product, chip, parts, tile, stream.mostStages, stream.leastStages);
    bool isLong = product.weightBits != 0 && product.rows() > kMatrixRows;
    double share = stream.share * (isLong ? kMeasured : 1);
    if (found)
      found->microseconds =
          std::max({share * found->microseconds, found->memoryFloor,
                    found->multiplyFloor});
    if (found && hasRegisters(product, shape) &&
        (!best || found->microseconds < best->microseconds))
      best = found;
  }
  return best;
}

/// The best tiles of few rows of weights in the form of wgmma_sp: with blocks
/// of fewer columns than multiprocessors, parts of k are blocks of a cluster,
/// which wait for one another's sums.
static std::optional<GpuSchedule> chooseStreamOfPairs(const GpuProduct &product,
                                                      const GpuChip &chip) {
  std::optional<GpuSchedule> best;
  for (int64_t parts = 1; parts <= kMostPairParts; parts *= 2) {
    // As many blocks of as many tiles.
    GpuProduct part = product;
    part.k = ceilDiv(product.k, parts);
    part.n = ceilDiv(product.n, kPairColumns) * kPairColumns * parts;
    // Two blocks of a multiprocessor hide what one stage less does not.
    bool areShared = parts == 1 && part.n / kPairColumns > chip.multiprocessors;
    StreamShape shape{kPairColumns, kPairSlices};
    shape.leastStages -= areShared;
    std::optional<GpuSchedule> found = chooseStream(part, chip, {shape});
    if (!found)
      continue;
    found->splitK = found->clusterK = parts;
    found->microseconds += parts == 1 ? 0 : microsecondsOfLatency(chip);
    setSparseFloors(product, chip,
                    operationsPerClock(product, chip.rates.tensor), *found);
    if (!best || found->microseconds < best->microseconds)
      best = found;
  }
  return best;
}

/// The rows of k of a tile: whole groups, of quantized weights.
static int64_t countTileRows(const GpuProduct &product) {
  int64_t rows = sparseTileRows(product);
  bool shareOne = product.scaleGroup >= product.k;
  return shareOne ? rows : std::max(rows, product.scaleGroup);
}

/// Whether `tile` may be a block whose warps multiply by fours.
static bool canMultiplyByFours(const GpuProduct &product,
                               const GpuSchedule &tile) {
  constexpr int64_t kLeastTiles = 2;
  bool hasPanels = !product.isMMajor || tile.blockM % kWarpgroupM == 0;
  bool haveAll = tile.blockM >= std::min(product.rows(), int64_t(kWarpgroupM));
  // Values of 8 bits of 256 rows of k, beside 32 sums and more, are too many
  // for the registers that 384 threads have: 22.7 us, and 20.5 before.
  bool spills = product.weightBits == 8 && tile.blockM >= kWarpgroupM &&
                tile.blockN > 2 * kWarpgroupM && tile.blockK > 2 * kWarpgroupM;
  return haveWarpsByFours(tile) && hasPanels && haveAll && !spills &&
         !isTooLarge(product, tile) &&
         tile.splitK * kLeastTiles * tile.blockK <= product.k;
}

/// Shows `choice` the blocks of quantized weights whose warps multiply by
/// fours.
static void visitWarpgroups(const GpuProduct &product, const GpuChip &chip,
                            MmaChoice &choice) {
  if (product.weightBits == 0 || !chip.hasWgmma ||
      product.rows() <= kMatrixRows || product.rows() > kMostWarpgroupRows)
    return;
  int64_t rowsOfTile =
      std::max(countTileRows(product), 2 * sparseTileRows(product));
  for (int64_t rows : kWarpgroupRows)
    for (int64_t columns : kWarpgroupColumns)
      for (const WarpgroupTile &parts : kWarpgroupTiles) {
        MmaTileShape shape{rows, columns, rows, kColumnsOfFourth};
        GpuSchedule tile = shape.makeSchedule(
            SourceKind::MmaSparse, parts.slices * parts.turns * rowsOfTile);
        tile.bits = product.weightBits;
        tile.sliceK = parts.slices;
        tile.splitK = tile.clusterK = parts.parts;
        if (!canMultiplyByFours(product, tile) ||
            !shape.hasRegisters(product.k / 2))
          continue;
        setSparseFloors(product, chip,
                        operationsPerClock(product, chip.rates.tensor), tile);
        for (tile.stages = 2; tile.stages <= kMaxMmaStages; ++tile.stages)
          choice.consider(tile, WarpgroupEstimate(product, chip, tile));
      }
}

/// Why groups of k that share a scale are none of the strategy's, if so.
static std::optional<std::string> whyNoGroups(const GpuProduct &product) {
  int64_t group = product.scaleGroup;
  bool isTaken =
      group == 0 || group >= product.k ||
      (group >= kMinGroup && group <= kMaxGroup && (group & (group - 1)) == 0);
  if (isTaken)
    return std::nullopt;
  return "scales of groups of 32, 64, 128 or 256 rows of k, or of all, for "
         "quantized weights, but got groups of " +
         std::to_string(group);
}

static std::optional<GpuSchedule> choose(const GpuProduct &product,
                                         const GpuChip &chip, bool pairs) {
  MmaChoice choice(product, chip);
  for (const MmaTileShape &shape : kShapes) {
    if (!hasRegisters(product, shape) ||
        (pairs && shape.blockN % kPairColumns != 0))
      continue;
    GpuSchedule tile =
        shape.makeSchedule(SourceKind::MmaSparse, countTileRows(product));
    setSparseFloors(product, chip,
                    operationsPerClock(product, chip.rates.tensor), tile);
    choice.visit<Estimate>(tile);
  }
  if (product.weightBits != 0 && product.rows() <= kSlicedShape.blockM &&
      hasRegisters(product, kSlicedShape)) {
    GpuSchedule tile = kSlicedShape.makeSchedule(
        SourceKind::MmaSparse,
        std::max(countTileRows(product), kSlices * sparseTileRows(product)));
    tile.sliceK = kSlices;
    setSparseFloors(product, chip,
                    operationsPerClock(product, chip.rates.tensor), tile);
    // Parts of k were measured where blocks are few.
    bool areMany = ceilDiv(product.n, tile.blockN) >= chip.multiprocessors;
    choice.visit<Estimate>(tile, areMany ? 1 : kMaxMmaSplitK);
  }
  visitWarpgroups(product, chip, choice);
  if (product.rows() > kMaxStreamRows)
    return choice.best;
  // Where columns are few, parts of k in blocks of their own are faster.
  std::optional<GpuSchedule> stream =
      pairs ? chooseStreamOfPairs(product, chip)
            : chooseStream(product, chip, listStreamShapes(product, chip));
  bool isFaster = stream && (!choice.best ||
                             stream->microseconds < choice.best->microseconds);
  return isFaster ? stream : choice.best;
}

Result<GpuSchedule> nm::selectMmaSpSchedule(const GpuProduct &product,
                                            const GpuChip &chip, bool pairs) {
  if (std::optional<std::string> reason = whyNoSparseOperand(product))
    return Error{"strategy mma_sp expected " + *reason};
  if (std::optional<std::string> reason = whyNoMmaSp(product.type, chip))
    return Error{"strategy mma_sp expected " + *reason};
  if (std::optional<std::string> reason = whyNoGroups(product))
    return Error{"strategy mma_sp expected " + *reason};
  if (pairs && product.weightBits != 0)
    return Error{"strategy mma_sp expected no quantized weights for pairs = "
                 "true"};
  if (std::optional<GpuSchedule> best = choose(product, chip, pairs)) {
    best->pairs = pairs;
    return *best;
  }
  return Error{"strategy mma_sp expected tiles that fit in " +
               std::to_string(chip.sharedPerBlock) + " bytes of shared memory"};
}
