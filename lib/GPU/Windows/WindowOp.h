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
  /// For each dimension, the multiple of each loop, and the constant.
  SmallVector<SmallVector<int64_t>> factors;
  SmallVector<int64_t> constants;
  /// Elements between neighbours along each dimension.
  SmallVector<int64_t> strides;
  /// The image that a padded one is a copy of.
  std::optional<PaddedImage> padded;

  bool isMemref() const { return isa<MemRefType>(value.getType()); }
  MemRefType getType() const { return cast<MemRefType>(value.getType()); }
  int64_t getRank() const { return getType().getRank(); }
  bool hasBorder(int64_t dim) const { return padded && padded->hasBorder[dim]; }
  /// Whether some index depends on `loop`.
  bool dependsOn(unsigned loop) const;
};

/// A linalg op on memrefs that reduces a window of few elements around each
/// place: a pool, or a convolution of each channel by itself.
struct WindowOp {
  linalg::LinalgOp op;
  /// The sizes of the loops, or ShapedType::kDynamic.
  SmallVector<int64_t> sizes;
  /// The loops over places, in the order of the output's dimensions, and those
  /// over a window.
  SmallVector<unsigned> places, taps;
  std::vector<WindowOperand> inputs;
  WindowOperand output;
  /// What fills the output right before.
  std::optional<MemoryFill> fill;

  static std::optional<WindowOp> get(linalg::LinalgOp op);

  /// Has inputs that are padded read from their images.
  void readImages();
  Block &getBody() const { return *linalg::LinalgOp(op).getBlock(); }
  /// How many elements a window has.
  int64_t countTaps() const;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWOP_H
