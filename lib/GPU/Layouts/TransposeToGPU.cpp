//===- TransposeToGPU.cpp - Transpositions to kernels ---------------------===//

#include "nm/GPU/Layouts/TransposeToGPU.h"

#include "GPU/Layouts/PanelTiles.h"
#include "GPU/Layouts/RepeatedRowTiles.h"
#include "GPU/Layouts/SplitFloatTiles.h"
#include "GPU/Layouts/Transposition.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTTRANSPOSETOGPU
#include "nm/GPU/Layouts/TransposeToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// With fewer iterations of one of both loops, most of a tile is empty, and
/// rows are so short that neighbouring threads share their sectors anyway.
static constexpr int64_t kLeast = 16;

static bool isNarrow(const Transposition &op) {
  return llvm::any_of(ArrayRef<unsigned>{op.getRowLoop(), op.getLastLoop()},
                      [&](unsigned loop) {
                        int64_t size = op.getStaticSize(loop);
                        return !ShapedType::isDynamic(size) && size < kLeast;
                      });
}

static void launch(OpBuilder &builder, const Transposition &op) {
  if (!hasRegisterTiles(op))
    return launchSharedTiles(builder, op);
  OpFoldResult aligned = areRowsAligned(builder, op);
  if (std::optional<int64_t> known = getConstantIntValue(aligned))
    return *known ? launchRegisterTiles(builder, op)
                  : launchSharedTiles(builder, op);
  auto branch = scf::IfOp::create(builder, op.getLoc(), cast<Value>(aligned),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  launchRegisterTiles(builder, op);
  builder.setInsertionPointToStart(branch.elseBlock());
  launchSharedTiles(builder, op);
}

/// Whether each operand has both loops, the second right behind the first and
/// without a gap between its rows, or neither.
static bool areOneLoop(linalg::GenericOp op, unsigned first) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto position = [&](unsigned loop) {
      return map.getResultPosition(getAffineDimExpr(loop, op->getContext()));
    };
    std::optional<unsigned> outer = position(first),
                            inner = position(first + 1);
    if (!outer || !inner)
      return !outer && !inner;
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || *inner != *outer + 1 || !type.isStrided())
      return false;
    SmallVector<int64_t> strides = type.getStridesAndOffset().first;
    int64_t size = type.getDimSize(*inner);
    return !ShapedType::isDynamic(strides[*outer]) &&
           !ShapedType::isDynamic(strides[*inner]) &&
           !ShapedType::isDynamic(size) &&
           strides[*outer] == strides[*inner] * size;
  });
}

/// Makes one loop of neighbouring loops whose dimensions have no gap between
/// them in memory, as sequences and their tokens have none: rows of a
/// transposed output are then longer, and aligned.
static linalg::GenericOp joinLoops(RewriterBase &rewriter,
                                   linalg::GenericOp op) {
  if (op.hasIndexSemantics() ||
      llvm::any_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return !map.isProjectedPermutation(); }))
    return op;
  SmallVector<ReassociationIndices> groups;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != 0 && areOneLoop(op, loop - 1))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  if (groups.size() == op.getNumLoops())
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> joined =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(joined))
    return op;
  rewriter.eraseOp(op);
  return cast<linalg::GenericOp>(*joined->collapsedOp);
}

static LogicalResult convert(RewriterBase &rewriter, linalg::LinalgOp op) {
  Location loc = op.getLoc();
  StringRef name = op->getName().getStringRef();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (isa<linalg::TransposeOp>(op)) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return failure();
    generic = *generalized;
  }
  if (!generic)
    return rewriter.notifyMatchFailure(op, "has a form of its own");
  rewriter.setInsertionPoint(generic);
  if (launchRepeatedRowTiles(rewriter, generic)) {
    emitRemark(loc) << name << " is a kernel that repeats rows of k";
    rewriter.eraseOp(generic);
    return success();
  }
  FailureOr<linalg::GenericOp> ordered = orderElementwise(rewriter, generic);
  if (failed(ordered))
    return failure();
  if (makesPanels(*ordered)) {
    rewriter.setInsertionPoint(*ordered);
    launchPanelTiles(rewriter, *ordered);
    emitRemark(loc) << name << " is a kernel that writes panels of columns";
    rewriter.eraseOp(*ordered);
    return success();
  }
  FailureOr<Transposition> transposition =
      Transposition::create(rewriter, *ordered);
  if (failed(transposition))
    return failure();
  linalg::GenericOp joined = joinLoops(rewriter, *ordered);
  if (joined != *ordered)
    transposition = Transposition::create(rewriter, joined);
  if (failed(transposition))
    return failure();
  if (isNarrow(*transposition))
    return rewriter.notifyMatchFailure(transposition->getOp(),
                                       "has few rows or columns");
  if (failed(checkSharedTiles(rewriter, *transposition)))
    return failure();
  rewriter.setInsertionPoint(transposition->getOp());
  launch(rewriter, *transposition);
  emitRemark(loc) << name << " is a kernel whose blocks transpose a tile";
  rewriter.eraseOp(transposition->getOp());
  return success();
}

/// Those that the host would run one after the other.
static SmallVector<linalg::LinalgOp> collect(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp, scf::ForallOp, scf::ParallelOp>(op))
      return WalkResult::skip();
    if (auto found = dyn_cast<linalg::LinalgOp>(op))
      ops.push_back(found);
    return WalkResult::advance();
  });
  return ops;
}

void mlir::nm::convertTransposeToGPU(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto op : collectOps<SplitFloatsOp>(function)) {
    if (!op.hasPureBufferSemantics())
      continue;
    rewriter.setInsertionPoint(op);
    launchSplitFloatTiles(rewriter, op);
    emitRemark(op.getLoc())
        << op->getName() << " is a kernel whose blocks split a tile";
    rewriter.eraseOp(op);
  }
  // What is not converted here, convert-linalg-to-gpu does.
  for (linalg::LinalgOp op : collect(function))
    (void)convert(rewriter, op);
}

namespace {
struct ConvertTransposeToGPU
    : mlir::nm::impl::ConvertTransposeToGPUBase<ConvertTransposeToGPU> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(mlir::nm::kHostFunction))
      mlir::nm::convertTransposeToGPU(getOperation());
  }
};
} // namespace
