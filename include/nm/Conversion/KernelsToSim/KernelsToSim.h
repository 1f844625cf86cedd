//===- KernelsToSim.h - Kernels to simulated host code ----------*- C++ -*-===//

#ifndef NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H
#define NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/KernelsToSim/KernelsToSim.h.inc"

/// Makes the kernels of `module`, in the nvvm dialect, and their launches host
/// code that the simulator runs.
LogicalResult convertKernelsToSim(ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/KernelsToSim/KernelsToSim.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H
