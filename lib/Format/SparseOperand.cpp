//===- SparseOperand.cpp - Weights as a sparse tensor-core operand --------===//

#include "nm/Format/SparseOperand.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Format/SplitFloats.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace nm;

/// Positions that the instruction has for a group.
static constexpr int64_t kKeptOfGroup = 2;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// The most rows that weights keep of rows `first` to `end - 1`.
static int64_t mostKeptBetween(const Pattern &pattern, int64_t first,
                               int64_t end) {
  // Rows of them in each unit of each window.
  std::map<int64_t, std::map<int64_t, int64_t>> rows;
  for (int64_t k = first; k < end; ++k)
    ++rows[k / pattern.windowRows()][k / pattern.bk];
  int64_t kept = 0;
  for (const auto &[window, units] : rows) {
    std::vector<int64_t> counts;
    for (auto [unit, count] : units)
      counts.push_back(count);
    std::sort(counts.begin(), counts.end(), std::greater<>());
    for (int64_t i = 0; i < std::min<int64_t>(pattern.n, counts.size()); ++i)
      kept += counts[i];
  }
  return kept;
}

int64_t nm::mostKeptOfRows(const Pattern &pattern, int64_t rows) {
  // A unit of as many rows and more may fill them.
  if (pattern.bk >= rows)
    return rows;
  // Behind their common multiple, windows and rows begin together again.
  int64_t end = std::lcm(pattern.windowRows(), rows), most = 0;
  for (int64_t first = 0; first < end && most < rows; first += rows)
    most = std::max(most, mostKeptBetween(pattern, first, first + rows));
  return most;
}

int64_t nm::mostKeptOfGroup(const Pattern &pattern) {
  return mostKeptOfRows(pattern, SparseOperand::kGroupRows);
}

bool nm::fitsSparseOperand(const Pattern &pattern) {
  return mostKeptOfGroup(pattern) <= kKeptOfGroup;
}

bool nm::fillsUpSparseOperand(const Pattern &pattern) {
  return 2 * pattern.n != pattern.m;
}

bool nm::isSparseOperandType(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::I8 || isFloat8(type);
}

Status SparseOperand::verify(const Pattern &pattern, ElementType type) const {
  if (int64_t kept = mostKeptOfGroup(pattern); kept > kKeptOfGroup)
    return Error{"expected a pattern that keeps at most 2 of each 4 rows for a "
                 "sparse operand, but " +
                 pattern.str() + " may keep " + std::to_string(kept)};
  if (isQuantized() && type != ElementType::I8)
    return Error{"expected quantized weights of i8 for a sparse operand of " +
                 std::to_string(storedBits) + " bits, but got " +
                 std::string(elementName(type))};
  if (splits > 1) {
    // Before they are packed, and behind.
    if (type == ElementType::F32 || type == ElementType::BF16)
      return Status::success();
    return Error{"expected weights of f32 for splits of a sparse operand, but "
                 "got " +
                 std::string(elementName(type))};
  }
  if (!isSparseOperandType(type))
    return Error{
        "expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a sparse "
        "operand, but got " +
        std::string(elementName(type))};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// What a column keeps of a group: two positions and the condensed rows of
/// their values, none where zero fills up.
struct KeptOfGroup {
  static constexpr int64_t kNone = -1;
  std::array<int64_t, 2> position = {0, 1}, row = {kNone, kNone};

  KeptOfGroup(const CondensedView &from, int64_t column, int64_t group);
};
} // namespace

KeptOfGroup::KeptOfGroup(const CondensedView &from, int64_t column,
                         int64_t group) {
  const Pattern &pattern = from.pattern;
  int64_t first = group * SparseOperand::kGroupRows;
  int64_t end = first + SparseOperand::kGroupRows;
  int64_t window = first / pattern.windowRows();
  int64_t lastWindow =
      std::min((end - 1) / pattern.windowRows(), pattern.windows(from.k) - 1);
  int64_t count = 0;
  for (; window <= lastWindow; ++window)
    for (int64_t unit = window * pattern.n; unit < (window + 1) * pattern.n;
         ++unit) {
      int64_t index = from.indices[unit * pattern.blockColumns(from.n) +
                                   column / pattern.bn];
      for (int64_t r = 0; r < pattern.bk; ++r) {
        int64_t k = window * pattern.windowRows() + index * pattern.bk + r;
        if (k < first || k >= end)
          continue;
        position[count] = k - first;
        row[count++] = unit * pattern.bk + r;
      }
    }
  if (count != 1)
    return;
  int64_t kept = position[0];
  std::array<int64_t, 2> rows = {kNone, kNone};
  rows[kept % 2] = row[0];
  position = {kept - kept % 2, kept - kept % 2 + 1};
  row = rows;
}

