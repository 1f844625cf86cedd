//===- StorageTiling.cpp - Slices of condensed and packed weights ---------===//

#include "StorageTiling.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

OpFoldResult mlir::nm::getMixedSize(OpBuilder &builder, Location loc,
                                    Value shaped, int64_t dim) {
  if (isa<RankedTensorType>(shaped.getType()))
    return tensor::getMixedSize(builder, loc, shaped, dim);
  return memref::getMixedSize(builder, loc, shaped, dim);
}

Operation *mlir::nm::createSlice(OpBuilder &builder, Location loc, Value source,
                                 const SliceRegion &region) {
  SmallVector<OpFoldResult> strides(region.offsets.size(),
                                    builder.getIndexAttr(1));
  if (isa<RankedTensorType>(source.getType()))
    return tensor::ExtractSliceOp::create(builder, loc, source, region.offsets,
                                          region.sizes, strides);
  return memref::SubViewOp::create(builder, loc, source, region.offsets,
                                   region.sizes, strides);
}

//===----------------------------------------------------------------------===//
// Divisibility of offsets
//===----------------------------------------------------------------------===//

/// The largest number known to divide an induction variable; 1 if none is.
static int64_t knownDivisorOfInductionVar(BlockArgument argument) {
  auto loop = dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  if (!loop)
    return 1;
  std::optional<SmallVector<Value>> ivs = loop.getLoopInductionVars();
  std::optional<SmallVector<OpFoldResult>> lowerBounds =
      loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!ivs || !lowerBounds || !steps)
    return 1;
  for (auto [iv, lowerBound, step] : llvm::zip(*ivs, *lowerBounds, *steps))
    if (iv == argument)
      return std::gcd(knownDivisor(lowerBound), knownDivisor(step));
  return 1;
}

static int64_t knownDivisorOfApply(affine::AffineApplyOp apply) {
  AffineMap map = apply.getAffineMap();
  MLIRContext *context = apply.getContext();
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    bool isDim = i < map.getNumDims();
    AffineExpr expr = isDim
                          ? getAffineDimExpr(i, context)
                          : getAffineSymbolExpr(i - map.getNumDims(), context);
    (isDim ? dims : symbols).push_back(expr * knownDivisor(operand));
  }
  AffineExpr expr = map.getResult(0).replaceDimsAndSymbols(dims, symbols);
  return simplifyAffineExpr(expr, dims.size(), symbols.size())
      .getLargestKnownDivisor();
}

int64_t mlir::nm::knownDivisor(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::abs(*constant);
  auto ssaValue = cast<Value>(value);
  if (auto argument = dyn_cast<BlockArgument>(ssaValue))
    return knownDivisorOfInductionVar(argument);
  if (auto apply = ssaValue.getDefiningOp<affine::AffineApplyOp>())
    return knownDivisorOfApply(apply);
  return 1;
}

LogicalResult mlir::nm::verifyTileOffsets(Operation *op,
                                          const ::nm::Pattern &pattern,
                                          PackedFormAttrInterface form,
                                          OpFoldResult kOffset,
                                          OpFoldResult nOffset) {
  int64_t columns = getColumnStep(pattern, form);
  int64_t rows = getRowStep(pattern, form);
  if (knownDivisor(kOffset) % rows != 0)
    return op->emitOpError()
           << "expected tiles to start at a multiple of "
           << (rows == pattern.windowRows() ? "the window, " : "index rows, ")
           << rows << " rows, along k";
  if (knownDivisor(nOffset) % columns != 0)
    return op->emitOpError() << "expected tiles to start at a multiple of "
                             << columns << " columns along n";
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Range1D mlir::nm::scaleRange(OpBuilder &builder, Location loc, Range1D range,
                             int64_t divisor, int64_t factor) {
  AffineExpr d0 = builder.getAffineDimExpr(0);
  auto apply = [&](AffineExpr expr, OpFoldResult operand) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, {operand});
  };
  return {apply(d0.floorDiv(divisor) * factor, range.offset),
          apply(d0.ceilDiv(divisor) * factor, range.size)};
}

StorageRegion mlir::nm::getStorageRegion(OpBuilder &builder, Location loc,
                                         const ::nm::Pattern &pattern,
                                         PackedFormAttrInterface form,
                                         Range1D k, Range1D n) {
  if (form)
    return form.getStorageRegion(builder, loc, pattern, k, n);
  auto scale = [&](Range1D range, int64_t divisor, int64_t factor) {
    return scaleRange(builder, loc, range, divisor, factor);
  };
  StorageRegion region;
  region.values.append(scale(k, pattern.windowRows(), pattern.keptRows()));
  region.values.append(scale(n, pattern.bn, pattern.bn));
  region.indices.append(scale(k, pattern.windowRows(), pattern.n));
  region.indices.append(scale(n, pattern.bn, 1));
  return region;
}
