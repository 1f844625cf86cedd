//===- RunOptions.h - The command line of nm-run ----------------*- C++ -*-===//

#ifndef NM_LIB_RUN_RUNOPTIONS_H
#define NM_LIB_RUN_RUNOPTIONS_H

#include "nm/Schedule/Target.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nm {

struct RunOptions {
  std::string model;
  std::string function;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// Where none is given: that of the module, or cpu.
  std::optional<Target> target;
  std::string compileOptions;
  int64_t threads = 0;
  /// The number of a CUDA device; negative where none is given.
  int64_t device = -1;
  bool random = false;
  int64_t randomSeed = 0;
  int64_t dynamicSize = 128;
  bool check = false;
  std::optional<double> tolerance;
  /// Seconds to time for.
  std::optional<double> bench;
  /// Runs to take the times of steps of.
  std::optional<int64_t> profile;
  bool list = false;
  bool help = false;
  bool version = false;
};

/// Parses the arguments after the program's name; an error is a usage error.
Result<RunOptions> parseRunOptions(const std::vector<std::string> &args);

/// The text of --help.
std::string runHelp();

} // namespace nm

#endif // NM_LIB_RUN_RUNOPTIONS_H
