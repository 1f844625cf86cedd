//===- NMToGPU.h - Products to GPU kernels ----------------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_NMTOGPU_H
#define NM_CONVERSION_NMTOGPU_NMTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::scf {
class ForallOp;
} // namespace mlir::scf
namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/NMToGPU/NMToGPU.h.inc"

/// Expands the products in `blocks`, an scf.forall mapped to #gpu.block, by
/// their strategy, and launches it. Emits an error where a block would take
/// more than `maxSharedMemory` bytes of shared memory. Up to `earlyBlocks`
/// blocks may be launched before the kernel before them has ended.
LogicalResult convertBlocksToLaunch(RewriterBase &rewriter,
                                    scf::ForallOp blocks,
                                    int64_t maxSharedMemory,
                                    int64_t earlyBlocks = 0);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/NMToGPU/NMToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_NMTOGPU_H
