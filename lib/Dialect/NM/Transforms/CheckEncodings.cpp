//===- CheckEncodings.cpp - Refuses encodings that are left ---------------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "CheckEncodings.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMCHECKENCODINGS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// The first encoded tensor type in `types`, also inside other types, that
/// matches.
static Type findEncoded(TypeRange types, function_ref<bool(Attribute)> isLeft) {
  Type found;
  AttrTypeWalker walker;
  walker.addWalk([&](RankedTensorType type) {
    if (!type.getEncoding() || !isLeft(type.getEncoding()))
      return WalkResult::advance();
    found = type;
    return WalkResult::interrupt();
  });
  for (Type type : types)
    if (walker.walk(type).wasInterrupted())
      return found;
  return {};
}

/// The types that `op` gives to others.
static SmallVector<Type> getDefinedTypes(Operation *op) {
  SmallVector<Type> types(op->getResultTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    types.push_back(function.getFunctionType());
  return types;
}

LogicalResult
mlir::nm::verifyNoEncodings(Operation *root, StringRef stage,
                            function_ref<bool(Attribute)> isLeft) {
  auto check = [&](Operation *op, TypeRange types) {
    Type encoded = findEncoded(types, isLeft);
    if (!encoded)
      return WalkResult::advance();
    op->emitOpError() << "expected no tensor encoding to be left " << stage
                      << ", but got " << encoded;
    return WalkResult::interrupt();
  };
  // A use says more about the cause than the definition does.
  WalkResult result = root->walk(
      [&](Operation *op) { return check(op, TypeRange(op->getOperands())); });
  if (!result.wasInterrupted())
    result = root->walk(
        [&](Operation *op) { return check(op, getDefinedTypes(op)); });
  return failure(result.wasInterrupted());
}

namespace {
struct NMCheckEncodings
    : mlir::nm::impl::NMCheckEncodingsBase<NMCheckEncodings> {
  void runOnOperation() override {
    if (failed(mlir::nm::verifyNoEncodings(
            getOperation(), "before bufferization, which would drop it",
            [](Attribute) { return true; })))
      signalPassFailure();
  }
};
} // namespace
