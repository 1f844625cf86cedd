//===- ReplaceEncodings.cpp - One encoding for another, all over ----------===//

#include "ReplaceEncodings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::nm;

/// Checks the types that the op itself names, by `replace`.
static WalkResult checkTypes(Operation *op, ReplaceEncoding replace) {
  SmallVector<Type> types(op->getResultTypes());
  llvm::append_range(types, op->getOperandTypes());
  if (auto function = dyn_cast<FunctionOpInterface>(op)) {
    llvm::append_range(types, function.getArgumentTypes());
    llvm::append_range(types, function.getResultTypes());
  }
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getEncoding() &&
        failed(replace(tensor, [&] { return op->emitOpError(); })))
      return WalkResult::interrupt();
  }
  return WalkResult::advance();
}

/// Elements keep their type when that of an op's result is replaced.
static void retypeConstant(arith::ConstantOp op) {
  auto type = cast<ShapedType>(op.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
    op.setValueAttr(dense.reshape(type));
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
    op.setValueAttr(
        DenseResourceElementsAttr::get(type, resource.getRawHandle()));
}

LogicalResult mlir::nm::replaceEncodings(Operation *root,
                                         ReplaceEncoding replace) {
  WalkResult checked =
      root->walk([&](Operation *op) { return checkTypes(op, replace); });
  if (checked.wasInterrupted())
    return failure();
  // Those that are left are in attributes.
  bool isRefused = false;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    if (!type.getEncoding())
      return std::nullopt;
    FailureOr<Attribute> encoding =
        replace(type, [&] { return root->emitError(); });
    isRefused |= failed(encoding);
    if (failed(encoding) || !*encoding)
      return std::nullopt;
    return RankedTensorType::get(type.getShape(), type.getElementType(),
                                 *encoding);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  root->walk([](arith::ConstantOp op) {
    if (op.getType() != op.getValue().getType())
      retypeConstant(op);
  });
  return failure(isRefused);
}
