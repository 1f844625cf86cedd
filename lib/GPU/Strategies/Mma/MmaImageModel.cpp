//===- MmaImageModel.cpp - Tiles of strategy mma_image --------------------===//
//
// A block copies its part of an image once, for all columns that it has, and
// then multiplies: what a warp issues beside its mma.sync is a load of shared
// memory for each element of an operand, and the arithmetic of its place.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaImageModel.h"

#include "GPU/Strategies/Mma/MmaModel.h"

#include "nm/Schedule/ImageBytes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

using namespace nm;

/// Sides of the squares of operands, and places that a lane has one of.
static constexpr int64_t kSquare = 16, kPlaces = 8;
static constexpr int64_t kWordBytes = 4;
/// Registers of a thread beside its sums, its places and the weights on their
/// way: ptxas takes 237 for warps of 64 x 64.
static constexpr int64_t kOtherRegisters = 44;
/// Steps of weights on their way.
static constexpr int64_t kStages = 2;
// Fitted to 84 kernels of ResNet-50's 3x3 layers in f16, of 8:32 in vectors of
// 64, with one image and with 32, on an H200 (2026-11-29). They took 0.74 to
// 1.4 of their estimates, the fastest of each layer 0.9 to 1.2.
/// Instructions of a warp for each 32 accesses of the copy; clocks of a
/// multiprocessor for the elements of eight places, four loads of each lane
/// that meet in banks, and of a lane's start.
static constexpr int64_t kAccessInstructions = 18, kClocksOfPlaces = 23,
                         kStartInstructions = 850;
/// Clocks of a step that nothing hides, of a block until it multiplies and
/// behind that, and of a thousand sums of another slice.
static constexpr int64_t kStepLatency = 810, kStartLatency = 3160,
                         kEndLatency = 1590, kClocksOfSums = 114;
/// Per mille that estimates are more than that, so that a strategy whose
/// estimate is as good stays.
static constexpr int64_t kMargin = 1050;
static constexpr MmaTileShape kShapes[] = {
    {256, 128, 64, 64}, {256, 64, 64, 64}, {128, 128, 64, 64},
    {128, 64, 64, 64},  {64, 256, 64, 64}, {64, 128, 64, 64},
    {64, 64, 64, 64},   {64, 64, 32, 64},  {32, 64, 32, 64},
    {32, 64, 32, 32},   {128, 32, 64, 32}, {64, 32, 64, 32},
    {32, 32, 32, 32},   {16, 64, 16, 64},  {16, 32, 16, 32},
    {64, 16, 64, 16},   {32, 16, 32, 16}};

PanelPacking nm::chooseMmaImagePacking(const Pattern &pattern,
                                       const GpuSchedule &tile) {
  PanelPacking packing;
  packing.panel = std::gcd(pattern.bn & -pattern.bn, tile.blockN);
  packing.indexBits = 8;
  constexpr int64_t kMostRows = 4;
  int64_t kept = pattern.keptRows();
  packing.chunkRows = std::min(kept & -kept, kMostRows);
  packing.indexRows =
      packing.chunkRows / std::gcd(packing.chunkRows, pattern.bk);
  return packing;
}

namespace {
class Estimate : public MmaEstimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip, GpuSchedule given)
      : MmaEstimate(product, chip, std::move(given)) {}

  int64_t sharedBytes() const override {
    const ImagePart &part = product.imagePart;
    int64_t elements = ImageCopy::of(part, part.rowsOf(tile.blockM)).elements;
    int64_t panels = tile.blockN / tile.packing.panel;
    return countBufferBytes(elements * kMmaBytes) +
           countBufferBytes(panels * steps() * kImageStep * kImageRowWords *
                            kWordBytes);
  }
  int64_t residentBlocks() const override {
    // Eight columns have two words of weights a step, and a place has its
    // distance and its taps.
    int64_t weights = (kStages + 1) * 2 * (tile.warpN / kPlaces),
            places = 2 * (tile.warpM / kPlaces);
    int64_t registers = sums() + kOtherRegisters + weights + places;
    return registers > kMaxRegisters ? 0 : countResident(registers);
  }
  double microseconds() const override {
    int64_t blocks = product.batch * ceilDiv(product.rows(), tile.blockM) *
                     ceilDiv(product.n, tile.blockN);
    double clocks =
        clocksOfWaves(blocks, residentBlocks(), chip.multiprocessors,
                      [&](int64_t count) { return tileClocks(count); });
    double time = clocks / chip.clockGHz / 1000 * double(kMargin) / 1000;
    return std::max(time, tile.memoryFloor);
  }

