//===- BenchOptions.h - The command line of nm-bench ------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHOPTIONS_H
#define NM_LIB_BENCH_BENCHOPTIONS_H

#include "BenchCase.h"
#include "Blas.h"

#include <optional>
#include <string>
#include <vector>

namespace nm {

struct BenchOptions {
  std::vector<BenchCase> cases;
  std::string csv;
  /// Empty leaves the BLAS out.
  std::string blas = Blas::kDefaultPath;
  std::string compileOptions;
  int64_t threads = 0;
  int64_t seed = 0;
  /// For one case.
  double seconds = 2;
  std::optional<double> tolerance;
  bool list = false;
  bool help = false;
  bool version = false;
};

/// Parses the arguments after the program's name; an error is a usage error.
Result<BenchOptions> parseBenchOptions(const std::vector<std::string> &args);

/// The text of --help.
std::string benchHelp();

} // namespace nm

#endif // NM_LIB_BENCH_BENCHOPTIONS_H
