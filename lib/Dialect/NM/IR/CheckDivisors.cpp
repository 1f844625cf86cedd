//===- CheckDivisors.cpp - What upstream takes for granted ----------------===//

#include "nm/Dialect/NM/IR/CheckDivisors.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;

static bool isDivisionByZero(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::Mod &&
                  expr.getKind() != AffineExprKind::FloorDiv &&
                  expr.getKind() != AffineExprKind::CeilDiv))
    return false;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor && divisor.getValue() == 0;
}

static bool dividesByZero(AffineMap map) {
  bool found = false;
  map.walkExprs([&](AffineExpr expr) { found |= isDivisionByZero(expr); });
  return found;
}

/// What the length of a loop is divided by.
static LogicalResult checkSteps(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!steps)
    return success();
  for (OpFoldResult step : *steps)
    if (std::optional<int64_t> size = getConstantIntValue(step);
        size && *size < 1)
      return loop.emitOpError()
             << "expected a step of at least 1, but got " << *size;
  return success();
}

static LogicalResult checkDimension(ShapedDimOpInterface dim) {
  auto type = dyn_cast<ShapedType>(dim.getShapedValue().getType());
  std::optional<int64_t> number = getConstantIntValue(dim.getDimension());
  if (!type || !type.hasRank() || !number ||
      (*number >= 0 && *number < type.getRank()))
    return success();
  return dim->emitOpError()
         << "expected a dimension of " << type << ", but got " << *number;
}

LogicalResult mlir::nm::checkDivisors(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      if (failed(checkSteps(loop)))
        return WalkResult::interrupt();
    if (auto dim = dyn_cast<ShapedDimOpInterface>(op))
      if (failed(checkDimension(dim)))
        return WalkResult::interrupt();
    WalkResult maps = op->getAttrDictionary().walk([&](AffineMapAttr map) {
      if (!dividesByZero(map.getValue()))
        return WalkResult::advance();
      op->emitOpError() << "expected a divisor other than 0, but got " << map;
      return WalkResult::interrupt();
    });
    return maps;
  });
  return failure(result.wasInterrupted());
}
