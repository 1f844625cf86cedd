//===- PartialSums.h - Parts of k that several sum --------------*- C++ -*-===//
//
// What PartialReductionOpInterface of the products is made of, for passes that
// cut k into parts on their own terms.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_PARTIALSUMS_H
#define NM_DIALECT_NM_IR_PARTIALSUMS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The product of a tile of `op`'s iteration domain, on tensors, added to
/// `sums` in place of C. An epilogue is left out: it takes whole sums.
FailureOr<SparseProductOpInterface>
tilePartialProduct(OpBuilder &builder, SparseProductOpInterface op,
                   ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                   Value sums);

/// The slice `region` of partial sums, without the dimension of parts.
Value createSliceOfPart(OpBuilder &builder, Location loc, Value partials,
                        const SliceRegion &region);

/// What `op`, on tensors, makes of the sums of all parts of k: nm.combine, and
/// behind it a linalg.generic where `op` has an epilogue.
MergeResult mergePartialSums(OpBuilder &builder, SparseProductOpInterface op,
                             Value partials);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_PARTIALSUMS_H
