//===- Unstructured.cpp - Weights kept anywhere, condensed ----------------===//

#include "nm/Format/Unstructured.h"

#include "WindowScan.h"
#include "nm/Format/CheckPattern.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string>

using namespace nm;
using namespace nm::detail;

/// a * b, or what is above kMaxSize where that would be more.
static int64_t multiplySizes(int64_t a, int64_t b) {
  return b > 0 && a > kMaxSize / b ? kMaxSize + 1 : a * b;
}

int64_t nm::unstructuredPlaces(const Pattern &pattern, int64_t k, int64_t n) {
  int64_t all = multiplySizes(k, n);
  return pattern.n == 0 ? all : std::min(pattern.n, all);
}

int64_t nm::unstructuredBytes(int64_t k, int64_t n) {
  return multiplySizes(bitmapColumnBytes(k), n);
}

namespace {
/// Which units of a block are not all zero; of single weights it does not ask.
class KeptUnits {
public:
  template <typename Word>
  static KeptUnits find(const DenseView &dense, const Pattern &pattern) {
    KeptUnits kept(dense, pattern);
    if (kept.isSingle)
      return kept;
    Word mask = nonZeroMask<Word>(dense.type);
    const Word *data = static_cast<const Word *>(dense.data);
    for (int64_t k = 0; k < dense.k; ++k)
      for (int64_t n = 0; n < dense.n; ++n)
        if (data[k * dense.strideK + n * dense.strideN] & mask)
          kept.units[kept.unitOf(k, n)] = true;
    return kept;
  }

  bool has(int64_t k, int64_t n, bool isNonZero) const {
    return isSingle ? isNonZero : units[unitOf(k, n)];
  }

private:
  KeptUnits(const DenseView &dense, const Pattern &pattern)
      : isSingle(pattern.bk == 1 && pattern.bn == 1), bk(pattern.bk),
        bn(pattern.bn), rows((dense.k + bk - 1) / bk) {
    if (!isSingle)
      units.resize(rows * pattern.blockColumns(dense.n));
  }
  int64_t unitOf(int64_t k, int64_t n) const { return n / bn * rows + k / bk; }

  bool isSingle;
  int64_t bk, bn, rows;
  std::vector<bool> units;
};
} // namespace

/// Calls `fn(k, n, word)` for every weight of `dense` that `pattern` keeps,
/// column by column.
template <typename Word, typename Fn>
static void forEachKept(const DenseView &dense, const Pattern &pattern, Fn fn) {
  Word mask = nonZeroMask<Word>(dense.type);
  KeptUnits kept = KeptUnits::find<Word>(dense, pattern);
  const Word *data = static_cast<const Word *>(dense.data);
  // Columns are read a few at a time, so that of a B whose rows are contiguous
  // whole cache lines are used.
  constexpr int64_t kTogether = 16;
  std::vector<Word> columns(kTogether * dense.k);
  for (int64_t first = 0; first < dense.n; first += kTogether) {
    int64_t count = std::min(kTogether, dense.n - first);
    for (int64_t k = 0; k < dense.k; ++k)
      for (int64_t c = 0; c < count; ++c)
        columns[c * dense.k + k] =
            data[k * dense.strideK + (first + c) * dense.strideN];
    for (int64_t c = 0; c < count; ++c)
      for (int64_t k = 0; k < dense.k; ++k)
        if (Word word = columns[c * dense.k + k];
            kept.has(k, first + c, (word & mask) != 0))
          fn(k, first + c, word);
  }
}

int64_t nm::countKept(const DenseView &dense, const Pattern &pattern) {
  return dispatchWord(dense.type, [&](auto word) {
    int64_t count = 0;
    forEachKept<decltype(word)>(dense, pattern,
                                [&](int64_t, int64_t, auto) { ++count; });
    return count;
  });
}

int64_t nm::countNonZeros(const DenseView &dense) {
  return countKept(dense, Pattern());
}

//===----------------------------------------------------------------------===//
// The condensed form
//===----------------------------------------------------------------------===//

Status nm::compressUnstructured(const DenseView &dense, const Pattern &pattern,
                                std::string_view name, void *values,
                                uint8_t *bits) {
  int64_t places = unstructuredPlaces(pattern, dense.k, dense.n);
  std::memset(bits, 0, unstructuredBytes(dense.k, dense.n));
  std::memset(values, 0, places * elementSize(dense.type));
  int64_t count = dispatchWord(dense.type, [&](auto zero) {
    using Word = decltype(zero);
    Word mask = nonZeroMask<Word>(dense.type);
    int64_t next = 0;
    forEachKept<Word>(dense, pattern, [&](int64_t k, int64_t n, Word word) {
      bits[n * bitmapColumnBytes(dense.k) + k / 8] |=
          static_cast<uint8_t>(1 << k % 8);
      // -0.0 is a zero.
      if (next < places)
        static_cast<Word *>(values)[next] = word & mask ? word : Word(0);
      ++next;
    });
    return next;
  });
  if (count <= places)
    return Status::success();
  return Error{checkPattern(dense, pattern).describe(name)};
}

