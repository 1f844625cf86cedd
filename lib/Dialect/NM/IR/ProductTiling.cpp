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
#include "nm/Dialect/NM/IR/PartialSums.h"
#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::nm;
using namespace mlir::nm::detail;

/// The operand dimension that each loop, in order, runs over; the last is k.
static SmallVector<std::pair<Value, int64_t>>
getLoopDims(SparseProductOpInterface op) {
  SmallVector<std::pair<Value, int64_t>> dims;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    dims.emplace_back(op.getA(), dim);
  // Not of A, which may have several splits of each element, or panels.
  if (std::optional<int64_t> m = op.getMDimOfC())
    dims.emplace_back(op.getC(), *m);
  dims.emplace_back(op.getC(), op.getNDimOfC());
  dims.emplace_back(op.getA(), op.getKDimOfA());
  return dims;
}

/// k, of which panels of A have several columns each.
static OpFoldResult getMixedK(OpBuilder &builder, SparseProductOpInterface op) {
  int64_t k = op.getStaticK();
  return ShapedType::isDynamic(k)
             ? getMixedSize(builder, op.getLoc(), op.getA(), op.getKDimOfA())
             : OpFoldResult(builder.getIndexAttr(k));
}

SmallVector<Range>
mlir::nm::detail::getProductDomain(SparseProductOpInterface op,
                                   OpBuilder &builder) {
  SmallVector<Range> domain;
  for (auto [operand, dim] : getLoopDims(op))
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, op.getLoc(), operand, dim),
                      builder.getIndexAttr(1)});
  domain.back().size = getMixedK(builder, op);
  return domain;
}

