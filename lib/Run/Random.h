//===- Random.h - Arguments drawn at random ---------------------*- C++ -*-===//

#ifndef NM_LIB_RUN_RANDOM_H
#define NM_LIB_RUN_RANDOM_H

#include "nm/Runtime/Weight.h"

#include <cstdint>

namespace nm {

/// Fills a row-major tensor: numbers in [-1, 1), integers in [-8, 8). The same
/// seed gives the same elements on any number of threads.
void fillRandom(const Tensor &tensor, uint64_t seed);

/// A condensed weight of the encoded `type` with a random pattern.
Result<Weight> randomWeight(const TensorType &type, uint64_t seed);

} // namespace nm

#endif // NM_LIB_RUN_RANDOM_H
