//===- SlidingWindows.cpp - The order of loops over windows ---------------===//

#include "SlidingWindows.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::nm;

/// LLVM unrolls a loop of so many turns, and makes vectors of the one around.
static constexpr int64_t kUnrolled = 16;

/// Whether subscripts by `map` have `loop` in the last one alone, where a step
/// of the loop is one element, or nowhere.
static bool isAlongRows(AffineMap map, unsigned loop) {
  if (!map.isFunctionOfDim(loop))
    return true;
  AffineExpr row = map.getResults().back();
  for (AffineExpr other : map.getResults().drop_back())
    if (other.isFunctionOfDim(loop))
      return false;
  SmallVector<AffineExpr> terms = {row};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    auto sum = dyn_cast<AffineBinaryOpExpr>(term);
    if (sum && sum.getKind() == AffineExprKind::Add)
      terms.append({sum.getLHS(), sum.getRHS()});
    else if (term.isFunctionOfDim(loop) && !isa<AffineDimExpr>(term))
      return false;
  }
  return true;
}

/// The parallel loop along rows of what `op` reads and of its one result, if at
/// least two reductions stand last, the last of them over a few elements.
static std::optional<unsigned> findRowLoop(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  unsigned loops = iterators.size();
  if (op.getNumDpsInits() != 1 || loops < 3 ||
      !linalg::isReductionIterator(iterators[loops - 1]) ||
      !linalg::isReductionIterator(iterators[loops - 2]))
    return std::nullopt;
  int64_t taps = op.getStaticLoopRanges().back();
  if (ShapedType::isDynamic(taps) || taps > kUnrolled)
    return std::nullopt;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0 || !result.isProjectedPermutation())
    return std::nullopt;
  unsigned row = result.getDimPosition(result.getNumResults() - 1);
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isAlongRows(op.getMatchingIndexingMap(input), row))
      return std::nullopt;
  return row;
}

LogicalResult mlir::nm::orderWindowLoops(RewriterBase &rewriter,
                                         linalg::LinalgOp op) {
  std::optional<unsigned> row = findRowLoop(op);
  if (!row)
    return success();
  // The row's loop goes between the last two, which are over taps.
  unsigned loops = op.getNumLoops();
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop + 1 < loops; ++loop)
    if (loop != *row)
      order.push_back(loop);
  order.append({*row, loops - 1});
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return op.emitOpError() << "could not be written as linalg.generic";
    generic = *made;
  }
  return linalg::interchangeGenericOp(rewriter, generic, order);
}
