//===- CublasModel.cpp - Times of cuBLAS' products ------------------------===//
//
// cuBLAS is estimated as our own kernels are: by the tiles of C that blocks
// make, wave by wave, and by the chip's rates. GpuScheduleTest has times that
// were measured on an H200.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/GpuModels.h"

#include <algorithm>
#include <limits>

using namespace nm;

/// The shares that cuBLAS reaches under load of the tensor cores' rate, and of
/// the multipliers' rate; the second also of the tensor cores' rate where sums
/// of 8-bit floats are promoted.
static constexpr double kTensorEfficiency = 0.93, kEfficiency = 0.855;
/// Multiply-adds of a multiprocessor and clock of which cuBLAS reaches nearly
/// all at the full clock, as on an A100: 80 to 98 % in 100 products that the
/// authors of NM-SpMM measured (github.com/M-H482/NM-SpMM at 143c1bef,
/// benchmark/kernel_performance/result_data/cublas_a100.txt).
static constexpr int64_t kFedMultipliers = 64;
/// Rows up to which it streams the weights and does little else, by the
/// multipliers and by the tensor cores.
static constexpr int64_t kVectorRows = 16, kTensorFewRows = 32;
/// Bytes of a sum of a part of k.
static constexpr int64_t kSumBytes = 4;

/// Bytes that n and the contiguous dimension of A, k or m, are to be multiples
/// of for the tensor cores to be fed at full speed, and how many times longer
/// other products take: of n = 1001 and 12345 an H200 takes 6.1 and 5.6 times
/// as long, of n = 1030 and 4100 5.0 and 2.8; of k = 4100, or of an m-major A
/// of 300, 500 or 778 rows of f16, 2.8 to 5.3 times as long, of 777 or 2001
/// rows 7.0 and 5.7. Where rows of an m-major A are padded, but m is as ragged,
/// it takes 1.7 to 3 times as long, half as long as without; padded rows of a
/// row-major one gain nothing.
static constexpr int64_t kAlignment = 16, kWordBytes = 4;
static constexpr double kUnalignedFactor = 4.5, kOddFactor = 6.5;

/// The products that an instruction of the multipliers makes of i8: of other
/// layouts than the tensor cores' it takes 1109 us at 4096 cubed, and 216 of
/// 1024x4096x3072 (2026-11-24).
static constexpr int64_t kTurnedI8Ratio = 2;

namespace {
/// The units that multiply, and how cuBLAS feeds them.
struct Units {
  bool areTensorCores = false;
  /// Whether operands are not aligned as the tensor cores are fed.
  bool areUnaligned = false;
  /// Multiply-adds of a multiprocessor and clock.
  double rate = 0;
  /// Rows of k of a step, and the clocks that one takes at least: in all, and
  /// for each row or column of a tile.
  double stepRows = 0, stepClocks = 0, lineClocks = 0;
  /// Clocks before the first step.
  double startClocks = 0;
  /// The least rows and columns of a tile, and the most of either.
  int64_t leastTile = 0, mostRows = 128, mostColumns = 128;
};
} // namespace

/// How many times longer than others products on the tensor cores take.
static double factorOfAlignment(const GpuProduct &product) {
  auto isMultiple = [](int64_t size, ElementType type, int64_t bytes) {
    return size * int64_t(elementSize(type)) % bytes == 0;
  };
  auto isWhole = [&](int64_t size, ElementType type) {
    return isMultiple(size, type, kAlignment);
  };
  if (product.type == ElementType::I8)
    return isWhole(product.k, product.type) ? 1 : kUnalignedFactor;
  if (elementSize(product.type) != 2 && !product.allowsTF32)
    return 1;
  if (!isWhole(product.n, product.type) ||
      !isWhole(product.n, product.outputType))
    return isMultiple(product.n, product.type, kWordBytes) ? kUnalignedFactor
                                                           : kOddFactor;
  bool areUnknown = product.isMMajor && product.m == GpuProduct::kUnknown;
  int64_t size = product.isMMajor ? product.m : product.k;
  if (areUnknown || isWhole(size, product.type))
    return 1;
  if (product.isMMajor && isWhole(product.factorOfRows(), product.type))
    return kUnalignedFactor / 2;
  return isMultiple(size, product.type, kWordBytes) ? kUnalignedFactor
                                                    : kOddFactor;
}

static bool hasProducts(const GpuProduct &product, const GpuChip &chip) {
  switch (product.type) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I8:
    return true;
  case ElementType::F8E4M3:
    return chip.multipliesFloat8;
  default:
    return false;
  }
}

static Units makeMultipliers(const GpuProduct &product, const GpuChip &chip) {
  Units units;
  int64_t ratio = product.type == ElementType::I8 ? kTurnedI8Ratio : 1;
  bool areFed = chip.fmaPerClock <= kFedMultipliers;
  units.rate = double(ratio * chip.fmaPerClock) *
               (areFed ? 1 / chip.rates.loadedClock : kEfficiency);
  units.stepRows = 8;
  units.stepClocks = 2 * chip.rates.barrier;
  units.leastTile = 32;
  return units;
}

