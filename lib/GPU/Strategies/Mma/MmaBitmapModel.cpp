//===- MmaBitmapModel.cpp - Tiles of strategy mma_bitmap ------------------===//
//
// The tiles that strategy mma_bitmap has for a product, and the choice among
// them by the time that they are estimated to take: all rows of A are in one
// block, if they are few, and weights stream from memory. What a multiprocessor
// does for them is mostly loads of shared memory, one for each weight and lane,
// kept or not.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/BitmapStringsModel.h"
#include "GPU/Strategies/Mma/StreamModel.h"

#include "nm/Format/Bitmap.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

using namespace nm;

/// Rows of A of an instruction, and of a block at most.
static constexpr int64_t kMatrixRows = 8, kMostRows = 64;
/// Columns of a warp. With 48 or 64 columns it takes 5 to 60 % longer, for
/// fewer blocks have fewer warps; so do stages that leave room for one block
/// alone.
static constexpr int64_t kColumns = 32;
/// Columns of a block, and the warps that have slices of a tile of k, a step
/// each. Two warps side by side share a tile of A, which else two blocks copy.
/// Where values are more than twice as many bytes, two blocks, whose barriers
/// are not one, are as fast: of 8192 x 8192 by a block of 64 columns 16 rows
/// take 0.87 and 0.96 of the time at 50 and 75 %, 8 rows 1.03 and 0.94 (one
/// H200, 2026-11-27).
static constexpr int64_t kSideBySide = 64;
static constexpr std::pair<int64_t, int64_t> kShapes[] = {{kSideBySide, 8},
                                                          {kColumns, 8},
                                                          {kColumns, 4},
                                                          {kColumns, 2},
                                                          {kColumns, 1}};
static constexpr int64_t kStages = 2;
/// Rows of k of a tile of runs of more than 32 rows at most.
static constexpr int64_t kMostTileRows = 2048;
/// Clocks of a multiprocessor for a step of 16 columns, and for the words of A
/// that its warp loads for each eight rows of it: fitted to 42 kernels with 8
/// and 16 rows at 50, 75 and 87.5 %, k x n of 4096 x 4096 and 8192 x 8192, on
/// an H200 (2026-11-26). Loads alone are 64. Of 8-bit weights two loads and
/// some twelve instructions for each four weights of a lane, 200 in all, take
/// the clocks that they take of 16 bits: 24 products of i8 with 2 to 32 rows
/// took 0.80 to 1.06 of the estimate there (2026-11-28).
static constexpr double kStepClocks = 100, kActivationLoads = 16;
static constexpr int64_t kByteStepClocks = 75;
/// Clocks that a Hopper takes more for each eight rows of 8-bit floats, which
/// it converts to f16 first: some 18 instructions for each mma.sync.
static constexpr int64_t kConversionClocks = 18;
/// Rows of k of such a step.
static constexpr int64_t kStepRows = 128;
/// The fewest slices whose warps hide one another's loads.
static constexpr int64_t kManySlices = 8;
/// How many times longer than its clocks a multiprocessor takes with `warps`,
/// as it has them for runs of 64 and 128 rows: 12 kernels of f16 with 2 to 16
/// rows took 1.7 times as long with two warps, 1.2 to 1.3 with four and 1.0
/// with eight (one H200, 2026-11-29).
static double factorOfFewWarps(int64_t warps) {
  return double(std::max(4 * warps, 3 * warps + 8)) / double(4 * warps);
}
/// Registers of a thread beside sums and words of A.
static constexpr int64_t kOtherRegisters = 72;

/// Why `product` has no such tiles: "a matrix, but got a vector".
static std::optional<std::string> whyNot(const GpuProduct &product,
                                         const GpuChip &chip) {
  if (product.isVector)
    return "a matrix, but got a vector";
  if (Status status = BitmapForm::verify(product.pattern, product.type);
      !status)
    return status.error().message.substr(std::string("expected ").size());
  if (product.isMMajor && elementSize(product.type) == 1)
    return "a row-major A, for no instruction transposes " +
           std::string(elementName(product.type));
  if (isFloat8(product.type) && !chip.multipliesFloat8)
    return "a chip of sm_89 or later for " +
           std::string(elementName(product.type)) + ", but got " +
           std::string(chip.name);
  if (product.m > kMostRows)
    return "at most " + std::to_string(kMostRows) + " rows of A, but got " +
           std::to_string(product.m);
  // A zero changes no sum of integers.
  if (product.avoidsPrunedWeights && isFloat(product.type) &&
      product.pattern.n != product.pattern.m)
    return "a product that may have zeros in place of pruned weights, but got "
           "one without";
  return std::nullopt;
}

/// The words of bits that a lane has beside those of runs of 32 rows.
static int64_t wordsOfBits(const GpuSchedule &tile, const BitmapForm &form) {
  return (form.bitWords() - 1) * BitmapForm::kLaneColumns * tile.warpN /
         BitmapForm::kColumns;
}

