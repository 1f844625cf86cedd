//===- EarlyStarts.h - What nm-overlap-kernels looks for --------*- C++ -*-===//

#ifndef NM_TRANSFORMS_EARLYSTARTS_H
#define NM_TRANSFORMS_EARLYSTARTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::nm {

/// On a load of a constant, which no kernel writes: the load may stand before
/// the wait for the kernel before.
inline constexpr llvm::StringLiteral kEarlyLoad("nm.early_load");

/// On an op of a kernel that takes little longer than a launch, so that an
/// early start gains whatever the number of its blocks, up to one for each
/// multiprocessor.
inline constexpr llvm::StringLiteral kShortKernel("nm.short_kernel");

} // namespace mlir::nm

#endif // NM_TRANSFORMS_EARLYSTARTS_H
