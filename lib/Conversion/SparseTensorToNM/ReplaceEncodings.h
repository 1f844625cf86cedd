//===- ReplaceEncodings.h - One encoding for another, all over --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_SPARSETENSORTONM_REPLACEENCODINGS_H
#define NM_LIB_CONVERSION_SPARSETENSORTONM_REPLACEENCODINGS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// The encoding that the type of a tensor gets; null where it stays as it is,
/// and a failure, after an error, where it may not.
using ReplaceEncoding = llvm::function_ref<FailureOr<Attribute>(
    RankedTensorType type, llvm::function_ref<InFlightDiagnostic()> emitError)>;

/// Replaces encodings in the types of `root` and of all inside: of values,
/// functions and attributes. An error is at the first op with a type that may
/// not stay.
LogicalResult replaceEncodings(Operation *root, ReplaceEncoding replace);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_SPARSETENSORTONM_REPLACEENCODINGS_H
