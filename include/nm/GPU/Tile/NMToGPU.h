//===- NMToGPU.h - Products to GPU kernels ----------------------*- C++ -*-===//

#ifndef NM_GPU_TILE_NMTOGPU_H
#define NM_GPU_TILE_NMTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::scf {
class ForallOp;
} // namespace mlir::scf
namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Tile/NMToGPU.h.inc"

/// Expands what is in `blocks`, an scf.forall on memrefs that is mapped to
/// #gpu.block, products by their strategy, and launches it: what
/// convert-nm-to-gpu does to one loop. The module says which chip it is for.
LogicalResult convertBlocksToLaunch(RewriterBase &rewriter,
                                    scf::ForallOp blocks);

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Tile/NMToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_TILE_NMTOGPU_H
