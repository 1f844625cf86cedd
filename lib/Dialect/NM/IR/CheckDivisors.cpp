//===- CheckDivisors.cpp - Divisions by zero in affine maps ---------------===//

#include "nm/Dialect/NM/IR/CheckDivisors.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

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

LogicalResult mlir::nm::checkDivisors(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
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
