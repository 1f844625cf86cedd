//===- ProductTiling.cpp - TilingInterface of nm.spmm and nm.spmv ---------===//
//
// The iteration domain is (batch..., m, n, k) for nm.spmm and (n, k) for
// nm.spmv. A tile is the same op on slices: A and C are cut like any matrix,
// the weights by whole windows and units. An epilogue runs after the last sum:
// a product that has one is not cut along k.
//
//===----------------------------------------------------------------------===//

#include "TilingInterfaceImpl.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;
using namespace mlir::nm::detail;

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

SmallVector<Range>
mlir::nm::detail::getProductDomain(SparseProductOpInterface op,
                                   OpBuilder &builder) {
  SmallVector<Range> domain;
  for (auto [operand, dim] : getLoopDims(op))
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, op.getLoc(), operand, dim),
                      builder.getIndexAttr(1)});
  return domain;
}

SmallVector<utils::IteratorType>
mlir::nm::detail::getProductIteratorTypes(SparseProductOpInterface op) {
  SmallVector<utils::IteratorType> types(getLoopDims(op).size(),
                                         utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  return types;
}

/// The part of a matrix of `rank` dimensions that a tile needs: its batch, m in
/// dimension `mDim`, if any, and in `dim` what loop `loop` runs over.
static SliceRegion getRegion(SparseProductOpInterface op,
                             const SliceRegion &tile, int64_t rank,
                             std::optional<int64_t> mDim, int64_t dim,
                             size_t loop) {
  SliceRegion region;
  region.offsets.resize(rank);
  region.sizes.resize(rank);
  auto set = [&](int64_t dim, size_t loop) {
    region.offsets[dim] = tile.offsets[loop];
    region.sizes[dim] = tile.sizes[loop];
  };
  for (int64_t batch = 0; batch < op.getNumBatchDims(); ++batch)
    set(batch, batch);
  if (mDim)
    set(*mDim, op.getNumBatchDims());
  set(dim, loop);
  return region;
}

static SliceRegion getRegionOfA(SparseProductOpInterface op,
                                const SliceRegion &tile) {
  return getRegion(op, tile, op.getAType().getRank(), op.getMDimOfA(),
                   op.getKDimOfA(), tile.offsets.size() - 1);
}

SliceRegion mlir::nm::detail::getProductRegionOfC(SparseProductOpInterface op,
                                                  const SliceRegion &tile) {
  return getRegion(op, tile, op.getCType().getRank(), op.getMDimOfC(),
                   op.getNDimOfC(), tile.offsets.size() - 2);
}

/// The part of epilogue operand `operand` that a tile needs.
static SliceRegion getRegionOfEpilogue(SparseProductOpInterface op,
                                       const SliceRegion &tile,
                                       size_t operand) {
  AffineMap map = getEpilogueMap(op, operand);
  SliceRegion region;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned loop = map.getDimPosition(i);
    region.append({tile.offsets[loop], tile.sizes[loop]});
  }
  return region;
}

/// Fails with an error where the tile's sums would not be whole when an
/// epilogue takes them.
static LogicalResult verifyEpilogueTile(SparseProductOpInterface op,
                                        const SliceRegion &tile) {
  if (!op.hasEpilogue())
    return success();
  std::optional<int64_t> offset = getConstantIntValue(tile.offsets.back()),
                         size = getConstantIntValue(tile.sizes.back());
  if (offset == 0 && (!size || *size == op.getStaticK()))
    return success();
  return op->emitOpError() << "expected tiles of all of k, for the epilogue "
                              "takes whole sums";
}

FailureOr<TilingResult>
mlir::nm::detail::tileProduct(SparseProductOpInterface op, OpBuilder &builder,
                              const SliceRegion &tile) {
  Location loc = op.getLoc();
  ::nm::Pattern pattern = op.getPattern();
  PackingAttr packing = op.getPackingAttr();
  size_t kLoop = tile.offsets.size() - 1, nLoop = kLoop - 1;
  if (failed(verifyTileOffsets(op, pattern, packing, tile.offsets[kLoop],
                               tile.offsets[nLoop])) ||
      failed(verifyEpilogueTile(op, tile)))
    return failure();
  StorageRegion storage =
      getStorageRegion(builder, loc, pattern, packing, op.getIndices(),
                       {tile.offsets[kLoop], tile.sizes[kLoop]},
                       {tile.offsets[nLoop], tile.sizes[nLoop]});
  SmallVector<Operation *> slices;
  SmallVector<Value> operands;
  auto cut = [&](Value whole, const SliceRegion &region) {
    // What has no dimensions, as a scale of the tensor, is the same for all.
    if (region.offsets.empty())
      return operands.push_back(whole);
    slices.push_back(createSlice(builder, loc, whole, region));
    operands.push_back(slices.back()->getResult(0));
  };
  cut(op.getA(), getRegionOfA(op, tile));
  cut(op.getValues(), storage.values);
  cut(op.getIndices(), storage.indices);
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands()))
    cut(operand, getRegionOfEpilogue(op, tile, i));
  cut(op.getC(), getProductRegionOfC(op, tile));
  SmallVector<Type> resultTypes;
  if (op->getNumResults())
    resultTypes.push_back(operands.back().getType());
  Operation *tiled = clone(builder, op, resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

SliceRegion mlir::nm::detail::getProductTileOfC(SparseProductOpInterface op,
                                                OpBuilder &builder,
                                                const SliceRegion &region) {
  SliceRegion tile;
  auto append = [&](int64_t dim) {
    tile.append({region.offsets[dim], region.sizes[dim]});
  };
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    append(dim);
  if (std::optional<int64_t> m = op.getMDimOfC())
    append(*m);
  append(op.getNDimOfC());
  tile.append({builder.getIndexAttr(0),
               getMixedSize(builder, op.getLoc(), op.getA(), op.getKDimOfA())});
  return tile;
}
