//===- CompareOutputs.h - How far a result may be off -----------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H
#define NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H

#include "nm/Support/ElementType.h"

#include <string>
#include <vector>

namespace nm::test {

/// What is wrong with `got`, elements of `type`, or nothing. Checked are
/// ‖got - expected‖ against ‖expected‖ and every element alone, as one wrong
/// element of many hardly moves the norm.
std::string compareOutputs(const std::vector<double> &got,
                           const std::vector<double> &expected,
                           ElementType type);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_COMPAREOUTPUTS_H
