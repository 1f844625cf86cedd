//===- SharedPhases.h - Phases that all targets have ------------*- C++ -*-===//

#ifndef NM_PIPELINES_SHAREDPHASES_H
#define NM_PIPELINES_SHAREDPHASES_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

/// The options of buildConvertToNM.
struct ConvertToNMOptions {
  /// Whether constants that obey a pattern are weights.
  bool detectWeights = false;
  /// The #nm.arithmetic of contractions without such an attribute.
  llvm::StringRef arithmetic = "f32";
  /// Whether products of computed operands are nm ops, too.
  bool computedProducts = false;
  /// Whether tensor copies read images whose channels are last.
  bool copiesPixels = false;
};

/// Up to ops with an #nm.encoding replaced by nm ops (`--emit=nm`).
void buildConvertToNM(OpPassManager &pm, const ConvertToNMOptions &options);

/// What stands between products becomes linalg ops that can be cut, of
/// neighbours as few as there can be.
void buildElementwiseFusion(OpPassManager &pm);
/// Makes linalg ops of what stands between products that have their schedules:
/// ops that can be cut, of neighbours as few as there can be.
void buildElementwiseFusionOfScheduled(OpPassManager &pm);

/// One-shot bufferization of the whole module, with results in memory that the
/// caller brings.
void buildBufferization(OpPassManager &pm);

} // namespace mlir::nm

#endif // NM_PIPELINES_SHAREDPHASES_H
