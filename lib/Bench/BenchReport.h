//===- BenchReport.h - The results as a table and as a file -----*- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHREPORT_H
#define NM_LIB_BENCH_BENCHREPORT_H

#include "BenchCase.h"
#include "Interleave.h"
#include "WhatRan.h"
#include "nm/Runtime/Ceilings.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace nm {

/// What was measured of a library.
struct LibraryResult {
  Timings timings;
  double relativeError = 0;
  /// The fastest of its routines for the case.
  std::string routine;
};

struct CaseResult {
  BenchCase bench;
  /// `cpu`, or a GPU's name.
  std::string device;
  /// How many threads the CPU used; 0 on a GPU.
  int threads = 0;
  /// How the product was mapped, and why.
  std::string strategy, remark;
  /// The whole schedule.
  std::string mappedBy;
  /// For a candidate that is measured for a table: whether its kernel is one of
  /// the product itself, and the arithmetic that the product may be computed
  /// by.
  bool isAsIs = false;
  std::string arithmetic;
  /// The step that had the same schedule: nothing was measured where there is
  /// one.
  std::string sameAs;
  /// Why the product cannot have the schedule of its step: nothing was measured
  /// either.
  std::string whyNoStep;
  /// None where the module does not say how it was compiled.
  std::optional<WhatRan> ran;
  /// The module's record of the product: registers, intensities and bound.
  OpInfo product;
  double compileSeconds = 0;
  Timings timings;
  /// The results of the dense BLAS, and of cuSPARSELt where it has the pattern.
  std::optional<LibraryResult> dense, sparse;
  /// cuSPARSE's, which takes the weights as CSR or BSR.
  std::optional<LibraryResult> csr;
  /// The dense BLAS' results for a product of f32 in fewer bits: in
  /// TensorFloat-32, and with operands and C in f16.
  std::optional<LibraryResult> denseTF32, denseF16;
  /// Why the dense BLAS, which was found, has no such product.
  std::optional<std::string> whyNoDense;
  double relativeError = 0;
  double tolerance = 0;
  /// Whether the dense product took longer, each time, than in other cases of
  /// the shape: the machine did something else.
  bool isDisturbed = false;
  /// What one call reads and writes.
  double bytes = 0;
  /// How many copies of the weights the calls took in turn.
  int64_t weightCopies = 1;
  /// What the device was measured to reach, or its clocks allow; 0 where that
  /// is not known.
  Ceilings ceilings;

  /// Seconds that the arithmetic and the memory take at least.
  double computeFloor() const {
    return ceilings.flops > 0 ? bench.flops() / ceilings.flops : 0;
  }
  double memoryFloor() const {
    return ceilings.bandwidth > 0 ? bytes / ceilings.bandwidth : 0;
  }
  /// The share of the time that no implementation could do without.
  double rooflineShare() const;
  const char *rooflineBound() const;
  /// `compute`, `shared`, `l2` or `memory`: what takes the longest at least, by
  /// the module, or of compute and memory by what the device reaches.
  const char *levelBound() const;
  /// Whether nothing was measured, because a step has nothing of its own.
  bool isSkipped() const { return !sameAs.empty() || !whyNoStep.empty(); }
  /// The BLAS's time over ours, 0 without one, or where they were disturbed.
  double speedup() const {
    return dense && !isDisturbed ? dense->timings.median / timings.median : 0;
  }

  /// Written so that a NaN is not accurate.
  bool isAccurate() const { return relativeError <= tolerance; }
};

/// Prints results as they come, and writes them to a file where one is asked
/// for.
class Report {
public:
  /// An empty `csv` writes no file. One that is not new goes on in the columns
  /// that are there, behind the last whole line: a run that was ended may have
  /// left a part of one.
  static Result<Report> open(const std::string &csv, bool isNew);

  void add(const CaseResult &result);
  /// Whether `csv` is a file to go on in: one with a whole line at least.
  static bool canContinue(const std::string &csv);
  /// The error says what could not be written.
  Status close();

private:
  struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };

  Report() = default;

  std::string path;
  /// The line with the columns' names.
  std::string header;
  std::unique_ptr<std::FILE, CloseFile> file;
};

/// A text as a field of comma-separated values: in quotes, without line breaks.
std::string csvText(const std::string &text);
/// The fields of a line that csvLine writes.
std::vector<std::string> csvFields(const std::string &line);

/// The line with the columns' names, and that of a result below `header`, which
/// another version may have written: a column that is not known stays empty.
std::string csvHeader();
std::string csvLine(const CaseResult &result,
                    const std::string &header = csvHeader());

/// The cases of which `csv`, as a Report writes it, has no whole line: all
/// where there is no such file.
Result<std::vector<BenchCase>> casesNotIn(const std::string &csv,
                                          const std::vector<BenchCase> &cases);

} // namespace nm

#endif // NM_LIB_BENCH_BENCHREPORT_H
