//===- Presets.h - Named lists of cases -------------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_PRESETS_H
#define NM_LIB_BENCH_PRESETS_H

#include "BenchCase.h"

#include <string_view>
#include <vector>

namespace nm {

/// A named list of cases.
struct Preset {
  const char *name;
  const char *help;
  std::vector<BenchCase> (*cases)();
  /// Whether dense products are timed in TensorFloat-32 and in f16, too.
  bool comparesReduced = false;
};

const std::vector<Preset> &presets();
/// The preset of this name, or an error that names those there are.
Result<const Preset *> findPreset(std::string_view name);

} // namespace nm

#endif // NM_LIB_BENCH_PRESETS_H
