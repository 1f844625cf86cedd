//===- LayoutRewrite.h - Gives activations their layouts --------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_LAYOUTREWRITE_H
#define NM_LIB_GPU_LAYOUTS_LAYOUTREWRITE_H

#include "GPU/Layouts/LayoutCosts.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The ops that layouts have taken.
struct LayoutOps {
  SmallVector<linalg::TransposeOp> transpositions;
  SmallVector<bufferization::AllocTensorOp> copies;
};

/// Makes the ops of `function` take and give `chosen` layouts.
LayoutOps rewriteLayouts(RewriterBase &rewriter, func::FuncOp function,
                         const OtherLayouts &layouts,
                         const ChosenLayouts &chosen);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_LAYOUTREWRITE_H
