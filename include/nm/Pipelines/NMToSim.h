//===- NMToSim.h - Kernels for NVIDIA GPUs, simulated -----------*- C++ -*-===//

#ifndef NM_PIPELINES_NMTOSIM_H
#define NM_PIPELINES_NMTOSIM_H

#include "nm/Pipelines/NMToNVVM.h"

namespace mlir::nm {

/// After buildKernels, in place of what is for a device: kernels become host
/// code for the simulator.
void buildSimulatedKernels(OpPassManager &pm);

/// `nm-to-sim`: as `nm-to-nvvm`, with its options, but for that.
void buildNMToSimPipeline(OpPassManager &pm, const NMToNVVMOptions &options);
void registerNMToSimPipeline();

} // namespace mlir::nm

#endif // NM_PIPELINES_NMTOSIM_H
