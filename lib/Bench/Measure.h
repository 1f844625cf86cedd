//===- Measure.h - Measuring a list of cases --------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_MEASURE_H
#define NM_LIB_BENCH_MEASURE_H

#include "BenchReport.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nm {

/// A device that cases are measured on.
class CaseRunner {
public:
  virtual ~CaseRunner() = default;

  /// What the numbers depend on, for people to read.
  virtual std::string describe() const = 0;
  virtual Result<CaseResult> run(const BenchCase &bench) = 0;
  /// Whether no more cases are to be run.
  virtual bool isDone() const { return false; }
  /// Whether another case can be run after one that failed.
  virtual bool isUsable() const { return true; }
};

using MakeRunner = std::function<Result<std::unique_ptr<CaseRunner>>()>;

enum class Isolation {
  /// All cases run in this process.
  None,
  /// They run in a child process, and a new one goes on after a case that ended
  /// the last one or left its device of no use: after an invalid access every
  /// call of a process to its GPU fails.
  Child
};

enum class Reporting {
  /// A file of their own, and their means at the end.
  Whole,
  /// Lines behind those that the file has, and no means.
  Continued
};

/// Measures `cases` on a runner, prints and writes the results as they come and
/// then their means. What fails is printed and does not keep the others from
/// being measured. Whether all cases ran and were accurate; the error is one of
/// the runner or the report as a whole.
Result<bool> measureCases(const std::vector<BenchCase> &cases,
                          const std::string &csv, const MakeRunner &makeRunner,
                          Isolation isolation,
                          Reporting reporting = Reporting::Whole);

} // namespace nm

#endif // NM_LIB_BENCH_MEASURE_H
