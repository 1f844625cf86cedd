//===- ApproximateMath.cpp - f32 functions to polynomials -----------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMAPPROXIMATEMATH
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

namespace {
struct NMApproximateMath
    : mlir::nm::impl::NMApproximateMathBase<NMApproximateMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
