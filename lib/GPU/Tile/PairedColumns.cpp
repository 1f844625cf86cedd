//===- PairedColumns.cpp - Blocks that combine their columns --------------===//

#include "GPU/Tile/PairedColumns.h"

#include "GPU/Select/GpuStrategy.h"
#include "GPU/Tile/BlockOutputs.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// Loops of what combines columns.
static constexpr unsigned kRowLoop = 0, kTurnLoop = 1, kColumnLoop = 2;

/// The dimensions (m, turn, column) as those of a matrix.
static SmallVector<ReassociationIndices> getColumnGroups() {
  return {{kRowLoop}, {kTurnLoop, kColumnLoop}};
}

int64_t mlir::nm::getColumnsInTurn(ScheduleAttrInterface schedule) {
  const GpuStrategy *strategy = findGpuStrategy(schedule);
  BlockTiling tiling = schedule.getTiling();
  if (!strategy || !tiling.hasBlock() || tiling.splitK != 1 ||
      tiling.clusterK != 1)
    return 0;
  return strategy->countColumnsInTurn(getFields(schedule));
}

//===----------------------------------------------------------------------===//
// What combines columns
//===----------------------------------------------------------------------===//

/// The slices of both halves; none unless these are all that `halves` has.
static std::optional<std::array<Value, 2>>
findHalves(tensor::ExpandShapeOp halves) {
  std::array<Value, 2> found;
  for (Operation *user : halves->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !slice->hasOneUse() || !slice.hasUnitStride())
      return std::nullopt;
    ArrayRef<int64_t> offsets = slice.getStaticOffsets();
    int64_t half = offsets[kColumnLoop];
    if (slice.getType().getRank() != 3 || offsets[0] != 0 || offsets[1] != 0 ||
        offsets[3] != 0 || (half != 0 && half != 1) || found[size_t(half)] ||
        slice.getStaticSizes()[2] != 1)
      return std::nullopt;
    found[size_t(half)] = slice;
  }
  if (!found[0] || !found[1])
    return std::nullopt;
  return found;
}

/// Whether `op` makes one element of those of both halves, in place, by ops
/// that an epilogue may have.
static bool combines(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 &&
         op.getNumLoops() == 3 && op.getNumParallelLoops() == 3 &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         llvm::all_of(
             op.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isEpilogueOp(&inner); });
}

std::optional<PairedColumns>
mlir::nm::findPairedColumns(SparseProductOpInterface op, const GpuTile &tile) {
  int64_t inTurn = getColumnsInTurn(op.getScheduleAttr());
  if (!isa<SpMMOp>(op) || inTurn == 0 ||
      tile.n % (2 * ::nm::kAccessWords) != 0 || op->getNumResults() != 1 ||
      !op->hasOneUse() || !op.hasEpilogue() ||
      !op.getEpilogueOperands().empty() || op.getNumBatchDims() != 0 ||
      cast<SpMMOp>(*op).getTransposeC())
    return std::nullopt;
  auto halves = dyn_cast<tensor::ExpandShapeOp>(*op->getUsers().begin());
  if (!halves || halves.getType().getRank() != 4 ||
      halves.getType().getShape().take_back(2) !=
          ArrayRef<int64_t>{2, inTurn} ||
      halves.getReassociationIndices().front().size() != 1)
    return std::nullopt;
  std::optional<std::array<Value, 2>> found = findHalves(halves);
  if (!found)
    return std::nullopt;
  auto combination =
      dyn_cast<linalg::GenericOp>(*found->front().getUsers().begin());
  if (!combines(combination) || !llvm::all_of(*found, [&](Value half) {
        return *half.getUsers().begin() == combination;
      }))
    return std::nullopt;
  return PairedColumns{halves, combination, inTurn, tile.n / (2 * inTurn)};
}

