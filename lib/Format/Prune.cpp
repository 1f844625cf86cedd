//===- Prune.cpp - Pruning to a pattern -----------------------------------===//

#include "nm/Format/Prune.h"

#include "WindowScan.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

using namespace nm;
using namespace nm::detail;

//===----------------------------------------------------------------------===//
// The absolute values of elements
//===----------------------------------------------------------------------===//

namespace {
/// The absolute value of elements whose type C++ has. Value holds them exactly,
/// but for i64.
template <typename Number>
struct NativeMagnitude {
  using Word = std::conditional_t<
      sizeof(Number) == 8, uint64_t,
      std::conditional_t<sizeof(Number) == 4, uint32_t, uint8_t>>;
  using Value = std::conditional_t<std::is_same_v<Number, float> ||
                                       std::is_same_v<Number, int8_t>,
                                   float, double>;

  Value operator()(Word word) const {
    Number number;
    std::memcpy(&number, &word, sizeof(number));
    return std::abs(static_cast<Value>(number));
  }
};

/// The absolute value of elements whose type C++ has not: looked up, as to
/// decode one takes longer than all the rest.
template <typename WordType>
struct SmallFloatMagnitude {
  using Word = WordType;
  using Value = float;

  explicit SmallFloatMagnitude(ElementType type)
      : values(size_t(std::numeric_limits<Word>::max()) + 1) {
    for (size_t word = 0; word < values.size(); ++word) {
      Word bits = static_cast<Word>(word);
      values[word] = static_cast<float>(std::abs(loadAsDouble(&bits, type, 0)));
    }
  }

  Value operator()(Word word) const { return values[word]; }

private:
  std::vector<float> values;
};

//===----------------------------------------------------------------------===//
// Which units stay
//===----------------------------------------------------------------------===//

/// Chooses the units of windows whose keys are side by side: that of unit u of
/// block column b is keys[u * blocks + b].
template <typename Key>
class UnitChooser {
public:
  UnitChooser(const Pattern &pattern, int64_t blocks)
      : count(pattern.n), ranks(pattern.m * blocks), sorted(pattern.m) {}

  /// Sets kept[u * blocks + b] to 1 for the N largest keys of each block
  /// column, of equal ones those of the lowest units, and to 0 for the others.
  void choose(const Key *keys, int64_t units, int64_t blocks, uint8_t *kept) {
    if (units <= count)
      std::fill_n(kept, units * blocks, uint8_t(1));
    else if (units <= kMaxRanked)
      chooseByRank(keys, units, blocks, kept);
    else
      for (int64_t b = 0; b < blocks; ++b)
        chooseByOrder(keys + b, units, blocks, kept + b);
  }

private:
  /// Up to so many units, comparing each with each takes less than ordering
  /// them: the comparisons of all block columns are one vector loop.
  static constexpr int64_t kMaxRanked = 32;

  /// A unit's rank is how many others come before it.
  void chooseByRank(const Key *keys, int64_t units, int64_t blocks,
                    uint8_t *kept) {
    std::fill_n(ranks.begin(), units * blocks, 0);
    for (int64_t u = 1; u < units; ++u)
      for (int64_t v = 0; v < u; ++v)
        compare(keys + v * blocks, keys + u * blocks, &ranks[v * blocks],
                &ranks[u * blocks], blocks);
    for (int64_t i = 0; i < units * blocks; ++i)
      kept[i] = ranks[i] < count;
  }

  static void compare(const Key *lower, const Key *higher,
                      int32_t *__restrict lowerRanks,
                      int32_t *__restrict higherRanks, int64_t blocks) {
    for (int64_t b = 0; b < blocks; ++b) {
      int32_t isBefore = lower[b] >= higher[b];
      higherRanks[b] += isBefore;
      lowerRanks[b] += 1 - isBefore;
    }
  }

