//===- SharedWindows.h - Windows that threads share -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_SHAREDWINDOWS_H
#define NM_LIB_GPU_WINDOWS_SHAREDWINDOWS_H

#include "GPU/Windows/WindowShape.h"

namespace mlir::nm {

/// How threads share windows of many elements.
struct SharedShape {
  /// The elements that a thread has parts of.
  WindowShape thread;
  /// Threads of each, a power of two.
  int64_t shares = 1;
  /// Whether neighbouring threads have neighbouring elements of a window, as
  /// along a row; otherwise they have neighbouring places, as along channels
  /// that are last.
  bool isAlongTaps = false;
};

/// None where threads would not read neighbours, or parts of a window cannot be
/// combined in any order, or it has too few elements.
std::optional<SharedShape> chooseSharedShape(const WindowOp &window);

/// Launches `shape.shares` threads for each `shape.thread.width` elements of
/// the output.
void launchSharedWindows(OpBuilder &builder, const WindowOp &window,
                         const SharedShape &shape);

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_SHAREDWINDOWS_H
