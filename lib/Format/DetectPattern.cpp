//===- DetectPattern.cpp - The sparsest pattern that holds ----------------===//

#include "nm/Format/DetectPattern.h"

#include "WindowScan.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <cstdio>

using namespace nm;
using namespace nm::detail;

namespace {
/// Which units of a matrix hold a non-zero, for one block size.
struct Occupancy {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<uint8_t> units;
};
} // namespace

/// The occupancy of 1x1 units.
static Occupancy elementOccupancy(const DenseView &dense) {
  Occupancy result{dense.k, dense.n, std::vector<uint8_t>(dense.k * dense.n)};
  dispatchWord(dense.type, [&](auto word) {
    using Word = decltype(word);
    Word mask = nonZeroMask<Word>(dense.type);
    Pattern rowwise;
    WindowScan<Word>(dense, rowwise).forEach([&](const WindowSlice<Word> &s) {
      findOccupied(s, rowwise, mask,
                   result.units.data() + s.window * dense.n + s.firstBlock);
    });
  });
  return result;
}

/// The occupancy of bk x bn units, from that of single elements.
static Occupancy coarsen(const Occupancy &elements, int64_t bk, int64_t bn) {
  Occupancy result;
  result.rows = (elements.rows + bk - 1) / bk;
  result.columns = (elements.columns + bn - 1) / bn;
  result.units.resize(result.rows * result.columns);
  for (int64_t r = 0; r < elements.rows; ++r) {
    const uint8_t *from = elements.units.data() + r * elements.columns;
    uint8_t *to = result.units.data() + r / bk * result.columns;
    for (int64_t c = 0; c < result.columns; ++c) {
      int64_t end = std::min(elements.columns, (c + 1) * bn);
      uint8_t any = 0;
      for (int64_t i = c * bn; i < end; ++i)
        any |= from[i];
      to[c] |= any;
    }
  }
  return result;
}

/// The most occupied units in any window of `m`, or m as soon as one is full.
static int64_t mostInWindow(const Occupancy &units, int64_t m) {
  std::vector<uint16_t> counts(units.columns);
  uint16_t most = 0;
  for (int64_t r = 0; r < units.rows && most < m; r += m) {
    int64_t height = std::min(m, units.rows - r);
    countOccupied(units.units.data() + r * units.columns, height, units.columns,
                  counts.data());
    for (uint16_t count : counts)
      most = std::max(most, count);
  }
  return most;
}

/// Whether `a` is to be taken rather than `b`.
static bool better(const Pattern &a, const Pattern &b) {
  // n/m compared without division: 2:4 and 4:8 are equally sparse.
  if (a.n * b.m != b.n * a.m)
    return a.n * b.m < b.n * a.m;
  if (a.bk * a.bn != b.bk * b.bn)
    return a.bk * a.bn > b.bk * b.bn;
  return a.m < b.m;
}

static std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * fraction);
  return text;
}

/// Why no pattern can hold, where that is plain without a search.
static std::optional<std::string> whyHopeless(const Occupancy &elements) {
  if (elements.units.empty())
    return "it has no elements";
  if (std::find(elements.units.begin(), elements.units.end(), 0) ==
      elements.units.end())
    return "it has no zeros";
  return std::nullopt;
}

static std::string whyNone(const Occupancy &elements,
                           const std::optional<Pattern> &best,
                           const DetectOptions &options) {
  if (best)
    return "the sparsest pattern that holds is " + best->str() + " (" +
           percent(best->sparsity()) + " sparse), below the asked " +
           percent(options.minSparsity);
  int64_t zeros = std::count(elements.units.begin(), elements.units.end(), 0);
  return "its zeros (" +
         percent(double(zeros) / double(elements.units.size())) +
         ") follow no N:M pattern: in each one tried some window is full";
}

/// Unstructured weights: in units of the largest block that has few zeros in
/// those that are not all zero.
static Pattern findUnstructuredUnits(const Occupancy &elements,
                                     const DetectOptions &options) {
  constexpr double kMostKept = 1.02;
  auto size = static_cast<int64_t>(elements.units.size());
  int64_t nonZeros =
      size - std::count(elements.units.begin(), elements.units.end(), 0);
  Pattern best = Pattern::unstructured(nonZeros);
  for (auto [bk, bn] : options.blocks) {
    if (bk * bn <= best.bk * best.bn || bn > elements.columns ||
        bk > elements.rows)
      continue;
    Occupancy units = coarsen(elements, bk, bn);
    int64_t kept = 0;
    for (int64_t r = 0; r < units.rows; ++r)
      for (int64_t c = 0; c < units.columns; ++c)
        if (units.units[r * units.columns + c])
          kept += std::min(bk, elements.rows - r * bk) *
                  std::min(bn, elements.columns - c * bn);
    if (double(kept) <= kMostKept * double(nonZeros))
      best = Pattern{kept, 0, bk, bn};
  }
  return best;
}

/// Unstructured weights, where enough of them are zero and no pattern skips
/// most of these.
static std::optional<Detection>
detectUnstructured(const Occupancy &elements,
                   const std::optional<Pattern> &best,
                   const DetectOptions &options) {
  // A pattern is the better one, unless it keeps so many times as many, or
  // skips less than half of the zeros.
  constexpr double kMostKept = 1.5;
  auto size = static_cast<int64_t>(elements.units.size());
  int64_t zeros = std::count(elements.units.begin(), elements.units.end(), 0);
  double share = double(zeros) / double(size);
  if (share < std::max(options.minSparsity, options.leastUnstructured) ||
      (best && 1 - best->sparsity() <=
                   std::min(kMostKept * (1 - share), 1 - share / 2)) ||
      zeros == size)
    return std::nullopt;
  return Detection{
      findUnstructuredUnits(elements, options),
      "its zeros (" + percent(share) + ") are anywhere; " +
          (best ? "the sparsest N:M pattern that holds is " + best->str()
                : std::string("no N:M pattern holds"))};
}

Detection nm::detectPattern(const DenseView &dense,
                            const DetectOptions &options) {
  Occupancy elements = elementOccupancy(dense);
  if (std::optional<std::string> reason = whyHopeless(elements))
    return {std::nullopt, *reason};
  std::optional<Pattern> best;
  for (auto [bk, bn] : options.blocks) {
    if (bn > dense.n || bk > dense.k)
      continue;
    Occupancy coarse;
    if (bk * bn > 1)
      coarse = coarsen(elements, bk, bn);
    const Occupancy &units = bk * bn > 1 ? coarse : elements;
    for (int64_t m : options.windowUnits) {
      if (m * bk > dense.k)
        continue;
      int64_t n = std::max<int64_t>(1, mostInWindow(units, m));
      Pattern pattern{n, m, bk, bn};
      if (n < m && (!best || better(pattern, *best)))
        best = pattern;
    }
  }
  if (std::optional<Detection> found =
          detectUnstructured(elements, best, options))
    return *found;
  if (!best || best->sparsity() < options.minSparsity)
    return {std::nullopt, whyNone(elements, best, options)};
  return {best, "the sparsest pattern that holds is " + best->str() + " (" +
                    percent(best->sparsity()) + " sparse)"};
}
