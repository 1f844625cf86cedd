//===- ContractOp.cpp - nm.contract ---------------------------------------===//

#include "VerifyMaps.h"
#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"

using namespace mlir;
using namespace mlir::nm;

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMContractions.cpp.inc"

/// (C3) and (C5).
static LogicalResult verifyTypes(ContractOp op) {
  Type a = op.getOperandType(0).getElementType(),
       b = op.getOperandType(1).getElementType(),
       c = op.getOperandType(2).getElementType();
  if (a != b)
    return op.emitOpError() << "expected A and B of one element type, but got "
                            << a << " and " << b;
  if (c != a && !c.isF32()) {
    InFlightDiagnostic diagnostic = op.emitOpError();
    diagnostic << "expected C of element type f32";
    if (!a.isF32())
      diagnostic << " or " << a;
    return diagnostic << ", but got " << c;
  }
  Arithmetic arithmetic = op.getArithmetic();
  if (arithmetic == Arithmetic::FastAccum ||
      (arithmetic != Arithmetic::F32 && !a.isF32()))
    return op.emitOpError() << "expected arithmetic "
                            << (a.isF32() ? "f32, ieee, bf16x3 or tf32" : "f32")
                            << " of operands of " << a << ", but got "
                            << stringifyArithmetic(arithmetic);
  return success();
}

LogicalResult ContractOp::verify() {
  if (getIndexingMaps().size() != 3)
    return emitOpError() << "expected 3 maps, of A, B and C, but got "
                         << getIndexingMaps().size();
  SmallVector<MappedOperand> operands = {{"A", getMap(0), getOperandType(0)},
                                         {"B", getMap(1), getOperandType(1)},
                                         {"C", getMap(2), getOperandType(2)}};
  // (C1).
  if (failed(verifyMaps(*this, operands)))
    return failure();
  // (C2).
  if (!getLoopRoles({getMap(0), getMap(1), getMap(2)}))
    return emitOpError()
           << "expected every loop to be one of A, B and C, or of "
              "two of them, and some of A and B alone, but got "
           << getIndexingMaps();
  // (C4).
  if (failed(verifyTypes(*this)) || failed(verifyLoopSizes(*this, operands)))
    return failure();
  // (C6).
  return verifyTensorsOrMemRefs(*this);
}

void ContractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/true, effects);
}

LogicalResult
ContractOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}
