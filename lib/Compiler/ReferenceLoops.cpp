//===- ReferenceLoops.cpp - linalg.generic as plain loops -----------------===//

#include "ReferenceLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Iterations of a task: tens of milliseconds, with enough rows to share what
/// they read of the weights.
static constexpr int64_t kTaskIterations = int64_t(1) << 28;

//===----------------------------------------------------------------------===//
// The order of loops
//===----------------------------------------------------------------------===//

/// Whether tasks along `loop` write different elements of every output.
static bool isParallel(linalg::GenericOp op, unsigned loop) {
  if (linalg::isReductionIterator(op.getIteratorTypesArray()[loop]))
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::is_contained(op.getMatchingIndexingMap(&init).getResults(),
                              getAffineDimExpr(loop, op.getContext()));
  });
}

/// How many iterations of `loop` make a task; none where all do.
static std::optional<int64_t> getTaskSize(linalg::GenericOp op, unsigned loop) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t inner = 1;
  for (auto [i, range] : llvm::enumerate(ranges))
    if (i != loop && range > 1)
      inner = llvm::MulOverflow(inner, range, inner) ? kTaskIterations : inner;
  int64_t size = std::max<int64_t>(llvm::divideCeil(kTaskIterations, inner), 1);
  if (!ShapedType::isDynamic(ranges[loop]) && size >= ranges[loop])
    return std::nullopt;
  return size;
}

/// The loop that walks the last dimension of every operand that it walks, so
/// that LLVM vectorizes it; none if there is no such loop of the output.
static std::optional<unsigned> findContiguousLoop(linalg::GenericOp op) {
  AffineMap output = op.getIndexingMapsArray().back();
  if (op.getNumReductionLoops() == 0 || output.getNumResults() == 0)
    return std::nullopt;
  auto last = dyn_cast<AffineDimExpr>(output.getResults().back());
  if (!last)
    return std::nullopt;
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults().drop_back())
      if (expr.isFunctionOfDim(last.getPosition()))
        return std::nullopt;
  return last.getPosition();
}

/// From the outermost to the innermost. A sum over several loops is made in
/// their order.
static SmallVector<unsigned> getOrder(linalg::GenericOp op) {
  SmallVector<unsigned> order;
  std::optional<unsigned> innermost = findContiguousLoop(op);
  auto append = [&](bool reductions) {
    for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
      if (linalg::isReductionIterator(type) == reductions && loop != innermost)
        order.push_back(unsigned(loop));
  };
  append(/*reductions=*/innermost.has_value());
  append(/*reductions=*/!innermost.has_value());
  if (innermost)
    order.push_back(*innermost);
  return order;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The loops of one op.
class LoopNest {
public:
  explicit LoopNest(linalg::GenericOp op)
      : op(op), loc(op.getLoc()), b(op), indices(op.getNumLoops()) {}

  void emit();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  void emitTasks(unsigned loop, int64_t size);
  void emitLoops(ArrayRef<unsigned> order);
  SmallVector<Value> subscripts(OpOperand &operand);
  void emitBody();

  linalg::GenericOp op;
  Location loc;
  OpBuilder b;
  SmallVector<Value> indices;
  /// The bounds of each loop.
  SmallVector<Value> lower, upper;
};
} // namespace

/// Has the loop's bounds be those of a task, in which what follows is emitted.
void LoopNest::emitTasks(unsigned loop, int64_t size) {
  Value end = upper[loop];
  auto tasks = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
      ArrayRef<OpFoldResult>{end}, ArrayRef<OpFoldResult>{b.getIndexAttr(size)},
      /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  b.setInsertionPoint(tasks.getTerminator());
  lower[loop] = tasks.getInductionVar(0);
  Value next = arith::AddIOp::create(b, loc, lower[loop], index(size));
  upper[loop] = arith::MinSIOp::create(b, loc, next, end);
}

void LoopNest::emitLoops(ArrayRef<unsigned> order) {
  Value one = index(1);
  for (unsigned loop : order) {
    auto nested = scf::ForOp::create(b, loc, lower[loop], upper[loop], one);
    indices[loop] = nested.getInductionVar();
    b.setInsertionPoint(nested.getBody()->getTerminator());
  }
}

SmallVector<Value> LoopNest::subscripts(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> values;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    values.push_back(b.createOrFold<affine::AffineApplyOp>(
        loc, map.getSubMap({dim}), indices));
  return values;
}

/// One iteration: loads, what the body computes, and stores.
void LoopNest::emitBody() {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(&operand);
    if (!isa<MemRefType>(operand.get().getType()))
      mapping.map(element, operand.get());
    else if (!element.use_empty())
      mapping.map(element, memref::LoadOp::create(b, loc, operand.get(),
                                                  subscripts(operand)));
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto position = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(position.getResult(), indices[position.getDim()]);
    else
      b.clone(inner, mapping);
  }
  for (auto [init, value] :
       llvm::zip(op.getDpsInitsMutable(),
                 op.getBody()->getTerminator()->getOperands()))
    memref::StoreOp::create(b, loc, mapping.lookupOrDefault(value), init.get(),
                            subscripts(init));
}

void LoopNest::emit() {
  Value zero = index(0);
  for (Range range : cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc)) {
    lower.push_back(zero);
    upper.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
  }
  SmallVector<unsigned> order = getOrder(op);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!isParallel(op, loop))
      continue;
    // Within other tasks there is nothing to share.
    if (std::optional<int64_t> size = getTaskSize(op, loop);
        size && !op->getParentOfType<scf::ForallOp>())
      emitTasks(loop, *size);
    break;
  }
  emitLoops(order);
  emitBody();
  op.erase();
}

namespace {
struct ReferenceLoops
    : PassWrapper<ReferenceLoops, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReferenceLoops)

  StringRef getArgument() const override { return "nm-reference-loops"; }
  StringRef getDescription() const override {
    return "linalg.generic on memrefs to plain loops, for the reference";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    memref::MemRefDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::GenericOp op : ops)
      LoopNest(op).emit();
  }
};
} // namespace

std::unique_ptr<Pass> mlir::nm::createReferenceLoopsPass() {
  return std::make_unique<ReferenceLoops>();
}
