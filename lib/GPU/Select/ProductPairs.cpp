//===- ProductPairs.cpp - Two products that one epilogue combines ---------===//

#include "GPU/Select/ProductPairs.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::canChangeColumns(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(op.getOperation());
  if (!product.hasPureTensorSemantics() || op.getPackingAttr() ||
      op.getScheduleAttr() || op.getLists() || op.getGathered() ||
      product.getNumBatchDims() != 0 || op.getTransposeC() ||
      product.getRowsOfPanels() != 0 || product.getPattern().isUnstructured() ||
      isDense(product) || ShapedType::isDynamic(product.getStaticN()))
    return false;
  // A C that sums are added to would be one more operand of the product.
  if (!product.hasEpilogue()) {
    auto fill = op.getC().getDefiningOp<linalg::FillOp>();
    if (!fill || !(matchPattern(fill.value(), m_AnyZeroFloat()) ||
                   matchPattern(fill.value(), m_Zero())))
      return false;
  }
  return ConstantArray::get(op.getValues()) &&
         ConstantArray::get(op.getIndices()) &&
         (!op.getScales() || ConstantArray::get(op.getScales()));
}

Type mlir::nm::getSumType(SparseProductOpInterface op) {
  if (!op.hasEpilogue())
    return op.getCType().getElementType();
  Type rounded = getFirstRounding(op);
  return rounded ? rounded : op.getAccumulatorType();
}

/// Whether both are one product, with other weights and another epilogue.
static bool areAlike(SpMMOp a, SpMMOp b) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  return a.getA() == b.getA() && a.getPatternAttr() == b.getPatternAttr() &&
         a.getTransposeA() == b.getTransposeA() &&
         a.getArithmetic() == b.getArithmetic() &&
         a.getQuantizationAttr() == b.getQuantizationAttr() &&
         typeOf(a.getValues()) == typeOf(b.getValues()) &&
         typeOf(a.getIndices()) == typeOf(b.getIndices()) &&
         typeOf(a.getScales()) == typeOf(b.getScales()) &&
         getSumType(a) == getSumType(b);
}

SpMMOp mlir::nm::findOtherOfPair(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(op.getOperation());
  for (auto [i, operand] : llvm::enumerate(product.getEpilogueOperands())) {
    auto other = operand.getDefiningOp<SpMMOp>();
    if (!other || !canChangeColumns(other) || !areAlike(op, other))
      continue;
    bool isOnlyTaken = llvm::all_of(operand.getUses(), [&](OpOperand &use) {
      if (use.getOwner() != op || use.get() == op.getA() ||
          use.get() == op.getC())
        return false;
      auto first = product.getEpilogueOperands().getBeginOperandIndex();
      return getEpilogueMap(product, use.getOperandNumber() - first)
          .isIdentity();
    });
    if (isOnlyTaken)
      return other;
  }
  return {};
}
