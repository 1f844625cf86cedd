//===- Ablation.h - What each part of a schedule brings ---------*- C++ -*-===//

#ifndef NM_LIB_BENCH_ABLATION_H
#define NM_LIB_BENCH_ABLATION_H

#include "BenchCase.h"

#include <vector>

namespace nm {

/// One product at every sparsity, with schedules that each have one part more
/// than the one before.
std::vector<BenchCase> ablationCases();

} // namespace nm

#endif // NM_LIB_BENCH_ABLATION_H
