//===- DenseFallback.cpp - Products with their zeros kept -----------------===//

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

::nm::Pattern mlir::nm::getDensePattern(int64_t columns) {
  return {/*n=*/1, /*m=*/1, /*bk=*/1, /*bn=*/columns};
}

bool mlir::nm::isDense(SparseProductOpInterface op) {
  ::nm::Pattern pattern = op.getPattern();
  return pattern.n == 1 && pattern.m == 1 && pattern.bk == 1 &&
         !op.getPackingAttr();
}

void mlir::nm::narrowDenseUnits(SparseProductOpInterface op, int64_t columns) {
  ArrayRef<int64_t> shape = op.getValuesType().getShape();
  columns = std::gcd(shape[1], columns);
  OpBuilder builder(op);
  auto type = RankedTensorType::get({shape[0], shape[1] / columns},
                                    builder.getI8Type());
  // The one position that a unit can have is 0.
  Value indices = arith::ConstantOp::create(
      builder, op.getLoc(), DenseElementsAttr::get(type, int8_t(0)));
  op.setPatternAttr(
      PatternAttr::get(op.getContext(), getDensePattern(columns)));
  op.getIndicesMutable().assign(indices);
}

std::optional<StringRef> mlir::nm::whyNotDense(SparseProductOpInterface op) {
  if (!op.hasPureTensorSemantics())
    return StringRef("its operands are memrefs");
  if (op.getPackingAttr())
    return StringRef("its weights are packed already");
  if (!areWeightsLoaded(op))
    return StringRef("its weights would have to be decompressed at each call");
  // Weights that are loaded are packed for one form. Another op that takes the
  // condensed form would then pack at each call.
  if (!areWeightsConstant(op) &&
      !(op.getValues().hasOneUse() && op.getIndices().hasOneUse()))
    return StringRef("other ops use its weights too");
  return std::nullopt;
}

/// `op`, or the constants that it folds to.
static SmallVector<Value> fold(OpBuilder &builder, Operation *op) {
  SmallVector<Value> folded;
  if (failed(builder.tryFold(op, folded)))
    return SmallVector<Value>(op->getResults());
  op->erase();
  return folded;
}

static Value createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

void mlir::nm::makeDense(SparseProductOpInterface op,
                         const ::nm::Pattern &pattern) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MLIRContext *context = op->getContext();
  Type element = op.getValuesType().getElementType();
  int64_t k = op.getStaticK(), n = op.getStaticN();
  auto denseType = RankedTensorType::get({k, n}, element);
  auto decompress = DecompressOp::create(
      builder, loc, TypeRange{denseType}, op.getPatternAttr(), /*dim=*/0,
      op.getValues(), op.getIndices(), createEmpty(builder, loc, denseType));
  Value dense = fold(builder, decompress)[0];

  auto patternAttr = PatternAttr::get(context, pattern);
  StorageShape shape = StorageShape::condensed(pattern, k, n);
  RankedTensorType valuesType = shape.valuesType(element);
  RankedTensorType indicesType = shape.indicesType(context);
  auto compress = CompressOp::create(
      builder, loc, TypeRange{valuesType, indicesType}, patternAttr, /*dim=*/0,
      dense, createEmpty(builder, loc, valuesType),
      createEmpty(builder, loc, indicesType));
  SmallVector<Value> parts = fold(builder, compress);
  Operation *before = op.getValues().getDefiningOp<CompressOp>();
  op.setPatternAttr(patternAttr);
  op.getValuesMutable().assign(parts[0]);
  op.getIndicesMutable().assign(parts[1]);
  // nm-pack-weights takes all that is made of weights that are loaded.
  if (before && before->use_empty())
    before->erase();
}
