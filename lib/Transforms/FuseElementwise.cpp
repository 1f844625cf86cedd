//===- FuseElementwise.cpp - Elementwise ops between products -------------===//

#include "nm/Transforms/Passes.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMFUSEELEMENTWISE
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Whether `op` makes the A of a product.
static bool makesA(Operation *op) {
  return isa<linalg::LinalgOp>(op) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) {
           auto product = dyn_cast<mlir::nm::SpMMOp>(user);
           return product && product.getA().getDefiningOp() == op;
         });
}

/// Whether `op` combines halves of a product's columns, which blocks of the
/// product do if its loops stay those that nm-pair-products made.
static bool combinesHalves(Operation *op) {
  return isa<linalg::LinalgOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           auto slice = operand.getDefiningOp<tensor::ExtractSliceOp>();
           auto halves =
               slice ? slice.getSource().getDefiningOp<tensor::ExpandShapeOp>()
                     : tensor::ExpandShapeOp();
           return halves &&
                  halves.getSrc()
                      .getDefiningOp<mlir::nm::SparseProductOpInterface>();
         });
}

/// Whether the op that takes `operand` may be fused to the one that makes it.
static bool isFused(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  if (!producer || !producer->hasOneUse() || combinesHalves(producer) ||
      combinesHalves(operand->getOwner()))
    return false;
  bool isReshape =
      isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(producer);
  return !isReshape || !makesA(operand->getOwner());
}

/// Whether `value` is a product's, or what ops that only it needs make of one:
/// those may become the product's epilogue.
static bool isMadeOfProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<mlir::nm::SparseProductOpInterface>(op))
    return op != nullptr;
  if (!op->hasOneUse())
    return false;
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return isMadeOfProduct(op->getOperand(0));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0 &&
         llvm::any_of(generic.getInputs(), isMadeOfProduct);
}

/// As isFused, while elementwise ops may still become epilogues of products: an
/// op that sums leaves those that it reads.
static bool isFusedBeforeEpilogues(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  if (!producer || !producer->hasOneUse())
    return false;
  auto taker = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  return !taker || taker.getNumReductionLoops() == 0 ||
         !isMadeOfProduct(operand->get());
}

static bool isUnused(linalg::GenericOp op) {
  return op->getNumResults() != 0 && op->use_empty();
}

namespace {
/// Erases what has been fused with its reader, or reshaped for it, but would
/// stay for the indices that it checks: the new op checks the same indices.
/// `unused` are the ops that nothing has read before.
struct EraseFusedChecks : OpRewritePattern<linalg::GenericOp> {
  EraseFusedChecks(MLIRContext *context, const DenseSet<Operation *> &unused)
      : OpRewritePattern(context, /*benefit=*/2), unused(unused) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isUnused(op) || unused.contains(op))
      return rewriter.notifyMatchFailure(op, "has not been fused");
    rewriter.eraseOp(op);
    return success();
  }

  const DenseSet<Operation *> &unused;
};

/// Has the patterns of upstream's pass of that purpose, whose rule has no
/// option.
struct NMFuseElementwise
    : mlir::nm::impl::NMFuseElementwiseBase<NMFuseElementwise> {
  using NMFuseElementwiseBase::NMFuseElementwiseBase;

  void runOnOperation() override {
    linalg::ControlFusionFn isFused =
        beforeEpilogues ? isFusedBeforeEpilogues : ::isFused;
    MLIRContext *context = &getContext();
    DenseSet<Operation *> unused;
    getOperation().walk([&](linalg::GenericOp op) {
      if (isUnused(op))
        unused.insert(op);
    });
    RewritePatternSet patterns(context);
    patterns.add<EraseFusedChecks>(context, unused);
    linalg::populateElementwiseOpsFusionPatterns(patterns, isFused);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isFused);
    tensor::populateBubbleUpExpandShapePatterns(patterns);
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(patterns, isFused);
    // It ends by itself; where it does not, what there is stays right.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns),
                                GreedyRewriteConfig().setUseTopDownTraversal());
  }
};
} // namespace
