//===- SparseOperand.cpp - Weights as a sparse tensor-core operand --------===//

#include "nm/Format/SparseOperand.h"

#include "Shares.h"

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
using nm::detail::forEachShare;

/// Positions that the instruction has for a group.
static constexpr int64_t kKeptOfGroup = 2;

/// As #nm.sparse_operand is written.
static constexpr std::pair<SparseOperand::Order, std::string_view> kOrders[] = {
    {SparseOperand::Order::Mma, "mma"},
    {SparseOperand::Order::Wgmma, "wgmma"},
    {SparseOperand::Order::WgmmaPairs, "wgmma_pairs"}};

std::string_view nm::orderName(SparseOperand::Order order) {
  return kOrders[size_t(order)].second;
}

std::optional<SparseOperand::Order> nm::parseOrder(std::string_view name) {
  for (auto [order, known] : kOrders)
    if (known == name)
      return order;
  return std::nullopt;
}

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

/// 2:4 of single rows, the pattern of the instruction.
static bool isPair(const Pattern &pattern) {
  return pattern.n == kKeptOfGroup && pattern.bk == 1 &&
         pattern.m == SparseOperand::kGroupRows;
}

namespace {
/// What a column keeps of a group: two positions and the condensed rows of
/// their values, none where zero fills up.
struct KeptOfGroup {
  static constexpr int64_t kNone = -1;
  std::array<int64_t, 2> position = {0, 1}, row = {kNone, kNone};
};

/// The weights of a group of rows, and the windows that have them: found once
/// for all columns, as divisions take longer than the search.
class GroupOfRows {
public:
  GroupOfRows(const CondensedView &from)
      : from(from), blockColumns(from.pattern.blockColumns(from.n)),
        windows(from.pattern.windows(from.k)) {}

  void moveTo(int64_t newGroup);
  KeptOfGroup keptOf(int64_t column) const;

private:
  const CondensedView &from;
  int64_t blockColumns, windows;
  bool hasPairs = isPair(from.pattern);
  int64_t group = -1;
  int64_t first = 0, firstWindow = 0, lastWindow = 0;
};
} // namespace

void GroupOfRows::moveTo(int64_t newGroup) {
  if (group == newGroup)
    return;
  group = newGroup;
  first = group * SparseOperand::kGroupRows;
  int64_t last = first + SparseOperand::kGroupRows - 1;
  firstWindow = first / from.pattern.windowRows();
  lastWindow = std::min(last / from.pattern.windowRows(), windows - 1);
}

KeptOfGroup GroupOfRows::keptOf(int64_t column) const {
  const Pattern &pattern = from.pattern;
  if (hasPairs) {
    // A window is the group, and its units are the rows kept of it.
    const uint8_t *index = from.indices + group * 2 * blockColumns +
                           (pattern.bn == 1 ? column : column / pattern.bn);
    KeptOfGroup kept;
    if (group < windows)
      kept = {{index[0], index[blockColumns]}, {2 * group, 2 * group + 1}};
    return kept;
  }
  int64_t end = first + SparseOperand::kGroupRows;
  int64_t blockColumn = pattern.bn == 1 ? column : column / pattern.bn;
  int64_t count = 0;
  KeptOfGroup kept;
  for (int64_t window = firstWindow; window <= lastWindow; ++window)
    for (int64_t unit = window * pattern.n; unit < (window + 1) * pattern.n;
         ++unit) {
      int64_t index = from.indices[unit * blockColumns + blockColumn];
      for (int64_t r = 0; r < pattern.bk; ++r) {
        int64_t k = window * pattern.windowRows() + index * pattern.bk + r;
        if (k < first || k >= end)
          continue;
        kept.position[count] = k - first;
        kept.row[count++] = unit * pattern.bk + r;
      }
    }
  if (count != 1)
    return kept;
  int64_t position = kept.position[0], row = kept.row[0];
  kept.row = {KeptOfGroup::kNone, KeptOfGroup::kNone};
  // Activations behind the last window are zero; one of a pruned weight may be
  // infinite or NaN.
  if (end > windows * pattern.windowRows()) {
    kept.position = {position, SparseOperand::kGroupRows - 1};
    kept.row[0] = row;
    return kept;
  }
  int64_t even = position - position % 2;
  kept.position = {even, even + 1};
  kept.row[position % 2] = row;
  return kept;
}

namespace {
/// Where a step has the two values and the bits of a group of a column.
struct GroupPlaces {
  std::array<int64_t, 2> values;
  SparseOperand::BitOffset<int64_t> bits;
};
} // namespace

/// Those of all steps, by group and column: computed once, as they take longer
/// than the values that are moved.
static std::vector<GroupPlaces> placesOfStep(const SparseOperand &operand) {
  std::vector<GroupPlaces> places;
  for (int64_t group = 0; group < SparseOperand::kStepGroups; ++group)
    for (int64_t column = 0; column < operand.columns(); ++column)
      places.push_back({{operand.positionOf<int64_t>({column, 2 * group}),
                         operand.positionOf<int64_t>({column, 2 * group + 1})},
                        operand.bitsOf<int64_t>({column, group})});
  return places;
}

