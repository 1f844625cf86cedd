//===- ModelWeight.h - The weight of a drawn contraction --------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_MODELWEIGHT_H
#define NM_TEST_INTEGRATION_CPU_MODELWEIGHT_H

#include "ModelCase.h"

#include "nm/Format/Condensed.h"

namespace nm::test {

/// The weight as B[k x n].
DenseView viewWeight(const ModelCase &model, const void *data,
                     ElementType type);

/// Dense, and pruned to the case's pattern; bytes where it is quantized. A
/// constant one is the same whenever it is drawn.
Result<Buffer> drawWeight(const ModelCase &model, Random &random);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_MODELWEIGHT_H
