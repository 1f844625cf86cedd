//===- ConvertOps.h - The ops of a kernel to host code ----------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTOPS_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTOPS_H

#include "ProductRegisters.h"
#include "SiteTable.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::nm {

struct Instruction;

/// Shared memory whose size the kernel knows.
struct StaticShared {
  /// The places of variables by their names; -1 is where the dynamic begins.
  llvm::StringMap<int64_t> offsets;
  int64_t bytes = 0;
};

/// Converts the ops in the functions of one gpu.module, one by one.
class OpConverter {
public:
  OpConverter(ModuleOp module, gpu::GPUModuleOp kernels,
              const StaticShared &shared)
      : module(module), kernels(kernels), shared(shared),
        builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()), layout(kernels) {}

  /// Sets the argument that is the thread, of the function whose ops come next.
  void setThread(Value argument) { thread = argument; }
  LogicalResult convert(Operation *op);
  /// Says before `op` what it does to the registers of wgmmas.
  LogicalResult addProductChecks(Operation *op,
                                 ArrayRef<ProductRegisters::Entry> entries);
  /// Passes a step before `terminator`.
  LogicalResult addStep(Operation *terminator);
  const SiteTable &getSites() const { return sites; }

private:
  LogicalResult convertLLVM(Operation *op);
  LogicalResult convertAccess(Operation *op, OpOperand &address, Type type,
                              int64_t alignment, NmSimKind kind);
  LogicalResult convertAddressOf(LLVM::AddressOfOp op);
  LogicalResult convertSharedToInt(LLVM::PtrToIntOp op);
  LogicalResult convertIntToShared(LLVM::IntToPtrOp op);
  LogicalResult convertCall(LLVM::CallOp op);
  LogicalResult convertInstruction(Operation *op);
  LogicalResult callCollective(Operation *op, const Instruction &instruction,
                               ArrayRef<Value> operands);

  /// Calls a function of libnm_sim for `op`, with the thread, the op's number
  /// and `operands`.
  FailureOr<LLVM::CallOp> callSim(Operation *op, StringRef name, Type result,
                                  ArrayRef<Value> operands,
                                  const SiteTable::Access &access = {});
  /// Replaces `op` by such a call.
  LogicalResult replaceByCall(Operation *op, StringRef name, Type result,
                              ArrayRef<Value> operands,
                              const SiteTable::Access &access = {});
  Value createSlot(Operation *op, Type type);
  Value constant(Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  const StaticShared &shared;
  OpBuilder builder;
  Type pointer, i32, i64;
  DataLayout layout;
  SiteTable sites;
  Value thread;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_CONVERTOPS_H
