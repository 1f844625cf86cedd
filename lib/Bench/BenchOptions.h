//===- BenchOptions.h - The command line of nm-bench ------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHOPTIONS_H
#define NM_LIB_BENCH_BENCHOPTIONS_H

#include "BenchCase.h"
#include "nm/Schedule/Target.h"

#include <optional>
#include <string>
#include <vector>

namespace nm {

/// Fewer bits than f32 that the library may take for a product of f32.
enum class ReducedType { TF32, F16 };

struct BenchOptions {
  std::vector<BenchCase> cases;
  /// What to compile for, and to measure on.
  Target target;
  /// The number of a CUDA device.
  int64_t device = 0;
  /// A folder of cases compiled beforehand; empty compiles each as it comes.
  std::string kernels;
  /// Fill that folder and measure nothing.
  bool compileOnly = false;
  std::string csv;
  /// Leave out what that file has, and add to it.
  bool resume = false;
  /// Measure candidates and write a table of the fastest to this file; empty
  /// measures the cases as they are.
  std::string table;
  /// Measure the GPU's rates for that file, and no cases.
  bool probe = false;
  /// Tables that are added to it, in place of measuring.
  std::vector<std::string> merged;
  /// The seconds that tuning may take, and the candidates of a product that
  /// are compiled for another machine.
  double budget = 0;
  int64_t candidates = 0;
  /// The schedules of a product that are drawn at random.
  int64_t draws = 0;
  /// How often the fastest schedules of a product are measured again.
  int64_t rounds = 2;
  /// A file for what tuning found, a line a product; empty writes none.
  std::string summary;
  /// The arithmetic that the products may be computed by.
  std::string arithmetic = "f32";
  /// Where the BLAS is; empty for the target's usual one, `none` for none.
  std::string blas;
  /// Where cuSPARSELt is, which is compared with where it is there; empty for
  /// the usual one, `none` for none.
  std::string sparseBlas;
  /// Where cuSPARSE is, `auto` for the usual place; empty for none.
  std::string csrBlas;
  /// In what cuBLAS' dense products of f32 are timed besides.
  std::vector<ReducedType> reducedTypes;
  std::string compileOptions;
  int64_t threads = 0;
  int64_t seed = 0;
  /// For one case, without the preparation.
  double seconds = 0;
  std::optional<double> tolerance;
  bool list = false;
  bool help = false;
  bool version = false;

  bool hasBlas() const { return blas != "none"; }
};

/// Parses the arguments after the program's name; an error is a usage error.
Result<BenchOptions> parseBenchOptions(const std::vector<std::string> &args);

/// The text of --help.
std::string benchHelp();

} // namespace nm

#endif // NM_LIB_BENCH_BENCHOPTIONS_H
