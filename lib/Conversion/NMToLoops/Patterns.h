//===- Patterns.h - The parts of convert-nm-to-loops ------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace mlir::nm {

/// Why the nm op `op` has no loops; null if it has.
const char *whyNoLoops(Operation *op);

void populateProductLoops(RewritePatternSet &patterns, bool parallel);
/// nm.compress and nm.decompress.
void populateCondensedLoops(RewritePatternSet &patterns);
void populatePruneLoops(RewritePatternSet &patterns);
void populatePackLoops(RewritePatternSet &patterns, bool parallel);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_PATTERNS_H
