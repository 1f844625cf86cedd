//===- LinalgToGPU.h - Structured ops beside products to kernels *- C++ -*-===//

#ifndef NM_CONVERSION_LINALGTOGPU_LINALGTOGPU_H
#define NM_CONVERSION_LINALGTOGPU_LINALGTOGPU_H

#include "mlir/Pass/Pass.h"

namespace mlir::scf {
class ParallelOp;
} // namespace mlir::scf
namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/LinalgToGPU/LinalgToGPU.h.inc"

/// Launches one thread for each iteration of `loop`, which has no results.
void convertParallelToLaunch(RewriterBase &rewriter, scf::ParallelOp loop);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/LinalgToGPU/LinalgToGPU.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_LINALGTOGPU_LINALGTOGPU_H
