//===- ReferenceRounding.cpp - Conversions that round in f64 --------------===//

#include "ReferenceRounding.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether `value` is the running sum of a reduction whose body is `block`, or
/// computed from it.
static bool dependsOnSum(Value value, Block *block, unsigned inputs) {
  if (value.getParentBlock() != block)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= inputs;
  return llvm::any_of(value.getDefiningOp()->getOperands(), [&](Value operand) {
    return dependsOnSum(operand, block, inputs);
  });
}

/// Whether `cast` rounds a running sum to the nearest.
static bool isOfRunningSum(Operation *cast) {
  auto truncation = dyn_cast<arith::TruncFOp>(cast);
  if (truncation && truncation.getRoundingmode().value_or(
                        arith::RoundingMode::to_nearest_even) !=
                        arith::RoundingMode::to_nearest_even)
    return false;
  auto op = dyn_cast<linalg::LinalgOp>(cast->getParentOp());
  return op && op.getNumReductionLoops() > 0 &&
         dependsOnSum(cast->getOperand(0), op.getBlock(),
                      unsigned(op.getNumDpsInputs()));
}

/// Whether the operand of an extension may hold more in f64 than in its type.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isa<arith::TruncFOp, arith::ExtFOp>(op) &&
         !matchPattern(value, m_Constant());
}

/// The type that `cast` rounds to, if it does, and the processor has
/// conversions.
static std::optional<FloatType> findType(Operation *cast) {
  bool truncates = isa<arith::TruncFOp>(cast);
  if (isOfRunningSum(cast) || (!truncates && !isComputed(cast->getOperand(0))))
    return std::nullopt;
  Value rounded = truncates ? cast->getResult(0) : cast->getOperand(0);
  Type type = getElementTypeOrSelf(rounded.getType());
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
           Float8E5M2Type>(type))
    return std::nullopt;
  return llvm::cast<FloatType>(type);
}

SmallVector<RoundedCast> mlir::nm::findRoundedCasts(ModuleOp module) {
  SmallVector<RoundedCast> casts;
  module.walk([&](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return;
    auto truncation = dyn_cast<arith::TruncFOp>(op);
    casts.push_back({op, findType(op),
                     truncation ? truncation.getRoundingmodeAttr()
                                : arith::RoundingModeAttr()});
  });
  return casts;
}

/// `type`, or the tensor type of `like` with its elements.
static Type getTypeLike(Type like, FloatType type) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? Type(shaped.clone(type)) : type;
}

/// `value` of f64 as it is in `type`. By way of f32, which is what all others
/// are converted from.
static Value round(OpBuilder &b, Location loc, Value value, FloatType type,
                   arith::RoundingModeAttr mode) {
  Type wide = value.getType();
  auto convert = [&](FloatType to) {
    value = arith::TruncFOp::create(b, loc, getTypeLike(wide, to), value, mode,
                                    arith::FastMathFlagsAttr());
  };
  convert(b.getF32Type());
  if (!type.isF32()) {
    convert(type);
    value =
        arith::ExtFOp::create(b, loc, getTypeLike(wide, b.getF32Type()), value);
  }
  return arith::ExtFOp::create(b, loc, wide, value);
}

void mlir::nm::expandRoundedCasts(ArrayRef<RoundedCast> casts) {
  for (const RoundedCast &rounded : casts) {
    Operation *cast = rounded.cast;
    OpBuilder b(cast);
    Value value = cast->getOperand(0);
    if (rounded.type)
      value = round(b, cast->getLoc(), value, *rounded.type, rounded.mode);
    cast->replaceAllUsesWith(ValueRange{value});
    cast->erase();
  }
}
