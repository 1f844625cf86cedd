//===- RandomData.cpp - Large random operands, quickly --------------------===//

#include "RandomData.h"

#include "nm/Format/Unstructured.h"
#include "nm/Support/Store.h"

#include "Random.h"
#include "nm-c/Runtime.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

using namespace nm;

/// Calls `body(begin, end)` for parts of [0, count) on all threads.
static void forParts(int64_t count, int64_t perTask,
                     const std::function<void(int64_t, int64_t)> &body) {
  struct Job {
    int64_t count, perTask;
    const std::function<void(int64_t, int64_t)> &body;
  } job{count, perTask, body};
  nmParallelFor((count + perTask - 1) / perTask,
                [](int64_t task, void *ctx) {
                  auto *job = static_cast<Job *>(ctx);
                  job->body(task * job->perTask,
                            std::min((task + 1) * job->perTask, job->count));
                },
                &job);
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// Random numbers that are drawn one by one: a prime, so that rows of a matrix
/// do not repeat each other.
static constexpr int64_t kPeriod = 65521;

void nm::fillQuickly(const Tensor &tensor, uint64_t seed) {
  int64_t elements = tensor.elements(), size = elementSize(tensor.type);
  int64_t drawn = std::min(elements, kPeriod);
  fillRandom(Tensor(tensor.data, tensor.type, {drawn}), seed);
  auto *data = static_cast<char *>(tensor.data);
  if (elements > kPeriod)
    forParts(elements - kPeriod, kPeriod, [&](int64_t begin, int64_t end) {
      std::memcpy(data + (kPeriod + begin) * size, data, (end - begin) * size);
    });
}

/// The indices of `count` windows, drawn as one weight of so many columns:
/// [N x count].
static Result<Weight> drawWindows(const Pattern &pattern, int64_t count,
                                  uint64_t seed) {
  TensorType type;
  type.element = ElementType::I8;
  type.shape = {pattern.m, count};
  type.encoding = Encoding{{pattern.n, pattern.m}, 0};
  return randomWeight(type, seed);
}

Result<Weight> nm::drawWeight(const TensorType &type, uint64_t seed) {
  const Pattern &pattern = type.encoding->pattern;
  int64_t k = weightRows(type), n = weightColumns(type);
  // Padding is to be zero, and a bitmap has no windows.
  if (pattern.isUnstructured() || k % pattern.windowRows() != 0 ||
      n % pattern.bn != 0)
    return randomWeight(type, seed);
  Result<Weight> weight =
      allocateWeight(condensedValuesType(type), condensedIndicesType(type));
  if (!weight)
    return weight;
  fillQuickly(weight->values, seed);

  constexpr int64_t kWindows = 4093;
  Result<Weight> windows = drawWindows(pattern, kWindows, ~seed);
  if (!windows)
    return windows;
  auto *from = static_cast<const uint8_t *>(windows->indices.data);
  auto *to = static_cast<uint8_t *>(weight->indices.data);
  int64_t blocks = pattern.blockColumns(n);
  forParts(pattern.windows(k), 1, [&](int64_t window, int64_t) {
    for (int64_t unit = 0; unit < pattern.n; ++unit)
      for (int64_t block = 0; block < blocks;) {
        int64_t at = (window * blocks + block) % kWindows;
        int64_t run = std::min(blocks - block, kWindows - at);
        std::memcpy(to + (window * pattern.n + unit) * blocks + block,
                    from + unit * kWindows + at, run);
        block += run;
      }
  });
  return weight;
}

//===----------------------------------------------------------------------===//
// Walking condensed weights
//===----------------------------------------------------------------------===//

/// Where the first value of each column of unstructured weights is, and the
/// end; none of other weights.
static std::vector<int64_t> firstPlaces(const TensorType &type,
                                        const Weight &weight) {
  if (!type.encoding->pattern.isUnstructured())
    return {};
  int64_t bytes = bitmapColumnBytes(weightRows(type));
  auto *bits = static_cast<const uint8_t *>(weight.indices.data);
  std::vector<int64_t> places = {0};
  for (int64_t column = 0; column < weightColumns(type); ++column) {
    int64_t kept = 0;
    for (int64_t i = 0; i < bytes; ++i)
      kept += __builtin_popcount(bits[column * bytes + i]);
    places.push_back(places.back() + kept);
  }
  return places;
}

namespace {
/// The kept units of a condensed weight.
struct UnitWalk {
  const TensorType &type;
  const Weight &weight;
  const Pattern &pattern = type.encoding->pattern;
  int64_t k = weightRows(type), n = weightColumns(type);
  int64_t blocks = pattern.blockColumns(n);

  /// The first row in k of the unit in `unitRow` and `block`.
  int64_t firstRow(int64_t unitRow, int64_t block) const {
    int64_t unit = static_cast<const uint8_t *>(
        weight.indices.data)[unitRow * blocks + block];
    return (unitRow / pattern.n * pattern.m + unit) * pattern.bk;
  }
  /// The values of a unit in its row `row`.
  int64_t valueAt(int64_t unitRow, int64_t row, int64_t block) const {
    return ((unitRow * pattern.bk + row) * blocks + block) * pattern.bn;
  }
  int64_t unitRows() const { return pattern.unitRows(k); }

  /// Of unstructured weights.
  std::vector<int64_t> places = firstPlaces(type, weight);
  bool keeps(int64_t row, int64_t column) const {
    auto *bits = static_cast<const uint8_t *>(weight.indices.data);
    return bits[column * bitmapColumnBytes(k) + row / 8] >> row % 8 & 1;
  }
};
} // namespace

/// Calls `add` with the block column, and where its first value is, of each
/// block of `edge` rows that the column `column` of a weight keeps.
template <typename Add>
static void forKept(const UnitWalk &walk, int64_t column, int64_t edge,
                    Add add) {
  const Pattern &pattern = walk.pattern;
  if (pattern.isUnstructured()) {
    int64_t place = walk.places[column];
    for (int64_t row = 0; row < walk.k; ++row)
      if (walk.keeps(row, column))
        add(row, place++);
    return;
  }
  int64_t block = column / pattern.bn, inside = column % pattern.bn;
  for (int64_t unitRow = 0; unitRow < walk.unitRows(); ++unitRow)
    for (int64_t row = 0; row < pattern.bk; row += edge) {
      int64_t position = walk.firstRow(unitRow, block) + row;
      // Padding of the last window.
      if (position < walk.k)
        add(position / edge, walk.valueAt(unitRow, row, block) + inside);
    }
}

template <typename Word>
static void scatterWords(const UnitWalk &walk, const Tensor &dense) {
  const Pattern &pattern = walk.pattern;
  auto *from = static_cast<const Word *>(walk.weight.values.data);
  auto *to = static_cast<Word *>(dense.data);
  int64_t rowStride = dense.strides[0], columnStride = dense.strides[1];
  if (pattern.isUnstructured())
    return forParts(walk.n, 1, [&](int64_t column, int64_t) {
      forKept(walk, column, 1, [&](int64_t row, int64_t value) {
        to[row * rowStride + column * columnStride] = from[value];
      });
    });
  // A window's units go to its own rows.
  forParts(pattern.windows(walk.k), 1, [&](int64_t window, int64_t) {
    for (int64_t slot = 0; slot < pattern.n; ++slot) {
      int64_t unitRow = window * pattern.n + slot;
      for (int64_t row = 0; row < pattern.bk; ++row)
        for (int64_t block = 0; block < walk.blocks; ++block) {
          int64_t position = walk.firstRow(unitRow, block) + row;
          if (position >= walk.k)
            continue;
          const Word *value = from + walk.valueAt(unitRow, row, block);
          int64_t column = block * pattern.bn;
          int64_t last = std::min(column + pattern.bn, walk.n);
          for (; column < last; ++column)
            to[position * rowStride + column * columnStride] = *value++;
        }
    }
  });
}

void nm::scatterWeight(const TensorType &type, const Weight &weight,
                       const Tensor &dense) {
  UnitWalk walk{type, weight};
  switch (elementSize(type.element)) {
  case 1:
    return scatterWords<uint8_t>(walk, dense);
  case 2:
    return scatterWords<uint16_t>(walk, dense);
  case 4:
    return scatterWords<uint32_t>(walk, dense);
  default:
    return scatterWords<uint64_t>(walk, dense);
  }
}

/// Makes floats of integers: each times its scale, rounded to the type.
static void dequantize(const TensorType &type, int64_t group,
                       const QuantizedWeight &weight) {
  UnitWalk walk{type, weight.integers};
  const Pattern &pattern = walk.pattern;
  auto *integers = static_cast<const int8_t *>(weight.integers.values.data);
  const void *scales = weight.scales.tensor().data;
  void *floats = weight.floats.values.data;
  forParts(walk.unitRows(), 1, [&](int64_t unitRow, int64_t) {
    for (int64_t row = 0; row < pattern.bk; ++row)
      for (int64_t block = 0; block < walk.blocks; ++block) {
        int64_t position = walk.firstRow(unitRow, block) + row;
        int64_t at = walk.valueAt(unitRow, row, block);
        for (int64_t i = 0; i < pattern.bn; ++i) {
          int64_t column = block * pattern.bn + i;
          // Padding has no scale.
          bool isInside = position < walk.k && column < walk.n;
          double scale = isInside
                             ? loadAsDouble(scales, type.element,
                                            position / group * walk.n + column)
                             : 0;
          storeFromDouble(floats, type.element, at + i,
                          integers[at + i] * scale);
        }
      }
  });
}

Result<QuantizedWeight> nm::drawQuantized(const TensorType &type, int64_t group,
                                          uint64_t seed) {
  QuantizedWeight weight;
  TensorType stored = type;
  stored.element = ElementType::I8;
  int64_t groups = (weightRows(type) + group - 1) / group;
  if (Status status = store(weight.integers, drawWeight(stored, seed)); !status)
    return status.error();
  if (Status status =
          store(weight.floats, allocateWeight(condensedValuesType(type),
                                              condensedIndicesType(type)));
      !status)
    return status.error();
  if (Status status =
          store(weight.scales,
                Buffer::allocate(type.element, {groups, weightColumns(type)}));
      !status)
    return status.error();
  fillQuickly(weight.scales.tensor(), ~seed);
  std::memcpy(weight.floats.indices.data, weight.integers.indices.data,
              size_t(weight.floats.indices.bytes()));
  dequantize(type, group, weight);
  return weight;
}

//===----------------------------------------------------------------------===//
// Compressed rows
//===----------------------------------------------------------------------===//

template <typename Word>
static void fillRows(const UnitWalk &walk, CompressedRows &rows) {
  auto *offsets = static_cast<const int32_t *>(rows.offsets.tensor().data);
  auto *columns = static_cast<int32_t *>(rows.columns.tensor().data);
  auto *to = static_cast<Word *>(rows.values.tensor().data);
  auto *from = static_cast<const Word *>(walk.weight.values.data);
  int64_t edge = rows.block, rowStride = walk.blocks * walk.pattern.bn;
  forParts(walk.n / edge, 1, [&](int64_t blockRow, int64_t) {
    int64_t at = offsets[blockRow];
    forKept(walk, blockRow * edge, edge, [&](int64_t column, int64_t first) {
      columns[at] = int32_t(column);
      for (int64_t i = 0; i < edge; ++i)
        for (int64_t j = 0; j < edge; ++j)
          to[(at * edge + i) * edge + j] = from[first + j * rowStride + i];
      ++at;
    });
  });
}

Result<CompressedRows> nm::compressRows(const TensorType &type,
                                        const Weight &weight) {
  UnitWalk walk{type, weight};
  const Pattern &pattern = walk.pattern;
  CompressedRows rows;
  bool isSquare = pattern.bk == pattern.bn && walk.k % pattern.bk == 0 &&
                  walk.n % pattern.bn == 0;
  int64_t edge = rows.block = isSquare ? pattern.bk : 1;
  int64_t blockRows = walk.n / edge;
  if (Status status = store(
          rows.offsets, Buffer::allocate(ElementType::I32, {blockRows + 1}));
      !status)
    return status.error();
  auto *offsets = static_cast<int32_t *>(rows.offsets.tensor().data);
  offsets[0] = 0;
  for (int64_t row = 0; row < blockRows; ++row) {
    int64_t kept = 0;
    forKept(walk, row * edge, edge, [&](int64_t, int64_t) { ++kept; });
    offsets[row + 1] = int32_t(offsets[row] + kept);
  }
  int64_t blocks = offsets[blockRows];
  if (Status status =
          store(rows.columns, Buffer::allocate(ElementType::I32, {blocks}));
      !status)
    return status.error();
  if (Status status = store(
          rows.values, Buffer::allocate(type.element, {blocks * edge * edge}));
      !status)
    return status.error();
  if (elementSize(type.element) == sizeof(uint32_t))
    fillRows<uint32_t>(walk, rows);
  else if (elementSize(type.element) == sizeof(uint16_t))
    fillRows<uint16_t>(walk, rows);
  else
    return Error{"expected elements of 16 or 32 bits for compressed rows, but "
                 "got " +
                 std::string(elementName(type.element))};
  return rows;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// 1 or -1 by row: a bit of the row's number, mixed (Knuth's multiplicative
/// hash).
static double sign(int64_t row) {
  return (uint64_t(row) * 0x9e3779b97f4a7c15ull) >> 63 ? -1.0 : 1.0;
}

double nm::sumOfSigns(int64_t rows) {
  double sum = 0;
  for (int64_t row = 0; row < rows; ++row)
    sum += sign(row);
  return sum;
}

/// Calls `body` with a function that loads an element as a float64.
template <typename Body>
static void withLoad(const Tensor &tensor, Body body) {
  if (tensor.type == ElementType::F32) {
    auto *data = static_cast<const float *>(tensor.data);
    return body([=](int64_t i) { return double(data[i]); });
  }
  body([&](int64_t i) { return loadAsDouble(tensor.data, tensor.type, i); });
}

std::vector<int64_t> nm::sampleRows(int64_t m, int64_t most) {
  int64_t count = std::min(m, most);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) {
    int64_t begin = i * m / count, size = (i + 1) * m / count - begin;
    // Knuth's multiplicative hash, so that no vector lane is left out.
    rows.push_back(begin + i * 2654435761 % size);
  }
  return rows;
}

std::vector<double> nm::takeRows(const Tensor &matrix,
                                 const std::vector<int64_t> &rows) {
  int64_t columns = matrix.shape.back();
  std::vector<double> taken;
  for (int64_t row : rows)
    for (int64_t column = 0; column < columns; ++column)
      taken.push_back(
          loadAsDouble(matrix.data, matrix.type, row * columns + column));
  return taken;
}

/// Columns that one task sums: what they sum to stays in the cache.
static constexpr int64_t kStripe = 512;

std::vector<double> nm::sumRows(const Tensor &matrix) {
  int64_t columns = matrix.shape.back();
  int64_t rows = matrix.elements() / std::max<int64_t>(columns, 1);
  std::vector<double> sum(columns, 0.0);
  withLoad(matrix, [&](auto load) {
    forParts(columns, kStripe, [&](int64_t begin, int64_t end) {
      for (int64_t row = 0; row < rows; ++row) {
        double factor = sign(row);
        for (int64_t column = begin; column < end; ++column)
          sum[column] += factor * load(row * columns + column);
      }
    });
  });
  return sum;
}

std::vector<double> nm::multiplyRow(const std::vector<double> &row,
                                    const TensorType &type,
                                    const Weight &weight) {
  UnitWalk walk{type, weight};
  const Pattern &pattern = walk.pattern;
  std::vector<double> sum(walk.n, 0.0);
  int64_t blocksPerTask = std::max<int64_t>(kStripe / pattern.bn, 1);
  withLoad(weight.values, [&](auto load) {
    if (pattern.isUnstructured())
      return forParts(walk.n, 1, [&](int64_t column, int64_t) {
        forKept(walk, column, 1, [&](int64_t position, int64_t value) {
          sum[column] += row[position] * load(value);
        });
      });
    forParts(walk.blocks, blocksPerTask, [&](int64_t begin, int64_t end) {
      for (int64_t unitRow = 0; unitRow < walk.unitRows(); ++unitRow)
        for (int64_t i = 0; i < pattern.bk; ++i)
          for (int64_t block = begin; block < end; ++block) {
            int64_t position = walk.firstRow(unitRow, block) + i;
            if (position >= walk.k)
              continue;
            int64_t value = walk.valueAt(unitRow, i, block);
            int64_t column = block * pattern.bn;
            int64_t last = std::min(column + pattern.bn, walk.n);
            for (; column < last; ++column)
              sum[column] += row[position] * load(value++);
          }
    });
  });
  return sum;
}

double nm::measureCancellation(const std::vector<double> &outputs,
                               double products) {
  double norm = 0;
  for (double output : outputs)
    norm += output * output;
  // Numbers in [-1, 1) have a variance of a third. Many outputs are never as
  // small as a quarter of what is to be expected.
  double expected = std::sqrt(products) / 3;
  return std::max(1.0, expected / 4 / std::sqrt(norm));
}

double nm::relativeDifference(const std::vector<double> &got,
                              const std::vector<double> &expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double off = got[i] - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  if (difference == 0 && norm == 0)
    return 0;
  return std::sqrt(difference / norm);
}