bool mlir::nm::readsElements(const PairedColumns &pairs) {
  linalg::GenericOp combination = pairs.combination;
  return llvm::any_of(combination.getDpsInputOperands(), [&](OpOperand *input) {
    auto slice = input->get().getDefiningOp<tensor::ExtractSliceOp>();
    tensor::ExpandShapeOp halves = pairs.halves;
    return (!slice || slice.getSource() != halves.getResult()) &&
           combination.getMatchingIndexingMap(input).getNumResults() > 1;
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

namespace {
/// Builds what combines the columns of a block.
class BlockCombination {
public:
  BlockCombination(RewriterBase &rewriter, SparseProductOpInterface product,
                   PairedColumns pairs)
      : rewriter(rewriter), product(product), pairs(pairs),
        loc(pairs.combination.getLoc()) {}

  void create(scf::ForallOp blocks);

private:
  Value createOutput();
  OpFoldResult divide(OpFoldResult columns, int64_t by);
  /// The loop of which a block has one turn, or one column.
  unsigned getUnitLoop() const {
    return pairs.turns == 1 ? kTurnLoop : kColumnLoop;
  }
  Value sliceOperand(OpOperand *operand);
  Value sliceSums(int64_t number);
  Value emitElement(OpBuilder &builder, ValueRange elements);

  RewriterBase &rewriter;
  SparseProductOpInterface product;
  PairedColumns pairs;
  Location loc;
  MovedBlocks moved;
  /// What rounds a sum.
  linalg::GenericOp epilogue;
};
} // namespace

/// What all blocks write to, [m x n / 2]: what the combination does, where that
/// is a view of such a tensor.
Value BlockCombination::createOutput() {
  Value init = pairs.combination.getDpsInits()[0];
  auto view = init.getDefiningOp<tensor::ExpandShapeOp>();
  if (view && view.getReassociationIndices() == getColumnGroups())
    return view.getSrc();
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(rewriter, loc, init, 0),
      rewriter.getIndexAttr(type.getDimSize(1) * type.getDimSize(2))};
  return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
}

OpFoldResult BlockCombination::divide(OpFoldResult columns, int64_t by) {
  return affine::makeComposedFoldedAffineApply(
      rewriter, loc, rewriter.getAffineSymbolExpr(0).floorDiv(by), columns);
}

/// What the block reads of an operand, without the dimension of one element.
Value BlockCombination::sliceOperand(OpOperand *operand) {
  AffineMap map = pairs.combination.getMatchingIndexingMap(operand);
  SmallVector<OpFoldResult> offsets, sizes,
      strides(map.getNumResults(), rewriter.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    unsigned loop = map.getDimPosition(dim);
    offsets.push_back(loop == kRowLoop ? moved.offsets[0]
                      : loop == kTurnLoop
                          ? divide(moved.offsets[1], 2 * pairs.inTurn)
                          : OpFoldResult(rewriter.getIndexAttr(0)));
    sizes.push_back(loop == kRowLoop
                        ? moved.sizes[0]
                        : OpFoldResult(rewriter.getIndexAttr(
                              loop == kTurnLoop ? pairs.turns : pairs.inTurn)));
    if (loop != getUnitLoop())
      shape.push_back(
          getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
  }
  auto type = RankedTensorType::get(
      shape, getElementTypeOrSelf(operand->get().getType()));
  return tensor::ExtractSliceOp::create(rewriter, loc, type, operand->get(),
                                        offsets, sizes, strides);
}

/// The block's sums of one of both: columns side by side, or every second one.
Value BlockCombination::sliceSums(int64_t number) {
  SmallVector<OpFoldResult>
      offsets = {rewriter.getIndexAttr(0),
                 rewriter.getIndexAttr(number * pairs.inTurn)},
      sizes = {moved.sizes[0],
               rewriter.getIndexAttr(pairs.turns * pairs.inTurn)},
      strides = {rewriter.getIndexAttr(1),
                 rewriter.getIndexAttr(pairs.turns == 1 ? 1 : 2)};
  return tensor::ExtractSliceOp::create(rewriter, loc, product->getResult(0),
                                        offsets, sizes, strides);
}

/// The element that the combination makes of two sums and of its operands'.
Value BlockCombination::emitElement(OpBuilder &builder, ValueRange elements) {
  SmallVector<Value> arguments;
  size_t next = 2;
  for (OpOperand *operand : pairs.combination.getDpsInputOperands()) {
    auto slice = operand->get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || slice.getSource() != pairs.halves.getResult()) {
      arguments.push_back(elements[next++]);
      continue;
    }
    Value sum = elements[size_t(slice.getStaticOffsets()[2])];
    arguments.push_back(inlineElementwise(
        builder, loc, *epilogue.getBody(),
        SmallVector<Value>(epilogue.getBody()->getNumArguments(), sum)));
  }
  arguments.push_back(elements.back());
  return inlineElementwise(builder, loc, *pairs.combination.getBody(),
                           arguments);
}

void BlockCombination::create(scf::ForallOp blocks) {
  rewriter.setInsertionPoint(pairs.combination);
  Value output = createOutput();
  moved = moveToOutput(rewriter, loc, blocks, output);
  epilogue = moved.tile.getDefiningOp<linalg::GenericOp>();
  SmallVector<Value> inputs = {sliceSums(0), sliceSums(1)};
  AffineMap identity = rewriter.getMultiDimIdentityMap(2);
  SmallVector<AffineMap> maps(2, identity);
  for (OpOperand *operand : pairs.combination.getDpsInputOperands()) {
    auto slice = operand->get().getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && slice.getSource() == pairs.halves.getResult())
      continue;
    inputs.push_back(sliceOperand(operand));
    SmallVector<AffineExpr> dims;
    for (AffineExpr expr :
         pairs.combination.getMatchingIndexingMap(operand).getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop != getUnitLoop())
        dims.push_back(rewriter.getAffineDimExpr(loop == kRowLoop ? 0 : 1));
    }
    maps.push_back(AffineMap::get(2, 0, dims, rewriter.getContext()));
  }
  maps.push_back(identity);
  SmallVector<OpFoldResult> offsets = {moved.offsets[0],
                                       divide(moved.offsets[1], 2)},
                            sizes = {moved.sizes[0],
                                     rewriter.getIndexAttr(pairs.turns *
                                                           pairs.inTurn)};
  Value place = moved.loop.getRegionIterArgs()[0];
  Value tile = tensor::ExtractSliceOp::create(rewriter, loc, place, offsets,
                                              sizes, moved.strides);
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  Value combined =
      linalg::GenericOp::create(
          rewriter, loc, tile.getType(), inputs, tile, maps, iterators,
          [&](OpBuilder &body, Location loc, ValueRange elements) {
            linalg::YieldOp::create(body, loc, emitElement(body, elements));
          })
          .getResult(0);
  rewriter.setInsertionPointToEnd(moved.loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, combined, place, offsets,
                                        sizes, moved.strides);
  rewriter.eraseOp(epilogue);
  rewriter.setInsertionPointAfter(moved.loop);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      pairs.combination, pairs.combination->getResult(0).getType(),
      moved.loop.getResult(0), getColumnGroups());
}

void mlir::nm::combineInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                               SparseProductOpInterface product,
                               PairedColumns pairs) {
  SmallVector<Operation *> dead;
  for (Operation *user : pairs.halves->getUsers())
    dead.push_back(user);
  dead.push_back(pairs.halves);
  BlockCombination(rewriter, product, pairs).create(blocks);
  for (Operation *op : dead)
    rewriter.eraseOp(op);
  rewriter.eraseOp(blocks);
}
