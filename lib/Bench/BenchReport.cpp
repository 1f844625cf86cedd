//===- BenchReport.cpp - The results as a table and as a file -------------===//

#include "BenchReport.h"

#include "Format.h"
#include "nm/Support/Terminal.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

using namespace nm;

/// What the table has of a case.
struct Row {
  std::string shape, pattern, sparsity, type, ours, blas, ratio, flops, bytes,
      roofline, error, strategy;
};

/// The columns of a row that is not broken, without the strategy.
static constexpr int kWideColumns = 156;

static std::string wideText(const Row &row) {
  char text[512];
  std::snprintf(text, sizeof text,
                "%-16s %-21s %6s %-4s %-22s %-30s %7s %8s %6s %-14s %8s ",
                row.shape.c_str(), row.pattern.c_str(), row.sparsity.c_str(),
                row.type.c_str(), row.ours.c_str(), row.blas.c_str(),
                row.ratio.c_str(), row.flops.c_str(), row.bytes.c_str(),
                row.roofline.c_str(), row.error.c_str());
  return text + row.strategy;
}

/// Lines of at most `columns`, all but the first indented, broken at spaces.
static std::string wrapped(const std::string &text, size_t columns) {
  std::string lines, line = "  ";
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (line.size() + word.size() > columns && line.size() > 2) {
      lines += line + "\n";
      line = "  ";
    }
    line += word + " ";
    at = end + 1;
  }
  return lines + line;
}

/// A row of a terminal that is narrower than the table: what is compared comes
/// first, and the rest on lines of its own.
static std::string narrowText(const Row &row, size_t columns) {
  std::string first = row.shape + "  " + row.pattern + "  " + row.type;
  std::string rest = row.ours + " us, BLAS " + row.blas + ", " + row.ratio +
                     "; " + row.sparsity + " zeros, " + row.flops +
                     " Gflop/s, " + row.bytes + " GB/s, " + row.roofline +
                     ", error " + row.error + "; " + row.strategy;
  return first + "\n" + wrapped(rest, columns);
}

static void printRow(const Row &row) {
  int columns = terminalColumns(STDOUT_FILENO);
  bool isNarrow = columns > 0 && columns < kWideColumns;
  std::string text =
      isNarrow ? narrowText(row, size_t(columns)) : wideText(row);
  std::printf("%s\n", text.c_str());
}

/// Prints the table's header. On a terminal on which rows are broken, each
/// number says what it is, and the header says only how times are given.
static void printHeader() {
  int columns = terminalColumns(STDOUT_FILENO);
  if (columns == 0 || columns >= kWideColumns)
    printRow({"m x n x k", "pattern", "zeros", "type", "us (p10, p90)",
              "BLAS us (p10, p90)", "BLAS/us", "Gflop/s", "GB/s", "of roofline",
              "error", "strategy"});
  else
    std::printf("m x n x k  pattern  type: times are medians (p10, p90)\n");
}

/// The first line of `path`, and the bytes up to the end of the last whole one.
static std::pair<std::string, size_t> wholeLines(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t last = text.rfind('\n');
  if (last == std::string::npos)
    return {};
  return {text.substr(0, text.find('\n')), last + 1};
}

bool Report::canContinue(const std::string &csv) {
  return wholeLines(csv).second > 0;
}

Result<Report> Report::open(const std::string &csv, bool isNew) {
  Report report;
  report.path = csv;
  report.header = csvHeader();
  if (!csv.empty()) {
    if (!isNew) {
      auto [header, bytes] = wholeLines(csv);
      std::error_code error;
      std::filesystem::resize_file(csv, bytes, error);
      if (error)
        return Error{csv + ": cannot be written: " + error.message()};
      report.header = header;
    }
    report.file.reset(std::fopen(csv.c_str(), isNew ? "w" : "a"));
    if (!report.file)
      return Error{csv + ": cannot be written: " + std::strerror(errno)};
    if (isNew)
      std::fprintf(report.file.get(), "%s\n", report.header.c_str());
  }
  if (isNew)
    printHeader();
  return report;
}

const char *CaseResult::levelBound() const {
  return product.bound.empty() ? rooflineBound() : product.bound.c_str();
}

double CaseResult::rooflineShare() const {
  return std::max(computeFloor(), memoryFloor()) / timings.median;
}

const char *CaseResult::rooflineBound() const {
  return computeFloor() > memoryFloor() ? "compute" : "memory";
}

/// The share of the roofline that the product reaches; `-` where no roofline
/// was measured, as for candidates of tuning.
static std::string rooflineText(const CaseResult &result) {
  double share = result.rooflineShare();
  return share > 0 ? format("%.1f%% %s", 100 * share, result.rooflineBound())
                   : "-";
}

/// The type, and what else a case has beside its shape and pattern.
static std::string kindText(const BenchCase &bench) {
  return bench.typeText() + (bench.isConstant ? " constant" : "") +
         bench.epilogue.str();
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

/// `, cuSPARSE 12.6.3 CSR 8.1 (8.0, 8.2) us, 1.31x`: the library's time, and
/// how many times as fast ours is.
static std::string besideText(const std::string &name,
                              const std::optional<LibraryResult> &library,
                              double median) {
  if (!library)
    return "";
  return ", " + name + " " + timeText(library->timings) +
         format(" us, %.2fx", library->timings.median / median);
}

static void printResult(const CaseResult &result) {
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
  if (result.sparse)
    strategy += besideText(result.sparse->routine, result.sparse, median);
  if (result.csr)
    strategy += besideText(result.csr->routine, result.csr, median);
  strategy += besideText("BLAS in TF32", result.denseTF32, median);
  strategy += besideText("BLAS in f16", result.denseF16, median);
  if (result.ran)
    strategy += std::string(", ") + unitName(result.ran->unit) + ", zeros " +
                result.ran->zeros(bench.pattern);
  if (result.whyNoDense)
    strategy += ", no BLAS: " + *result.whyNoDense;
  if (result.isDisturbed)
    strategy += ", DISTURBED: BLAS took less in other cases of the shape";
  if (!result.isAccurate())
    strategy += format(", NOT ACCURATE: tolerance %.1e", result.tolerance);
  printRow({bench.shape.str(), bench.pattern.str(),
            format("%.1f%%", 100 * bench.sparsity()), kindText(bench),
            timeText(result.timings), dense, ratio,
            format("%.1f", bench.flops() / median / 1e9),
            format("%.1f", result.bytes / median / 1e9), rooflineText(result),
            errorText(result.relativeError), strategy});
  std::fflush(stdout);
}

static void printSame(const CaseResult &result) {
  const BenchCase &bench = result.bench;
  std::string what =
      bench.step + ": " +
      (result.sameAs.empty() ? "left out, " + result.whyNoStep
                             : "the schedule of " + result.sameAs);
  printRow({bench.shape.str(), bench.pattern.str(),
            format("%.1f%%", 100 * bench.sparsity()), kindText(bench), "-", "-",
            "-", "-", "-", "-", "-", what});
  std::fflush(stdout);
}

void Report::add(const CaseResult &result) {
  if (result.isSkipped()) {
    printSame(result);
    return;
  }
  printResult(result);
  if (!file)
    return;
  // A run that is cut short leaves what it has measured.
  std::fprintf(file.get(), "%s\n", csvLine(result, header).c_str());
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
