//===- WindowShape.h - What a thread makes of windows -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_WINDOWSHAPE_H
#define NM_LIB_GPU_WINDOWS_WINDOWSHAPE_H

#include "GPU/Windows/WindowOp.h"

namespace mlir::nm {

/// Neighbours that a thread makes, along the output's last dimension.
struct WindowShape {
  /// The loop of that dimension.
  unsigned loop = 0;
  /// How many elements of the output a thread makes.
  int64_t width = 1;
  /// Whether these are neighbours in the inputs, too, as channels that are last
  /// are: a thread computes vectors. Otherwise their windows overlap or lie
  /// side by side, and it computes one element after the other.
  bool hasVectors = false;
  /// Elements of each input that a thread loads at once, where they are
  /// neighbours along its last dimension.
  SmallVector<int64_t> groups;
};

WindowShape chooseShape(const WindowOp &window);

/// Whether neighbours along `loop` are neighbours along the last dimension of
/// `operand`, and along no other one.
bool isAlongLast(const WindowOperand &operand, unsigned loop);

/// Whether `operand` has elements of one access for those that a thread makes.
bool loadsVector(const WindowOp &window, const WindowOperand &operand,
                 const WindowShape &shape);

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWSHAPE_H
