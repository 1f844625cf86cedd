//===- BranchOnCublas.cpp - Products of cuBLAS, or else our own -----------===//

#include "TileToGpuBlocks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

static ScheduleAttr getSimtSchedule(ScheduleAttr schedule) {
  return ScheduleAttr::get(
      schedule.getContext(), Strategy::Simt, schedule.getBlock(),
      schedule.getWarp(), schedule.getThread(), schedule.getStages(),
      schedule.getSplitK(), schedule.getSliceK(), schedule.getPacking());
}

static ScheduleAttr getCublasSchedule(MLIRContext *context) {
  return ScheduleAttr::get(context, Strategy::Cublas, {}, {}, {}, /*stages=*/1,
                           /*splitK=*/1, /*sliceK=*/1, PackingAttr());
}

/// `op` with another schedule, at the insertion point. A fill of its output is
/// made beside it, where it can go into tiles or become a mode of the call.
static Operation *cloneProduct(OpBuilder &builder, SparseProductOpInterface op,
                               linalg::FillOp fill, Value output,
                               ScheduleAttr schedule) {
  IRMapping mapping;
  if (fill)
    mapping.map(op.getC(), linalg::FillOp::create(builder, fill.getLoc(),
                                                  fill.value(), output)
                               .getResult(0));
  Operation *product = builder.clone(*op, mapping);
  cast<SparseProductOpInterface>(product).setScheduleAttr(schedule);
  return product;
}

FailureOr<SparseProductOpInterface>
mlir::nm::branchOnCublas(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (!isa<SpMMOp>(op))
    return op.emitOpError() << "expected nm.spmm for strategy cublas";
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  // Both branches write the same new tensor.
  Value output;
  if (fill)
    output = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getC()),
        op.getCType().getElementType());
  Value loaded = HasCublasOp::create(rewriter, loc);
  auto branches = scf::IfOp::create(rewriter, loc, op.getCType(), loaded,
                                    /*withElseRegion=*/true);
  auto fillBranch = [&](Block *block, ScheduleAttr schedule) {
    rewriter.setInsertionPointToStart(block);
    Operation *product = cloneProduct(rewriter, op, fill, output, schedule);
    scf::YieldOp::create(rewriter, loc, product->getResults());
    return product;
  };
  fillBranch(branches.thenBlock(), getCublasSchedule(op.getContext()));
  Operation *own =
      fillBranch(branches.elseBlock(), getSimtSchedule(op.getScheduleAttr()));
  rewriter.replaceOp(op, branches.getResults());
  return cast<SparseProductOpInterface>(own);
}
