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
};

const std::vector<Preset> &presets();
/// The cases of the preset, or an error that names those there are.
Result<std::vector<BenchCase>> presetCases(std::string_view name);

} // namespace nm

#endif // NM_LIB_BENCH_PRESETS_H
