//===- CublasModel.cpp - Times of cuBLAS' products ------------------------===//
//
// Fitted to times on an H200 in f32 and f16, which GpuScheduleTest has.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/GpuModels.h"

#include <algorithm>
#include <optional>

using namespace nm;

/// What it reaches of the multipliers' rate, and of the tensor cores'.
static constexpr double kEfficiency = 0.72;
/// Before the first and after the last tile.
static constexpr double kStartMicroseconds = 3.5;
/// Rows of A of a tile, bytes of a row of it, and a k that is long.
static constexpr int64_t kTileRows = 128, kTileBytes = 128, kLongK = 4096;
/// Rows up to which it streams the weights and does little else, by the
/// multipliers and by the tensor cores, for which it takes another launch.
static constexpr int64_t kVectorRows = 16, kTensorFewRows = 32;

/// Bytes that n and the contiguous dimension of A, k or m, are to be multiples
/// of for the tensor cores to be fed at full speed, and how many times longer
/// other products take: of n = 1001 and 12345 an H200 takes 6.1 and 5.6 times
/// as long, of n = 1030 and 4100 5.0 and 2.8; of k = 4100, or of an m-major A
/// of 300, 500 or 778 rows of f16, 2.8 to 5.3 times as long, of 777 or 2001
/// rows 7.0 and 5.7. Where rows of an m-major A are padded, but m is as ragged,
/// it takes 1.7 to 3 times as long; padded rows of a row-major one gain
/// nothing. The latency of each tile of k is as many times longer, for they
/// have no kernels of few rows that cut k: 100 rows of n x k of 1001x4096,
/// 1030x4096 and, m-major, 2560x1024 take 18.5, 16.6 and 12.8 us, 33 rows of
/// 1536x4608 17.9, 20 rows of 2048x2048 9.6 (2026-11-24).
static constexpr int64_t kAlignment = 16;
static constexpr double kUnalignedFactor = 4.5;

/// How many times longer than others the multiplications of `product` take.
static double factorOfAlignment(const GpuProduct &product) {
  auto isMultiple = [](int64_t size, ElementType type, int64_t bytes) {
    return size * int64_t(elementSize(type)) % bytes == 0;
  };
  auto isWhole = [&](int64_t size, ElementType type) {
    return isMultiple(size, type, kAlignment);
  };
  if (product.type == ElementType::I8)
    return product.isMMajor || isWhole(product.k, product.type)
               ? 1
               : kUnalignedFactor;
  if (elementSize(product.type) != 2 && !product.allowsTF32)
    return 1;
  if (!isWhole(product.n, product.type) ||
      !isWhole(product.n, product.outputType))
    return kUnalignedFactor;
  bool areUnknown = product.isMMajor && product.m == GpuProduct::kUnknown;
  int64_t size = product.isMMajor ? product.m : product.k;
  if (areUnknown || isWhole(size, product.type))
    return 1;
  if (product.isMMajor && isWhole(product.factorOfRows(), product.type))
    return kUnalignedFactor / 2;
  return kUnalignedFactor;
}

/// How much faster than the multipliers do f32 the tensor cores multiply f16,
/// summed in f32; from the chips' data sheets. They make twice as many products
/// of 8 bits, and half as many of f32 that is rounded to TensorFloat-32.
static double tensorRatio(const GpuChip &chip) {
  return std::max(2.0, chip.rates.tensor / (2 * double(chip.fmaPerClock)));
}

/// i8 of an m-major A, of which multipliers make four products to an
/// instruction, at half the rate: of 4096 cubed 1109 us, of 1024x4096x3072 216
/// (2026-11-24).
static constexpr int64_t kTurnedI8Ratio = 2;

/// What the latency of each tile of k adds, where there are too few tiles of C
/// for it to be hidden: 64 rows of n x k of 768x2560, 1032x4096 and 1536x4096
/// take 6.5, 8.2 and 8.8 us, 384 rows of 768x6144 12.0, 100 of 768x4096 in e4m3
/// 5.3 (2026-11-24).
static double latencyOf(const GpuProduct &product, const GpuChip &chip) {
  double tiles =
      double(product.k) * double(elementSize(product.type)) / kTileBytes;
  return microsecondsUnderLoad(tiles * chip.rates.barrier, chip);
}

/// What comes before and behind weights that stream: of few rows, parts of k
/// are added up by another kernel, but for 8-bit floats.
static double startOfStream(const GpuProduct &product, const GpuChip &chip) {
  bool hasParts =
      product.rows() <= kTensorFewRows && elementSize(product.type) == 2;
  return kStartMicroseconds + (hasParts ? chip.rates.launch : 0);
}

/// The microseconds of products on the tensor cores.
static double estimateOnTensorCores(const GpuProduct &product,
                                    const GpuChip &chip, double multiply,
                                    double memory, double alignment) {
  double latency = latencyOf(product, chip);
  // Of more rows than a tile, i8 takes as long again, or less of a short k.
  if (product.type == ElementType::I8) {
    double again = product.rows() > kTileRows
                       ? std::min(1.0, double(product.k) / double(kLongK))
                       : 0;
    return std::max(multiply + latency, memory) +
           kStartMicroseconds * (1 + again);
  }
  // 20 rows of 6144x3584, of an m-major A, take 25.3 us.
  if (alignment > 1)
    memory *= 2;
  return std::max({multiply + kStartMicroseconds,
                   memory + startOfStream(product, chip),
                   latency * alignment + kStartMicroseconds});
}

/// How many times faster than the multipliers do f32 it multiplies; none of
/// types that it does not have.
static std::optional<double> ratioOf(const GpuProduct &product,
                                     const GpuChip &chip) {
  switch (product.type) {
  case ElementType::F32:
    return product.allowsTF32 ? tensorRatio(chip) / 2 : 1;
  case ElementType::F16:
  case ElementType::BF16:
    return tensorRatio(chip);
  case ElementType::I8:
    return product.isMMajor ? kTurnedI8Ratio : 2 * tensorRatio(chip);
  case ElementType::F8E4M3:
    if (chip.multipliesFloat8)
      return 2 * tensorRatio(chip);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

double nm::estimateCublas(const GpuProduct &product, const GpuChip &chip) {
  std::optional<double> ratio = ratioOf(product, chip);
  if (!ratio)
    return -1;
  double m = double(product.rows()), n = double(product.n),
         k = double(product.k), alignment = factorOfAlignment(product);
  double multiply =
      alignment * m * n * k / *ratio /
      (chip.multiprocessors * chip.fmaPerClock * chip.clockGHz * kEfficiency) /
      1000;
  double bytes = (m * k + k * n) * double(elementSize(product.type)) +
                 m * n * double(elementSize(product.outputType));
  double memory = bytes / (chip.memoryGBs * chip.rates.reachedMemory) / 1000;
  bool isOnTensorCores = *ratio > 1;
  if (m > 1 && isOnTensorCores)
    return estimateOnTensorCores(product, chip, multiply, memory,
                                 elementSize(product.type) == 2 ? alignment
                                                                : 1);
  // Of few rows, but more than one, multipliers have no kernels that stream.
  if (m > 1 && m <= kVectorRows)
    memory *= 2;
  return std::max(multiply, memory) + kStartMicroseconds * (m > 1 ? 2 : 1);
}
