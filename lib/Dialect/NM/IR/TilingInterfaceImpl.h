//===- TilingInterfaceImpl.h - Tiling that ops have in common ---*- C++ -*-===//
//
// What the TilingInterface methods that NMOps.td defines for whole classes of
// ops are made of.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_DIALECT_NM_IR_TILINGINTERFACEIMPL_H
#define NM_LIB_DIALECT_NM_IR_TILINGINTERFACEIMPL_H

#include "StorageTiling.h"

namespace mlir::nm::detail {

/// The iteration domain of a product: (batch..., m, n, k), or (n, k).
SmallVector<Range> getProductDomain(SparseProductOpInterface op,
                                    OpBuilder &builder);
SmallVector<utils::IteratorType>
getProductIteratorTypes(SparseProductOpInterface op);

/// The product that makes `tile` of the iteration domain.
FailureOr<TilingResult> tileProduct(SparseProductOpInterface op,
                                    OpBuilder &builder,
                                    const SliceRegion &tile);

/// The part of C that `tile` of the iteration domain writes.
SliceRegion getProductRegionOfC(SparseProductOpInterface op,
                                const SliceRegion &tile);

/// The tile of the iteration domain that makes the region of C given; it spans
/// the whole of k.
SliceRegion getProductTileOfC(SparseProductOpInterface op, OpBuilder &builder,
                              const SliceRegion &region);

/// The tile of the iteration domain that uses all of the tiles of operands that
/// are given. Fails where these do not go together, are of the weights, whose
/// elements are no places in the domain, or have a part of k: sums of it would
/// be stored, and not added.
FailureOr<SliceRegion>
getProductTileOfOperands(SparseProductOpInterface op, OpBuilder &builder,
                         ArrayRef<unsigned> operands,
                         ArrayRef<SmallVector<OpFoldResult>> offsets,
                         ArrayRef<SmallVector<OpFoldResult>> sizes);

/// Zeros for `sizes` parts of k, one dimension in front of C's; what
/// PartialReductionOpInterface starts from. Emits an error unless
/// `reductionDims` is k.
FailureOr<Value>
createPartialSums(SparseProductOpInterface op, OpBuilder &builder,
                  ArrayRef<OpFoldResult> sizes,
                  const llvm::SetVector<unsigned> &reductionDims);

/// Where the sums of `part`, of `tile` of the iteration domain, lie in these.
SliceRegion getRegionOfPart(SparseProductOpInterface op, OpBuilder &builder,
                            const SliceRegion &tile, OpFoldResult part);

/// The product of `tile`, all of whose k is of `part`, added to the part's sums
/// in `partials`.
FailureOr<TilingResult>
tileToPart(SparseProductOpInterface op, OpBuilder &builder,
           ReductionTilingStrategy strategy, ValueRange partials,
           const SliceRegion &tile,
           const llvm::SetVector<unsigned> &reductionDims, OpFoldResult part);

/// The iteration domain of a format op: (k, n) of its dense matrix, whose
/// dimension `kDim` is k.
SmallVector<Range> getDenseDomain(OpBuilder &builder, Location loc, Value dense,
                                  int64_t kDim);

/// A region of (k, n) as one of a dense matrix whose dimension `kDim` is k, and
/// the other way round.
SliceRegion swapUnlessKFirst(const SliceRegion &region, int64_t kDim);

} // namespace mlir::nm::detail

#endif // NM_LIB_DIALECT_NM_IR_TILINGINTERFACEIMPL_H
