//===- LinalgToNM.h - Contractions to nm ops --------------------*- C++ -*-===//

#ifndef NM_CONVERSION_LINALGTONM_LINALGTONM_H
#define NM_CONVERSION_LINALGTONM_LINALGTONM_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"

/// Patterns that turn contractions with an encoded operand into nm ops.
void populateLinalgToNMPatterns(RewritePatternSet &patterns);

/// Patterns that turn dense contractions with a static matrix operand into nm
/// ops of pattern 1:1.
void populateDenseLinalgToNMPatterns(RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_LINALGTONM_LINALGTONM_H
