//===- LayoutRewrite.h - Gives activations their layouts --------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTREWRITE_H
#define NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTREWRITE_H

#include "LayoutCosts.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Makes the ops of `function` take and give `chosen` layouts, and returns the
/// transpositions that this has taken.
SmallVector<linalg::TransposeOp> rewriteLayouts(RewriterBase &rewriter,
                                                func::FuncOp function,
                                                const OtherLayouts &layouts,
                                                const ChosenLayouts &chosen);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_GPUTRANSFORMS_LAYOUTREWRITE_H
