//===- LinalgToNM.h - Contractions to nm ops --------------------*- C++ -*-===//

#ifndef NM_CONVERSION_LINALGTONM_LINALGTONM_H
#define NM_CONVERSION_LINALGTONM_LINALGTONM_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"

/// Patterns that turn contractions with an encoded operand into nm ops.
/// `arithmetic` is that of products of f32 that say nothing of it.
void populateLinalgToNMPatterns(RewritePatternSet &patterns,
                                Arithmetic arithmetic = Arithmetic::F32);

/// Patterns that turn dense contractions with a static matrix operand into nm
/// ops of pattern 1:1.
void populateDenseLinalgToNMPatterns(RewritePatternSet &patterns,
                                     Arithmetic arithmetic = Arithmetic::F32);

/// Patterns that turn products of two computed operands into nm.contract.
void populateContractionToContractPatterns(
    RewritePatternSet &patterns, Arithmetic arithmetic = Arithmetic::F32);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_LINALGTONM_LINALGTONM_H
