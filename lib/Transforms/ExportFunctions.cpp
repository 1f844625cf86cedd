//===- ExportFunctions.cpp - A C interface for public functions -----------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPORTFUNCTIONS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Marks of earlier passes, which LLVM does not know.
static void removeMarks(func::FuncOp function) {
  for (NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (attribute.getName().getValue().starts_with("nm."))
      function->removeAttr(attribute.getName());
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    for (NamedAttribute attribute : llvm::to_vector(
             mlir::function_interface_impl::getArgAttrs(function, i)))
      if (attribute.getName().getValue().starts_with("nm."))
        function.removeArgAttr(i, attribute.getName());
}

namespace {
struct NMExportFunctions
    : mlir::nm::impl::NMExportFunctionsBase<NMExportFunctions> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    removeMarks(function);
    if (function.isPublic() && !function.isExternal())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(&getContext()));
  }
};
} // namespace
