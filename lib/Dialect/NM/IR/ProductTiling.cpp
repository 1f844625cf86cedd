//===- ProductTiling.cpp - TilingInterface of nm.spmm and nm.spmv ---------===//
//
// The iteration domain is (batch..., m, n, k) for nm.spmm and (n, k) for
// nm.spmv. A tile is the same op on slices: A and C are cut like any matrix,
// the weights by whole windows and units.
//
//===----------------------------------------------------------------------===//

#include "StorageTiling.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

/// The operand dimension that each loop, in order, runs over; the last is k.
static SmallVector<std::pair<Value, int64_t>>
getLoopDims(SparseProductOpInterface op) {
  SmallVector<std::pair<Value, int64_t>> dims;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    dims.emplace_back(op.getA(), dim);
  if (std::optional<int64_t> m = op.getMDimOfA())
    dims.emplace_back(op.getA(), *m);
  dims.emplace_back(op.getC(), op.getNDimOfC());
  dims.emplace_back(op.getA(), op.getKDimOfA());
  return dims;
}

static SmallVector<Range> getDomain(SparseProductOpInterface op,
                                    OpBuilder &builder) {
  SmallVector<Range> domain;
  for (auto [operand, dim] : getLoopDims(op))
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, op.getLoc(), operand, dim),
                      builder.getIndexAttr(1)});
  return domain;
}

static SmallVector<utils::IteratorType>
getIteratorTypes(SparseProductOpInterface op) {
  SmallVector<utils::IteratorType> types(getLoopDims(op).size(),
                                         utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  return types;
}

/// The part of A that a tile needs.
static SliceRegion getRegionOfA(SparseProductOpInterface op,
                                const SliceRegion &tile) {
  size_t numLoops = tile.offsets.size();
  SliceRegion region;
  region.offsets.resize(op.getAType().getRank());
  region.sizes.resize(op.getAType().getRank());
  auto set = [&](int64_t dim, size_t loop) {
    region.offsets[dim] = tile.offsets[loop];
    region.sizes[dim] = tile.sizes[loop];
  };
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    set(dim, dim);
  if (std::optional<int64_t> m = op.getMDimOfA())
    set(*m, numLoops - 3);
  set(op.getKDimOfA(), numLoops - 1);
  return region;
}

/// The part of C that a tile writes.
static SliceRegion getRegionOfC(SparseProductOpInterface op,
                                const SliceRegion &tile) {
  size_t numLoops = tile.offsets.size();
  SliceRegion region;
  region.offsets.resize(op.getCType().getRank());
  region.sizes.resize(op.getCType().getRank());
  auto set = [&](int64_t dim, size_t loop) {
    region.offsets[dim] = tile.offsets[loop];
    region.sizes[dim] = tile.sizes[loop];
  };
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    set(dim, dim);
  if (std::optional<int64_t> m = op.getMDimOfC())
    set(*m, numLoops - 3);
  set(op.getNDimOfC(), numLoops - 2);
  return region;
}

static FailureOr<TilingResult> tileProduct(SparseProductOpInterface op,
                                           OpBuilder &builder,
                                           const SliceRegion &tile) {
  Location loc = op.getLoc();
  ::nm::Pattern pattern = op.getPattern();
  PackingAttr packing = op.getPackingAttr();
  size_t kLoop = tile.offsets.size() - 1, nLoop = kLoop - 1;
  if (failed(verifyTileOffsets(op, pattern, packing, tile.offsets[kLoop],
                               tile.offsets[nLoop])))
    return failure();
  StorageRegion storage =
      getStorageRegion(builder, loc, pattern, packing, op.getIndices(),
                       {tile.offsets[kLoop], tile.sizes[kLoop]},
                       {tile.offsets[nLoop], tile.sizes[nLoop]});
  SmallVector<Operation *> slices = {
      createSlice(builder, loc, op.getA(), getRegionOfA(op, tile)),
      createSlice(builder, loc, op.getValues(), storage.values),
      createSlice(builder, loc, op.getIndices(), storage.indices),
      createSlice(builder, loc, op.getC(), getRegionOfC(op, tile))};
  SmallVector<Value> operands;
  for (Operation *slice : slices)
    operands.push_back(slice->getResult(0));
  SmallVector<Type> resultTypes;
  if (op->getNumResults())
    resultTypes.push_back(operands.back().getType());
  Operation *tiled = clone(builder, op, resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

/// The tile of the iteration domain that makes the region of C given; it spans
/// the whole of k.
static SliceRegion getTileOfResult(SparseProductOpInterface op,
                                   OpBuilder &builder,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  SliceRegion tile;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    tile.append({offsets[dim], sizes[dim]});
  if (std::optional<int64_t> m = op.getMDimOfC())
    tile.append({offsets[*m], sizes[*m]});
  tile.append({offsets[op.getNDimOfC()], sizes[op.getNDimOfC()]});
  tile.append({builder.getIndexAttr(0),
               getMixedSize(builder, op.getLoc(), op.getA(), op.getKDimOfA())});
  return tile;
}

//===----------------------------------------------------------------------===//
// nm.spmm
//===----------------------------------------------------------------------===//

SmallVector<Range> SpMMOp::getIterationDomain(OpBuilder &builder) {
  return getDomain(*this, builder);
}

SmallVector<utils::IteratorType> SpMMOp::getLoopIteratorTypes() {
  return getIteratorTypes(*this);
}

FailureOr<TilingResult>
SpMMOp::getTiledImplementation(OpBuilder &builder,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  return tileProduct(*this, builder,
                     {llvm::to_vector(offsets), llvm::to_vector(sizes)});
}

LogicalResult SpMMOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  SliceRegion region =
      getRegionOfC(*this, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
  resultOffsets = region.offsets;
  resultSizes = region.sizes;
  return success();
}

FailureOr<TilingResult>
SpMMOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  return tileProduct(*this, builder,
                     getTileOfResult(*this, builder, offsets, sizes));
}

//===----------------------------------------------------------------------===//
// nm.spmv
//===----------------------------------------------------------------------===//

SmallVector<Range> SpMVOp::getIterationDomain(OpBuilder &builder) {
  return getDomain(*this, builder);
}

SmallVector<utils::IteratorType> SpMVOp::getLoopIteratorTypes() {
  return getIteratorTypes(*this);
}

FailureOr<TilingResult>
SpMVOp::getTiledImplementation(OpBuilder &builder,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes) {
  return tileProduct(*this, builder,
                     {llvm::to_vector(offsets), llvm::to_vector(sizes)});
}

LogicalResult SpMVOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  SliceRegion region =
      getRegionOfC(*this, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
  resultOffsets = region.offsets;
  resultSizes = region.sizes;
  return success();
}

FailureOr<TilingResult>
SpMVOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  return tileProduct(*this, builder,
                     getTileOfResult(*this, builder, offsets, sizes));
}
