//===- BodyFacts.cpp - Elements that are read in a loop over others -------===//

#include "SizeFacts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::nm;
using arith::CmpIPredicate;

namespace {
/// An index as a sum of loops' indices and of values from before the loops.
class IndexSum {
public:
  explicit IndexSum(Operation *op)
      : op(op), ranges(getLoopRanges(getLoopExtents(op))), uses(ranges.size()) {
  }

  /// Its range; none where `index` is no such sum, or has a loop twice, whose
  /// parts are not largest at once.
  std::optional<SizeRange> getRangeOf(Value index) {
    hasOuterValues = false;
    AffineExpr expr = read(index);
    return expr ? getRange(expr, ranges) : std::nullopt;
  }

  /// Whether the last index has values from before the loops, which may be so
  /// large that the sum overflows.
  bool hasOuterValues = false;

private:
  AffineExpr read(Value index);
  AffineExpr readLoop(int64_t loop);
  AffineExpr readApply(affine::AffineApplyOp apply);

  Operation *op;
  SmallVector<SizeRange> ranges;
  SmallVector<int> uses;
};
} // namespace

AffineExpr IndexSum::readLoop(int64_t loop) {
  if (uses[loop]++ != 0)
    return {};
  return getAffineDimExpr(loop, op->getContext());
}

AffineExpr IndexSum::readApply(affine::AffineApplyOp apply) {
  SmallVector<AffineExpr> operands;
  for (Value operand : apply.getOperands()) {
    AffineExpr read = this->read(operand);
    if (!read)
      return {};
    operands.push_back(read);
  }
  AffineMap map = apply.getAffineMap();
  ArrayRef<AffineExpr> all(operands);
  return map.getResult(0).replaceDimsAndSymbols(
      all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
}

AffineExpr IndexSum::read(Value index) {
  MLIRContext *context = op->getContext();
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return getAffineConstantExpr(*number, context);
  if (index.getParentRegion()->isProperAncestor(&op->getRegion(0))) {
    SizeTerm term = indexOf(index);
    hasOuterValues = true;
    ranges.push_back({term, term});
    return getAffineDimExpr(ranges.size() - 1, context);
  }
  if (auto argument = dyn_cast<BlockArgument>(index))
    return isa<tensor::GenerateOp>(op) ? readLoop(argument.getArgNumber())
                                       : AffineExpr();
  Operation *made = index.getDefiningOp();
  if (auto loop = dyn_cast<linalg::IndexOp>(made))
    return readLoop(loop.getDim());
  if (auto apply = dyn_cast<affine::AffineApplyOp>(made))
    return readApply(apply);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(made))
    return {};
  AffineExpr lhs = read(made->getOperand(0)), rhs = read(made->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<arith::AddIOp>(made))
    return lhs + rhs;
  return isa<arith::SubIOp>(made) ? lhs - rhs : lhs * rhs;
}

void mlir::nm::findBodyFacts(Operation *op, tensor::ExtractOp extract,
                             FactConsumer consume,
                             llvm::function_ref<void(int64_t)> checkEach) {
  Value tensor = extract.getTensor();
  SmallVector<SizeTerm> extents = getLoopExtents(op);
  // What a branch reads is not read for each element.
  bool readsAlways = extract->getParentRegion() == &op->getRegion(0);
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    std::string place =
        "dimension " + std::to_string(dim) + " of the tensor that it reads";
    std::optional<SizeRange> range;
    IndexSum sum(op);
    if (readsAlways)
      range = sum.getRangeOf(index);
    if (!range) {
      consume({CmpIPredicate::sge, sizeOf(tensor, dim), numberOf(1), extents,
               "expected " + place + " to be at least {1}, but got {0}"});
      checkEach(dim);
      continue;
    }
    consume({CmpIPredicate::sge, range->least, numberOf(0), extents,
             "expected indices of " + place + " from {1} on, but got {0}"});
    if (sum.hasOuterValues)
      consume({CmpIPredicate::sge, range->most, range->least, extents,
               "expected indices of " + place +
                   " that end behind {1}, where they begin, but got {0}"});
    consume({CmpIPredicate::sge, sizeOf(tensor, dim),
             sumOf(range->most, numberOf(1)), extents,
             "expected " + place +
                 " to be at least {1}, which the loops "
                 "reach, but got {0}"});
  }
}
