//===- RecordChecks.cpp - Checks in kernels -------------------------------===//

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMRECORDCHECKS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Rewrites the checks in the kernels of one function.
class CheckRecorder {
public:
  explicit CheckRecorder(func::FuncOp function)
      : function(function), rewriter(function.getContext()) {}

  void run();

private:
  void rewrite(CheckOp op);
  void rewrite(CheckIndexOp op);
  void recordUnless(Value holds, Location loc, StringAttr text,
                    ValueRange values);
  void store(Location loc, Value value, int64_t place);

  func::FuncOp function;
  IRRewriter rewriter;
  Value record;
  SmallVector<Attribute> texts;
};
} // namespace

void CheckRecorder::store(Location loc, Value value, int64_t place) {
  Value index = arith::ConstantIndexOp::create(rewriter, loc, place);
  memref::StoreOp::create(rewriter, loc, value, record, index);
}

void CheckRecorder::recordUnless(Value holds, Location loc, StringAttr text,
                                 ValueRange values) {
  OpBuilder::InsertionGuard guard(rewriter);
  Type i64 = rewriter.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(rewriter, loc, i64, value);
  };
  auto enterUnless = [&](Value condition) {
    Value isFalse = arith::XOrIOp::create(
        rewriter, loc, condition,
        arith::ConstantIntOp::create(rewriter, loc, rewriter.getI1Type(), 1));
    auto branch = scf::IfOp::create(rewriter, loc, isFalse);
    rewriter.setInsertionPointToStart(branch.thenBlock());
  };
  enterUnless(holds);
  Value first = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value before = memref::AtomicRMWOp::create(
      rewriter, loc, arith::AtomicRMWKind::addi, number(1), record, first);
  // One thread's number and values alone.
  enterUnless(arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                    before, number(0)));
  store(loc, number(texts.size()), 1);
  for (auto [i, value] : llvm::enumerate(values))
    store(loc, arith::IndexCastOp::create(rewriter, loc, i64, value), 2 + i);
  texts.push_back(text);
}

void CheckRecorder::rewrite(CheckOp op) {
  rewriter.setInsertionPoint(op);
  recordUnless(op.getCondition(), op.getLoc(), op.getTextAttr(),
               op.getValues());
  rewriter.eraseOp(op);
}

void CheckRecorder::rewrite(CheckIndexOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value isInside = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, op.getIndex(), op.getSize());
  recordUnless(isInside, loc, op.getTextAttr(), {op.getIndex(), op.getSize()});
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isInside, op.getIndex(),
                                               zero);
}

void CheckRecorder::run() {
  SmallVector<Operation *> checks;
  function.walk([&](Operation *op) {
    if (isa<CheckOp, CheckIndexOp>(op) && op->getParentOfType<gpu::LaunchOp>())
      checks.push_back(op);
  });
  if (checks.empty())
    return;
  // Launches may be in loops.
  Block &body = function.front();
  Operation *first = body.findAncestorOpInBlock(*checks.front());
  Operation *last = body.findAncestorOpInBlock(*checks.back());
  rewriter.setInsertionPoint(first);
  auto type = MemRefType::get({kCheckRecordSize}, rewriter.getI64Type());
  record = OpenChecksOp::create(rewriter, first->getLoc(), type,
                                /*device=*/false);
  for (Operation *op : checks) {
    if (auto check = dyn_cast<CheckOp>(op))
      rewrite(check);
    else
      rewrite(cast<CheckIndexOp>(op));
  }
  rewriter.setInsertionPointAfter(last);
  MarkChecksOp::create(rewriter, last->getLoc(), record, /*device=*/false);
  rewriter.setInsertionPoint(body.getTerminator());
  CloseChecksOp::create(rewriter, last->getLoc(), record,
                        rewriter.getArrayAttr(texts), /*device=*/false);
}

namespace {
struct NMRecordChecks : mlir::nm::impl::NMRecordChecksBase<NMRecordChecks> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      CheckRecorder(getOperation()).run();
  }
};
} // namespace
