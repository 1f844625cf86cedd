//===- Random.cpp - Arguments drawn at random -----------------------------===//

#include "Random.h"

#include "nm-c/Runtime.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>

using namespace nm;

/// splitmix64 of the pair: a counter-based generator, so that any thread can
/// draw any element.
static uint64_t draw(uint64_t seed, uint64_t counter) {
  uint64_t z = seed * 0xd1342543de82ef95ull + counter * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// In [0, 1).
static double drawUnit(uint64_t seed, uint64_t counter) {
  return double(draw(seed, counter) >> 11) * 0x1p-53;
}

namespace {
struct FillJob {
  Tensor tensor;
  uint64_t seed;
  int64_t perTask;

  static void run(int64_t task, void *ctx) {
    auto *job = static_cast<FillJob *>(ctx);
    int64_t begin = task * job->perTask;
    int64_t end = std::min(begin + job->perTask, job->tensor.elements());
    ElementType type = job->tensor.type;
    for (int64_t i = begin; i < end; ++i) {
      uint64_t bits = draw(job->seed, i);
      double value = isFloat(type) ? double(bits >> 11) * 0x1p-52 - 1
                                   : double(bits % 16) - 8;
      storeFromDouble(job->tensor.data, type, i, value);
    }
  }
};
} // namespace

void nm::fillRandom(const Tensor &tensor, uint64_t seed) {
  constexpr int64_t kPerTask = 1 << 14;
  FillJob job{tensor, seed, kPerTask};
  nmParallelFor((tensor.elements() + kPerTask - 1) / kPerTask, FillJob::run,
                &job);
}

/// Draws N of the units of a window, ascending, of which `available` lie inside
/// k, by selection sampling (Knuth, volume 2, 3.4.2, algorithm S).
static void drawWindow(const Pattern &pattern, int64_t available, uint64_t seed,
                       uint64_t counter, uint8_t *indices, int64_t stride) {
  int64_t population = std::max(std::min(available, pattern.m), pattern.n);
  int64_t chosen = 0;
  for (int64_t unit = 0; chosen < pattern.n; ++unit)
    if (drawUnit(seed, counter + unit) * double(population - unit) <
        double(pattern.n - chosen))
      indices[chosen++ * stride] = uint8_t(unit);
}

/// Zeroes values that lie beyond k or n, as compressing a dense tensor would.
static void clearPadding(const TensorType &type, const Weight &weight) {
  const Pattern &pattern = type.encoding->pattern;
  int64_t k = weightRows(type), n = weightColumns(type);
  int64_t columns = weight.values.shape[1], blocks = weight.indices.shape[1];
  const auto *indices = static_cast<const uint8_t *>(weight.indices.data);
  for (int64_t row = 0; row < weight.values.shape[0]; ++row) {
    int64_t unitRow = row / pattern.bk;
    int64_t base = unitRow / pattern.n * pattern.windowRows();
    bool lastWindow = base + pattern.windowRows() > k;
    for (int64_t column = lastWindow ? 0 : n; column < columns; ++column) {
      int64_t unit = indices[unitRow * blocks + column / pattern.bn];
      int64_t position = base + unit * pattern.bk + row % pattern.bk;
      if (column >= n || position >= k)
        storeFromDouble(weight.values.data, type.element,
                        row * columns + column, 0);
    }
  }
}

/// Draws which unstructured weights are kept, in whole units: as many as there
/// are places for, or half of all where that is no limit.
static void drawBitmap(const TensorType &type, const Weight &weight,
                       uint64_t seed) {
  const Pattern &pattern = type.encoding->pattern;
  int64_t k = weightRows(type), n = weightColumns(type),
          places = weight.values.shape[1], size = pattern.bk * pattern.bn,
          left = (k + pattern.bk - 1) / pattern.bk * pattern.blockColumns(n);
  int64_t wanted = pattern.n == 0 ? left / 2 : places / size, kept = 0;
  auto *bits = static_cast<uint8_t *>(weight.indices.data);
  std::fill_n(bits, weight.indices.shape[1], uint8_t(0));
  for (int64_t column = 0; column < n; column += pattern.bn)
    for (int64_t row = 0; row < k; row += pattern.bk, --left) {
      if (drawUnit(seed, left) * double(left) >= double(wanted))
        continue;
      --wanted;
      for (int64_t i = 0; i < size; ++i) {
        int64_t r = row + i % pattern.bk, c = column + i / pattern.bk;
        if (r >= k || c >= n)
          continue;
        bits[c * bitmapColumnBytes(k) + r / 8] |=
            static_cast<uint8_t>(1 << r % 8);
        ++kept;
      }
    }
  for (int64_t place = kept; place < places; ++place)
    storeFromDouble(weight.values.data, type.element, place, 0);
}

Result<Weight> nm::randomWeight(const TensorType &type, uint64_t seed) {
  Result<Weight> weight =
      allocateWeight(condensedValuesType(type), condensedIndicesType(type));
  if (!weight)
    return weight;
  fillRandom(weight->values, seed);

  const Pattern &pattern = type.encoding->pattern;
  if (pattern.isUnstructured()) {
    drawBitmap(type, *weight, ~seed);
    return weight;
  }
  int64_t blocks = weight->indices.shape[1];
  int64_t units = (weightRows(type) + pattern.bk - 1) / pattern.bk;
  auto *indices = static_cast<uint8_t *>(weight->indices.data);
  for (int64_t w = 0; w < pattern.windows(weightRows(type)); ++w)
    for (int64_t b = 0; b < blocks; ++b)
      drawWindow(pattern, units - w * pattern.m, ~seed,
                 (w * blocks + b) * pattern.m,
                 indices + w * pattern.n * blocks + b, blocks);
  clearPadding(type, *weight);
  return weight;
}
