//===- FuseEpilogue.cpp - What follows a product, into its epilogue -------===//

#include "nm/Dialect/NM/Transforms/Phases.h"

#include "NarrowSums.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/EpilogueBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMFUSEEPILOGUE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The only op that uses `value`, however often.
static Operation *getOnlyUser(Value value) {
  Operation *only = nullptr;
  for (Operation *user : value.getUsers()) {
    if (only && user != only)
      return nullptr;
    only = user;
  }
  return only;
}

//===----------------------------------------------------------------------===//
// What can be fused
//===----------------------------------------------------------------------===//

/// Whether C may have elements of `type`.
static bool isResultElement(Type type) {
  return isWeightElementType(type) || type.isSignlessInteger(32);
}

/// What stands between a product's element and that of the op after it.
static bool isCloned(Operation *op) {
  return isEpilogueOp(op) && llvm::all_of(op->getOperands(), [&](Value value) {
           return value.getParentBlock() == op->getBlock() ||
                  matchPattern(value, m_Constant());
         });
}

/// Why the op that takes `sums` is not fused to the product of them; null if
/// it can be.
static const char *whyNotFused(linalg::LinalgOp consumer, Value sums) {
  if (!consumer.hasPureTensorSemantics() || consumer.getNumDpsInits() != 1 ||
      consumer->getNumResults() != 1)
    return "has not one tensor as its result";
  if (consumer->getBlock() != sums.getParentBlock())
    return "is in another block";
  if (consumer.getNumParallelLoops() != consumer.getNumLoops())
    return "reduces what it takes";
  OpOperand *init = consumer.getDpsInitOperand(0);
  AffineMap output = consumer.getMatchingIndexingMap(init);
  if (!output.isPermutation())
    return "broadcasts what it takes";
  if (!isResultElement(getElementTypeOrSelf(init->get().getType())))
    return "has an element type that a product has not";
  for (OpOperand &operand : consumer->getOpOperands()) {
    AffineMap map = consumer.getMatchingIndexingMap(&operand);
    if (operand.get() == sums && (&operand == init || map != output))
      return "transposes what it takes, or writes to it";
    if (!isa<RankedTensorType>(operand.get().getType()))
      return "takes a scalar that is not constant";
    if (!map.isProjectedPermutation())
      return "has an operand that is not one element for each of the result";
  }
  for (Operation &op : consumer.getBlock()->without_terminator())
    if (!isCloned(&op))
      return "has more than elementwise arithmetic on its operands and "
             "constants";
  if (consumer.getBlock()->getTerminator()->getOperand(0).getParentBlock() !=
      consumer.getBlock())
    return "has a result that does not depend on its operands";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The fused product
//===----------------------------------------------------------------------===//

/// `map`, of the consumer's loops, from (batch..., m, n) of `op`.
static AffineMap getMapFromLoops(SparseProductOpInterface op,
                                 linalg::LinalgOp consumer, AffineMap map) {
  AffineMap output =
      consumer.getMatchingIndexingMap(consumer.getDpsInitOperand(0));
  int64_t loops = op.getNumOutputLoops();
  SmallVector<AffineExpr> dims(consumer.getNumLoops());
  for (int64_t loop = 0; loop < loops; ++loop) {
    int64_t dimOfC = loop < op.getNumBatchDims() ? loop
                     : loop == loops - 1         ? op.getNDimOfC()
                                                 : *op.getMDimOfC();
    dims[output.getDimPosition(dimOfC)] =
        getAffineDimExpr(loop, op.getContext());
  }
  return map.replaceDimsAndSymbols(dims, {}, loops, /*numResultSyms=*/0);
}

/// What `consumer` makes of `stored`, which `op` would store.
static Value emitConsumer(RewriterBase &rewriter, EpilogueBuilder &builder,
                          SparseProductOpInterface op,
                          linalg::LinalgOp consumer, Value stored) {
  IRMapping mapping;
  for (OpOperand &operand : consumer->getOpOperands()) {
    BlockArgument element = consumer.getMatchingBlockArgument(&operand);
    if (operand.get() == op->getResult(0))
      mapping.map(element, stored);
    else if (!element.use_empty())
      mapping.map(element, builder.addOperand(
                               operand.get(),
                               getMapFromLoops(
                                   op, consumer,
                                   consumer.getMatchingIndexingMap(&operand))));
  }
  auto cloneConstant = [&](Value value) {
    if (value.getParentBlock() != consumer.getBlock() &&
        !mapping.contains(value))
      mapping.map(value, rewriter.clone(*value.getDefiningOp())->getResult(0));
  };
  for (Operation &inner : consumer.getBlock()->without_terminator()) {
    for (Value operand : inner.getOperands())
      cloneConstant(operand);
    rewriter.clone(inner, mapping);
  }
  return mapping.lookup(consumer.getBlock()->getTerminator()->getOperand(0));
}

/// The product that makes what `consumer` makes of the result of `op`.
static SparseProductOpInterface fuse(RewriterBase &rewriter,
                                     SparseProductOpInterface op,
                                     linalg::LinalgOp consumer) {
  Location loc =
      FusedLoc::get(op.getContext(), {op.getLoc(), consumer.getLoc()});
  EpilogueBuilder builder(rewriter, op, loc, op.getAccumulatorType());
  Value own = builder.emitOwn(builder.getSum());
  SparseProductOpInterface fused = builder.create(
      consumer, emitConsumer(rewriter, builder, op, consumer, own),
      consumer.getDpsInits()[0]);
  rewriter.replaceOp(consumer, fused->getResults());
  rewriter.eraseOp(op);
  return fused;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// A consumer of a product whose m was split into several dimensions takes it
/// as it was, and its result is split instead.
static LogicalResult takeBeforeReshape(RewriterBase &rewriter,
                                       tensor::ExpandShapeOp expand) {
  auto consumer = dyn_cast_or_null<linalg::LinalgOp>(getOnlyUser(expand));
  if (!consumer || whyNotFused(consumer, expand.getResult()))
    return rewriter.notifyMatchFailure(expand, "is not used elementwise");
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  AffineMap output =
      consumer.getMatchingIndexingMap(consumer.getDpsInitOperand(0));
  if (!output.isIdentity() || !linalg::areDimSequencesPreserved(
                                  consumer.getIndexingMapsArray(), groups))
    return rewriter.notifyMatchFailure(
        expand, "an operand is broadcast along a part of m");
  rewriter.setInsertionPoint(consumer);
  if (!isa<linalg::GenericOp>(*consumer)) {
    FailureOr<linalg::GenericOp> generic =
        linalg::generalizeNamedOp(rewriter, consumer);
    if (failed(generic))
      return failure();
    consumer = *generic;
    rewriter.setInsertionPoint(consumer);
  }
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(consumer, groups, rewriter);
  if (failed(collapsed))
    return failure();
  rewriter.replaceOp(consumer, collapsed->results);
  // Collapsed again, the operand is what it was before it was expanded; and its
  // sizes are known without it.
  for (Operation *user : llvm::make_early_inc_range(expand->getUsers())) {
    auto size = dyn_cast<tensor::DimOp>(user);
    std::optional<int64_t> dim =
        size ? size.getConstantIndex() : std::optional<int64_t>();
    if (dim) {
      rewriter.setInsertionPoint(size);
      rewriter.replaceOp(size, getValueOrCreateConstantIndexOp(
                                   rewriter, size.getLoc(),
                                   expand.getMixedOutputShape()[size_t(*dim)]));
      continue;
    }
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    if (collapse && collapse.getReassociationIndices() == groups)
      rewriter.replaceOp(collapse, expand.getSrc());
  }
  if (!expand->use_empty())
    return rewriter.notifyMatchFailure(expand, "has other uses");
  rewriter.eraseOp(expand);
  return success();
}

//===----------------------------------------------------------------------===//
// What C starts as
//===----------------------------------------------------------------------===//

/// A product that is added to a broadcast takes that as its epilogue's operand,
/// so that the broadcast need not be made.
static SparseProductOpInterface
takeBroadcastOfC(RewriterBase &rewriter, SparseProductOpInterface op,
                 linalg::BroadcastOp broadcast) {
  EpilogueBuilder builder(rewriter, op, op.getLoc(), op.getAccumulatorType());
  Value stored = builder.emitOwn(builder.getSum());
  SparseProductOpInterface fused =
      builder.create(op, stored, broadcast.getInit());
  rewriter.replaceOp(op, fused->getResults());
  return fused;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Fuses what takes the result of `op`, and returns the product that gives it.
static FailureOr<SparseProductOpInterface>
fuseConsumer(RewriterBase &rewriter, SparseProductOpInterface op) {
  Value sums = op->getResult(0);
  Operation *user = getOnlyUser(sums);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(user)) {
    if (failed(takeBeforeReshape(rewriter, expand)))
      return failure();
    user = getOnlyUser(sums);
  }
  auto consumer = dyn_cast_or_null<linalg::LinalgOp>(user);
  if (!consumer)
    return rewriter.notifyMatchFailure(
        op, "its result is not used by just one linalg op");
  if (const char *reason = whyNotFused(consumer, sums))
    return rewriter.notifyMatchFailure(op, Twine("what follows it ") + reason);
  return fuse(rewriter, op, consumer);
}

FailureOr<SparseProductOpInterface>
mlir::nm::fuseEpilogue(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (!op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "its operands are no tensors");
  FailureOr<SparseProductOpInterface> fused = fuseConsumer(rewriter, op);
  if (failed(fused)) {
    auto start = op.getC().getDefiningOp<linalg::BroadcastOp>();
    if (!start || op.hasEpilogue())
      return failure();
    return takeBroadcastOfC(rewriter, op, start);
  }
  for (auto next = fused; succeeded(next); next = fuseConsumer(rewriter, *next))
    fused = next;
  return fused;
}

/// Operands of an epilogue that are split and put together again are taken as
/// they were, so that the product that makes them is seen to be their source.
static void skipReshapes(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (!op.hasEpilogue())
    return;
  for (OpOperand &operand : op.getEpilogueOperandsMutable()) {
    auto collapse = operand.get().getDefiningOp<tensor::CollapseShapeOp>();
    auto expand = collapse
                      ? collapse.getSrc().getDefiningOp<tensor::ExpandShapeOp>()
                      : tensor::ExpandShapeOp();
    if (!expand ||
        expand.getReassociationIndices() != collapse.getReassociationIndices())
      continue;
    rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getSrc()); });
    for (Operation *reshape : {collapse.getOperation(), expand.getOperation()})
      if (reshape->use_empty())
        rewriter.eraseOp(reshape);
  }
}

namespace {
struct NMFuseEpilogue : mlir::nm::impl::NMFuseEpilogueBase<NMFuseEpilogue> {
  void runOnOperation() override {
    auto products = collectOps<SparseProductOpInterface>(getOperation());
    IRRewriter rewriter(&getContext());
    for (SparseProductOpInterface op : products)
      (void)fuseEpilogue(rewriter, op);
    // Of those that are left as operands of another's epilogue.
    products = collectOps<SparseProductOpInterface>(getOperation());
    for (SparseProductOpInterface op : products)
      skipReshapes(rewriter, op);
    for (SparseProductOpInterface op : products)
      narrowSums(rewriter, op);
  }
};
} // namespace
