//===- Condensed.cpp - The condensed form of N:M weights ------------------===//

#include "nm/Format/Condensed.h"

#include "WindowScan.h"
#include "nm/Format/CheckPattern.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::detail;

namespace {
/// The slots of windows of up to eight units, looked up by which are occupied:
/// one bit each.
class SlotTable {
public:
  static constexpr int64_t kMostUnits = 8;

  explicit SlotTable(const Pattern &pattern) : count(pattern.n) {
    if (pattern.m > kMostUnits)
      return;
    slots.resize(kMostUnits << pattern.m);
    for (unsigned occupied = 0; occupied >> pattern.m == 0; ++occupied)
      fill(occupied, pattern.m);
  }

  bool has(int64_t units) const { return !slots.empty() && units >= count; }

  /// Writes positions[s * blocks + b] for every block column b, of which bit u
  /// of bits[b] says whether unit u is occupied.
  void choose(const uint8_t *bits, int64_t blocks, uint8_t *positions) const {
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t s = 0; s < count; ++s)
        positions[s * blocks + b] = slots[bits[b] * kMostUnits + s];
  }

private:
  /// The occupied units and the lowest others, ascending.
  void fill(unsigned occupied, int64_t units) {
    int64_t fillers = count, slot = 0;
    for (int64_t u = 0; u < units; ++u)
      fillers -= occupied >> u & 1;
    for (int64_t u = 0; u < units && slot < count; ++u) {
      bool isFilled = occupied >> u & 1;
      if (!isFilled && fillers-- <= 0)
        continue;
      slots[occupied * kMostUnits + slot++] = static_cast<uint8_t>(u);
    }
  }

  int64_t count;
  std::vector<uint8_t> slots;
};

/// Compresses slices of one matrix.
template <typename Word>
class Compressor {
public:
  Compressor(const DenseView &dense, const Pattern &pattern, Word *values,
             uint8_t *indices)
      : pattern(pattern), scan(dense, pattern), values(values),
        indices(indices), mask(nonZeroMask<Word>(dense.type)),
        valueStride(pattern.paddedColumns(dense.n)),
        indexStride(pattern.blockColumns(dense.n)),
        occupied(pattern.m * scan.sliceBlocks()), counts(scan.sliceBlocks()),
        // One row more than units: the slot after the last kept unit is
        // written, too, so that the loop needs no branch.
        positions((pattern.m + 1) * scan.sliceBlocks()), table(pattern),
        bits(scan.sliceBlocks()) {}

  /// Whether every window obeyed the pattern.
  bool run() {
    bool holds = true;
    scan.forEach([&](const WindowSlice<Word> &slice) {
      holds = holds && compress(slice);
    });
    return holds;
  }

private:
  bool compress(const WindowSlice<Word> &slice) {
    findOccupied(slice, pattern, mask, occupied.data());
    countOccupied(occupied.data(), slice.units, slice.blocks, counts.data());
    for (int64_t b = 0; b < slice.blocks; ++b)
      if (counts[b] > pattern.n)
        return false;
    choosePositions(slice.units, slice.blocks);
    copyUnits(slice);
    return true;
  }

  /// positions[s * blocks + b] = the unit in slot s: the occupied ones and the
  /// lowest others, ascending.
  void choosePositions(int64_t units, int64_t blocks) {
    if (table.has(units)) {
      std::fill_n(bits.begin(), blocks, uint8_t(0));
      for (int64_t u = 0; u < units; ++u)
        for (int64_t b = 0; b < blocks; ++b)
          bits[b] |= static_cast<uint8_t>(occupied[u * blocks + b] << u);
      table.choose(bits.data(), blocks, positions.data());
      return;
    }
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t fillers = pattern.n - counts[b];
      int64_t slot = 0;
      for (int64_t u = 0; u < units; ++u) {
        bool filled = occupied[u * blocks + b];
        bool kept = filled | (fillers > 0);
        positions[slot * blocks + b] = static_cast<uint8_t>(u);
        fillers -= kept & !filled;
        slot += kept;
      }
    }
    // A last window of fewer than N units keeps them all, and then the first
    // that lie beyond k.
    for (int64_t s = units; s < pattern.n; ++s)
      std::fill_n(positions.begin() + s * blocks, blocks,
                  static_cast<uint8_t>(s));
  }

  void copyUnits(const WindowSlice<Word> &slice) {
    for (int64_t s = 0; s < pattern.n; ++s) {
      const uint8_t *slot = positions.data() + s * slice.blocks;
      int64_t unitRow = slice.window * pattern.n + s;
      std::copy_n(slot, slice.blocks,
                  indices + unitRow * indexStride + slice.firstBlock);
      Word *to = values + unitRow * pattern.bk * valueStride +
                 slice.firstBlock * pattern.bn;
      for (int64_t r = 0; r < pattern.bk; ++r, to += valueStride) {
        if (s < slice.units)
          copyRow(slice, slot, r, to);
        else
          std::fill_n(to, slice.blocks * pattern.bn, Word(0));
      }
    }
  }

  /// Copies row `r` of the unit slot[b] of every block column b.
  void copyRow(const WindowSlice<Word> &slice, const uint8_t *slot, int64_t r,
               Word *to) const {
    const Word *from = slice.rows + r * slice.rowStride;
    int64_t unitStride = pattern.bk * slice.rowStride;
    if (pattern.bn == 1) {
      for (int64_t b = 0; b < slice.blocks; ++b)
        to[b] = canonical(from[slot[b] * unitStride + b]);
      return;
    }
    for (int64_t b = 0; b < slice.blocks; ++b) {
      const Word *unit = from + slot[b] * unitStride + b * pattern.bn;
      for (int64_t c = 0; c < pattern.bn; ++c)
        to[b * pattern.bn + c] = canonical(unit[c]);
    }
  }

  /// Zeros are stored as +0.0: a filler may stand on a -0.0, and a filler's
  /// value is zero bits.
  Word canonical(Word word) const { return word & mask ? word : Word(0); }

  Pattern pattern;
  WindowScan<Word> scan;
  Word *values;
  uint8_t *indices;
  Word mask;
  int64_t valueStride;
  int64_t indexStride;
  std::vector<uint8_t> occupied;
  std::vector<uint16_t> counts;
  std::vector<uint8_t> positions;
  SlotTable table;
  std::vector<uint8_t> bits;
};
} // namespace

