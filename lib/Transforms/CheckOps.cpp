//===- CheckOps.cpp - What no target has ----------------------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMCHECKOPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static bool isKnown(FloatType type) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E4M3FNType, Float8E5M2Type>(type);
}

/// The first of `types` that is made of floats which no target has.
static Type findUnknown(TypeRange types) {
  for (Type type : types) {
    AttrTypeWalker walker;
    walker.addWalk([](FloatType inner) {
      return isKnown(inner) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walker.walk(type).wasInterrupted())
      return type;
  }
  return {};
}

static Type findUnknown(Operation *op) {
  if (Type type = findUnknown(op->getResultTypes()))
    return type;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (Type type = findUnknown(block.getArgumentTypes()))
        return type;
  return {};
}

/// Whether `op` is a call of the compiler's runtime library, for its integers
/// are too wide for instructions.
static bool isOfWideIntegers(Operation *op) {
  if (!isa<arith::FPToSIOp, arith::FPToUIOp, arith::SIToFPOp, arith::UIToFPOp,
           arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return false;
  auto isWide = [](Type type) {
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    return integer && integer.getWidth() > 64;
  };
  return isWide(op->getOperand(0).getType()) ||
         isWide(op->getResult(0).getType());
}

static LogicalResult checkOp(Operation *op) {
  if (!op->isRegistered())
    return op->emitOpError()
           << "is not registered: expected ops that have a lowering";
  if (Type type = findUnknown(op))
    return op->emitOpError()
           << "expected floats of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, "
              "but got "
           << type;
  if (isOfWideIntegers(op))
    return op->emitOpError()
           << "expected integers of at most 64 bits to convert or divide, but "
              "got "
           << op->getOperand(0).getType() << " and "
           << op->getResult(0).getType();
  return success();
}

namespace {
struct NMCheckOps : mlir::nm::impl::NMCheckOpsBase<NMCheckOps> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk(
        [](Operation *op) { return WalkResult(checkOp(op)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
