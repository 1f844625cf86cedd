//===- Ell.cpp - Columns of weights with their rows or gaps ---------------===//

#include "nm/Format/Ell.h"

#include "Shares.h"
#include "StoreNumber.h"
#include "WindowScan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::detail;

Status EllForm::verify() const {
  if (steps < 1 || steps > kMostSteps)
    return Error{"expected steps to be in 1.." + std::to_string(kMostSteps) +
                 ", but got " + std::to_string(steps)};
  if (std::find(kBits.begin(), kBits.end(), bits) == kBits.end())
    return Error{"expected gaps of 2, 4 or 8 bits or rows of 16, but got " +
                 std::to_string(bits)};
  if (parts < 1 || parts > kMostParts)
    return Error{"expected parts to be in 1.." + std::to_string(kMostParts) +
                 ", but got " + std::to_string(parts)};
  return Status::success();
}

/// The steps of `weights` of a column.
static int64_t countSteps(int64_t weights) {
  return (weights + EllForm::kWeights - 1) / EllForm::kWeights;
}

/// The weights that stand for one that is `gap` rows behind the one before.
static int64_t countOfGap(int64_t gap, int64_t largest) {
  return gap <= largest ? 1 : (gap + largest - 1) / largest;
}

EllSteps nm::countEllSteps(const DenseView &dense, int64_t bits) {
  EllForm form{1, bits, 1};
  EllSteps steps;
  dispatchWord(dense.type, [&](auto zero) {
    using Word = decltype(zero);
    Word mask = nonZeroMask<Word>(dense.type);
    // Rows outermost: lines of a row-major matrix are read once.
    std::vector<int64_t> stored(dense.n), last(dense.n);
    for (int64_t k = 0; k < dense.k; ++k)
      for (int64_t n = 0; n < dense.n; ++n) {
        Word word = static_cast<const Word *>(
            dense.data)[k * dense.strideK + n * dense.strideN];
        if (!(word & mask))
          continue;
        stored[n] += countOfGap(k - last[n], form.largestGap());
        last[n] = k;
      }
    for (int64_t first = 0; first < dense.n; first += EllForm::kColumns) {
      int64_t end = std::min(dense.n, first + EllForm::kColumns);
      int64_t most =
          *std::max_element(stored.begin() + first, stored.begin() + end);
      int64_t count = countSteps(most);
      steps.most = std::max(steps.most, count);
      steps.total += count;
    }
  });
  return steps;
}

bool EllForm::holds(const CondensedView &weights) const {
  return weights.k <= kMostRows &&
         countEllSteps(DenseView::rowMajor(weights.values, weights.type,
                                           weights.k, weights.n),
                       bits)
                 .most <= steps;
}

namespace {
/// The weights of a column as they are stored.
template <typename Word>
struct StoredColumn {
  std::vector<Word> values;
  std::vector<uint8_t> gaps;
  /// The row of each.
  std::vector<uint16_t> rows;

  void add(Word value, int64_t gap) {
    int64_t before = rows.empty() ? 0 : rows.back();
    values.push_back(value);
    gaps.push_back(static_cast<uint8_t>(gap));
    rows.push_back(static_cast<uint16_t>(before + gap));
  }
};

/// Packs slices of one matrix.
template <typename Word>
class SlicePacker {
public:
  SlicePacker(const CondensedView &from, const EllForm &form, void *values,
              uint8_t *gaps, uint8_t *lists)
      : from(from), form(form), values(static_cast<Word *>(values)), gaps(gaps),
        lists(lists) {}

  void pack(int64_t slice) const;

private:
  /// Columns beside the matrix have no weights.
  bool isKept(int64_t k, int64_t n) const {
    return n < from.n && (weight(k, n) & nonZeroMask<Word>(from.type)) != 0;
  }
  Word weight(int64_t k, int64_t n) const {
    return static_cast<const Word *>(from.values)[k * from.n + n];
  }
  int64_t countKept(int64_t n) const;
  void writeCount(int64_t slice, int64_t most) const;
  void packGaps(int64_t slice) const;
  void packRows(int64_t slice) const;
  void writeRow(int64_t slice, int64_t lane, int64_t place, int64_t row) const;
  Word &valueAt(int64_t slice, int64_t lane, int64_t place) const;
  void storeRows(int64_t slice, int64_t lane, int64_t places) const;
  StoredColumn<Word> store(int64_t n) const;
  void write(const StoredColumn<Word> &column, int64_t slice,
             int64_t lane) const;
  void writeStarts(const StoredColumn<Word> &column, int64_t slice,
                   int64_t lane, int64_t count) const;

  const CondensedView &from;
  const EllForm &form;
  Word *values;
  uint8_t *gaps, *lists;
};
} // namespace

template <typename Word>
StoredColumn<Word> SlicePacker<Word>::store(int64_t n) const {
  StoredColumn<Word> column;
  int64_t last = 0;
  for (int64_t k = 0; k < from.k; ++k) {
    if (!isKept(k, n))
      continue;
    for (; k - last > form.largestGap(); last += form.largestGap())
      column.add(0, form.largestGap());
    column.add(weight(k, n), k - last);
    last = k;
  }
  return column;
}

template <typename Word>
void SlicePacker<Word>::write(const StoredColumn<Word> &column, int64_t slice,
                              int64_t lane) const {
  for (size_t i = 0; i < column.values.size(); ++i) {
    auto step = slice * form.steps + int64_t(i) / EllForm::kWeights,
         weight = int64_t(i) % EllForm::kWeights;
    valueAt(slice, lane, int64_t(i)) = column.values[i];
    int64_t bit = weight * form.bits;
    gaps[step * form.stepGapBytes() + lane * form.columnGapBytes() + bit / 8] |=
        static_cast<uint8_t>(column.gaps[i] << bit % 8);
  }
}

