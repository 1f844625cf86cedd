//===- PixelTensor.h - Images that tensor copies read -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_PIXELTENSOR_H
#define NM_LIB_GPU_COPIES_PIXELTENSOR_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

namespace mlir::nm {

/// The image of patches [m x k] whose rows tensor copies take from it, in PTX's
/// im2col mode: boxes of places one after another, and of neighbouring channels
/// of one tap.
class PixelTensor {
public:
  /// The image that `tensor` are patches of; none where tensor copies of
  /// `channels` have no such image, or `tensor` is in memory.
  static std::optional<PixelTensor> find(Value tensor, int64_t channels);

  /// The map of boxes of `places` and `channels`, at the builder's insertion
  /// point.
  Value createMap(OpBuilder &builder, Location loc, int64_t places,
                  int64_t channels, bool isSwizzled);

  /// The operands of a copy of a box, the innermost first: i32 and i16.
  struct Operands {
    SmallVector<Value> coordinates, offsets;
  };
  /// The operands of the copy of a box whose first element is at `at` of the
  /// patches.
  Operands locate(ThreadEmitter &emitter, ArrayRef<Value> at);

private:
  PixelTensor(PatchesOp patches, PixelBoxes boxes)
      : patches(patches), boxes(std::move(boxes)) {}
  SmallVector<Value> splitByLoops(ThreadEmitter &emitter, ArrayRef<Value> at);

  PatchesOp patches;
  PixelBoxes boxes;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_PIXELTENSOR_H
