//===- NMToLoops.h - nm ops to loops, the reference -------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOLOOPS_NMTOLOOPS_H
#define NM_CONVERSION_NMTOLOOPS_NMTOLOOPS_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/NMToLoops/NMToLoops.h.inc"

/// Patterns that expand nm ops on memrefs into loops over scalars. With
/// `parallel`, the outer loops of products and packing are scf.parallel.
void populateNMToLoopsPatterns(RewritePatternSet &patterns,
                               bool parallel = false);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/NMToLoops/NMToLoops.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOLOOPS_NMTOLOOPS_H