/// What a tile of `tile` has.
static StreamTile measureTile(const GpuSchedule &tile, const BitmapForm &form,
                              ElementType type, const GpuChip &chip) {
  int64_t formBlocks = tile.blockN / BitmapForm::kColumns,
          formSteps = tile.blockK / form.stepRows();
  auto blocks = double(formBlocks), steps = double(tile.blockK / kStepRows),
       matrices = double(tile.blockM / kMatrixRows);
  StreamTile parts;
  parts.activationBytes = tile.blockM * tile.blockK * form.bytes;
  parts.valueBytes = formBlocks * formSteps * form.valuesOfStep() * form.bytes;
  parts.indexBytes = formBlocks * formSteps * form.stepBytes();
  parts.registers = kOtherRegisters + tile.blockM * tile.blockN / kWarpSize +
                    tile.blockM / 2 + wordsOfBits(tile, form);
  // Warps side by side load the words of A each for itself.
  double sideBySide = double(tile.blockN / tile.warpN);
  parts.clocks =
      blocks * steps *
          (form.bytes == 1 ? double(kByteStepClocks) : kStepClocks) +
      sideBySide * steps * matrices * kActivationLoads * double(form.bytes) /
          kMmaBytes +
      double(parts.activationBytes + parts.valueBytes) / chip.rates.shared;
  if (isFloat8(type) && !chip.multipliesSparseFloat8)
    parts.clocks += blocks * steps * matrices * double(kConversionClocks);
  parts.waits = tile.sliceK < kManySlices ? kTileBarrier : 0;
  return parts;
}

/// The warps that a multiprocessor has of blocks of `tile`, whose threads have
/// `registers` registers.
static int64_t countWarps(const GpuProduct &product, const GpuChip &chip,
                          const GpuSchedule &tile, int64_t registers) {
  int64_t blocks =
      ceilDiv(ceilDiv(product.n, tile.blockN), chip.multiprocessors);
  int64_t warps = tile.sliceK * (tile.blockN / tile.warpN);
  int64_t room =
      countResidentBlocks(chip, warps * kWarpSize, registers, tile.sharedBytes);
  return std::max<int64_t>(1, std::min(blocks, room)) * warps;
}

Result<GpuSchedule> nm::selectMmaBitmapSchedule(const GpuProduct &product,
                                                const GpuChip &chip) {
  if (isOfStrings(product))
    return selectBitmapStringsSchedule(product, chip);
  if (std::optional<std::string> reason = whyNot(product, chip))
    return Error{"strategy mma_bitmap expected " + *reason};
  int64_t bytes = elementSize(product.type);
  BitmapForm form = BitmapForm::of(product.pattern, bytes);
  int64_t rows = kMatrixRows;
  while (rows < std::min(product.rows(), kMostRows))
    rows *= 2;
  double steps = double(BitmapForm::steps(product.pattern, product.k)),
         blocks = double(BitmapForm::blocks(product.pattern, product.n));
  double weightBytes =
      blocks * steps * double(form.valuesOfStep() * bytes + form.stepBytes());
  std::optional<GpuSchedule> best;
  for (auto [columns, slices] : kShapes) {
    // Of a short k most of a tile of many slices would lie behind its end, and
    // threads that copy bytes one by one have many of a long one.
    int64_t tileRows = slices * form.stepRows();
    bool isLong = form.runRows > BitmapForm::kWordRows;
    if (slices > 1 && ((isLong && tileRows > kMostTileRows) ||
                       ((isLong || bytes == 1) && tileRows >= 2 * product.k)))
      continue;
    MmaTileShape shape{rows, columns, rows, kColumns};
    GpuSchedule tile = shape.makeSchedule(SourceKind::MmaBitmap, tileRows);
    tile.sliceK = slices;
    setLeastTimes(product, chip,
                  chip.rates.mma * double(kMmaBytes) / double(bytes),
                  steps * double(form.stepRows()), weightBytes, tile);
    StreamTile parts = measureTile(tile, form, product.type, chip);
    if (columns == kSideBySide && 2 * parts.activationBytes < parts.valueBytes)
      continue;
    std::optional<GpuSchedule> found =
        chooseStages(product, chip, parts, tile, kStages, kStages);
    if (found && isLong)
      found->microseconds *=
          factorOfFewWarps(countWarps(product, chip, *found, parts.registers));
    if (found && shape.hasRegisters(product.k) &&
        (!best || found->microseconds < best->microseconds))
      best = found;
  }
  if (best) {
    bool isAlone = 2 * (best->sharedBytes + kReservedShared) >
                   chip.sharedPerMultiprocessor;
    // 16 products of 8-bit floats took 0.85 to 1.0 of the estimate with this
    // factor, and few of them less than dense weights took. One of i8 with 48
    // rows took 1.3 times as long as dense weights.
    bool hasFewBlocks = bytes > 1 && isAlone && rows > 2 * kMatrixRows;
    if (isFloat8(product.type) || rows > 4 * kMatrixRows || hasFewBlocks)
      best->microseconds *= kMeasured;
    return *best;
  }
  return Error{"strategy mma_bitmap expected tiles that fit in " +
               std::to_string(chip.sharedPerBlock) + " bytes of shared memory"};
}
