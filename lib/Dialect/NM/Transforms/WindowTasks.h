//===- WindowTasks.h - Tasks of windows and of what follows -----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_WINDOWTASKS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_WINDOWTASKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// The op, element by element, that alone uses what `windows` combines, as a
/// depthwise convolution's batch normalization; null where there is none.
linalg::GenericOp findEpilogueOfWindows(linalg::GenericOp windows);

/// Makes the slice that `tile`, a tile of an epilogue, takes of `windows` next
/// to it, in memory of its own: with what it begins with, and with the padding
/// around its image. Returns the windows of the tile, or null if `tile` takes
/// no slice.
FailureOr<linalg::GenericOp> makeWindowsOfTile(RewriterBase &rewriter,
                                               linalg::GenericOp windows,
                                               Operation *tile);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_WINDOWTASKS_H
