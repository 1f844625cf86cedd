//===- WindowTasks.cpp - Tasks of windows and of what follows -------------===//

#include "WindowTasks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether a subscript of what `op` reads has a loop over its results and one
/// over what it combines.
static bool hasWindows(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto dependsOn = [&](AffineExpr expr, utils::IteratorType kind) {
    for (auto [loop, each] : llvm::enumerate(kinds))
      if (each == kind && expr.isFunctionOfDim(loop))
        return true;
    return false;
  };
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      if (dependsOn(expr, utils::IteratorType::parallel) &&
          dependsOn(expr, utils::IteratorType::reduction))
        return true;
  return false;
}

linalg::GenericOp mlir::nm::findEpilogueOfWindows(linalg::GenericOp windows) {
  // Of dynamic sizes, what says where tasks end would read the windows, too.
  if (!windows.hasPureTensorSemantics() || windows->getNumResults() != 1 ||
      !windows->hasOneUse() ||
      !cast<RankedTensorType>(windows->getResult(0).getType())
           .hasStaticShape() ||
      !hasWindows(windows) ||
      !windows.getMatchingIndexingMap(windows.getDpsInitOperand(0))
           .isProjectedPermutation())
    return nullptr;
  OpOperand &use = *windows->getUses().begin();
  auto epilogue = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!epilogue || epilogue->getBlock() != windows->getBlock() ||
      !epilogue.hasPureTensorSemantics() || epilogue->getNumResults() != 1 ||
      epilogue.getNumParallelLoops() != epilogue.getNumLoops() ||
      !epilogue.isDpsInput(&use) ||
      !epilogue.getMatchingIndexingMap(&use).isIdentity() ||
      !epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0))
           .isIdentity())
    return nullptr;
  return epilogue;
}

/// `value` in all elements of a tensor of `sizes`.
static Value fill(RewriterBase &rewriter, Location loc, Value value,
                  ArrayRef<OpFoldResult> sizes) {
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, value.getType());
  return linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
}

/// Replaces a slice of what has one value by a tensor that has.
static void fillSlice(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  auto whole = slice.getSource().getDefiningOp<linalg::FillOp>();
  if (!whole || slice.getSourceType().getRank() != slice.getType().getRank())
    return;
  rewriter.setInsertionPoint(slice);
  Value filled = fill(rewriter, slice.getLoc(), whole.getInputs()[0],
                      slice.getMixedSizes());
  if (filled.getType() == slice.getType())
    rewriter.replaceOp(slice, filled);
}

/// Replaces a slice of an image in its padding by the slice of the image in
/// that of the slice, where the slice has all of each dimension with padding.
static void padSlice(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  auto padded = slice.getSource().getDefiningOp<tensor::InsertSliceOp>();
  auto around =
      padded ? padded.getDest().getDefiningOp<linalg::FillOp>() : nullptr;
  int64_t rank = slice.getType().getRank();
  if (!around || !padded.hasUnitStride() || !slice.hasUnitStride() ||
      padded.getSourceType().getRank() != rank ||
      padded.getType().getRank() != rank)
    return;
  SmallVector<OpFoldResult> offsets, sizes, places;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t low = padded.getStaticOffsets()[dim],
            size = padded.getStaticSizes()[dim];
    OpFoldResult offset = slice.getMixedOffsets()[dim],
                 taken = slice.getMixedSizes()[dim];
    if (low == 0 && !ShapedType::isDynamic(size) &&
        size == padded.getType().getDimSize(dim)) {
      offsets.push_back(offset);
      sizes.push_back(taken);
      places.push_back(rewriter.getIndexAttr(0));
      continue;
    }
    std::optional<int64_t> count = getConstantIntValue(taken);
    if (getConstantIntValue(offset) != 0 || !count ||
        ShapedType::isDynamic(low) || ShapedType::isDynamic(size) ||
        *count <= low)
      return;
    offsets.push_back(rewriter.getIndexAttr(0));
    sizes.push_back(rewriter.getIndexAttr(std::min(size, *count - low)));
    places.push_back(rewriter.getIndexAttr(low));
  }
  Location loc = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
  Value image = tensor::ExtractSliceOp::create(
      rewriter, loc, padded.getSource(), offsets, sizes, ones);
  Value own = tensor::InsertSliceOp::create(
      rewriter, loc, image,
      fill(rewriter, loc, around.getInputs()[0], slice.getMixedSizes()), places,
      sizes, ones);
  if (own.getType() == slice.getType())
    rewriter.replaceOp(slice, own);
}

/// Erases `value`'s op, and those that it alone read, where no one reads it.
static void eraseUnread(RewriterBase &rewriter, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->use_empty() ||
      !isa<linalg::FillOp, tensor::InsertSliceOp, tensor::EmptyOp>(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  rewriter.eraseOp(op);
  for (Value operand : operands)
    eraseUnread(rewriter, operand);
}

FailureOr<linalg::GenericOp>
mlir::nm::makeWindowsOfTile(RewriterBase &rewriter, linalg::GenericOp windows,
                            Operation *tile) {
  tensor::ExtractSliceOp slice;
  for (Value operand : tile->getOperands())
    if (auto each = operand.getDefiningOp<tensor::ExtractSliceOp>();
        each && each.getSource() == windows->getResult(0))
      slice = each;
  if (!slice)
    return linalg::GenericOp();
  rewriter.setInsertionPoint(slice);
  FailureOr<TilingResult> made =
      cast<TilingInterface>(*windows).generateResultTileValue(
          rewriter, 0, slice.getMixedOffsets(), slice.getMixedSizes());
  if (failed(made))
    return windows.emitOpError() << "could not be tiled with what follows";
  Value result = made->tiledValues.front();
  if (result.getType() != slice.getType())
    result = tensor::CastOp::create(rewriter, slice.getLoc(), slice.getType(),
                                    result);
  rewriter.replaceOp(slice, result);
  SmallVector<Value> operands(windows->getOperands());
  rewriter.eraseOp(windows);
  auto own = cast<linalg::GenericOp>(made->tiledOps.front());
  for (OpOperand &operand : own->getOpOperands()) {
    auto part = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (part && own.isDpsInput(&operand))
      padSlice(rewriter, part);
    else if (part)
      fillSlice(rewriter, part);
  }
  for (Value operand : operands)
    eraseUnread(rewriter, operand);
  return own;
}
