//===- CheckEncodings.cpp - Refuses encodings that are left ---------------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "CheckEncodings.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
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
mlir::nm::verifyNoEncodings(Operation *root, StringRef phase,
                            function_ref<bool(Attribute)> isLeft) {
  auto check = [&](Operation *op, TypeRange types) {
    Type encoded = findEncoded(types, isLeft);
    if (!encoded)
      return WalkResult::advance();
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "expected no tensor encoding to be left "
                                    << phase << ", but got " << encoded;
    if (isa<sparse_tensor::SparseTensorEncodingAttr>(
            cast<RankedTensorType>(encoded).getEncoding()))
      diagnostic << "; nm-opt --convert-sparse-tensor-to-nm makes #nm.encoding "
                    "of it";
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

/// Names an op on tensors that bufferization would say of no more than that it
/// is left.
static LogicalResult verifyBufferizable(Operation *root) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult result = root->walk([&](Operation *op) {
    if (isa<bufferization::BufferizableOpInterface>(op) ||
        (llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor)))
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "has no form on memrefs: expected ops of linalg, "
                             "tensor, arith and scf on tensors";
    if (op->getName().getDialectNamespace() == "tosa")
      diagnostic << ", as mlir-opt --tosa-to-linalg-pipeline makes them";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct NMCheckEncodings
    : mlir::nm::impl::NMCheckEncodingsBase<NMCheckEncodings> {
  void runOnOperation() override {
    if (failed(mlir::nm::verifyNoEncodings(
            getOperation(), "before bufferization, which would drop it",
            [](Attribute) { return true; })) ||
        failed(verifyBufferizable(getOperation())))
      signalPassFailure();
  }
};
} // namespace
