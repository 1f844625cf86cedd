//===- Assembly.h - Instructions that no op stands for ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_ASSEMBLY_H
#define NM_LIB_GPU_EXPAND_ASSEMBLY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {

/// A struct of `count` elements of `type`.
inline Type getStructOf(Type type, size_t count) {
  return LLVM::LLVMStructType::getLiteral(type.getContext(),
                                          SmallVector<Type>(count, type));
}

/// The result of the inline assembly `text`, whose inputs are `operands`. With
/// side effects LLVM keeps the instruction where it stands; without, LLVM may
/// move or repeat the instruction.
inline Value emitAssembly(OpBuilder &builder, Location loc, Type result,
                          ValueRange operands, StringRef text,
                          StringRef constraints, bool hasSideEffects = true) {
  return LLVM::InlineAsmOp::create(
             builder, loc, result, operands, text, constraints, hasSideEffects,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_ASSEMBLY_H
