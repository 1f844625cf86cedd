//===- ProductBody.cpp - What each step of a contraction computes ---------===//

#include "nm/Dialect/NM/Transforms/ProductBody.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

namespace {
/// The parts of start + lhs * rhs, as they are in the body.
struct Step {
  /// The sum that the step starts from, and the factors.
  Value start, lhs, rhs;
  /// What is added to `start`, and the new sum.
  Value product, sum;
};
} // namespace

template <typename... Args>
static std::string text(Args &&...args) {
  std::string string;
  llvm::raw_string_ostream stream(string);
  ((stream << args), ...);
  return string;
}

/// What `value` is extended from, with its value and sign kept.
static Value stripExtensions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// What `yielded` is rounded from, to the nearest value of its type.
static Value stripRounding(Value yielded) {
  auto truncation = yielded.getDefiningOp<arith::TruncFOp>();
  if (!truncation)
    return yielded;
  std::optional<arith::RoundingMode> mode = truncation.getRoundingmode();
  bool isNearest = !mode || *mode == arith::RoundingMode::to_nearest_even;
  return isNearest ? truncation.getIn() : yielded;
}

/// Products of integers may be extended once they are made.
static Value stripIntegerExtensions(Value product) {
  return isa<IntegerType>(product.getType()) ? stripExtensions(product)
                                             : product;
}

/// Splits start + product, or fails; `start` is the sum so far.
static LogicalResult matchSum(Value sum, Value start, Step &step) {
  Operation *op = sum.getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(op))
    return failure();
  bool startsLeft = stripExtensions(op->getOperand(0)) == start;
  step.sum = sum;
  step.start = op->getOperand(startsLeft ? 0 : 1);
  step.product = op->getOperand(startsLeft ? 1 : 0);
  return success(stripExtensions(step.start) == start);
}

/// Splits lhs * rhs, or fails.
static LogicalResult matchProduct(Step &step) {
  Operation *op = stripIntegerExtensions(step.product).getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(op))
    return failure();
  step.lhs = op->getOperand(0);
  step.rhs = op->getOperand(1);
  return success();
}

static FailureOr<Step> matchStep(Block &body) {
  Value sum = stripRounding(body.getTerminator()->getOperand(0));
  Value start = body.getArgument(2);
  Step step;
  if (auto fma = sum.getDefiningOp<math::FmaOp>())
    step = {fma.getC(), fma.getA(), fma.getB(), sum, sum};
  else if (failed(matchSum(sum, start, step)) || failed(matchProduct(step)))
    return failure();
  Value lhs = stripExtensions(step.lhs), rhs = stripExtensions(step.rhs);
  if (lhs == body.getArgument(1))
    std::swap(lhs, rhs);
  if (stripExtensions(step.start) != start || lhs != body.getArgument(0) ||
      rhs != body.getArgument(1))
    return failure();
  return step;
}

/// Names the first op of `body` that steps of products never have, if any.
static std::string describeForeignOp(Block &body) {
  for (Operation &op : body.without_terminator())
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::TruncFOp, arith::MulFOp,
             arith::MulIOp, arith::AddFOp, arith::AddIOp, math::FmaOp>(op))
      return text(": its body has '", op.getName(), "'");
  return ": its body rounds or combines them in another way";
}

/// Checks that products are not rounded, nor wrap, before they are added.
static std::optional<Error> checkProductType(const Step &step, Type operand) {
  Type sum = step.sum.getType();
  Type product = stripIntegerExtensions(step.product).getType();
  // That of two integers has at most twice as many bits as each.
  bool fits = product == sum || product.getIntOrFloatBitWidth() >=
                                    2 * operand.getIntOrFloatBitWidth();
  if (fits)
    return std::nullopt;
  return Error{text("products of ", product, " are extended to ", sum,
                    " after they have wrapped: expected operands that are "
                    "extended before they are multiplied")};
}

/// Checks that sums are of the type that nm adds in, or of the operands' own
/// where they are floats.
static std::optional<Error> checkSumType(const Step &step, Type operand) {
  Type sum = step.sum.getType();
  Type expected = mlir::nm::detail::getProductAccumulatorType(operand);
  if (sum == expected || (sum == operand && isa<FloatType>(operand)))
    return std::nullopt;
  return Error{text("expected sums in ", expected, ", but got ", sum)};
}

/// Checks for a product of narrow floats that is extended to be added, which
/// matchStep has no place for.
static std::optional<Error> checkRoundedProduct(Block &body) {
  Operation *op =
      stripRounding(body.getTerminator()->getOperand(0)).getDefiningOp();
  if (!isa_and_present<arith::AddFOp>(op))
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    Value product = stripExtensions(operand);
    if (product != operand && product.getDefiningOp<arith::MulFOp>())
      return Error{text("products are rounded to ", product.getType(),
                        " before they are added in ", operand.getType(),
                        ": expected operands that are extended before they "
                        "are multiplied")};
  }
  return std::nullopt;
}

std::optional<Error> mlir::nm::checkProductBody(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  FailureOr<Step> step = matchStep(body);
  if (failed(step)) {
    if (std::optional<Error> error = checkRoundedProduct(body))
      return error;
    return Error{"op is not a contraction (a sum of products of two operands)" +
                 describeForeignOp(body)};
  }
  Type operand = body.getArgument(0).getType();
  if (std::optional<Error> error = checkSumType(*step, operand))
    return error;
  return checkProductType(*step, operand);
}
