//===- Report.cpp - The results as a table and as a file ------------------===//

#include "Report.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

using namespace nm;

/// The columns of the table: header and rows are printed by it alike.
static void printColumns(const char *shape, const char *pattern,
                         const char *sparsity, const char *type,
                         const char *ours, const char *blas, const char *ratio,
                         const char *flops, const char *bytes,
                         const char *roofline, const char *error,
                         const char *strategy) {
  std::printf("%-16s %-21s %6s %-4s %-22s %-22s %7s %8s %6s %-14s %8s %s\n",
              shape, pattern, sparsity, type, ours, blas, ratio, flops, bytes,
              roofline, error, strategy);
}

static const char *kFileHeader =
    "m,n,k,pattern_n,pattern_m,block_k,block_n,sparsity,type,threads,cold,"
    "strategy,compile_s,median_us,p10_us,p90_us,runs,blas_median_us,blas_p10_"
    "us,"
    "blas_p90_us,blas_runs,speedup,relative_error,tolerance,accurate,"
    "blas_relative_error,flops,bytes,gflops,gbytes_per_s,roofline_share,"
    "roofline_bound,peak_gflops,peak_gbytes_per_s,remark\n";

Result<Report> Report::open(const std::string &csv, int threads) {
  Report report;
  report.threads = threads;
  report.path = csv;
  if (!csv.empty()) {
    report.file.reset(std::fopen(csv.c_str(), "w"));
    if (!report.file)
      return Error{csv + ": cannot be written: " + std::strerror(errno)};
    std::fputs(kFileHeader, report.file.get());
  }
  printColumns("m x n x k", "pattern", "zeros", "type", "us (p10, p90)",
               "BLAS us (p10, p90)", "BLAS/us", "Gflop/s", "GB/s",
               "of roofline", "error", "strategy");
  return report;
}

/// The share of the time that no implementation could do without.
static double roofline(const CaseResult &result) {
  return std::max(result.computeFloor(), result.memoryFloor()) /
         result.timings.median;
}

static const char *bound(const CaseResult &result) {
  return result.computeFloor() > result.memoryFloor() ? "compute" : "memory";
}

template <typename... Args>
static std::string format(const char *form, Args... args) {
  char text[128];
  std::snprintf(text, sizeof text, form, args...);
  return text;
}

/// `812.4 (799.1, 850.0)`, without decimals where there are thousands.
static std::string timeText(const Timings &timings) {
  int decimals = timings.median < 1e-3 ? 1 : 0;
  return format("%.*f (%.*f, %.*f)", decimals, timings.median * 1e6, decimals,
                timings.p10 * 1e6, decimals, timings.p90 * 1e6);
}

static void printRow(const CaseResult &result) {
  const BenchCase &bench = result.bench;
  double median = result.timings.median;
  std::string dense = "-", ratio = "-";
  if (result.dense) {
    dense = timeText(result.dense->timings);
    ratio = format("%.2fx", result.dense->timings.median / median);
  }
  std::string strategy =
      result.strategy + format(", compiled in %.2f s", result.compileSeconds);
  if (!result.isAccurate())
    strategy += format(", NOT ACCURATE: tolerance %.1e", result.tolerance);
  printColumns(
      bench.shape.str().c_str(), bench.pattern.str().c_str(),
      format("%.1f%%", 100 * bench.pattern.sparsity()).c_str(),
      std::string(elementName(bench.type)).c_str(),
      timeText(result.timings).c_str(), dense.c_str(), ratio.c_str(),
      format("%.1f", bench.flops() / median / 1e9).c_str(),
      format("%.1f", result.bytes / median / 1e9).c_str(),
      format("%.1f%% %s", 100 * roofline(result), bound(result)).c_str(),
      format("%.1e", result.relativeError).c_str(), strategy.c_str());
  std::fflush(stdout);
}

/// `text` as one field.
static std::string quoted(const std::string &text) {
  std::string field = "\"";
  for (char c : text)
    field += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return field + "\"";
}

void Report::writeRow(const CaseResult &result) {
  std::FILE *out = file.get();
  const BenchCase &bench = result.bench;
  const Pattern &pattern = bench.pattern;
  std::fprintf(out,
               "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
               ",%" PRId64 ",%" PRId64 ",%.6g,%s,%d,%d,",
               bench.shape.m, bench.shape.n, bench.shape.k, pattern.n,
               pattern.m, pattern.bk, pattern.bn, pattern.sparsity(),
               std::string(elementName(bench.type)).c_str(), threads,
               bench.isCold());
  auto writeTimings = [&](const Timings &timings) {
    std::fprintf(out, "%.4f,%.4f,%.4f,%zu,", timings.median * 1e6,
                 timings.p10 * 1e6, timings.p90 * 1e6, timings.runs);
  };
  std::fprintf(out, "%s,%.4f,", result.strategy.c_str(), result.compileSeconds);
  writeTimings(result.timings);
  if (result.dense) {
    writeTimings(result.dense->timings);
    std::fprintf(out, "%.4f,",
                 result.dense->timings.median / result.timings.median);
  } else {
    std::fputs(",,,,,", out);
  }
  std::fprintf(out, "%.3e,%.3e,%d,", result.relativeError, result.tolerance,
               result.isAccurate());
  if (result.dense)
    std::fprintf(out, "%.3e", result.dense->relativeError);
  double median = result.timings.median;
  std::fprintf(out, ",%.0f,%.0f,%.3f,%.3f,%.4f,%s,%.1f,%.2f,%s\n",
               bench.flops(), result.bytes, bench.flops() / median / 1e9,
               result.bytes / median / 1e9, roofline(result), bound(result),
               result.ceilings.flops / 1e9, result.ceilings.bandwidth / 1e9,
               quoted(result.remark).c_str());
}

void Report::add(const CaseResult &result) {
  printRow(result);
  if (file)
    writeRow(result);
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
