//===- ExportFunctions.cpp - A C interface for public functions -----------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPORTFUNCTIONS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

namespace {
struct NMExportFunctions
    : mlir::nm::impl::NMExportFunctionsBase<NMExportFunctions> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isPublic() && !function.isExternal())
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                        UnitAttr::get(&getContext()));
  }
};
} // namespace
