//===- WarpgroupInstructions.h - What wgmma takes ---------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_KERNELSTOSIM_WARPGROUPINSTRUCTIONS_H
#define NM_LIB_CONVERSION_KERNELSTOSIM_WARPGROUPINSTRUCTIONS_H

#include "Instructions.h"

namespace mlir::nm {

/// The operands of the functions of libnm_sim.
FailureOr<SmallVector<Value>> getWarpgroupProduct(const OperandBuilder &b);
FailureOr<SmallVector<Value>> getWarpgroupWait(const OperandBuilder &b);
/// The operands of wgmma in inline PTX.
FailureOr<SmallVector<Value>> getWarpgroupProductInAsm(const OperandBuilder &b);
/// The only operand of an instruction in inline PTX.
FailureOr<SmallVector<Value>> getNumberInAsm(const OperandBuilder &b);

/// It reads shared memory by chunks of 16 bytes.
SiteTable::Access getWarpgroupProductAccess(Operation *op);

/// Whether `op` is a wgmma.mma_async.
bool isWarpgroupProduct(Operation *op);
/// The values that its sums begin with, and those that it reads from registers
/// while it is in flight: A's, and metadata.
SmallVector<Value> getWarpgroupSums(Operation *op);
SmallVector<Value> getWarpgroupRegisters(Operation *op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_KERNELSTOSIM_WARPGROUPINSTRUCTIONS_H
