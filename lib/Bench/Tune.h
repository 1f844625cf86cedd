//===- Tune.h - Measuring candidates for a table ----------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_TUNE_H
#define NM_LIB_BENCH_TUNE_H

#include "BenchOptions.h"
#include "CompiledCase.h"
#include "Measure.h"

#include "nm/Tables/ScheduleTable.h"

#include <functional>

namespace nm {

/// The device that tuning measures on.
struct TuneDevice {
  TableDevice device;
  bool onCpu = false;
  Isolation isolation = Isolation::None;
  /// Measures a case that was compiled.
  using Measure =
      std::function<Result<CaseResult>(const BenchCase &, CompiledCase &)>;
  struct Bench {
    Measure measure;
    std::function<bool()> isUsable;
    std::string description;
  };
  /// Opens the device, in the process that is to measure.
  std::function<Result<Bench>()> open;

  /// The device's name in measurements: a CPU's threads are a part of it.
  std::string name() const;
};

/// Measures candidates for the cases of `options` until its budget ends, all
/// are, or the program is interrupted, and writes the table of the fastest.
/// A candidate that `options.csv` has already is not measured again. Returns
/// whether nothing failed.
Result<bool> tune(const BenchOptions &options, CompileSettings settings,
                  const TuneDevice &device);

/// Compiles first candidates and neighbours of those that the cost model
/// estimates to be the fastest into the folder of `options.kernels`, for a
/// machine without a compiler.
Result<bool> compileCandidates(const BenchOptions &options,
                               CompileSettings settings);

/// Adds the tables of `options.merged` to `options.table`.
Status mergeIntoTable(const BenchOptions &options);

} // namespace nm

#endif // NM_LIB_BENCH_TUNE_H
