//===- CublasModel.cpp - Times of cuBLAS' products ------------------------===//
//
// Fitted to times on an H200 in f32 and f16, which GpuScheduleTest has.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Select/GpuSchedule.h"

#include <algorithm>

using namespace nm;

/// What it reaches of the multipliers' rate, and of the memory's.
static constexpr double kEfficiency = 0.765, kMemoryEfficiency = 0.85;
/// Before the first and after the last tile.
static constexpr double kStartMicroseconds = 8, kVectorMicroseconds = 3;
/// The microseconds of cuBLAS before the first and after the last tile on the
/// tensor cores: of products, and of those that stream weights, of more rows
/// and of few, for which it takes other kernels.
static constexpr double kTensorStartMicroseconds = 3.5,
                        kTensorStreamMicroseconds = 2.6,
                        kTensorFewRowsMicroseconds = 4.5;
/// What products of a middling number of rows take beside that where their last
/// tile of rows is not full: 160 to 448 rows, n x k of 4096x4096, 2048x8192 and
/// 11008x4096, take up to 5.5 us more on an H200 (2026-11-23), and 2.8 in the
/// mean; 256 and 384 rows 1.5. Of an m-major A, 200 rows take another 2.5.
/// Fewer rows of k than kLongK take less in proportion: 160 and 300 rows of
/// 1024x1024 3.9 and 4.3 us in all, 200 of 4096x2048 8.9 (2026-11-24).
static constexpr double kPartialTileMicroseconds = 2.5,
                        kOrderedPartialTileMicroseconds = 4;
static constexpr int64_t kTileRows = 128, kMostPartialTileRows = 448,
                         kLongK = 4096;
/// What the latency of each two bytes of k adds, where there are too few tiles
/// for it to be hidden: 64 rows of n x k of 768x2560, 1032x4096 and 1536x4096
/// take 6.5, 8.2 and 8.8 us, 384 rows of 768x6144 12.0, 100 of 768x4096 in
/// e4m3 5.3 (2026-11-24).
static constexpr double kTensorRowMicroseconds = 0.001;
/// Rows up to which it streams the weights and does little else, by the
/// multipliers and by the tensor cores.
static constexpr int64_t kVectorRows = 16, kTensorFewRows = 32;
/// The microseconds of products of few rows, but more than one, of f32, for
/// which cuBLAS has no such kernels, beside twice the time of their bytes.
static constexpr double kFewRowsMicroseconds = 6;

/// Bytes that n and the contiguous dimension of A, k or m, are to be multiples
/// of for the tensor cores to be fed at full speed, and how many times longer
/// other products take: of n = 1001 and 12345 an H200 takes 6.1 and 5.6 times
/// as long, of n = 1030 and 4100 5.0 and 2.8; of k = 4100, or of an m-major A
/// of 300, 500 or 778 rows of f16, 2.8 to 5.3 times as long, of 777 or 2001
/// rows 7.0 and 5.7. Where rows of an m-major A are padded, but m is as ragged,
/// it takes 1.7 to 3 times as long; padded rows of a row-major one gain
/// nothing.
static constexpr int64_t kAlignment = 16, kWordBytes = 4;
static constexpr double kUnalignedFactor = 4.2, kOddFactor = 6.2,
                        kPaddedFactor = 2.3;
/// The least that unaligned products take, and what each row of k adds to it,
/// for they have no kernels of few rows that cut k: 100 rows of n x k of
/// 1001x4096, 1030x4096 and, m-major, 2560x1024 take 18.5, 16.6 and 12.8 us,
/// 33 rows of 1536x4608 17.9, 20 rows of 2048x2048 9.6, and 33 of 4608x3584
/// some 14 once its rows are padded (2026-11-24).
static constexpr double kUnalignedMicroseconds = 7,
                        kUnalignedRowMicroseconds = 0.002;

/// How many times longer other layouts of i8 take: of an m-major A 1109 us at
/// 4096 cubed, 216 of 1024x4096x3072, 92 of 100x2048x2560 (2026-11-24).
static constexpr double kTurnedI8Factor = 15;

/// How many times longer than others the multiplications of `product` take.
static double factorOfAlignment(const GpuProduct &product) {
  auto isMultiple = [](int64_t size, ElementType type, int64_t bytes) {
    return size * int64_t(elementSize(type)) % bytes == 0;
  };
  auto isWhole = [&](int64_t size, ElementType type) {
    return isMultiple(size, type, kAlignment);
  };
  if (product.type == ElementType::I8)
    return product.isMMajor                   ? kTurnedI8Factor
           : isWhole(product.k, product.type) ? 1
                                              : kUnalignedFactor;
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
    return kPaddedFactor;
  return isMultiple(size, product.type, kWordBytes) ? kUnalignedFactor
                                                    : kOddFactor;
}

/// How much faster the tensor cores multiply f16, summed in f32, than the
/// multipliers do f32; from the chips' data sheets.
static double tensorRatio(const GpuChip &chip) {
  constexpr double kReached = 0.94;
  return std::max(2.0, kReached * chip.rates.tensor /
                           (2 * double(chip.fmaPerClock)));
}

/// How much slower they multiply f32 that is rounded to TensorFloat-32: 342 us
/// at 4096 cubed.
static constexpr double kTF32Ratio = 0.53;

