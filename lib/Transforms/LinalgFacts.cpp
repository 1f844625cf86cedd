//===- LinalgFacts.cpp - What linalg's ops demand of sizes ----------------===//

#include "SizeFacts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::nm;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// `combine` of two terms, where both can be told.
template <typename Combine>
static SizeTerm combined(SizeTerm lhs, SizeTerm rhs, Combine combine) {
  return [=](SizeBuilder &sizes) -> FailureOr<OpFoldResult> {
    FailureOr<OpFoldResult> left = lhs(sizes), right = rhs(sizes);
    if (failed(left) || failed(right))
      return failure();
    return combine(sizes, *left, *right);
  };
}

SizeTerm mlir::nm::sumOf(SizeTerm lhs, SizeTerm rhs) {
  return combined(lhs, rhs,
                  [](SizeBuilder &sizes, OpFoldResult left,
                     OpFoldResult right) { return sizes.add(left, right); });
}

static SizeTerm productOf(SizeTerm lhs, int64_t factor) {
  return combined(
      lhs, numberOf(factor),
      [](SizeBuilder &sizes, OpFoldResult left, OpFoldResult right) {
        return sizes.multiply(left, right);
      });
}

static SizeTerm quotientOf(SizeTerm lhs, int64_t divisor, bool roundsUp) {
  return combined(
      lhs, numberOf(divisor),
      [=](SizeBuilder &sizes, OpFoldResult left, OpFoldResult right) {
        return roundsUp ? sizes.ceilDivide(left, right)
                        : sizes.floorDivide(left, right);
      });
}

static SizeTerm atMost(SizeTerm term, int64_t most) {
  return combined(term, numberOf(most),
                  [=](SizeBuilder &sizes, OpFoldResult left, OpFoldResult) {
                    return sizes.atMost(left, most);
                  });
}

std::optional<SizeRange> mlir::nm::getRange(AffineExpr expr,
                                            ArrayRef<SizeRange> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    SizeTerm number = numberOf(constant.getValue());
    return SizeRange{number, number};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<SizeRange> lhs = getRange(binary.getLHS(), dims);
  std::optional<SizeRange> rhs = getRange(binary.getRHS(), dims);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return SizeRange{sumOf(lhs->least, rhs->least),
                     sumOf(lhs->most, rhs->most)};
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!number)
    return std::nullopt;
  int64_t value = number.getValue();
  if (expr.getKind() == AffineExprKind::Mul) {
    SizeRange range{productOf(lhs->least, value), productOf(lhs->most, value)};
    if (value < 0)
      std::swap(range.least, range.most);
    return range;
  }
  if (value <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod)
    return SizeRange{numberOf(0), atMost(lhs->most, value - 1)};
  bool roundsUp = expr.getKind() == AffineExprKind::CeilDiv;
  return SizeRange{quotientOf(lhs->least, value, roundsUp),
                   quotientOf(lhs->most, value, roundsUp)};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The dimension of an operand that says how long a loop is.
struct LoopSource {
  OpOperand *operand = nullptr;
  int64_t dim = 0;

  bool isKnown() const {
    return operand &&
           !cast<ShapedType>(operand->get().getType()).isDynamicDim(dim);
  }
};
} // namespace

/// The source of each loop: of several dimensions a known one, else the first.
static SmallVector<LoopSource> findSources(linalg::LinalgOp op) {
  SmallVector<LoopSource> sources(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      LoopSource &source = sources[loop.getPosition()];
      LoopSource candidate{&operand, int64_t(dim)};
      if (!source.operand || (!source.isKnown() && candidate.isKnown()))
        source = candidate;
    }
  }
  return sources;
}

SmallVector<SizeTerm> mlir::nm::getLoopExtents(Operation *op) {
  SmallVector<SizeTerm> extents;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    for (const LoopSource &source : findSources(structured))
      extents.push_back(sizeOf(source.operand->get(), source.dim));
  if (auto made = dyn_cast<tensor::GenerateOp>(op)) {
    size_t next = 0;
    for (int64_t size : made.getType().getShape())
      extents.push_back(
          ShapedType::isDynamic(size)
              ? indexOf(getAsOpFoldResult(made.getDynamicExtents()[next++]))
              : numberOf(size));
  }
  return extents;
}

SmallVector<SizeRange> mlir::nm::getLoopRanges(ArrayRef<SizeTerm> extents) {
  SmallVector<SizeRange> ranges;
  for (const SizeTerm &extent : extents)
    ranges.push_back({numberOf(0), sumOf(extent, numberOf(-1))});
  return ranges;
}

static std::string describeDim(Operation *op, OpOperand &operand, int64_t dim) {
  return "dimension " + std::to_string(dim) + " of " +
         describeOperand(op, operand.getOperandNumber());
}

/// Dimension `dim` of `operand` is that of the loop that it walks.
static void demandEqual(linalg::LinalgOp op, OpOperand &operand, int64_t dim,
                        const LoopSource &source, FactConsumer consume) {
  if (source.operand == &operand && source.dim == dim)
    return;
  std::string text = "expected " + describeDim(op, operand, dim) + " to be {1}";
  text += ", as " + describeDim(op, *source.operand, source.dim) + " is";
  consume({CmpIPredicate::eq,
           sizeOf(operand.get(), dim),
           sizeOf(source.operand->get(), source.dim),
           {},
           text + ", but got {0}"});
}

/// Dimension `dim` of `operand` has all places that `expr` gives.
static void demandRoom(linalg::LinalgOp op, OpOperand &operand, int64_t dim,
                       AffineExpr expr, ArrayRef<SizeRange> loops,
                       ArrayRef<SizeTerm> extents, FactConsumer consume) {
  std::string place = describeDim(op, operand, dim);
  std::optional<SizeRange> range = getRange(expr, loops);
  if (!range)
    return;
  consume({CmpIPredicate::sge, range->least, numberOf(0),
           llvm::to_vector(extents),
           "expected places of " + place + " from {1} on, but got {0}"});
  consume({CmpIPredicate::sge, sizeOf(operand.get(), dim),
           sumOf(range->most, numberOf(1)), llvm::to_vector(extents),
           "expected " + place +
               " to be at least {1}, which the loops reach, "
               "but got {0}"});
}

static void findLoopFacts(linalg::LinalgOp op, FactConsumer consume) {
  SmallVector<LoopSource> sources = findSources(op);
  SmallVector<SizeTerm> extents = getLoopExtents(op);
  SmallVector<SizeRange> loops = getLoopRanges(extents);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        demandEqual(op, operand, dim, sources[loop.getPosition()], consume);
      else
        demandRoom(op, operand, dim, expr, loops, extents, consume);
    }
  }
}

void mlir::nm::findLinalgFacts(Operation *op, FactConsumer consume) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return findLoopFacts(structured, consume);
  auto softmax = dyn_cast<linalg::SoftmaxOp>(op);
  if (!softmax)
    return;
  for (int64_t dim = 0; dim < softmax.getInputOperandType().getRank(); ++dim)
    consume({CmpIPredicate::eq,
             sizeOf(softmax.getOutput(), dim),
             sizeOf(softmax.getInput(), dim),
             {},
             "expected dimension " + std::to_string(dim) + " of " +
                 describeOperand(op, 1) +
                 " to be {1}, as that of operand 0 is, "
                 "but got {0}"});
}
