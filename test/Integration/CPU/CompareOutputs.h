//===- CompareOutputs.h - How far a result may be off -----------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H
#define NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H

#include "nm/Format/ElementType.h"

#include <string>
#include <vector>

namespace nm::test {

/// The relative error that rounding to `type` once, and sums in f32, excuse.
double toleranceOf(ElementType type);

/// What is wrong with `got`, or nothing. Checked are ‖got - expected‖ against
/// ‖expected‖ and every element alone, as one wrong element of many hardly
/// moves the norm.
std::string compareOutputs(const std::vector<double> &got,
                           const std::vector<double> &expected,
                           double tolerance);

/// Compares `got` with `expected` where an element's error is relative to its
/// magnitude, too.
std::string compareOutputs(std::vector<double> got,
                           std::vector<double> expected,
                           const std::vector<double> &magnitudes,
                           double tolerance);

/// The squares of `elements`.
std::vector<double> squared(std::vector<double> elements);

/// Whether the terms of `sums` cancel, so that the terms' rounding is large
/// beside ‖sums‖: a few outputs may, and say nothing of who computed them.
/// `squaresOfTerms` holds the sum of each output's squared terms.
bool cancels(const std::vector<double> &sums,
             const std::vector<double> &squaresOfTerms);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H
