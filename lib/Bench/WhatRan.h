//===- WhatRan.h - Which unit multiplied, and which zeros -------*- C++ -*-===//

#ifndef NM_LIB_BENCH_WHATRAN_H
#define NM_LIB_BENCH_WHATRAN_H

#include "BenchCase.h"
#include "nm/Runtime/Manifest.h"

#include <optional>
#include <string>

namespace nm {

enum class Unit {
  CpuCores,
  CudaCores,
  TensorCores,
  SparseTensorCores,
  /// cuBLAS with dense weights.
  Library
};

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

/// Operations a byte that each level of a GPU's memory hands on, by the tiles
/// of a schedule; none where the schedule has no tiles.
struct Intensity {
  /// From registers to CUDA cores: each multiply-add reads three numbers.
  std::optional<double> registers;
  /// From shared memory to registers, for the tile of a thread.
  std::optional<double> shared;
  /// The same for the tile of a warp, whose lanes share what they want of one
  /// word: no kernel reads less.
  std::optional<double> sharedByWarp;
  /// From the second-level cache to shared memory, for the tile of a block.
  std::optional<double> l2;
  /// Multiply-adds for each number that is loaded from shared memory: the
  /// compute to memory access ratio.
  std::optional<double> ratio;
};

Intensity intensityOf(const BenchCase &bench, const OpInfo &op,
                      const WhatRan &ran);

} // namespace nm

#endif // NM_LIB_BENCH_WHATRAN_H