Status nm::compress(const DenseView &dense, const Pattern &pattern,
                    std::string_view name, void *values, uint8_t *indices) {
  if (Status status = pattern.verify(); !status)
    return status;
  if (pattern.isUnstructured())
    return compressUnstructured(dense, pattern, name, values, indices);
  bool holds = dispatchWord(dense.type, [&](auto word) {
    using Word = decltype(word);
    return Compressor<Word>(dense, pattern, static_cast<Word *>(values),
                            indices)
        .run();
  });
  if (holds)
    return Status::success();
  // The walk above stops at the first violation in memory order; the report
  // counts all and names the first in matrix order.
  return Error{checkPattern(dense, pattern).describe(name)};
}

template <typename Word>
static void decompressWords(const CondensedView &from, Word *dense,
                            int64_t strideK, int64_t strideN) {
  const Pattern &pattern = from.pattern;
  bool kInner = std::llabs(strideK) < std::llabs(strideN);
  int64_t outer = kInner ? from.n : from.k, inner = kInner ? from.k : from.n;
  int64_t outerStride = kInner ? strideN : strideK;
  int64_t innerStride = kInner ? strideK : strideN;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j)
      dense[i * outerStride + j * innerStride] = 0;

  const Word *values = static_cast<const Word *>(from.values);
  int64_t blocks = pattern.blockColumns(from.n);
  int64_t columns = pattern.paddedColumns(from.n);
  for (int64_t unit = 0; unit < pattern.unitRows(from.k); ++unit) {
    int64_t windowBegin = unit / pattern.n * pattern.windowRows();
    for (int64_t r = 0; r < pattern.bk; ++r) {
      const Word *row = values + (unit * pattern.bk + r) * columns;
      for (int64_t c = 0; c < from.n; ++c) {
        int64_t position = from.indices[unit * blocks + c / pattern.bn];
        int64_t k = windowBegin + position * pattern.bk + r;
        if (k < from.k)
          dense[k * strideK + c * strideN] = row[c];
      }
    }
  }
}

void nm::decompress(const CondensedView &from, void *dense, int64_t strideK,
                    int64_t strideN) {
  if (from.pattern.isUnstructured())
    return decompressUnstructured(from, dense, strideK, strideN);
  dispatchWord(from.type, [&](auto word) {
    using Word = decltype(word);
    decompressWords(from, static_cast<Word *>(dense), strideK, strideN);
  });
}

/// What is wrong with the index at (row, block), or nothing.
static std::string indexFault(const uint8_t *indices, const Pattern &pattern,
                              int64_t blocks, int64_t row, int64_t block) {
  int64_t index = indices[row * blocks + block];
  if (index >= pattern.m)
    return "expected a position in its window, 0.." +
           std::to_string(pattern.m - 1) + ", but got " + std::to_string(index);
  if (row % pattern.n == 0)
    return {};
  int64_t before = indices[(row - 1) * blocks + block];
  if (index > before)
    return {};
  std::string got =
      index == before ? "got it again" : "got " + std::to_string(index);
  return "expected a position above the " + std::to_string(before) +
         " before it in its window, but " + got;
}

Status nm::verifyIndices(const uint8_t *indices, const Pattern &pattern,
                         int64_t k, int64_t n, std::string_view name) {
  if (pattern.isUnstructured())
    return verifyBitmap(indices, pattern, k, n, name);
  int64_t blocks = pattern.blockColumns(n);
  for (int64_t row = 0; row < pattern.unitRows(k); ++row) {
    const uint8_t *now = indices + row * blocks;
    bool first = row % pattern.n == 0;
    const uint8_t *before = first ? now : now - blocks;
    bool bad = false;
    for (int64_t b = 0; b < blocks; ++b)
      bad |= (now[b] >= pattern.m) | (!first & (now[b] <= before[b]));
    if (!bad)
      continue;
    for (int64_t b = 0; b < blocks; ++b) {
      std::string fault = indexFault(indices, pattern, blocks, row, b);
      if (fault.empty())
        continue;
      int64_t kBegin = row / pattern.n * pattern.windowRows();
      int64_t kEnd = std::min(k, kBegin + pattern.windowRows());
      return Error{"index [" + std::to_string(row) + ", " + std::to_string(b) +
                   "] of '" + std::string(name) + "' (k " +
                   std::to_string(kBegin) + ".." + std::to_string(kEnd - 1) +
                   "): " + fault};
    }
  }
  return Status::success();
}
