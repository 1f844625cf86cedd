//===- LinalgToGPU.h - Structured ops beside products to kernels *- C++ -*-===//

#ifndef NM_GPU_TILE_LINALGTOGPU_H
#define NM_GPU_TILE_LINALGTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func
namespace mlir::scf {
class ParallelOp;
} // namespace mlir::scf
namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/GPU/Tile/LinalgToGPU.h.inc"

/// Launches one thread for each iteration of `loop`, which has no results.
void convertParallelToLaunch(RewriterBase &rewriter, scf::ParallelOp loop);

/// Makes what is left of `function` on memrefs launches: linalg ops, parallel
/// loops and copies. An op that would touch the device's memory is an error.
LogicalResult convertLinalgToGPU(func::FuncOp function);

#define GEN_PASS_REGISTRATION
#include "nm/GPU/Tile/LinalgToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_GPU_TILE_LINALGTOGPU_H