/// Calls `fn(step, column, group, places)` for every group of every column that
/// is no padding; the step counts through all blocks, the column and the group
/// through all of the matrix. Neighbouring columns, which are neighbours in
/// memory, come after each other. Threads of large matrices have blocks each:
/// they call a copy of `fn`.
template <typename Fn>
static void forEachGroup(const SparseOperand &operand, const Pattern &pattern,
                         int64_t k, int64_t n, const Fn &shared) {
  const std::vector<GroupPlaces> places = placesOfStep(operand);
  int64_t columns = pattern.paddedColumns(n), blockColumns = operand.columns();
  int64_t steps = operand.steps(pattern, k);
  auto visitBlock = [&](Fn &fn, int64_t block) {
    int64_t first = block * blockColumns;
    int64_t width = std::min(blockColumns, columns - first);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t group = 0; group < SparseOperand::kStepGroups; ++group)
        for (int64_t column = 0; column < width; ++column)
          fn(block * steps + step, first + column,
             step * SparseOperand::kStepGroups + group,
             places[group * blockColumns + column]);
  };
  forEachShare(operand.blocks(pattern, n), steps * operand.valuesOfStep(),
               [&](int64_t first, int64_t end) {
                 Fn fn = shared;
                 for (int64_t block = first; block < end; ++block)
                   visitBlock(fn, block);
               });
}

/// Positions 0 and 1, for columns that are padding.
static constexpr uint8_t kFirstPair = 0x44;

/// Packs metadata, and calls `store(step, position, value)` for every value
/// that is kept, with its number among the condensed ones.
template <typename Fn>
static void pack(const CondensedView &from, const SparseOperand &operand,
                 uint8_t *metadata, Fn store) {
  const Pattern &pattern = from.pattern;
  int64_t blocks = operand.blocks(pattern, from.n),
          steps = operand.steps(pattern, from.k);
  std::fill_n(metadata, blocks * steps * operand.bytesOfStep(), kFirstPair);
  int64_t columns = pattern.paddedColumns(from.n);
  forEachGroup(
      operand, pattern, from.k, from.n,
      [&, rows = GroupOfRows(from)](int64_t step, int64_t column, int64_t group,
                                    const GroupPlaces &places) mutable {
        rows.moveTo(group);
        KeptOfGroup kept = rows.keptOf(column);
        for (int64_t i : {0, 1})
          if (kept.row[i] != KeptOfGroup::kNone)
            store(step, places.values[i], kept.row[i] * columns + column);
        auto [byte, shift] = places.bits;
        uint8_t &bits = metadata[step * operand.bytesOfStep() + byte];
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

/// Packs 2:4 of single rows: a window is a group, and its two rows are kept at
/// the positions that the indices name. No column is looked at twice.
template <typename Word>
static void packPairs(const CondensedView &from, const SparseOperand &operand,
                      Word *out, uint8_t *metadata) {
  // The places of the groups of a step, in 8 bytes each, so that L1 keeps them.
  struct Places {
    uint16_t first, second, byte, shift;
  };
  std::vector<Places> places;
  for (const GroupPlaces &group : placesOfStep(operand))
    places.push_back({uint16_t(group.values[0]), uint16_t(group.values[1]),
                      uint16_t(group.bits.byte), uint16_t(group.bits.shift)});
  const Pattern pattern = from.pattern;
  const Word *in = static_cast<const Word *>(from.values);
  const int64_t columns = pattern.paddedColumns(from.n),
                units = pattern.blockColumns(from.n), width = operand.columns(),
                steps = operand.steps(pattern, from.k),
                size = operand.valuesOfStep(), bytes = operand.bytesOfStep();
  auto packGroup = [&](int64_t block, int64_t group) {
    constexpr int64_t kGroups = SparseOperand::kStepGroups;
    const int64_t first = block * width, end = std::min(columns, first + width),
                  step = block * steps + group / kGroups;
    const Word *row = in + 2 * group * columns;
    const uint8_t *index = from.indices + 2 * group * units;
    Word *values = out + step * size;
    uint8_t *bits = metadata + step * bytes;
    const Places *place = places.data() + group % kGroups * width;
    for (int64_t column = first; column < end; ++column, ++place) {
      int64_t unit = pattern.bn == 1 ? column : column / pattern.bn;
      values[place->first] = row[column];
      values[place->second] = row[columns + column];
      int pair = encodeMmaPair(index[unit], index[units + unit]);
      bits[place->byte] = static_cast<uint8_t>(
          (bits[place->byte] & ~(0xf << place->shift)) | pair << place->shift);
    }
  };
  forEachShare(operand.blocks(pattern, from.n), steps * size,
               [&](int64_t first, int64_t end) {
                 for (int64_t block = first; block < end; ++block)
                   for (int64_t g = 0; g < pattern.windows(from.k); ++g)
                     packGroup(block, g);
               });
}

template <typename Word>
static void packWords(const CondensedView &from, const SparseOperand &operand,
                      void *values, uint8_t *metadata) {
  const Word *in = static_cast<const Word *>(from.values);
  Word *out = static_cast<Word *>(values);
  int64_t size = operand.valuesOfStep();
  std::fill_n(out, countSteps(from, operand) * size, Word(0));
  if (isPair(from.pattern)) {
    std::fill_n(metadata, countSteps(from, operand) * operand.bytesOfStep(),
                kFirstPair);
    return packPairs(from, operand, out, metadata);
  }
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
  forEachGroup(
      operand, pattern, k, n,
      [&](int64_t step, int64_t column, int64_t group,
          const GroupPlaces &places) {
        auto [byte, shift] = places.bits;
        int pair = metadata[step * operand.bytesOfStep() + byte] >> shift;
        for (int i : {0, 1}) {
          int64_t row = group * SparseOperand::kGroupRows + (pair >> 2 * i & 3);
          Word value = in[step * operand.valuesOfStep() + places.values[i]];
          // Rows and columns past the end are padding.
          if (row < k && column < n)
            out[row * n + column] = value;
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
