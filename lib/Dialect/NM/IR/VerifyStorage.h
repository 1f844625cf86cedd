//===- VerifyStorage.h - Checks shared by the ops' verifiers ----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_VERIFYSTORAGE_H
#define NM_LIB_DIALECT_NM_IR_VERIFYSTORAGE_H

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Support/Error.h"

namespace mlir::nm {

/// Checks that `type` has `expected` as its shape wherever both are static.
LogicalResult verifyShape(Operation *op, StringRef name, ShapedType type,
                          ArrayRef<int64_t> expected);

/// Checks that there are `lists` where a packed form has the `expected` shape
/// for them, and that they have it, and none where that is empty.
LogicalResult verifyLists(Operation *op, PackedFormAttrInterface form,
                          Value lists, ArrayRef<int64_t> expected);

/// Checks that k and n, where known, are no larger than the format can be.
LogicalResult verifyMatrixSize(function_ref<InFlightDiagnostic()> emitError,
                               int64_t k, int64_t n);

/// Checks that no size of `type` is larger than a matrix's can be.
LogicalResult verifySizeLimits(Operation *op, StringRef name, ShapedType type);

/// Checks that all operands are tensors, with one result of its type for each
/// destination, or that all are memrefs of strided layouts, with no results.
LogicalResult verifyTensorsOrMemRefs(Operation *op);

/// Memory effects of a destination-style op on memrefs: it reads its inputs
/// and writes its destinations; with `accumulates`, it reads those too.
void getDestinationStyleEffects(
    DestinationStyleOpInterface op, bool accumulates,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects);

/// The sizes of each destination of `op`, as its results have them.
LogicalResult reifyDestinations(OpBuilder &builder,
                                DestinationStyleOpInterface op,
                                ReifiedRankedShapedTypeDims &shapes);

/// Fails unless `elementType` is one that weights have, and `verify` says that
/// a packed form holds weights of this type.
LogicalResult
verifyWeightType(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                 function_ref<::nm::Status(::nm::ElementType)> verify);

/// Checks that weights of packed form `form`, which names the row of each, have
/// pattern 1:1 in units of one weight.
LogicalResult verifySingleWeights(function_ref<InFlightDiagnostic()> emitError,
                                  Attribute form, const ::nm::Pattern &pattern);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_VERIFYSTORAGE_H