/// A step takes a line of 128 bytes of each row and column, of 8 bits at twice
/// the rate of 16 and of f32, which is rounded to TensorFloat-32, at half.
/// Those of i8 are written to shared memory and read from there one after the
/// other: 256 rows of n x k of 1024x4096 and 4096x4096 take 6.9 and 14.7 us,
/// and 1024 rows of 1024x4096 15.1 (2026-11-26).
static Units makeTensorCores(const GpuProduct &product, const GpuChip &chip) {
  Units units;
  double bytes = double(elementSize(product.type)),
         factor = factorOfAlignment(product);
  units.areTensorCores = true;
  units.areUnaligned = factor > 1;
  units.rate = chip.rates.tensor / bytes / factor *
               (product.promotesFloat8() ? kEfficiency : kTensorEfficiency);
  units.stepRows = double(kLineBytes) / bytes;
  units.stepClocks = chip.rates.barrier * factor;
  units.leastTile = 64;
  if (product.type != ElementType::I8)
    return units;
  units.lineClocks = 2 * double(kLineBytes) / chip.rates.shared;
  units.startClocks = chip.rates.latency;
  units.mostColumns = 256;
  return units;
}

static Units unitsOf(const GpuProduct &product, const GpuChip &chip) {
  bool isTurned = product.type == ElementType::I8 && product.isMMajor;
  bool isFull = product.type == ElementType::F32 && !product.allowsTF32;
  return isTurned || isFull ? makeMultipliers(product, chip)
                            : makeTensorCores(product, chip);
}

/// The clocks of tiles of `tileM` x `tileN`, each with one of `parts` of k,
/// whose sums another kernel adds up.
static double clocksOfTiles(const GpuProduct &product, const GpuChip &chip,
                            const Units &units, int64_t tileM, int64_t tileN,
                            int64_t parts) {
  double steps = double(product.k) / double(parts) / units.stepRows;
  double outputs = double(tileM * tileN);
  double step =
      std::max({outputs * units.stepRows / units.rate,
                double(tileM + tileN) * units.lineClocks, units.stepClocks});
  double bytes = parts == 1 ? double(elementSize(product.outputType))
                            : double(kSumBytes * (parts + 1));
  double tile = steps * step + outputs * bytes / chip.rates.stored;
  int64_t tiles = product.batch * ceilDiv(product.rows(), tileM) *
                  ceilDiv(product.n, tileN);
  double waves = double(ceilDiv(tiles * parts, chip.multiprocessors));
  return units.startClocks + waves * tile +
         (parts > 1 ? chip.rates.start + chip.rates.latency : 0);
}

/// The clocks of the tiles that take the least.
static double leastClocks(const GpuProduct &product, const GpuChip &chip,
                          const Units &units) {
  constexpr int64_t kMostParts = 8;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t tileM = units.leastTile; tileM <= units.mostRows; tileM *= 2)
    for (int64_t tileN = units.leastTile; tileN <= units.mostColumns;
         tileN *= 2)
      for (int64_t parts = 1; parts <= kMostParts; parts *= 2)
        least = std::min(
            least, clocksOfTiles(product, chip, units, tileM, tileN, parts));
  return least;
}

/// What two parts of k of a product of few rows take, which another kernel
/// adds up, beside the weights that stream.
static double microsecondsOfParts(double bytesOfSums, const GpuChip &chip) {
  constexpr int64_t kParts = 2;
  double bytes = 2 * double(kParts) * bytesOfSums;
  return chip.rates.launch +
         bytes / (chip.memoryGBs * chip.rates.reachedMemory) / 1000;
}

double nm::estimateCublas(const GpuProduct &product, const GpuChip &chip) {
  if (!hasProducts(product, chip))
    return -1;
  double m = double(product.rows()), n = double(product.n),
         k = double(product.k);
  double bytes = (m * k + k * n) * double(elementSize(product.type)) +
                 m * n * double(elementSize(product.outputType));
  bytes *= double(product.batch);
  double memory = bytes / (chip.memoryGBs * chip.rates.reachedMemory) / 1000;
  Units units = unitsOf(product, chip);
  double multiply =
      m == 1 ? 0
             : microsecondsUnderLoad(leastClocks(product, chip, units), chip);
  // Multipliers have no kernels that stream weights of few rows, but more than
  // one. 20 rows of 6144x3584, of an m-major A, take 25.3 us.
  bool readsTwice = m > 1 && (units.areTensorCores ? units.areUnaligned
                                                   : m <= double(kVectorRows));
  if (readsTwice)
    memory *= 2;
  else if (m <= double(kTensorFewRows) && elementSize(product.type) == 2)
    return std::max(multiply, memory + microsecondsOfParts(
                                           m * n * double(kSumBytes), chip)) +
           kStartMicroseconds;
  return std::max(multiply, memory) + kNotHidden * std::min(multiply, memory) +
         kStartMicroseconds;
}