  void chooseByOrder(const Key *keys, int64_t units, int64_t stride,
                     uint8_t *kept) {
    for (int64_t u = 0; u < units; ++u)
      sorted[u] = keys[u * stride];
    auto nth = sorted.begin() + count - 1;
    std::nth_element(sorted.begin(), nth, sorted.begin() + units,
                     std::greater<Key>());
    Key least = *nth;
    int64_t ties = count - std::count_if(sorted.begin(), nth,
                                         [&](Key key) { return key > least; });
    for (int64_t u = 0; u < units; ++u) {
      Key key = keys[u * stride];
      bool isTie = key == least;
      kept[u * stride] = (key > least) | (isTie & (ties > 0));
      ties -= isTie;
    }
  }

  int64_t count;
  std::vector<int32_t> ranks;
  std::vector<Key> sorted;
};

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Prunes the windows of one matrix one after the other.
template <typename Magnitude>
class Pruner {
public:
  using Word = typename Magnitude::Word;
  using Value = typename Magnitude::Value;
  // The squares of a double may not fit in one.
  using Square =
      std::conditional_t<std::is_same_v<Value, double>, long double, double>;

  Pruner(const DenseView &dense, const Pattern &pattern, void *result,
         const ScoreView &scores, const Magnitude &magnitude)
      : dense(dense), pattern(pattern), magnitude(magnitude), scores(scores),
        result(static_cast<Word *>(result)),
        mask(nonZeroMask<Word>(dense.type)), scan(dense, pattern),
        values(pattern, scan.sliceBlocks()), norms(pattern, scan.sliceBlocks()),
        valueKeys(pattern.m * scan.sliceBlocks()),
        normKeys(pattern.m * scan.sliceBlocks()),
        kept(pattern.m * scan.sliceBlocks()),
        row(scan.sliceBlocks() * pattern.bn),
        all(scan.sliceBlocks() * pattern.bn),
        lost(scan.sliceBlocks() * pattern.bn) {}

  PruneReport run() {
    scan.forEach([&](const WindowSlice<Word> &slice) { pruneSlice(slice); });
    for (size_t c = 0; c < all.size(); ++c) {
      report.squares += all[c];
      report.droppedSquares += lost[c];
    }
    return report;
  }

private:
  void pruneSlice(const WindowSlice<Word> &slice) {
    // One element is compared as it is, which is exact and quick; a block by
    // the sum of its squares.
    if (pattern.bk * pattern.bn == 1) {
      forEachUnit(slice, [&](int64_t u, int64_t b) {
        Value value = keyOf(slice, u, b);
        valueKeys[u * slice.blocks + b] = value;
      });
      values.choose(valueKeys.data(), slice.units, slice.blocks, kept.data());
    } else {
      forEachUnit(slice, [&](int64_t u, int64_t b) {
        normKeys[u * slice.blocks + b] = unitSquares(slice, u, b);
      });
      norms.choose(normKeys.data(), slice.units, slice.blocks, kept.data());
    }
    for (int64_t u = 0; u < slice.units; ++u)
      for (int64_t r = 0; r < pattern.bk; ++r)
        copyRow(slice, u, r);
  }

  template <typename Fn>
  void forEachUnit(const WindowSlice<Word> &slice, Fn fn) const {
    for (int64_t u = 0; u < slice.units; ++u)
      for (int64_t b = 0; b < slice.blocks; ++b)
        fn(u, b);
  }

  /// What tells how much the element in row `r` of the window and column `c` of
  /// the slice matters.
  Value keyOf(const WindowSlice<Word> &slice, int64_t r, int64_t c) const {
    Value value = scores.data ? scoreOf(slice, r, c)
                              : magnitude(slice.rows[r * slice.rowStride + c]);
    return std::isnan(value) ? std::numeric_limits<Value>::infinity() : value;
  }

  Value scoreOf(const WindowSlice<Word> &slice, int64_t r, int64_t c) const {
    int64_t k = slice.window * pattern.windowRows() + r;
    int64_t n = slice.firstBlock * pattern.bn + c;
    if (k >= dense.k || n >= dense.n)
      return 0;
    return std::abs(scores.data[k * scores.strideK + n * scores.strideN]);
  }

