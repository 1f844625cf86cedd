//===- CompiledCase.h - Compiling one case ----------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_COMPILEDCASE_H
#define NM_LIB_BENCH_COMPILEDCASE_H

#include "BenchCase.h"
#include "nm/Runtime/Module.h"

#include <string>

namespace nm {

/// A compiled case.
struct CompiledCase {
  Module module;
  Function function;
  /// How long compiling it took.
  double seconds = 0;

  /// How the product was mapped, and why; empty where the module does not say.
  const OpInfo *product() const;
  /// The strategy of `product`, and `dense` where its zeros are multiplied.
  std::string strategy() const;
};

struct CaseResult;

/// Writes to `result` how `compiled` was compiled: seconds, strategy, remark,
/// schedule, and the module's record.
void recordKernel(const CompiledCase &compiled, CaseResult &result);

/// What cases are compiled with.
struct CompileSettings {
  std::string target = "cpu";
  /// Options of nm-compile; those of a case come after them.
  std::string options;
};

/// Compiles a case to a module at `path`; gives the seconds it took.
Result<double> compileToFile(const BenchCase &bench,
                             const CompileSettings &settings,
                             const std::string &path);

/// Compiles a case and loads it.
Result<CompiledCase> compileCase(const BenchCase &bench,
                                 const CompileSettings &settings);

/// Loads what compileToFile made.
Result<CompiledCase> loadCase(const std::string &path, double seconds);

} // namespace nm

#endif // NM_LIB_BENCH_COMPILEDCASE_H
