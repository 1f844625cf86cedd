//===- FormatTiling.cpp - TilingInterface of the format ops ---------------===//
//
// nm.compress, nm.decompress and nm.prune iterate over (k, n) of the dense
// matrix, in parallel, by whole windows and units.
//
//===----------------------------------------------------------------------===//

#include "StorageTiling.h"

#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The k and n ranges of a tile.
struct DenseTile {
  Range1D k, n;

  DenseTile(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes)
      : k{offsets[0], sizes[0]}, n{offsets[1], sizes[1]} {}

  /// The tile in a dense operand whose dimension `kDim` is k.
  SliceRegion inDense(int64_t kDim) const {
    SliceRegion region;
    region.append(kDim == 0 ? k : n);
    region.append(kDim == 0 ? n : k);
    return region;
  }
};
} // namespace

template <typename OpTy>
static SmallVector<Range> getDenseDomain(OpTy op, OpBuilder &builder) {
  SmallVector<Range> domain;
  for (int64_t dim : {int64_t(op.getDim()), int64_t(1 - op.getDim())})
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, op.getLoc(), op.getDense(), dim),
                      builder.getIndexAttr(1)});
  return domain;
}

static SmallVector<utils::IteratorType> twoParallelLoops() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel};
}

/// The same op on one slice per operand.
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

template <typename OpTy>
static FailureOr<StorageRegion> getTileStorage(OpTy op, OpBuilder &builder,
                                               const DenseTile &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  if (failed(verifyTileOffsets(op, pattern, /*packing=*/{}, tile.k.offset,
                               tile.n.offset)))
    return failure();
  return getStorageRegion(builder, op.getLoc(), pattern, /*packing=*/{},
                          /*indices=*/{}, tile.k, tile.n);
}

static void setPosition(const SliceRegion &region,
                        SmallVector<OpFoldResult> &offsets,
                        SmallVector<OpFoldResult> &sizes) {
  offsets = region.offsets;
  sizes = region.sizes;
}

/// The (k, n) tile of a region of a dense matrix whose dimension `kDim` is k.
static DenseTile getTileOfDense(int64_t kDim, ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  return DenseTile({offsets[kDim], offsets[1 - kDim]},
                   {sizes[kDim], sizes[1 - kDim]});
}

//===----------------------------------------------------------------------===//
// nm.compress
//===----------------------------------------------------------------------===//

SmallVector<Range> CompressOp::getIterationDomain(OpBuilder &builder) {
  return getDenseDomain(*this, builder);
}

SmallVector<utils::IteratorType> CompressOp::getLoopIteratorTypes() {
  return twoParallelLoops();
}

FailureOr<TilingResult>
CompressOp::getTiledImplementation(OpBuilder &builder,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  DenseTile tile(offsets, sizes);
  FailureOr<StorageRegion> storage = getTileStorage(*this, builder, tile);
  if (failed(storage))
    return failure();
  return cloneOnSlices(
      *this, builder,
      {tile.inDense(getDim()), storage->values, storage->indices});
}

LogicalResult CompressOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  FailureOr<StorageRegion> storage =
      getTileStorage(*this, builder, DenseTile(offsets, sizes));
  if (failed(storage))
    return failure();
  setPosition(resultNumber == 0 ? storage->values : storage->indices,
              resultOffsets, resultSizes);
  return success();
}

FailureOr<TilingResult> CompressOp::generateResultTileValue(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult>, ArrayRef<OpFoldResult>) {
  // One tile of the values needs a tile of the indices beside it, which a
  // consumer of one result cannot ask for.
  return failure();
}

//===----------------------------------------------------------------------===//
// nm.decompress
//===----------------------------------------------------------------------===//

static FailureOr<TilingResult>
tileDecompress(DecompressOp op, OpBuilder &builder, const DenseTile &tile) {
  FailureOr<StorageRegion> storage = getTileStorage(op, builder, tile);
  if (failed(storage))
    return failure();
  return cloneOnSlices(
      op, builder,
      {storage->values, storage->indices, tile.inDense(op.getDim())});
}

SmallVector<Range> DecompressOp::getIterationDomain(OpBuilder &builder) {
  return getDenseDomain(*this, builder);
}

SmallVector<utils::IteratorType> DecompressOp::getLoopIteratorTypes() {
  return twoParallelLoops();
}

FailureOr<TilingResult>
DecompressOp::getTiledImplementation(OpBuilder &builder,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  return tileDecompress(*this, builder, DenseTile(offsets, sizes));
}

LogicalResult DecompressOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  setPosition(DenseTile(offsets, sizes).inDense(getDim()), resultOffsets,
              resultSizes);
  return success();
}

FailureOr<TilingResult>
DecompressOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
  return tileDecompress(*this, builder,
                        getTileOfDense(getDim(), offsets, sizes));
}

//===----------------------------------------------------------------------===//
// nm.prune
//===----------------------------------------------------------------------===//

static FailureOr<TilingResult> tilePrune(PruneOp op, OpBuilder &builder,
                                         const DenseTile &tile) {
  if (failed(verifyTileOffsets(op, op.getPattern().getPattern(),
                               /*packing=*/{}, tile.k.offset, tile.n.offset)))
    return failure();
  SliceRegion region = tile.inDense(op.getDim());
  return cloneOnSlices(op, builder, {region, region});
}

SmallVector<Range> PruneOp::getIterationDomain(OpBuilder &builder) {
  return getDenseDomain(*this, builder);
}

SmallVector<utils::IteratorType> PruneOp::getLoopIteratorTypes() {
  return twoParallelLoops();
}

FailureOr<TilingResult>
PruneOp::getTiledImplementation(OpBuilder &builder,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  return tilePrune(*this, builder, DenseTile(offsets, sizes));
}

LogicalResult PruneOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  setPosition(DenseTile(offsets, sizes).inDense(getDim()), resultOffsets,
              resultSizes);
  return success();
}

FailureOr<TilingResult>
PruneOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes) {
  return tilePrune(*this, builder, getTileOfDense(getDim(), offsets, sizes));
}
