//===- CublasModel.cpp - Times of cuBLAS' products ------------------------===//
//
// Fitted to times on an H200 in f32 and f16, which GpuScheduleTest has.
//
//===----------------------------------------------------------------------===//

#include "nm/Schedule/GpuSchedule.h"

#include <algorithm>

using namespace nm;

/// What it reaches of the multipliers' rate, and of the memory's.
static constexpr double kEfficiency = 0.765, kMemoryEfficiency = 0.85;
/// Before the first and after the last tile.
static constexpr double kStartMicroseconds = 8, kVectorMicroseconds = 3;
/// The same on the tensor cores, of products and of those that stream weights,
/// of more rows and of few, for which it takes other kernels.
static constexpr double kTensorStartMicroseconds = 3.5,
                        kTensorStreamMicroseconds = 2.6,
                        kTensorFewRowsMicroseconds = 4.5;
/// What products of a middling number of rows take beside that where their last
/// tile of rows is not full: 160 to 448 rows, n x k of 4096x4096, 2048x8192 and
/// 11008x4096, take up to 5.5 us more on an H200 (2026-11-23), and 2.8 in the
/// mean; 256 and 384 rows 1.5. Of a k-major A, 200 rows take another 2.5.
static constexpr double kOpenTileMicroseconds = 2.5,
                        kTurnedOpenTileMicroseconds = 4;
static constexpr int64_t kTileRows = 128, kMostOpenTileRows = 448;
/// Rows up to which it streams the weights and does little else, by the
/// multipliers and by the tensor cores.
static constexpr int64_t kVectorRows = 16, kTensorFewRows = 32;
/// The same of more rows than one in f32, for which it has no such kernels.
static constexpr double kFewRowsEfficiency = 0.43, kFewRowsMicroseconds = 6;

/// Bytes that n and the contiguous dimension of A, k or m, are to be multiples
/// of for the tensor cores to be fed at full speed, and how many times longer
/// other products take: of k = 4100, or of a k-major A of 300, 500 or 778 rows
/// of f16, an H200 takes 2.8 to 5.3 times as long, of 777 or 2001 rows 7.0 and
/// 5.7. Where rows of a k-major A are padded, but m is as ragged, it takes 1.7
/// to 3 times as long; padded rows of a row-major one gain nothing.
static constexpr int64_t kAlignment = 16, kWordBytes = 4;
static constexpr double kUnalignedFactor = 4.2, kOddFactor = 6.2,
                        kPaddedFactor = 2.3;

/// How many times longer than others the multiplications of `product` take.
static double factorOfAlignment(const GpuProduct &product) {
  auto isMultiple = [](int64_t size, ElementType type, int64_t bytes) {
    return size * int64_t(elementSize(type)) % bytes == 0;
  };
  auto isWhole = [&](int64_t size, ElementType type) {
    return isMultiple(size, type, kAlignment);
  };
  if (!isWhole(product.n, product.type) ||
      !isWhole(product.n, product.outputType))
    return kUnalignedFactor;
  bool areUnknown = product.isKMajor && product.m == GpuProduct::kUnknown;
  int64_t size = product.isKMajor ? product.m : product.k;
  if (areUnknown || isWhole(size, product.type))
    return 1;
  if (product.isKMajor && isWhole(product.factorOfRows(), product.type))
    return kPaddedFactor;
  return isMultiple(size, product.type, kWordBytes) ? kUnalignedFactor
                                                    : kOddFactor;
}

/// How much faster the tensor cores multiply f16, summed in f32, than the
/// multipliers do f32; from the chips' data sheets.
static double tensorRatio(const GpuChip &chip) {
  if (chip.name == "sm_80" || chip.name == "sm_90")
    return 15;
  return chip.name == "sm_100" ? 28 : 2;
}

/// How much slower they multiply f32 that is rounded to TensorFloat-32: 342 us
/// at 4096 cubed.
static constexpr double kTF32Ratio = 0.53;

/// How much faster they multiply f8 than f16. An H200 takes 104 us at 4096
/// cubed, 30.7 of 1024 rows and 275 of 4096x11008x4096.
static constexpr double kF8Ratio = 1.87;
/// The same of i8 whose weights have the k of each column side by side, by the
/// fastest algorithm, which our calls take; and what comes before and behind,
/// of few rows.
static constexpr double kI8Ratio = 2.23, kI8FewRowsMicroseconds = 4;
static constexpr int64_t kI8FewRows = 64;

static bool hasOpenTile(int64_t rows) {
  return rows > kTileRows && rows <= kMostOpenTileRows && rows % kTileRows != 0;
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
    if (!chip.multipliesFloat8())
      return -1;
    ratio = kF8Ratio * tensorRatio(chip);
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
    return bytes / (chip.memoryGBs * kFewRowsEfficiency) / 1000 +
           kFewRowsMicroseconds;
  double memory = bytes / (chip.memoryGBs * kMemoryEfficiency) / 1000;
  bool isSixteenBit = elementSize(product.type) == 2;
  if (isSixteenBit || product.allowsTF32)
    multiply *= factorOfAlignment(product);
  if (isSixteenBit && hasOpenTile(product.rows()))
    multiply +=
        product.isKMajor ? kTurnedOpenTileMicroseconds : kOpenTileMicroseconds;
  if (m > 1 && isOnTensorCores)
    return std::max(multiply + kTensorStartMicroseconds,
                    memory + (m > kTensorFewRows ? kTensorStreamMicroseconds
                                                 : kTensorFewRowsMicroseconds));
  if (m > kVectorRows && product.type == ElementType::I8)
    return std::max(multiply, memory) +
           (m > kI8FewRows ? kStartMicroseconds : kI8FewRowsMicroseconds);
  return std::max(multiply, memory) +
         (m > kVectorRows ? kStartMicroseconds : kVectorMicroseconds);
}
