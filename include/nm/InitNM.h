//===- InitNM.h - Registration of all that nm has ---------------*- C++ -*-===//

#ifndef NM_INITNM_H
#define NM_INITNM_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::nm {

/// Adds the nm dialect, the upstream dialects its pipelines use, and the
/// interface models they need.
void registerAllDialects(DialectRegistry &registry);

/// Adds the nm dialect alone, with its interface models and transform ops.
void registerDialect(DialectRegistry &registry);

/// Registers nm's passes and pipelines for the command line, and upstream's.
void registerAllPasses();

/// Registers nm's passes and pipelines alone.
void registerPasses();

} // namespace mlir::nm

#endif // NM_INITNM_H
