//===- WindowScan.h - Walks a matrix window by window -----------*- C++ -*-===//
//
// Internal to lib/Format: checking, compressing and pruning all look at every
// window of every block column. The walk follows the memory order, and hands
// out each window with its columns contiguous. Ragged units are filled up with
// zeros; units wholly beyond k are left out, so that a window much larger than
// the matrix costs no memory.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_FORMAT_WINDOWSCAN_H
#define NM_LIB_FORMAT_WINDOWSCAN_H

#include "nm/Format/Condensed.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace nm::detail {

/// Some block columns of one window.
template <typename Word>
struct WindowSlice {
  /// Element (r, c) of the slice is at rows[r * rowStride + c].
  const Word *rows;
  int64_t rowStride;
  /// Units of the window that begin within k; M in all but the last window.
  int64_t units;
  int64_t window;
  int64_t firstBlock;
  int64_t blocks;
};

/// The bits of a word that tell it from zero: all but a float's sign.
template <typename Word>
Word nonZeroMask(ElementType type) {
  Word all = static_cast<Word>(~Word(0));
  return isFloat(type) ? static_cast<Word>(all >> 1) : all;
}

/// Calls `fn` with a zero of the unsigned integer as wide as `type`.
template <typename Fn>
auto dispatchWord(ElementType type, Fn fn) {
  switch (elementSize(type)) {
  case 1:
    return fn(uint8_t(0));
  case 2:
    return fn(uint16_t(0));
  case 4:
    return fn(uint32_t(0));
  default:
    return fn(uint64_t(0));
  }
}

/// Walks the windows of one dense matrix.
template <typename Word>
class WindowScan {
public:
  WindowScan(const DenseView &dense, const Pattern &pattern)
      : dense(dense), pattern(pattern), windowCount(pattern.windows(dense.k)),
        blockCount(pattern.blockColumns(dense.n)) {}

  /// The most block columns that a slice has.
  int64_t sliceBlocks() const {
    return std::max<int64_t>(1, kSliceColumns / pattern.bn);
  }

  /// Calls `fn(const WindowSlice<Word> &)` for every window and all its block
  /// columns.
  template <typename Fn>
  void forEach(Fn fn) {
    // Several windows are copied at once so that a walk over k-contiguous
    // memory uses whole cache lines.
    int64_t strip = std::max<int64_t>(1, kStripRows / pattern.windowRows());
    int64_t blockStep = sliceBlocks();
    if (std::llabs(dense.strideN) <= std::llabs(dense.strideK)) {
      for (int64_t w = 0; w < windowCount; w += strip)
        for (int64_t b = 0; b < blockCount; b += blockStep)
          visitStrip(w, std::min(strip, windowCount - w), b,
                     std::min(blockStep, blockCount - b), fn);
      return;
    }
    for (int64_t b = 0; b < blockCount; b += blockStep)
      for (int64_t w = 0; w < windowCount; w += strip)
        visitStrip(w, std::min(strip, windowCount - w), b,
                   std::min(blockStep, blockCount - b), fn);
  }

private:
  static constexpr int64_t kSliceColumns = 64;
  static constexpr int64_t kStripRows = 64;

  template <typename Fn>
  void visitStrip(int64_t window, int64_t windows, int64_t block,
                  int64_t blocks, Fn &fn) {
    int64_t rowBegin = window * pattern.windowRows();
    int64_t insideRows =
        std::min(windows * pattern.windowRows(), dense.k - rowBegin);
    int64_t units = (insideRows + pattern.bk - 1) / pattern.bk;
    int64_t rows = units * pattern.bk;
    int64_t colBegin = block * pattern.bn;
    int64_t cols = blocks * pattern.bn;
    int64_t insideCols = std::min(cols, dense.n - colBegin);
    const Word *data = static_cast<const Word *>(dense.data) +
                       rowBegin * dense.strideK + colBegin * dense.strideN;
    int64_t stride = dense.strideK;
    bool ragged = insideRows < rows || insideCols < cols;
    if (ragged || dense.strideN != 1) {
      scratch.resize(std::max<size_t>(scratch.size(), rows * cols));
      if (ragged)
        std::fill_n(scratch.begin(), rows * cols, Word(0));
      copyTo(scratch.data(), cols, data, insideRows, insideCols);
      data = scratch.data();
      stride = cols;
    }
    for (int64_t i = 0; i < windows; ++i)
      fn(WindowSlice<Word>{data + i * pattern.windowRows() * stride, stride,
                           std::min(pattern.m, units - i * pattern.m),
                           window + i, block, blocks});
  }

  void copyTo(Word *to, int64_t stride, const Word *from, int64_t rows,
              int64_t cols) const {
    for (int64_t c = 0; c < cols; ++c)
      for (int64_t r = 0; r < rows; ++r)
        to[r * stride + c] = from[r * dense.strideK + c * dense.strideN];
  }

  DenseView dense;
  Pattern pattern;
  int64_t windowCount;
  int64_t blockCount;
  std::vector<Word> scratch;
};

/// Writes occupied[u * slice.blocks + b] = 1 where unit u < slice.units of
/// block column b of the slice has a non-zero element, else 0.
template <typename Word>
void findOccupied(const WindowSlice<Word> &slice, const Pattern &pattern,
                  Word mask, uint8_t *occupied) {
  if (pattern.bk == 1 && pattern.bn == 1) {
    for (int64_t u = 0; u < slice.units; ++u) {
      const Word *row = slice.rows + u * slice.rowStride;
      uint8_t *out = occupied + u * slice.blocks;
      for (int64_t c = 0; c < slice.blocks; ++c)
        out[c] = (row[c] & mask) != 0;
    }
    return;
  }
  for (int64_t u = 0; u < slice.units; ++u)
    for (int64_t b = 0; b < slice.blocks; ++b) {
      const Word *unit =
          slice.rows + u * pattern.bk * slice.rowStride + b * pattern.bn;
      Word any = 0;
      for (int64_t r = 0; r < pattern.bk; ++r)
        for (int64_t c = 0; c < pattern.bn; ++c)
          any |= unit[r * slice.rowStride + c];
      occupied[u * slice.blocks + b] = (any & mask) != 0;
    }
}

/// Writes counts[b] = the non-zero units of block column b among `units`.
inline void countOccupied(const uint8_t *occupied, int64_t units,
                          int64_t blocks, uint16_t *counts) {
  std::fill_n(counts, blocks, uint16_t(0));
  for (int64_t u = 0; u < units; ++u)
    for (int64_t b = 0; b < blocks; ++b)
      counts[b] += occupied[u * blocks + b];
}

} // namespace nm::detail

#endif // NM_LIB_FORMAT_WINDOWSCAN_H
