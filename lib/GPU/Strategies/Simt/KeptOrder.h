//===- KeptOrder.h - The order of a tile's kept rows ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_KEPTORDER_H
#define NM_LIB_GPU_STRATEGIES_SIMT_KEPTORDER_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Format/Pattern.h"

namespace mlir::nm {

/// Which 16 of a tile's kept rows each product by tensor cores takes, and in
/// which order: sums take rows in any.
///
/// A tile of 8 windows, or a multiple of them, is `spread`: each eight rows
/// that ldmatrix reads together are of eight windows, which the swizzle of A's
/// tile keeps in different banks. Place k of a square then has window (k % 8) /
/// 2 + 4 (k % 2) of eight, and of that kept row 2 * square + k / 8. In other
/// tiles squares take rows as they follow one another.
class KeptOrder {
public:
  KeptOrder(const ::nm::Pattern &pattern, int64_t windows)
      : pattern(pattern), windows(windows) {}

  /// Makes this the order of the part of the tile that starts at window
  /// `first`, an i32.
  void startAt(Value first) { firstWindow = first; }
  /// The number in the tile of window `number`.
  Value inTile(ThreadEmitter &emitter, Value number) const {
    return firstWindow ? emitter.add(firstWindow, number) : number;
  }

  static constexpr int64_t kWindows = 8, kSquare = 16;

  bool isSpread() const { return windows % kWindows == 0; }
  int64_t squares() const {
    return isSpread() ? windows / kWindows * squaresOfWindows()
                      : llvm::divideCeil(keptRows(), kSquare);
  }
  /// The squares of eight windows.
  int64_t squaresOfWindows() const {
    return llvm::divideCeil(pattern.keptRows(), 2);
  }
  int64_t keptRows() const { return windows * pattern.keptRows(); }
  /// The places of a square that have rows: the first ones.
  int64_t rowsOfSquare(int64_t square) const;

  /// A kept row: its window, and its number there; both i32.
  struct Row {
    Value window, number;
  };
  /// The row at place `k`, an i32, of a square, or another where it has none,
  /// with its window in the tile.
  Row findRow(ThreadEmitter &emitter, Value k, int64_t square) const;

private:
  ::nm::Pattern pattern;
  /// The number of windows of the tile, or of the part.
  int64_t windows;
  Value firstWindow;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_KEPTORDER_H