private:
  int64_t steps() const {
    return ceilDiv(product.pattern.condensedRows(product.k), kImageStep);
  }
  double copyClocks() const;
  double multiplyClocks() const;
  double tileClocks(int64_t blocks) const override;
};
} // namespace

/// The clocks in which a multiprocessor issues a block's copies.
double Estimate::copyClocks() const {
  const ImagePart &part = product.imagePart;
  int64_t rows = part.rowsOf(tile.blockM);
  // Whole planes are one after another; parts of them begin with rows.
  constexpr int64_t kWidest = 8;
  int64_t width =
      rows == part.rows ? kWidest : std::gcd(kWidest, part.rowElements);
  return double(part.planes * rows * part.rowElements / width *
                kAccessInstructions) /
         (4 * kWarpSize);
}

/// The clocks in which it makes a block's products: for each unit of the
/// columns, the elements of the warp's places are loaded.
double Estimate::multiplyClocks() const {
  int64_t units = std::max<int64_t>(1, tile.warpN / tile.packing.panel);
  int64_t loads = tile.warpM / kPlaces * units * kClocksOfPlaces;
  double multiplied =
      double(2 * tile.warpM * tile.warpN * kImageStep) / chip.rates.mma;
  return double(warps() / tile.sliceK * steps()) *
         std::max(double(loads), multiplied);
}

/// The clocks of a block's work, with `blocks` blocks on a multiprocessor.
double Estimate::tileClocks(int64_t blocks) const {
  int64_t sums = tile.blockM * tile.blockN;
  double busy = double(blocks) * (copyClocks() + multiplyClocks() +
                                  double(warps() * kStartInstructions) / 4);
  double waits = double(steps() * kStepLatency) / double(tile.sliceK) +
                 double(kStartLatency) + copyClocks();
  double stored =
      double(sums * elementSize(product.outputType)) / chip.rates.stored +
      double((tile.sliceK - 1) * sums * kClocksOfSums) / 1000;
  return std::max(busy, waits) + double(blocks) * stored + double(kEndLatency);
}

/// Why the strategy does not have the product, if so.
static std::optional<std::string> whyNot(const GpuProduct &product) {
  if (product.isVector || !product.hasImage || product.imagePart.planes == 0)
    return "the patches of an image in planes, padded by no more than its "
           "size";
  if (product.type != ElementType::F16 && product.type != ElementType::BF16)
    return "operands of f16 or bf16, but got " +
           std::string(elementName(product.type));
  if (product.pattern.bn % kSquare != 0 || product.pattern.keptRows() % 2 != 0)
    return "units of a multiple of 16 columns, and windows that keep an even "
           "number of rows, but got " +
           product.pattern.str();
  if (product.pattern.condensedRows(product.k) > kLongSumRows)
    return "at most " + std::to_string(kLongSumRows) + " kept rows, but got " +
           std::to_string(product.pattern.condensedRows(product.k));
  return std::nullopt;
}

Result<GpuSchedule> nm::selectMmaImageSchedule(const GpuProduct &product,
                                               const GpuChip &chip) {
  if (std::optional<std::string> reason = whyNot(product))
    return Error{"strategy mma_image expected " + *reason};
  double kept = double(product.pattern.condensedRows(product.k));
  double weightBytes = kMmaBytes * kept * double(product.n);
  MmaChoice choice(product, chip);
  for (const MmaTileShape &shape : kShapes)
    for (int64_t slices : {1, 2, 4, 8}) {
      GpuSchedule tile = shape.makeSchedule(SourceKind::MmaImage, product.k);
      tile.packing = chooseMmaImagePacking(product.pattern, tile);
      int64_t panel = tile.packing.panel;
      if (panel % shape.warpN != 0 && shape.warpN % panel != 0)
        continue;
      tile.stages = kStages;
      tile.sliceK = slices;
      setLeastTimes(product, chip, chip.rates.mma, kept, weightBytes, tile);
      choice.consider(tile, Estimate(product, chip, tile));
    }
  if (choice.best)
    return *choice.best;
  return Error{"strategy mma_image expected a part of the image that fits in " +
               std::to_string(chip.sharedPerBlock) + " bytes of shared memory"};
}