SmallVector<utils::IteratorType>
mlir::nm::detail::getProductIteratorTypes(SparseProductOpInterface op) {
  SmallVector<utils::IteratorType> types(getLoopDims(op).size(),
                                         utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  return types;
}

/// What `m` has in A's dimension of it: where A has splits, or panels, `m`
/// starts at a multiple of as many as have a split side by side, or as are
/// filled up.
static Range1D getRangeOfM(OpBuilder &builder, SparseProductOpInterface op,
                           Range1D m) {
  auto scale = [&](int64_t rows, int64_t columns) {
    return scaleRange(builder, op.getLoc(), m, rows, rows * columns);
  };
  if (int64_t rows = op.getRowsOfPanels())
    return scale(rows, kPanelColumnsOfA);
  int64_t splits = op.countSplits();
  return splits == 1 ? m : scale(::nm::kSplitColumns, splits);
}

/// The part of A that a tile needs: its batch, m, if any, and k.
static SliceRegion getRegionOfA(OpBuilder &builder, SparseProductOpInterface op,
                                const SliceRegion &tile) {
  SliceRegion region;
  region.offsets.resize(op.getAType().getRank());
  region.sizes.resize(op.getAType().getRank());
  auto set = [&](int64_t dim, size_t loop) {
    region.offsets[dim] = tile.offsets[loop];
    region.sizes[dim] = tile.sizes[loop];
  };
  for (int64_t batch = 0; batch < op.getNumBatchDims(); ++batch)
    set(batch, batch);
  if (std::optional<int64_t> m = op.getMDimOfA()) {
    size_t loop = op.getNumBatchDims();
    Range1D ofM =
        getRangeOfM(builder, op, {tile.offsets[loop], tile.sizes[loop]});
    region.offsets[*m] = ofM.offset;
    region.sizes[*m] = ofM.size;
  }
  int64_t kDim = op.getKDimOfA();
  set(kDim, tile.offsets.size() - 1);
  if (int64_t columns = op.getColumnsOfPanels(); columns != 1) {
    Range1D panels =
        scaleRange(builder, op.getLoc(),
                   {region.offsets[kDim], region.sizes[kDim]}, columns, 1);
    region.offsets[kDim] = panels.offset;
    region.sizes[kDim] = panels.size;
  }
  return region;
}

SliceRegion mlir::nm::detail::getProductRegionOfC(SparseProductOpInterface op,
                                                  const SliceRegion &tile) {
  SliceRegion region{llvm::to_vector(ArrayRef(tile.offsets).drop_back()),
                     llvm::to_vector(ArrayRef(tile.sizes).drop_back())};
  // Not by C's rank: a driver of partial reductions asks when partial sums have
  // taken its place.
  size_t n = region.offsets.size() - 1;
  if (std::optional<int64_t> m = op.getMDimOfC(); m && *m > op.getNDimOfC()) {
    std::swap(region.offsets[n - 1], region.offsets[n]);
    std::swap(region.sizes[n - 1], region.sizes[n]);
  }
  return region;
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

/// The rows of k that tiles have, of which the last may have fewer; none where
/// that is not known.
static std::optional<int64_t> getTileRows(OpFoldResult size) {
  if (std::optional<int64_t> rows = getConstantIntValue(size))
    return rows;
  auto least = cast<Value>(size).getDefiningOp<affine::AffineMinOp>();
  if (!least)
    return std::nullopt;
  std::optional<int64_t> rows;
  for (AffineExpr expr : least.getAffineMap().getResults())
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      rows = std::min(rows.value_or(constant.getValue()), constant.getValue());
  return rows;
}

/// Fails with an error where a tile of k would neither begin with a group nor
/// be a part of one, so that it could not tell its scales.
static LogicalResult verifyGroupsOfTile(SparseProductOpInterface op,
                                        const SliceRegion &tile) {
  OpFoldResult offset = tile.offsets.back(), size = tile.sizes.back();
  int64_t group = op.getQuantizationAttr().getGroup();
  std::optional<int64_t> rows = getTileRows(size);
  int64_t divisor = knownDivisor(offset);
  bool isPart = rows && *rows > 0 && group % *rows == 0 && divisor % *rows == 0;
  if (divisor % group == 0 || isPart || group >= op.getStaticK())
    return success();
  return op->emitOpError() << "expected tiles to start at a multiple of, or to "
                              "be whole parts of, the "
                           << group << " rows of k that share a scale";
}

/// The part of the scales that a tile needs: whole groups of k, or a part of
/// one.
static SliceRegion getRegionOfScales(OpBuilder &builder,
                                     SparseProductOpInterface op,
                                     const SliceRegion &tile) {
  size_t k = tile.offsets.size() - 1, n = k - 1;
  SliceRegion region;
  region.append(scaleRange(builder, op.getLoc(),
                           {tile.offsets[k], tile.sizes[k]},
                           op.getQuantizationAttr().getGroup(), 1));
  region.append({tile.offsets[n], tile.sizes[n]});
  return region;
}

/// The slices of A, the values, the indices, the lists and the scales that
/// `tile` needs.
static FailureOr<SmallVector<Operation *>>
cutInputs(SparseProductOpInterface op, OpBuilder &builder,
          const SliceRegion &tile) {
  Location loc = op.getLoc();
  ::nm::Pattern pattern = op.getPattern();
  PackedFormAttrInterface form = op.getPackingAttr();
  if (op.getScales() && failed(verifyGroupsOfTile(op, tile)))
    return failure();
  size_t kLoop = tile.offsets.size() - 1, nLoop = kLoop - 1;
  if (failed(verifyTileOffsets(op, pattern, form, tile.offsets[kLoop],
                               tile.offsets[nLoop])))
    return failure();
  StorageRegion storage = getStorageRegion(
      builder, loc, pattern, form, {tile.offsets[kLoop], tile.sizes[kLoop]},
      {tile.offsets[nLoop], tile.sizes[nLoop]});
  SmallVector<Operation *> slices = {
      createSlice(builder, loc, op.getA(), getRegionOfA(builder, op, tile)),
      createSlice(builder, loc, op.getValues(), storage.values),
      createSlice(builder, loc, op.getIndices(), storage.indices)};
  if (op.getLists())
    slices.push_back(createSlice(builder, loc, op.getLists(), *storage.lists));
  if (op.getScales())
    slices.push_back(createSlice(builder, loc, op.getScales(),
                                 getRegionOfScales(builder, op, tile)));
  return slices;
}

static SmallVector<Value> getResults(ArrayRef<Operation *> slices) {
  return llvm::map_to_vector(
      slices, [](Operation *slice) -> Value { return slice->getResult(0); });
}

FailureOr<SparseProductOpInterface>
mlir::nm::tilePartialProduct(OpBuilder &builder, SparseProductOpInterface op,
                             ArrayRef<OpFoldResult> offsets,
                             ArrayRef<OpFoldResult> sizes, Value sums) {
  FailureOr<SmallVector<Operation *>> slices = cutInputs(
      op, builder, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
  if (failed(slices))
    return failure();
  SmallVector<Value> operands = getResults(*slices);
  operands.push_back(sums);
  return cloneWithoutEpilogue(builder, op, operands);
}

FailureOr<TilingResult>
mlir::nm::detail::tileProduct(SparseProductOpInterface op, OpBuilder &builder,
                              const SliceRegion &tile) {
  if (failed(verifyEpilogueTile(op, tile)))
    return failure();
  FailureOr<SmallVector<Operation *>> inputs = cutInputs(op, builder, tile);
  if (failed(inputs))
    return failure();
  SmallVector<Operation *> slices = *inputs;
  SmallVector<Value> operands = getResults(slices);
  auto cut = [&](Value whole, const SliceRegion &region) {
    // What has no dimensions, as a scale of the tensor, is the same for all.
    if (region.offsets.empty())
      return operands.push_back(whole);
    slices.push_back(createSlice(builder, op.getLoc(), whole, region));
    operands.push_back(slices.back()->getResult(0));
  };
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
  tile.append({builder.getIndexAttr(0), getMixedK(builder, op)});
  return tile;
}

/// The loop that each dimension of an operand runs over; nothing for the
/// weights and their scales, and for an A of splits or panels, of which one m
/// has several columns.
static std::optional<SmallVector<int64_t>>
getLoopsOfOperand(SparseProductOpInterface op, unsigned number) {
  int64_t k = op.getNumOutputLoops(), n = k - 1, m = n - 1;
  bool isA = number == 0, isC = number + 1 == op->getNumOperands();
  if (isA && (op.countSplits() > 1 || op.getRowsOfPanels() != 0))
    return std::nullopt;
  if (isA || isC) {
    ShapedType type = isA ? op.getAType() : op.getCType();
    SmallVector<int64_t> loops(type.getRank());
    for (int64_t batch = 0; batch < op.getNumBatchDims(); ++batch)
      loops[batch] = batch;
    if (std::optional<int64_t> dim = isA ? op.getMDimOfA() : op.getMDimOfC())
      loops[*dim] = m;
    loops[isA ? op.getKDimOfA() : op.getNDimOfC()] = isA ? k : n;
    return loops;
  }
  unsigned firstOfEpilogue =
      op->getNumOperands() - 1 - op.getEpilogueOperands().size();
  if (number < firstOfEpilogue)
    return std::nullopt;
  AffineMap map = getEpilogueMap(op, number - firstOfEpilogue);
  SmallVector<int64_t> loops;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    loops.push_back(map.getDimPosition(i));
  return loops;
}

FailureOr<SliceRegion> mlir::nm::detail::getProductTileOfOperands(
    SparseProductOpInterface op, OpBuilder &builder,
    ArrayRef<unsigned> operands, ArrayRef<SmallVector<OpFoldResult>> offsets,
    ArrayRef<SmallVector<OpFoldResult>> sizes) {
  SliceRegion tile;
  for (const Range &range : getProductDomain(op, builder))
    tile.append({range.offset, range.size});
  size_t kLoop = tile.offsets.size() - 1;
  llvm::SmallBitVector isGiven(kLoop + 1);
  for (auto [i, number] : llvm::enumerate(operands)) {
    std::optional<SmallVector<int64_t>> loops = getLoopsOfOperand(op, number);
    if (!loops || loops->size() != offsets[i].size())
      return failure();
    for (auto [dim, loop] : llvm::enumerate(*loops)) {
      // What is whole, or was given, is to be the same.
      if ((isGiven[loop] || size_t(loop) == kLoop) &&
          (!isEqualConstantIntOrValue(tile.offsets[loop], offsets[i][dim]) ||
           !isEqualConstantIntOrValue(tile.sizes[loop], sizes[i][dim])))
        return failure();
      tile.offsets[loop] = offsets[i][dim];
      tile.sizes[loop] = sizes[i][dim];
      isGiven.set(loop);
    }
  }
  return tile;
}