  Square unitSquares(const WindowSlice<Word> &slice, int64_t u,
                     int64_t b) const {
    Square sum = 0;
    for (int64_t r = u * pattern.bk; r < (u + 1) * pattern.bk; ++r)
      for (int64_t c = b * pattern.bn; c < (b + 1) * pattern.bn; ++c) {
        Square value = keyOf(slice, r, c);
        sum += value * value;
      }
    return sum;
  }

  /// Copies row `r` of unit `u` of every block column, or zeros.
  void copyRow(const WindowSlice<Word> &slice, int64_t u, int64_t r) {
    int64_t inWindow = u * pattern.bk + r;
    int64_t k = slice.window * pattern.windowRows() + inWindow;
    if (k >= dense.k)
      return;
    int64_t n = slice.firstBlock * pattern.bn;
    int64_t columns = std::min(slice.blocks * pattern.bn, dense.n - n);
    const Word *from = slice.rows + inWindow * slice.rowStride;
    const uint8_t *keptUnits = kept.data() + u * slice.blocks;
    for (int64_t c = 0; c < columns; ++c)
      row[c] = static_cast<Word>(
          -Word(keptUnits[pattern.bn == 1 ? c : c / pattern.bn]));
    countRow(from, columns);
    for (int64_t c = 0; c < columns; ++c)
      row[c] &= from[c];
    Word *to = result + k * dense.strideK + n * dense.strideN;
    if (dense.strideN == 1)
      std::copy_n(row.data(), columns, to);
    else
      for (int64_t c = 0; c < columns; ++c)
        to[c * dense.strideN] = row[c];
  }

  /// Counts elements, of which `row` has ones for those that stay.
  void countRow(const Word *from, int64_t columns) {
    uint32_t nonZeros = 0, dropped = 0;
    for (int64_t c = 0; c < columns; ++c) {
      uint32_t nonZero = (from[c] & mask) != 0;
      nonZeros += nonZero;
      dropped += nonZero & (row[c] == 0);
    }
    report.nonZeros += nonZeros;
    report.dropped += dropped;
    // A sum for each column: they need not be added in order.
    for (int64_t c = 0; c < columns; ++c) {
      Square value = magnitude(from[c]);
      Square square = value * value;
      all[c] += square;
      lost[c] += row[c] == 0 ? square : Square(0);
    }
  }

  DenseView dense;
  Pattern pattern;
  const Magnitude &magnitude;
  ScoreView scores;
  Word *result;
  Word mask;
  WindowScan<Word> scan;
  UnitChooser<Value> values;
  UnitChooser<Square> norms;
  std::vector<Value> valueKeys;
  std::vector<Square> normKeys;
  std::vector<uint8_t> kept;
  std::vector<Word> row;
  std::vector<Square> all, lost;
  PruneReport report;
};
} // namespace

template <typename Number>
static PruneReport pruneNative(const DenseView &dense, const Pattern &pattern,
                               void *result, const ScoreView &scores) {
  NativeMagnitude<Number> magnitude;
  return Pruner(dense, pattern, result, scores, magnitude).run();
}

/// The table of a type is made once, and outlives the threads that read it.
template <typename Word, ElementType Type>
static PruneReport pruneSmall(const DenseView &dense, const Pattern &pattern,
                              void *result, const ScoreView &scores) {
  static const auto *magnitude = new SmallFloatMagnitude<Word>(Type);
  return Pruner(dense, pattern, result, scores, *magnitude).run();
}

static PruneReport pruneTyped(const DenseView &dense, const Pattern &pattern,
                              void *result, const ScoreView &scores) {
  switch (dense.type) {
  case ElementType::F64:
    return pruneNative<double>(dense, pattern, result, scores);
  case ElementType::F32:
    return pruneNative<float>(dense, pattern, result, scores);
  case ElementType::I64:
    return pruneNative<int64_t>(dense, pattern, result, scores);
  case ElementType::I32:
    return pruneNative<int32_t>(dense, pattern, result, scores);
  case ElementType::I8:
    return pruneNative<int8_t>(dense, pattern, result, scores);
  case ElementType::F16:
    return pruneSmall<uint16_t, ElementType::F16>(dense, pattern, result,
                                                  scores);
  case ElementType::BF16:
    return pruneSmall<uint16_t, ElementType::BF16>(dense, pattern, result,
                                                   scores);
  case ElementType::F8E4M3:
    return pruneSmall<uint8_t, ElementType::F8E4M3>(dense, pattern, result,
                                                    scores);
  case ElementType::F8E5M2:
    return pruneSmall<uint8_t, ElementType::F8E5M2>(dense, pattern, result,
                                                    scores);
  }
  return {};
}

