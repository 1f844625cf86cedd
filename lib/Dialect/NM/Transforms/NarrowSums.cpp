//===- NarrowSums.cpp - Sums that all users round -------------------------===//

#include "NarrowSums.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// What stands for one element of the operand in the user's body; null where
/// the user has no body, or writes to the operand.
static BlockArgument getElement(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto generic = dyn_cast<linalg::GenericOp>(user))
    return generic.isDpsInit(&use) ? BlockArgument()
                                   : generic.getMatchingBlockArgument(&use);
  auto product = dyn_cast<SparseProductOpInterface>(user);
  if (!product || !product.hasEpilogue())
    return {};
  unsigned begin = product.getEpilogueOperands().getBeginOperandIndex(),
           i = use.getOperandNumber() - begin;
  bool isOfEpilogue = use.getOperandNumber() >= begin &&
                      i < product.getEpilogueOperands().size();
  return isOfEpilogue ? product.getEpilogue().getArgument(i + 1)
                      : BlockArgument();
}

/// The type that all users round `sums` to; null where there is none.
static Type getRoundedType(Value sums) {
  Type rounded;
  for (OpOperand &use : sums.getUses()) {
    BlockArgument element = getElement(use);
    if (!element)
      return {};
    for (Operation *user : element.getUsers()) {
      auto trunc = dyn_cast<arith::TruncFOp>(user);
      if (!trunc || (rounded && trunc.getType() != rounded))
        return {};
      rounded = trunc.getType();
    }
  }
  return rounded && isWeightElementType(rounded) ? rounded : Type();
}

/// Gives `region` the epilogue of `op`, which ends by rounding.
static void emitEpilogue(RewriterBase &rewriter, SparseProductOpInterface op,
                         Type type, Region &region) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  if (op.hasEpilogue()) {
    rewriter.cloneRegionBefore(*op.getEpilogue().getParent(), region,
                               region.end());
    Operation *yield = region.front().getTerminator();
    rewriter.setInsertionPoint(yield);
    yield->setOperand(
        0, arith::TruncFOp::create(rewriter, loc, type, yield->getOperand(0)));
    return;
  }
  Block &body = region.emplaceBlock();
  Value sum = body.addArgument(op.getAccumulatorType(), loc);
  rewriter.setInsertionPointToStart(&body);
  sum = emitSumWithC(rewriter, loc, op, sum, [] { return Value(); });
  YieldOp::create(rewriter, loc,
                  arith::TruncFOp::create(rewriter, loc, type, sum));
}

/// Users take elements that are rounded already.
static void takeRounded(RewriterBase &rewriter, Value sums, Value rounded) {
  for (OpOperand &use : llvm::make_early_inc_range(sums.getUses())) {
    BlockArgument element = getElement(use);
    Operation *user = use.getOwner();
    rewriter.modifyOpInPlace(user, [&] {
      use.set(rounded);
      for (Operation *trunc : llvm::make_early_inc_range(element.getUsers()))
        rewriter.replaceOp(trunc, element);
      element.setType(getElementTypeOrSelf(rounded.getType()));
    });
  }
}

void mlir::nm::narrowSums(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (!op.hasPureTensorSemantics() || !op.getCType().getElementType().isF32())
    return;
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  if (!op.hasEpilogue() &&
      (!fill || !fill.value().getDefiningOp<arith::ConstantOp>()))
    return;
  Type type = getRoundedType(op->getResult(0));
  if (!type)
    return;
  rewriter.setInsertionPoint(op);
  Value c = tensor::EmptyOp::create(
      rewriter, op.getLoc(),
      tensor::getMixedSizes(rewriter, op.getLoc(), op.getC()), type);
  OperationState state =
      createProductState(op, llvm::to_vector(op.getEpilogueOperands()), c);
  emitEpilogue(rewriter, op, type, *state.addRegion());
  Operation *narrowed = rewriter.create(state);
  takeRounded(rewriter, op->getResult(0), narrowed->getResult(0));
  rewriter.eraseOp(op);
}
