//===- ScatterBufferization.h - tensor.scatter to stores --------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H
#define NM_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::nm {

/// Registers the model by which one-shot bufferization treats `tensor.scatter`:
/// it stores the source's elements into the destination's memory. An index
/// outside of the destination fails the call (`nm.check_index`).
void registerScatterBufferization(DialectRegistry &registry);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_SCATTERBUFFERIZATION_H
