//===- ApproximateActivations.h - GELU, sigmoid and SiLU whole --*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_APPROXIMATEACTIVATIONS_H
#define NM_LIB_TRANSFORMS_APPROXIMATEACTIVATIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// erf(x) / x in f32 is a polynomial in s = 2 (x / kErfEnd)^2 - 1, lowest power
/// first: a least-squares fit at 4000 Chebyshev points, weighted by x + 0.3. In
/// powers of s, which is between -1 and 1, nothing cancels: the error of erf is
/// at most 1.7e-7, relatively 2.6e-7. Beyond kErfEnd erf(x) is 1 in f32.
constexpr float kErfEnd = 3.92f;
constexpr float kErfCoefficients[] = {
    0.360736817f,   -0.180108652f,   0.134084344f,   -0.109178208f,
    0.0906009004f,  -0.0740324855f,  0.0583692491f,  -0.0433680974f,
    0.0297830552f,  -0.0201841071f,  0.0140713789f,  -0.00738528324f,
    0.00203022244f, -0.00159654836f, 0.00206459616f, -0.000785141019f};

/// Adds patterns for x (1 + erf(c x)) / 2, which is GELU, and, where `hasExp2`
/// says that the chip has instructions for powers of two and for reciprocals,
/// for 1 + tanh(x) and y / (1 + exp(x)), which are GELU's tanh form, the
/// sigmoid function and SiLU. Taken whole, each needs fewer instructions than
/// its function and the arithmetic around it.
void populateApproximateActivationPatterns(RewritePatternSet &patterns,
                                           bool hasExp2);

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_APPROXIMATEACTIVATIONS_H
