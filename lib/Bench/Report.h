//===- Report.h - The results as a table and as a file ----------*- C++ -*-===//

#ifndef NM_LIB_BENCH_REPORT_H
#define NM_LIB_BENCH_REPORT_H

#include "BenchCase.h"
#include "Interleave.h"
#include "Roofline.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace nm {

/// What was measured of the BLAS.
struct DenseResult {
  Timings timings;
  double relativeError = 0;
};

struct CaseResult {
  BenchCase bench;
  /// How the product was mapped, and why.
  std::string strategy, remark;
  double compileSeconds = 0;
  Timings timings;
  std::optional<DenseResult> dense;
  double relativeError = 0;
  double tolerance = 0;
  /// What one call reads and writes.
  double bytes = 0;
  /// What this host was measured to reach.
  Ceilings ceilings;

  /// Seconds that the arithmetic and the memory take at least.
  double computeFloor() const { return bench.flops() / ceilings.flops; }
  double memoryFloor() const { return bytes / ceilings.bandwidth; }

  /// Written so that a NaN is not accurate.
  bool isAccurate() const { return relativeError <= tolerance; }
};

/// Prints results as they come, and writes them to a file where one is asked
/// for.
class Report {
public:
  /// An empty `csv` writes no file.
  static Result<Report> open(const std::string &csv, int threads);

  void add(const CaseResult &result);
  /// The error says what could not be written.
  Status close();

private:
  struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };

  Report() = default;
  void writeRow(const CaseResult &result);

  int threads = 1;
  std::string path;
  std::unique_ptr<std::FILE, CloseFile> file;
};

} // namespace nm

#endif // NM_LIB_BENCH_REPORT_H
