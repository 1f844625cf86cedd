//===- WindowOp.h - Reductions of windows -----------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_WINDOWOP_H
#define NM_LIB_GPU_WINDOWS_WINDOWOP_H

#include "GPU/Windows/PaddedImage.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <vector>

namespace mlir::nm {

/// How an op accesses a memref: each index is a sum of multiples of the op's
/// loops and of a constant. Of a padded image it is that in the image, which
/// does not have all indices.
struct WindowOperand {
  /// A memref, or a scalar.
  Value value;
  bool isRead = false;
  /// The memref's dimensions that have more than one index.
  SmallVector<int64_t> dims;
  /// For each of these, the multiple of each loop, and the constant.
  SmallVector<SmallVector<int64_t>> factors;
  SmallVector<int64_t> constants;
  /// Elements between neighbours along each dimension.
  SmallVector<int64_t> strides;
  /// The image that a padded one is a copy of.
  std::optional<PaddedImage> padded;

  bool isMemref() const { return isa<MemRefType>(value.getType()); }
  MemRefType getType() const { return cast<MemRefType>(value.getType()); }
  int64_t getRank() const { return dims.size(); }
  int64_t getSize(int64_t dim) const { return getType().getDimSize(dims[dim]); }
  bool hasBorder(int64_t dim) const {
    return padded && padded->hasBorder[dims[dim]];
  }
  /// Whether some index depends on `loop`.
  bool dependsOn(unsigned loop) const;
};

/// An elementwise op that alone reads what an op makes of windows; its operands
/// are of the loops over places.
struct WindowEpilogue {
  linalg::LinalgOp op;
  std::vector<WindowOperand> inputs;
  /// The input that is what the op before has made.
  unsigned result = 0;
  WindowOperand output;
  /// What frees memory that the op before reads, in front of this one.
  SmallVector<Operation *> deallocs;

  Block &getBody() const { return *linalg::LinalgOp(op).getBlock(); }
};

/// A linalg op on memrefs that reduces a window of elements for each place: a
/// pool, or a convolution of each channel by itself.
struct WindowOp {
  linalg::LinalgOp op;
  /// The sizes of the loops, or ShapedType::kDynamic.
  SmallVector<int64_t> sizes;
  /// The loops over places that are several, in the order of the output's
  /// dimensions, and those over a window.
  SmallVector<unsigned> places, taps;
  std::vector<WindowOperand> inputs;
  WindowOperand output;
  /// Combines the output with what the op makes of one element of a window,
  /// where parts of a window may be combined in any order; else null.
  Operation *combiner = nullptr;
  /// What fills the output right before.
  std::optional<MemoryFill> fill;
  std::optional<WindowEpilogue> epilogue;

  static std::optional<WindowOp> get(linalg::LinalgOp op);

  /// Whether windows are side by side, or overlap: an index is that of a place
  /// and that in a window.
  bool hasWindows() const;
  /// Has inputs that are padded read from their images.
  void readImages();
  /// Takes the elementwise op behind, if it may run in the same kernel.
  void takeEpilogue();
  /// What the kernel writes.
  const WindowOperand &getStored() const {
    return epilogue ? epilogue->output : output;
  }
  /// The op in whose place the kernel runs.
  Operation *getLast() const {
    linalg::LinalgOp last = epilogue ? epilogue->op : op;
    return last;
  }
  Block &getBody() const { return *linalg::LinalgOp(op).getBlock(); }
  /// Whether the body reads indices of loops.
  bool readsIndices() const { return linalg::LinalgOp(op).hasIndexSemantics(); }
  /// How many elements a window has.
  int64_t countTaps() const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWOP_H