/// Calls `fn(block, step, column, group)` for every group of every
/// column that is no padding; the column counts from the block's first, and the
/// group from the step's.
template <typename Fn>
static void forEachGroup(const SparseOperand &operand, const Pattern &pattern,
                         int64_t k, int64_t n, Fn fn) {
  int64_t columns = pattern.paddedColumns(n), blockColumns = operand.columns();
  for (int64_t block = 0; block < operand.blocks(pattern, n); ++block)
    for (int64_t step = 0; step < operand.steps(pattern, k); ++step)
      for (int64_t column = 0;
           column < std::min(blockColumns, columns - block * blockColumns);
           ++column)
        for (int64_t group = 0; group < SparseOperand::kStepGroups; ++group)
          fn(block, step, column, group);
}

/// Packs metadata, and calls `store(step, position, value)` for every value
/// that is kept, with its number among the condensed ones.
template <typename Fn>
static void pack(const CondensedView &from, const SparseOperand &operand,
                 uint8_t *metadata, Fn store) {
  const Pattern &pattern = from.pattern;
  int64_t blocks = operand.blocks(pattern, from.n),
          steps = operand.steps(pattern, from.k);
  // Positions 0 and 1, for columns that are padding.
  constexpr uint8_t kFirstPair = 0x44;
  std::fill_n(metadata, blocks * steps * operand.bytesOfStep(), kFirstPair);
  int64_t columns = pattern.paddedColumns(from.n);
  forEachGroup(
      operand, pattern, from.k, from.n,
      [&](int64_t block, int64_t step, int64_t column, int64_t group) {
        int64_t inMatrix = block * operand.columns() + column;
        KeptOfGroup kept(from, inMatrix,
                         step * SparseOperand::kStepGroups + group);
        int64_t number = block * steps + step;
        for (int64_t i : {0, 1})
          if (kept.row[i] != KeptOfGroup::kNone)
            store(number, operand.positionOf<int64_t>({column, 2 * group + i}),
                  kept.row[i] * columns + inMatrix);
        auto [byte, shift] = operand.bitsOf<int64_t>({column, group});
        uint8_t &bits = metadata[number * operand.bytesOfStep() + byte];
        int pair = encodeMmaPair(static_cast<int>(kept.position[0]),
                                 static_cast<int>(kept.position[1]));
        bits = static_cast<uint8_t>((bits & ~(0xf << shift)) | pair << shift);
      });
}

/// The steps of all blocks of the operand that `from` becomes.
static int64_t countSteps(const CondensedView &from,
                          const SparseOperand &operand) {
  return operand.blocks(from.pattern, from.n) *
         operand.steps(from.pattern, from.k);
}

template <typename Word>
static void packWords(const CondensedView &from, const SparseOperand &operand,
                      void *values, uint8_t *metadata) {
  const Word *in = static_cast<const Word *>(from.values);
  Word *out = static_cast<Word *>(values);
  int64_t size = operand.valuesOfStep();
  std::fill_n(out, countSteps(from, operand) * size, Word(0));
  pack(from, operand, metadata,
       [&](int64_t step, int64_t position, int64_t value) {
         out[step * size + position] = in[value];
       });
}

static void packSplits(const CondensedView &from, const SparseOperand &operand,
                       uint16_t *values, uint8_t *metadata) {
  const float *in = static_cast<const float *>(from.values);
  int64_t size = operand.valuesOfStep(), ofStep = operand.elementsOfStep();
  for (int64_t step = 0; step < countSteps(from, operand); ++step)
    for (int64_t split = 0; split < operand.splits; ++split)
      std::fill_n(values + step * ofStep + split * size, size,
                  split == 1 ? kFilledSplit : uint16_t(0));
  pack(from, operand, metadata,
       [&](int64_t step, int64_t position, int64_t value) {
         auto splits = splitFloat(in[value], operand.splits);
         for (int64_t split = 0; split < operand.splits; ++split)
           values[step * ofStep + split * size + position] = splits[split];
       });
}

