//===- FormatTiling.cpp - TilingInterface of the format ops ---------------===//
//
// nm.compress, nm.decompress and nm.prune iterate over (k, n) of the dense
// matrix, in parallel, by whole windows and units.
//
//===----------------------------------------------------------------------===//

#include "TilingInterfaceImpl.h"

#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::nm;
using namespace mlir::nm::detail;

SmallVector<Range> mlir::nm::detail::getDenseDomain(OpBuilder &builder,
                                                    Location loc, Value dense,
                                                    int64_t kDim) {
  SmallVector<Range> domain;
  for (int64_t dim : {kDim, 1 - kDim})
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, loc, dense, dim),
                      builder.getIndexAttr(1)});
  return domain;
}

SliceRegion mlir::nm::detail::swapUnlessKFirst(const SliceRegion &region,
                                               int64_t kDim) {
  SliceRegion swapped = region;
  if (kDim == 1) {
    std::swap(swapped.offsets[0], swapped.offsets[1]);
    std::swap(swapped.sizes[0], swapped.sizes[1]);
  }
  return swapped;
}

/// A clone of `op` on one slice per operand.
static TilingResult cloneOnSlices(DestinationStyleOpInterface op,
                                  OpBuilder &builder,
                                  ArrayRef<SliceRegion> regions) {
  SmallVector<Operation *> slices;
  SmallVector<Value> operands;
  for (auto [operand, region] : llvm::zip(op->getOperands(), regions)) {
    slices.push_back(createSlice(builder, op.getLoc(), operand, region));
    operands.push_back(slices.back()->getResult(0));
  }
  SmallVector<Type> resultTypes;
  if (op->getNumResults())
    for (OpOperand &init : op.getDpsInitsMutable())
      resultTypes.push_back(operands[init.getOperandNumber()].getType());
  Operation *tiled = clone(builder, op, resultTypes, operands);
  return {{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

/// Where the condensed form of `tile` of (k, n) lies; fails, with an error, if
/// weights cannot be cut there.
template <typename OpTy>
static FailureOr<StorageRegion> getTileStorage(OpTy op, OpBuilder &builder,
                                               const SliceRegion &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  if (failed(verifyTileOffsets(op, pattern, /*form=*/{}, tile.offsets[0],
                               tile.offsets[1])))
    return failure();
  return getStorageRegion(builder, op.getLoc(), pattern, /*form=*/{},
                          {tile.offsets[0], tile.sizes[0]},
                          {tile.offsets[1], tile.sizes[1]});
}

//===----------------------------------------------------------------------===//
// nm.compress
//===----------------------------------------------------------------------===//

FailureOr<TilingResult>
CompressOp::getTiledImplementation(OpBuilder &builder,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  SliceRegion tile{llvm::to_vector(offsets), llvm::to_vector(sizes)};
  FailureOr<StorageRegion> storage = getTileStorage(*this, builder, tile);
  if (failed(storage))
    return failure();
  return cloneOnSlices(
      *this, builder,
      {swapUnlessKFirst(tile, getDim()), storage->values, storage->indices});
}

LogicalResult CompressOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  FailureOr<StorageRegion> storage = getTileStorage(
      *this, builder, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
  if (failed(storage))
    return failure();
  const SliceRegion &region =
      resultNumber == 0 ? storage->values : storage->indices;
  resultOffsets = region.offsets;
  resultSizes = region.sizes;
  return success();
}

FailureOr<TilingResult> CompressOp::generateResultTileValue(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult>, ArrayRef<OpFoldResult>) {
  // One tile of the values needs a tile of the indices beside it, which a
  // consumer of one result cannot ask for.
  return failure();
}

//===----------------------------------------------------------------------===//
// nm.decompress and nm.prune
//===----------------------------------------------------------------------===//

FailureOr<TilingResult>
DecompressOp::getTiledImplementation(OpBuilder &builder,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  SliceRegion tile{llvm::to_vector(offsets), llvm::to_vector(sizes)};
  FailureOr<StorageRegion> storage = getTileStorage(*this, builder, tile);
  if (failed(storage))
    return failure();
  return cloneOnSlices(
      *this, builder,
      {storage->values, storage->indices, swapUnlessKFirst(tile, getDim())});
}

FailureOr<TilingResult>
PruneOp::getTiledImplementation(OpBuilder &builder,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  if (failed(verifyTileOffsets(*this, getPattern().getPattern(),
                               /*form=*/{}, offsets[0], offsets[1])))
    return failure();
  SliceRegion region = swapUnlessKFirst(
      {llvm::to_vector(offsets), llvm::to_vector(sizes)}, getDim());
  return cloneOnSlices(*this, builder, {region, region});
}
