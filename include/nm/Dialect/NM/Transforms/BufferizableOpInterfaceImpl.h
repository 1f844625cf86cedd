//===- BufferizableOpInterfaceImpl.h - Bufferization of nm ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define NM_DIALECT_NM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::nm {

/// Registers the models by which one-shot bufferization treats nm ops.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
