//===- KernelsToSim.h - Kernels to simulated host code ----------*- C++ -*-===//

#ifndef NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H
#define NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/KernelsToSim/KernelsToSim.h.inc"

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/KernelsToSim/KernelsToSim.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_KERNELSTOSIM_KERNELSTOSIM_H