/// The score by which the weight of row k and column n is ranked.
static double keyOf(const DenseView &dense, const ScoreView &scores, int64_t k,
                    int64_t n) {
  double key = scores.data
                   ? scores.data[k * scores.strideK + n * scores.strideN]
                   : loadAsDouble(dense.data, dense.type,
                                  k * dense.strideK + n * dense.strideN);
  return std::isnan(key) ? std::numeric_limits<double>::infinity()
                         : std::abs(key);
}

namespace {
/// The units of a matrix, block column by block column, and their norms.
struct RankedUnits {
  int64_t bk, bn, rows, columns;
  std::vector<double> keys;

  RankedUnits(const DenseView &dense, const Pattern &pattern,
              const ScoreView &scores)
      : bk(pattern.bk), bn(pattern.bn), rows((dense.k + bk - 1) / bk),
        columns(pattern.blockColumns(dense.n)), keys(rows * columns) {
    for (int64_t n = 0; n < dense.n; ++n)
      for (int64_t k = 0; k < dense.k; ++k) {
        double key = keyOf(dense, scores, k, n);
        keys[unitOf(k, n)] += bk * bn == 1 ? key : key * key;
      }
  }
  int64_t unitOf(int64_t k, int64_t n) const { return n / bn * rows + k / bk; }

  /// The largest that have at most `places` weights in all, of equal ones the
  /// first ones; one at least.
  std::vector<bool> choose(int64_t places) const {
    int64_t size = bk * bn, count = std::max<int64_t>(1, places / size),
            all = rows * columns;
    std::vector<bool> chosen(all, count >= all);
    if (count >= all)
      return chosen;
    std::vector<double> sorted = keys;
    auto nth = sorted.begin() + (count - 1);
    std::nth_element(sorted.begin(), nth, sorted.end(), std::greater<double>());
    double least = *nth;
    int64_t ties = count - std::count_if(sorted.begin(), nth, [&](double key) {
                     return key > least;
                   });
    for (int64_t unit = 0; unit < all; ++unit) {
      bool isTie = keys[unit] == least;
      chosen[unit] = keys[unit] > least || (isTie && ties > 0);
      ties -= isTie;
    }
    return chosen;
  }
};
} // namespace

/// Keeps the largest units of the whole matrix, of equal ones those of the
/// first columns.
static PruneReport pruneUnstructured(const DenseView &dense,
                                     const Pattern &pattern, void *result,
                                     const ScoreView &scores) {
  RankedUnits units(dense, pattern, scores);
  std::vector<bool> chosen =
      units.choose(unstructuredPlaces(pattern, dense.k, dense.n));
  PruneReport report;
  int64_t bytes = elementSize(dense.type);
  for (int64_t n = 0; n < dense.n; ++n)
    for (int64_t k = 0; k < dense.k; ++k) {
      int64_t at = k * dense.strideK + n * dense.strideN;
      long double value = loadAsDouble(dense.data, dense.type, at);
      report.nonZeros += value != 0;
      report.squares += value * value;
      char *to = static_cast<char *>(result) + at * bytes;
      if (chosen[units.unitOf(k, n)]) {
        std::memmove(to, static_cast<const char *>(dense.data) + at * bytes,
                     bytes);
        continue;
      }
      report.dropped += value != 0;
      report.droppedSquares += value * value;
      std::memset(to, 0, bytes);
    }
  return report;
}

PruneReport nm::prune(const DenseView &dense, const Pattern &pattern,
                      void *result, const ScoreView &scores) {
  return pattern.isUnstructured()
             ? pruneUnstructured(dense, pattern, result, scores)
             : pruneTyped(dense, pattern, result, scores);
}
