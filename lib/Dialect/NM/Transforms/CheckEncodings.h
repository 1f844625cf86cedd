//===- CheckEncodings.h - Encodings that must be gone -----------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_CHECKENCODINGS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_CHECKENCODINGS_H

#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// Fails, with an error at the op, if a type under `root` matches `isLeft`.
/// `phase` completes "expected no tensor encoding to be left ...".
LogicalResult verifyNoEncodings(Operation *root, StringRef phase,
                                function_ref<bool(Attribute)> isLeft);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_CHECKENCODINGS_H