/// The row that each part of `count` steps begins behind.
template <typename Word>
void SlicePacker<Word>::writeStarts(const StoredColumn<Word> &column,
                                    int64_t slice, int64_t lane,
                                    int64_t count) const {
  for (int64_t part = 0; part < form.parts; ++part) {
    auto before = std::min(form.firstStep(part, count) * EllForm::kWeights,
                           int64_t(column.rows.size()));
    int64_t row = before == 0 ? 0 : column.rows[before - 1];
    storeNumber(
        row, EllForm::kRowBytes,
        lists + (slice * (form.parts + 1) + part + 1) * EllForm::kListBytes +
            lane * EllForm::kRowBytes);
  }
}

template <typename Word>
void SlicePacker<Word>::writeCount(int64_t slice, int64_t count) const {
  storeNumber(count, EllForm::kCountBytes,
              lists + slice * (form.parts + 1) * EllForm::kListBytes);
}

template <typename Word>
void SlicePacker<Word>::packGaps(int64_t slice) const {
  std::array<StoredColumn<Word>, EllForm::kColumns> columns;
  int64_t most = 0;
  for (int64_t lane = 0; lane < EllForm::kColumns; ++lane) {
    columns[lane] = store(slice * EllForm::kColumns + lane);
    most = std::max(most, int64_t(columns[lane].values.size()));
  }
  int64_t count = countSteps(most);
  writeCount(slice, count);
  for (int64_t lane = 0; lane < EllForm::kColumns; ++lane) {
    write(columns[lane], slice, lane);
    writeStarts(columns[lane], slice, lane, count);
  }
}

template <typename Word>
int64_t SlicePacker<Word>::countKept(int64_t n) const {
  int64_t kept = 0;
  for (int64_t k = 0; k < from.k; ++k)
    kept += isKept(k, n);
  return kept;
}

template <typename Word>
void SlicePacker<Word>::writeRow(int64_t slice, int64_t lane, int64_t place,
                                 int64_t row) const {
  auto [step, weight] = std::div(place, EllForm::kWeights);
  storeNumber(row, EllForm::kRowBytes,
              gaps + (slice * form.steps + step) * form.stepGapBytes() +
                  EllForm::placeOf(lane, weight, EllForm::kRowBytes) *
                      EllForm::kRowBytes);
}

template <typename Word>
Word &SlicePacker<Word>::valueAt(int64_t slice, int64_t lane,
                                 int64_t place) const {
  auto [step, weight] = std::div(place, EllForm::kWeights);
  return values[(slice * form.steps + step) * EllForm::stepValues() +
                EllForm::placeOf(lane, weight, sizeof(Word))];
}

/// Stores a column's weights with their rows in `places` places.
template <typename Word>
void SlicePacker<Word>::storeRows(int64_t slice, int64_t lane,
                                  int64_t places) const {
  int64_t n = slice * EllForm::kColumns + lane;
  for (int64_t place = 0; place < places; ++place) {
    int64_t row = (place + lane) % EllForm::kBanks;
    writeRow(slice, lane, place, row < from.k ? row : 0);
  }
  std::vector<int64_t> behind;
  for (int64_t remainder = 0; remainder < EllForm::kBanks; ++remainder) {
    int64_t number = 0;
    for (int64_t k = remainder; k < from.k; k += EllForm::kBanks) {
      if (!isKept(k, n))
        continue;
      int64_t place = EllForm::placeOfRemainder(lane, remainder, number++);
      if (place >= places) {
        behind.push_back(k);
        continue;
      }
      valueAt(slice, lane, place) = weight(k, n);
      writeRow(slice, lane, place, k);
    }
  }
  int64_t place = 0;
  for (int64_t k : behind) {
    while (valueAt(slice, lane, place) & nonZeroMask<Word>(from.type))
      ++place;
    valueAt(slice, lane, place) = weight(k, n);
    writeRow(slice, lane, place, k);
  }
}

template <typename Word>
void SlicePacker<Word>::packRows(int64_t slice) const {
  int64_t most = 0;
  for (int64_t lane = 0; lane < EllForm::kColumns; ++lane)
    most = std::max(most, countKept(slice * EllForm::kColumns + lane));
  int64_t count = countSteps(most);
  writeCount(slice, count);
  for (int64_t lane = 0; lane < EllForm::kColumns; ++lane)
    storeRows(slice, lane, count * EllForm::kWeights);
}

template <typename Word>
void SlicePacker<Word>::pack(int64_t slice) const {
  if (form.hasRows())
    packRows(slice);
  else
    packGaps(slice);
}

void nm::packEll(const CondensedView &from, const EllForm &form, void *values,
                 uint8_t *gaps, uint8_t *lists) {
  int64_t slices = form.slices(from.n);
  std::memset(values, 0,
              slices * form.steps * EllForm::stepValues() *
                  elementSize(from.type));
  std::memset(gaps, 0, slices * form.steps * form.stepGapBytes());
  std::memset(lists, 0, slices * (form.parts + 1) * EllForm::kListBytes);
  dispatchWord(from.type, [&](auto zero) {
    SlicePacker<decltype(zero)> packer(from, form, values, gaps, lists);
    forEachShare(slices, EllForm::kColumns * from.k,
                 [&](int64_t first, int64_t end) {
                   for (int64_t slice = first; slice < end; ++slice)
                     packer.pack(slice);
                 });
  });
}
