//===- Exp2.h - Powers of two on a GPU --------------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_EXP2_H
#define NM_DIALECT_NM_IR_EXP2_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::nm {

/// 2^value, an f32; results that are subnormal are zero. LLVM's own exp2 has
/// none such, for which it takes four instructions (PTX ISA, "ex2").
inline Value emitExp2(OpBuilder &builder, Location loc, Value value) {
  return LLVM::InlineAsmOp::create(
             builder, loc, value.getType(), value, "ex2.approx.ftz.f32 $0, $1;",
             "=f,f",
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
             /*operand_attrs=*/nullptr)
      .getResult(0);
}

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_EXP2_H