void nm::decompressUnstructured(const CondensedView &from, void *dense,
                                int64_t strideK, int64_t strideN) {
  dispatchWord(from.type, [&](auto zero) {
    using Word = decltype(zero);
    const Word *next = static_cast<const Word *>(from.values);
    for (int64_t n = 0; n < from.n; ++n) {
      const uint8_t *column = from.indices + n * bitmapColumnBytes(from.k);
      Word *to = static_cast<Word *>(dense) + n * strideN;
      for (int64_t k = 0; k < from.k; ++k)
        to[k * strideK] = column[k / 8] >> k % 8 & 1 ? *next++ : Word(0);
    }
  });
}

/// Whether the bits of a unit are all set or none of them.
static Status verifyUnits(const uint8_t *bits, const Pattern &pattern,
                          int64_t k, int64_t n, std::string_view name) {
  if (pattern.bk == 1 && pattern.bn == 1)
    return Status::success();
  int64_t bytes = bitmapColumnBytes(k);
  auto isKept = [&](int64_t row, int64_t column) {
    return (bits[column * bytes + row / 8] >> row % 8 & 1) != 0;
  };
  for (int64_t column = 0; column < n; ++column)
    for (int64_t row = 0; row < k; ++row)
      if (isKept(row, column) != isKept(row / pattern.bk * pattern.bk,
                                        column / pattern.bn * pattern.bn))
        return Error{"bits of '" + std::string(name) + "', column " +
                     std::to_string(column) + ", row " + std::to_string(row) +
                     ": expected those of a block " +
                     std::to_string(pattern.bk) + "x" +
                     std::to_string(pattern.bn) + " to be equal"};
  return Status::success();
}

Status nm::verifyBitmap(const uint8_t *bits, const Pattern &pattern, int64_t k,
                        int64_t n, std::string_view name) {
  int64_t count = 0, bytes = bitmapColumnBytes(k);
  for (int64_t column = 0; column < n; ++column)
    for (int64_t i = 0; i < bytes; ++i) {
      uint8_t byte = bits[column * bytes + i];
      count += static_cast<int64_t>(std::bitset<8>(byte).count());
      if (i == bytes - 1 && k % 8 != 0 && byte >> k % 8 != 0)
        return Error{"bits of '" + std::string(name) + "', column " +
                     std::to_string(column) + ": expected none behind k = " +
                     std::to_string(k) + ", but got one"};
    }
  int64_t places = unstructuredPlaces(pattern, k, n);
  if (count <= places)
    return verifyUnits(bits, pattern, k, n, name);
  return Error{"bits of '" + std::string(name) + "': expected at most " +
               std::to_string(places) + ", but got " + std::to_string(count)};
}

//===----------------------------------------------------------------------===//
// Weights of windows
//===----------------------------------------------------------------------===//

/// Calls `fn(kept)` for the units of the block of `pattern` that are not zero
/// in each window of `m` of a block column.
template <typename Fn>
static void forEachWindow(const DenseView &dense, int64_t m,
                          const Pattern &pattern, Fn fn) {
  dispatchWord(dense.type, [&](auto zero) {
    using Word = decltype(zero);
    Pattern windows{1, m, pattern.bk, pattern.bn};
    WindowScan<Word> scan(dense, windows);
    Word mask = nonZeroMask<Word>(dense.type);
    std::vector<uint8_t> occupied(m * scan.sliceBlocks());
    std::vector<uint16_t> counts(scan.sliceBlocks());
    scan.forEach([&](const WindowSlice<Word> &slice) {
      findOccupied(slice, windows, mask, occupied.data());
      countOccupied(occupied.data(), slice.units, slice.blocks, counts.data());
      for (int64_t b = 0; b < slice.blocks; ++b)
        fn(counts[b]);
    });
  });
}

std::vector<int64_t> nm::mostKeptOf(const DenseView &dense,
                                    const std::vector<int64_t> &windows,
                                    const Pattern &pattern) {
  std::vector<int64_t> most(windows.size(), 0);
  for (size_t i = 0; i < windows.size(); ++i)
    forEachWindow(dense, windows[i], pattern,
                  [&](int64_t kept) { most[i] = std::max(most[i], kept); });
  return most;
}

std::optional<NearPattern> nm::findNearPattern(const DenseView &dense,
                                               double share) {
  std::optional<NearPattern> best;
  for (int64_t m : {4, 8, 16, 32}) {
    if (m > dense.k)
      break;
    // The number of windows by the number of weights that they keep.
    std::vector<int64_t> windows(m + 1, 0);
    forEachWindow(dense, m, Pattern(), [&](int64_t kept) { ++windows[kept]; });
    int64_t nonZeros = 0, excess = 0, above = 0;
    for (int64_t kept = 1; kept <= m; ++kept)
      nonZeros += kept * windows[kept];
    // With N one less, each window above it has one more in the way.
    int64_t n = m;
    while (n > 1) {
      int64_t more = above + windows[n];
      if (double(excess + more) > share * double(nonZeros))
        break;
      excess += more;
      above = more;
      --n;
    }
    // Longer windows leave a little more out by chance.
    if (n < m && (!best || 10 * n * best->pattern.m < 9 * best->pattern.n * m))
      best = NearPattern{{n, m}, excess};
  }
  return best;
}