/// Packs quantized values as bytes first, which then become fewer bits.
static void packQuantized(const CondensedView &from,
                          const SparseOperand &operand, uint8_t *values,
                          uint8_t *metadata) {
  int64_t steps = countSteps(from, operand);
  std::vector<uint8_t> wide(steps * operand.valuesOfStep());
  packWords<uint8_t>(from, operand, wide.data(), metadata);
  std::fill_n(values, steps * operand.elementsOfStep(), uint8_t(0));
  int64_t perByte = operand.valuesOfByte(), mask = 2 * operand.bias() - 1;
  for (int64_t i = 0; i < int64_t(wide.size()); ++i) {
    int64_t biased = (wide[i] + operand.bias()) & mask;
    values[i / perByte] |=
        static_cast<uint8_t>(biased << i % perByte * operand.storedBits);
  }
}

void nm::packSparseOperand(const CondensedView &from,
                           const SparseOperand &operand, void *values,
                           uint8_t *metadata) {
  if (operand.isQuantized())
    packQuantized(from, operand, static_cast<uint8_t *>(values), metadata);
  else if (operand.splits > 1)
    packSplits(from, operand, static_cast<uint16_t *>(values), metadata);
  else if (operand.bits == 8)
    packWords<uint8_t>(from, operand, values, metadata);
  else
    packWords<uint16_t>(from, operand, values, metadata);
}

template <typename Word>
static void unpack(const void *values, const uint8_t *metadata,
                   const SparseOperand &operand, const Pattern &pattern,
                   int64_t k, int64_t n, void *dense) {
  const Word *in = static_cast<const Word *>(values);
  Word *out = static_cast<Word *>(dense);
  std::fill_n(out, k * n, Word(0));
  int64_t steps = operand.steps(pattern, k);
  forEachGroup(
      operand, pattern, k, n,
      [&](int64_t block, int64_t step, int64_t column, int64_t group) {
        int64_t number = block * steps + step;
        auto [byte, shift] = operand.bitsOf<int64_t>({column, group});
        int pair = metadata[number * operand.bytesOfStep() + byte] >> shift;
        int64_t inMatrix = block * operand.columns() + column;
        for (int i : {0, 1}) {
          int64_t row = step * SparseOperand::kStepRows +
                        group * SparseOperand::kGroupRows + (pair >> 2 * i & 3);
          Word value = in[number * operand.valuesOfStep() +
                          operand.positionOf<int64_t>({column, 2 * group + i})];
          // Rows and columns past the end are padding.
          if (row < k && inMatrix < n)
            out[row * n + inMatrix] = value;
        }
      });
}

/// The packed splits as what they are splits of.
static std::vector<float> joinPacked(const uint16_t *values,
                                     const SparseOperand &operand,
                                     int64_t steps) {
  int64_t size = operand.valuesOfStep();
  std::vector<float> joined(steps * size);
  for (int64_t i = 0; i < int64_t(joined.size()); ++i) {
    std::array<uint16_t, kMaxSplits> splits = {};
    for (int64_t split = 0; split < operand.splits; ++split)
      splits[split] =
          values[(i / size * operand.splits + split) * size + i % size];
    joined[i] = joinFloat(splits.data(), operand.splits);
  }
  return joined;
}

/// The packed values of few bits as bytes.
static std::vector<uint8_t> widenQuantized(const void *values,
                                           const SparseOperand &operand,
                                           int64_t steps) {
  const auto *in = static_cast<const uint8_t *>(values);
  std::vector<uint8_t> wide(steps * operand.valuesOfStep());
  int64_t perByte = operand.valuesOfByte(), mask = 2 * operand.bias() - 1;
  for (int64_t i = 0; i < int64_t(wide.size()); ++i) {
    int64_t biased = in[i / perByte] >> i % perByte * operand.storedBits & mask;
    wide[i] = static_cast<uint8_t>(biased - operand.bias());
  }
  return wide;
}

void nm::unpackSparseOperand(const void *values, const uint8_t *metadata,
                             const SparseOperand &operand,
                             const Pattern &pattern, int64_t k, int64_t n,
                             void *dense) {
  if (operand.isQuantized())
    unpack<uint8_t>(
        widenQuantized(values, operand,
                       operand.blocks(pattern, n) * operand.steps(pattern, k))
            .data(),
        metadata, operand, pattern, k, n, dense);
  else if (operand.splits > 1)
    unpack<float>(
        joinPacked(static_cast<const uint16_t *>(values), operand,
                   operand.blocks(pattern, n) * operand.steps(pattern, k))
            .data(),
        metadata, operand, pattern, k, n, dense);
  else if (operand.bits == 8)
    unpack<uint8_t>(values, metadata, operand, pattern, k, n, dense);
  else
    unpack<uint16_t>(values, metadata, operand, pattern, k, n, dense);
}
