//===- PassTensorMaps.cpp - Tensor maps in the parameters of kernels ------===//

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPASSTENSORMAPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::TensorMapAddressOp;

/// The alignment of a tensor map in memory, in bytes.
static constexpr int64_t kMapAlignment = 64;

/// Makes the kernel's argument that `op` is the address of one that has an
/// address.
static LogicalResult passByReference(RewriterBase &rewriter,
                                     TensorMapAddressOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getMap());
  auto kernel =
      argument ? dyn_cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp())
               : LLVM::LLVMFuncOp();
  if (!kernel || argument.getOwner() != &kernel.getBody().front())
    return op.emitOpError() << "expected a tensor map that is an argument of "
                               "its kernel, at the NVVM level";
  SmallVector<TensorMapAddressOp> uses;
  for (Operation *user : argument.getUsers()) {
    auto address = dyn_cast<TensorMapAddressOp>(user);
    if (!address)
      return user->emitOpError()
             << "expected only the address of a tensor map to be taken";
    uses.push_back(address);
  }
  unsigned number = argument.getArgNumber();
  Type pointer = LLVM::LLVMPointerType::get(op.getContext());
  auto type = LLVM::LLVMArrayType::get(
      rewriter.getI64Type(),
      cast<VectorType>(argument.getType()).getNumElements());
  SmallVector<Type> parameters(kernel.getFunctionType().getParams());
  parameters[number] = pointer;
  kernel.setFunctionType(LLVM::LLVMFunctionType::get(
      kernel.getFunctionType().getReturnType(), parameters));
  argument.setType(pointer);
  kernel.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(type));
  kernel.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                    rewriter.getI64IntegerAttr(kMapAlignment));
  kernel.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(),
                    rewriter.getUnitAttr());
  for (TensorMapAddressOp use : uses)
    rewriter.replaceOp(use, argument);
  return success();
}

namespace {
struct NMPassTensorMaps
    : mlir::nm::impl::NMPassTensorMapsBase<NMPassTensorMaps> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    llvm::SetVector<Value> maps;
    SmallVector<TensorMapAddressOp> addresses;
    getOperation().walk([&](TensorMapAddressOp op) {
      if (maps.insert(op.getMap()))
        addresses.push_back(op);
    });
    for (TensorMapAddressOp op : addresses)
      if (failed(passByReference(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
