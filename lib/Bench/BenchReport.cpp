//===- BenchReport.cpp - The results as a table and as a file -------------===//

#include "BenchReport.h"

#include "Format.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

using namespace nm;

/// The columns of the table: header and rows are printed by it alike.
static void printColumns(const char *shape, const char *pattern,
                         const char *sparsity, const char *type,
                         const char *ours, const char *blas, const char *ratio,
                         const char *flops, const char *bytes,
                         const char *roofline, const char *error,
                         const char *strategy) {
  std::printf("%-16s %-21s %6s %-4s %-22s %-30s %7s %8s %6s %-14s %8s %s\n",
              shape, pattern, sparsity, type, ours, blas, ratio, flops, bytes,
              roofline, error, strategy);
}

Result<Report> Report::open(const std::string &csv, bool isNew) {
  Report report;
  report.path = csv;
  if (!csv.empty()) {
    report.file.reset(std::fopen(csv.c_str(), isNew ? "w" : "a"));
    if (!report.file)
      return Error{csv + ": cannot be written: " + std::strerror(errno)};
    if (isNew)
      std::fprintf(report.file.get(), "%s\n", csvHeader().c_str());
  }
  if (isNew)
    printColumns("m x n x k", "pattern", "zeros", "type", "us (p10, p90)",
                 "BLAS us (p10, p90)", "BLAS/us", "Gflop/s", "GB/s",
                 "of roofline", "error", "strategy");
  return report;
}

double CaseResult::rooflineShare() const {
  return std::max(computeFloor(), memoryFloor()) / timings.median;
}

const char *CaseResult::rooflineBound() const {
  return computeFloor() > memoryFloor() ? "compute" : "memory";
}

/// `812.4 (799.1, 850.0)`, without decimals where there are thousands.
static std::string timeText(const Timings &timings) {
  int decimals = timings.median < 1e-3 ? 1 : 0;
  return format("%.*f (%.*f, %.*f)", decimals, timings.median * 1e6, decimals,
                timings.p10 * 1e6, decimals, timings.p90 * 1e6);
}

/// Without the sign that a NaN may have.
static std::string errorText(double error) {
  return std::isnan(error) ? "nan" : format("%.1e", error);
}

static void printRow(const CaseResult &result) {
  const BenchCase &bench = result.bench;
  double median = result.timings.median;
  std::string dense = "-", ratio = "-";
  if (result.dense) {
    dense = timeText(result.dense->timings) + " " + result.dense->routine;
    ratio = result.isDisturbed ? "-" : format("%.2fx", result.speedup());
  }
  std::string what = result.strategy;
  if (!bench.step.empty())
    what = bench.step + ": " + what;
  else if (!bench.schedule.empty())
    what += " (" + bench.schedule + ")";
  std::string strategy =
      what + format(", compiled in %.2f s", result.compileSeconds);
  if (const std::optional<LibraryResult> &sparse = result.sparse)
    strategy +=
        ", " + sparse->routine + " " + timeText(sparse->timings) +
        format(" us, %.2fx", sparse->timings.median / result.timings.median);
  if (result.whyNoDense)
    strategy += ", no BLAS: " + *result.whyNoDense;
  if (result.isDisturbed)
    strategy += ", DISTURBED: BLAS took less in other cases of the shape";
  if (!result.isAccurate())
    strategy += format(", NOT ACCURATE: tolerance %.1e", result.tolerance);
  printColumns(
      bench.shape.str().c_str(), bench.pattern.str().c_str(),
      format("%.1f%%", 100 * bench.pattern.sparsity()).c_str(),
      std::string(elementName(bench.type)).c_str(),
      timeText(result.timings).c_str(), dense.c_str(), ratio.c_str(),
      format("%.1f", bench.flops() / median / 1e9).c_str(),
      format("%.1f", result.bytes / median / 1e9).c_str(),
      format("%.1f%% %s", 100 * result.rooflineShare(), result.rooflineBound())
          .c_str(),
      errorText(result.relativeError).c_str(), strategy.c_str());
  std::fflush(stdout);
}

static void printSame(const CaseResult &result) {
  const BenchCase &bench = result.bench;
  std::string what = bench.step + ": the schedule of " + result.sameAs;
  printColumns(bench.shape.str().c_str(), bench.pattern.str().c_str(),
               format("%.1f%%", 100 * bench.pattern.sparsity()).c_str(),
               std::string(elementName(bench.type)).c_str(), "-", "-", "-", "-",
               "-", "-", "-", what.c_str());
  std::fflush(stdout);
}

void Report::add(const CaseResult &result) {
  if (!result.sameAs.empty()) {
    printSame(result);
    return;
  }
  printRow(result);
  if (!file)
    return;
  // A run that is cut short leaves what it has measured.
  std::fprintf(file.get(), "%s\n", csvLine(result).c_str());
  std::fflush(file.get());
}

Status Report::close() {
  bool tableFailed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  bool fileFailed = false;
  if (file) {
    fileFailed = std::ferror(file.get()) != 0;
    fileFailed |= std::fclose(file.release()) != 0;
  }
  if (fileFailed)
    return Error{path + ": cannot be written: " + std::strerror(errno)};
  if (tableFailed)
    return Error{"cannot write to the standard output"};
  return Status::success();
}