/// How much faster they multiply f8 than f16. An H200 takes 104 us at 4096
/// cubed, 30.7 of 1024 rows and 275 of 4096x11008x4096. Few rows begin
/// sooner: 7.1 us of 16x4096x4096, 9.9 of 12x6144x4608.
static constexpr double kF8Ratio = 1.87, kF8FewRowsMicroseconds = 3;
/// How much faster the tensor cores multiply f8 than f16 where sums stay as
/// they make them: an H100 takes 94 us at 4096 cubed, and 101 without; 229 and
/// 254 of 4096x4096x11008 (2026-11-25).
static constexpr double kFastAccumF8Ratio = 2.03;
/// How much faster the tensor cores multiply i8 than f16, with weights that
/// have the k of each column side by side, by the fastest algorithm, which our
/// calls take; and the microseconds before and behind products of few rows,
/// which a long k of more rows adds again: 96 rows of 5120x768 and 100 of
/// 2048x2560 take 5.0 and 6.0 us, 256 of 4096x4096 14.6. Where k is no multiple
/// of 16 bytes they take 4 times as long or more: 25.5 us of 1024x4096x1032
/// (2026-11-24).
static constexpr double kI8Ratio = 2.23, kI8Microseconds = 4;
static constexpr int64_t kI8FewRows = 128;

/// 1 of a long k, and less of others in proportion.
static double shareOfLongK(const GpuProduct &product) {
  return std::min(1.0, double(product.k) / kLongK);
}

static bool hasPartialTile(int64_t rows) {
  return rows > kTileRows && rows <= kMostPartialTileRows &&
         rows % kTileRows != 0;
}

/// What the latency of all of k takes.
static double latencyOf(const GpuProduct &product) {
  return double(product.k) * double(elementSize(product.type)) / 2 *
         kTensorRowMicroseconds;
}

/// The microseconds of products of i8, of more rows than a vector has.
static double estimateI8(const GpuProduct &product, double multiply,
                         double memory) {
  if (product.rows() <= kI8FewRows)
    return std::max(multiply + latencyOf(product), memory) + kI8Microseconds;
  return std::max(multiply, memory) + kI8Microseconds +
         kI8Microseconds * shareOfLongK(product);
}

/// What comes before and behind weights that stream.
static double startOfStream(const GpuProduct &product) {
  if (product.rows() > kTensorFewRows)
    return kTensorStreamMicroseconds;
  return isFloat8(product.type) ? kF8FewRowsMicroseconds
                                : kTensorFewRowsMicroseconds;
}

/// The microseconds of products of floats on the tensor cores.
static double estimateOnTensorCores(const GpuProduct &product, double multiply,
                                    double memory, bool isUnaligned) {
  double least = isUnaligned ? kUnalignedMicroseconds +
                                   double(product.k) * kUnalignedRowMicroseconds
                             : kTensorStartMicroseconds + latencyOf(product);
  // 20 rows of 6144x3584, of an m-major A, take 25.3 us.
  if (isUnaligned)
    memory *= 2;
  return std::max({multiply + kTensorStartMicroseconds,
                   memory + startOfStream(product), least});
}

double nm::estimateCublas(const GpuProduct &product, const GpuChip &chip) {
  double ratio = 1;
  bool isOnTensorCores = product.allowsTF32 || (isFloat(product.type) &&
                                                elementSize(product.type) <= 2);
  switch (product.type) {
  case ElementType::F32:
    if (product.allowsTF32)
      ratio = std::max(1.0, kTF32Ratio * tensorRatio(chip));
    break;
  case ElementType::F16:
  case ElementType::BF16:
    ratio = tensorRatio(chip);
    break;
  case ElementType::I8:
    ratio = kI8Ratio * tensorRatio(chip);
    break;
  case ElementType::F8E4M3:
    if (!chip.multipliesFloat8)
      return -1;
    ratio = (product.hasFastAccum ? kFastAccumF8Ratio : kF8Ratio) *
            tensorRatio(chip);
    break;
  default:
    return -1;
  }
  double m = double(product.rows()), n = double(product.n),
         k = double(product.k);
  double multiply =
      m * n * k / ratio /
      (chip.multiprocessors * chip.fmaPerClock * chip.clockGHz * kEfficiency) /
      1000;
  double bytes = (m * k + k * n) * double(elementSize(product.type)) +
                 m * n * double(elementSize(product.outputType));
  if (product.type == ElementType::F32 && m > 1 && m <= kVectorRows)
    return 2 * bytes / (chip.memoryGBs * kMemoryEfficiency) / 1000 +
           kFewRowsMicroseconds;
  double memory = bytes / (chip.memoryGBs * kMemoryEfficiency) / 1000;
  double alignment = factorOfAlignment(product);
  multiply *= alignment;
  bool isSixteenBit = elementSize(product.type) == 2;
  if (isSixteenBit && hasPartialTile(product.rows()))
    multiply += shareOfLongK(product) * (product.isMMajor
                                             ? kOrderedPartialTileMicroseconds
                                             : kPartialTileMicroseconds);
  if (m > 1 && isOnTensorCores)
    return estimateOnTensorCores(product, multiply, memory,
                                 isSixteenBit && alignment > 1);
  if (m > kVectorRows && product.type == ElementType::I8)
    return estimateI8(product, multiply, memory);
  return std::max(multiply, memory) +
         (m > kVectorRows ? kStartMicroseconds : kVectorMicroseconds);
}
