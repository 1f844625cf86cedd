//===- ProtectArguments.cpp - Marks arguments as read-only ----------------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPROTECTARGUMENTS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

namespace {
struct NMProtectArguments
    : mlir::nm::impl::NMProtectArgumentsBase<NMProtectArguments> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || function.isExternal())
      return;
    auto readOnly = BoolAttr::get(&getContext(), false);
    for (auto [position, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isa<TensorType>(type))
        function.setArgAttr(
            position, bufferization::BufferizationDialect::kWritableAttrName,
            readOnly);
  }
};
} // namespace
