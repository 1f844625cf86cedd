//===- ScatterBufferization.h - tensor.scatter to stores --------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace mlir::nm {

/// The buffers of all operands of `op`.
FailureOr<SmallVector<Value>>
getBuffers(Operation *op, RewriterBase &rewriter,
           const bufferization::BufferizationOptions &options,
           bufferization::BufferizationState &state);

/// Registers the model by which one-shot bufferization treats `tensor.scatter`:
/// it stores the source's elements into the destination's memory. An index
/// outside of the destination fails the call (`nm.check_index`).
void registerScatterBufferization(DialectRegistry &registry);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H
