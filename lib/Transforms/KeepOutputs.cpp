//===- KeepOutputs.cpp - Outputs that ops write only a part of ------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMKEEPOUTPUTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

/// Whether `op`, whose output has `map`, may run no iteration where the output
/// has elements.
static bool mayNotRun(linalg::LinalgOp op, AffineMap map) {
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if ((range == 0 || ShapedType::isDynamic(range)) &&
        !map.isFunctionOfDim(loop))
      return true;
  return false;
}

/// Whether `op` has to leave elements of `init` as they are which upstream
/// would take for overwritten, as the body reads none of them.
static bool keepsUnread(linalg::LinalgOp op, OpOperand &init) {
  auto type = dyn_cast<RankedTensorType>(init.get().getType());
  if (!type || type.getEncoding() || op.payloadUsesValueFromOperand(&init) ||
      init.get().getDefiningOp<tensor::EmptyOp>())
    return false;
  AffineMap map = op.getMatchingIndexingMap(&init);
  return !map.isProjectedPermutation() || mayNotRun(op, map);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

namespace {
/// The elements offset + stride * i of a dimension, of each i of a loop, or the
/// one at `offset` where there is no loop.
struct Steps {
  int64_t offset = 0, stride = 1;
  std::optional<unsigned> loop;
};
} // namespace

/// Reads `expr` as steps along one loop; fails for other expressions.
static FailureOr<Steps> matchSteps(AffineExpr expr) {
  Steps steps;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    steps.offset = constant.getValue();
    return steps;
  }
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && sum.getKind() == AffineExprKind::Add) {
    auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS());
    if (!constant)
      return failure();
    steps.offset = constant.getValue();
    expr = sum.getLHS();
  }
  if (auto product = dyn_cast<AffineBinaryOpExpr>(expr);
      product && product.getKind() == AffineExprKind::Mul) {
    auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (!constant)
      return failure();
    steps.stride = constant.getValue();
    expr = product.getLHS();
  }
  auto loop = dyn_cast<AffineDimExpr>(expr);
  if (!loop || steps.stride < 1)
    return failure();
  steps.loop = loop.getPosition();
  return steps;
}

/// Reads `map` as the elements of a slice, of loops of `ranges`.
static FailureOr<SmallVector<Steps>> matchSlice(AffineMap map,
                                                ArrayRef<int64_t> ranges) {
  SmallVector<AffineExpr> loops;
  for (auto [loop, range] : llvm::enumerate(ranges))
    loops.push_back(range == 1 ? getAffineConstantExpr(0, map.getContext())
                               : getAffineDimExpr(loop, map.getContext()));
  map = map.replaceDimsAndSymbols(loops, {}, map.getNumDims(),
                                  /*numResultSyms=*/0);
  SmallVector<Steps> slice;
  llvm::SmallSet<unsigned, 4> taken;
  for (AffineExpr expr : simplifyAffineMap(map).getResults()) {
    FailureOr<Steps> steps = matchSteps(expr);
    if (failed(steps) || steps->offset < 0 ||
        (steps->loop && !taken.insert(*steps->loop).second))
      return failure();
    slice.push_back(*steps);
  }
  return slice;
}

/// Gives `op` the slice that it writes as its output, which it writes whole,
/// and inserts the result where the slice was.
static void writeSlice(RewriterBase &rewriter, linalg::GenericOp op,
                       OpOperand &init, ArrayRef<Steps> slice) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(*op).createLoopRanges(rewriter, loc);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<AffineExpr> exprs;
  for (const Steps &steps : slice) {
    offsets.push_back(rewriter.getIndexAttr(steps.offset));
    strides.push_back(rewriter.getIndexAttr(steps.stride));
    sizes.push_back(steps.loop ? ranges[*steps.loop].size
                               : rewriter.getIndexAttr(1));
    exprs.push_back(steps.loop ? rewriter.getAffineDimExpr(*steps.loop)
                               : rewriter.getAffineConstantExpr(0));
  }
  Value whole = init.get();
  Value part = tensor::ExtractSliceOp::create(rewriter, loc, whole, offsets,
                                              sizes, strides);
  OpResult result = op.getTiedOpResult(&init);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[init.getOperandNumber()] =
      AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
  rewriter.modifyOpInPlace(op, [&] {
    init.set(part);
    result.setType(cast<RankedTensorType>(part.getType()));
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  rewriter.setInsertionPointAfter(op);
  auto insert = tensor::InsertSliceOp::create(rewriter, loc, result, whole,
                                              offsets, sizes, strides);
  rewriter.replaceAllUsesExcept(result, insert.getResult(), insert);
}

//===----------------------------------------------------------------------===//
// Other elements
//===----------------------------------------------------------------------===//

/// A loop that has another number of iterations than one, whose index no fold
/// makes a constant of.
static unsigned findLongLoop(linalg::GenericOp op) {
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range != 1)
      return unsigned(loop);
  return 0;
}

/// Makes the body of `op` read `init`: it yields what it reads where an index
/// is below 0, as none is.
static void readInit(RewriterBase &rewriter, linalg::GenericOp op,
                     OpOperand &init) {
  Location loc = op.getLoc();
  Operation *yield = op.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  Value index = linalg::IndexOp::create(rewriter, loc, findLongLoop(op));
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                       index, zero);
  OpOperand &yielded =
      yield->getOpOperand(op.getTiedOpResult(&init).getResultNumber());
  Value element = arith::SelectOp::create(rewriter, loc, exists, yielded.get(),
                                          op.getMatchingBlockArgument(&init));
  rewriter.modifyOpInPlace(yield, [&] { yielded.set(element); });
}

static void keep(RewriterBase &rewriter, linalg::GenericOp op,
                 OpOperand &init) {
  AffineMap map = op.getMatchingIndexingMap(&init);
  FailureOr<SmallVector<Steps>> slice =
      matchSlice(map, op.getStaticLoopRanges());
  if (succeeded(slice) && !mayNotRun(op, map))
    writeSlice(rewriter, op, init, *slice);
  else
    readInit(rewriter, op, init);
}

namespace {
struct NMKeepOutputs : mlir::nm::impl::NMKeepOutputsBase<NMKeepOutputs> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() &&
          llvm::any_of(op.getDpsInitsMutable(),
                       [&](OpOperand &init) { return keepsUnread(op, init); }))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic =
          isa<linalg::GenericOp>(*op) ? cast<linalg::GenericOp>(*op)
                                      : linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic)) {
        op->emitOpError() << "has no form as linalg.generic";
        return signalPassFailure();
      }
      for (OpOperand &init : generic->getDpsInitsMutable())
        if (keepsUnread(*generic, init))
          keep(rewriter, *generic, init);
    }
  }
};
} // namespace
