//===- WhatRan.h - Which unit multiplied, and which zeros -------*- C++ -*-===//

#ifndef NM_LIB_BENCH_WHATRAN_H
#define NM_LIB_BENCH_WHATRAN_H

#include "BenchCase.h"
#include "nm/Runtime/Manifest.h"
#include "nm/Schedule/KernelProfile.h"

#include <string>

namespace nm {

/// `cuda cores` etc.
const char *unitName(Unit unit);

/// What a product did with its zeros.
struct WhatRan {
  Unit unit = Unit::CudaCores;
  /// How many of the dense product's multiplications were made: N/M where all
  /// zeros are skipped, 1 where none is.
  double multiplied = 1;

  /// `skipped`, `partly` or `multiplied`.
  const char *zeros(const Pattern &pattern) const;
};

WhatRan whatRan(const BenchCase &bench, const OpInfo &op, bool onCpu);

} // namespace nm

#endif // NM_LIB_BENCH_WHATRAN_H
