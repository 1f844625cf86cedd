//===- CsvLine.cpp - A result as a line of a file -------------------------===//

#include "BenchReport.h"

#include "Format.h"
#include "nm/Tables/ScheduleTable.h"

#include <sstream>

using namespace nm;

static std::string integer(int64_t value) { return std::to_string(value); }

std::string nm::csvText(const std::string &text) {
  std::string field = "\"";
  for (char c : text)
    field += c == '"' ? "\"\"" : c == '\n' ? " " : std::string(1, c);
  return field + "\"";
}

std::vector<std::string> nm::csvFields(const std::string &line) {
  std::vector<std::string> fields(1);
  bool isQuoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    bool isDouble = line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (isQuoted && isDouble)
      fields.back() += line[i++];
    else if (line[i] == '"')
      isQuoted = !isQuoted;
    else if (line[i] == ',' && !isQuoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  return fields;
}

static std::string micros(double seconds) {
  return format("%.4f", seconds * 1e6);
}

/// A field of a library's result, empty where there is none.
template <typename Text>
static std::string ofLibrary(const std::optional<LibraryResult> &result,
                             Text text) {
  return result ? text(*result) : "";
}

static std::string routineOf(const LibraryResult &result) {
  return result.routine;
}

static std::string medianOf(const LibraryResult &result) {
  return micros(result.timings.median);
}

static std::string errorOf(const LibraryResult &result) {
  return format("%.3e", result.relativeError);
}

/// A number that is not known everywhere.
static std::string known(const std::optional<double> &number) {
  return number ? format("%.4g", *number) : "";
}

namespace {
struct Column {
  const char *name;
  std::string (*text)(const CaseResult &result);
};
} // namespace

using R = const CaseResult &;
using D = const LibraryResult &;

static const Column kColumns[] = {
    {"m", [](R r) { return integer(r.bench.shape.m); }},
    {"n", [](R r) { return integer(r.bench.shape.n); }},
    {"k", [](R r) { return integer(r.bench.shape.k); }},
    {"pattern_n", [](R r) { return integer(r.bench.pattern.n); }},
    {"pattern_m", [](R r) { return integer(r.bench.pattern.m); }},
    {"block_k", [](R r) { return integer(r.bench.pattern.bk); }},
    {"block_n", [](R r) { return integer(r.bench.pattern.bn); }},
    {"granularity", [](R r) { return granularityName(r.bench.pattern); }},
    {"sparsity", [](R r) { return format("%.6g", r.bench.sparsity()); }},
    {"type", [](R r) { return std::string(elementName(r.bench.type)); }},
    {"result_type",
     [](R r) { return std::string(elementName(r.bench.resultType())); }},
    {"device", [](R r) { return csvText(r.device); }},
    {"threads", [](R r) { return integer(r.threads); }},
    {"cold", [](R r) { return integer(r.bench.isCold()); }},
    {"weight_copies", [](R r) { return integer(r.weightCopies); }},
    {"strategy", [](R r) { return r.strategy; }},
    {"step", [](R r) { return csvText(r.bench.step); }},
    {"schedule", [](R r) { return csvText(r.bench.schedule); }},
    {"compile_s", [](R r) { return format("%.4f", r.compileSeconds); }},
    {"median_us", [](R r) { return micros(r.timings.median); }},
    {"p10_us", [](R r) { return micros(r.timings.p10); }},
    {"p90_us", [](R r) { return micros(r.timings.p90); }},
    {"runs", [](R r) { return integer(int64_t(r.timings.runs)); }},
    {"blas_routine", [](R r) { return ofLibrary(r.dense, routineOf); }},
    {"blas_median_us", [](R r) { return ofLibrary(r.dense, medianOf); }},
    {"blas_p10_us",
     [](R r) {
       return ofLibrary(r.dense, [](D d) { return micros(d.timings.p10); });
     }},
    {"blas_p90_us",
     [](R r) {
       return ofLibrary(r.dense, [](D d) { return micros(d.timings.p90); });
     }},
    {"blas_runs",
     [](R r) {
       return ofLibrary(r.dense,
                        [](D d) { return integer(int64_t(d.timings.runs)); });
     }},
    {"speedup",
     [](R r) {
       return r.speedup() > 0 ? format("%.4f", r.speedup()) : std::string();
     }},
    {"relative_error", [](R r) { return format("%.3e", r.relativeError); }},
    {"tolerance", [](R r) { return format("%.3e", r.tolerance); }},
    {"accurate", [](R r) { return integer(r.isAccurate()); }},
    {"disturbed", [](R r) { return integer(r.isDisturbed); }},
    {"blas_relative_error", [](R r) { return ofLibrary(r.dense, errorOf); }},
    {"flops", [](R r) { return format("%.0f", r.bench.flops()); }},
    {"bytes", [](R r) { return format("%.0f", r.bytes); }},
    {"gflops",
     [](R r) {
       return format("%.3f", r.bench.flops() / r.timings.median / 1e9);
     }},
    {"gbytes_per_s",
     [](R r) { return format("%.3f", r.bytes / r.timings.median / 1e9); }},
    {"roofline_share", [](R r) { return format("%.4f", r.rooflineShare()); }},
    {"roofline_bound", [](R r) { return std::string(r.rooflineBound()); }},
    {"peak_gflops", [](R r) { return format("%.1f", r.ceilings.flops / 1e9); }},
    {"peak_gbytes_per_s",
     [](R r) { return format("%.2f", r.ceilings.bandwidth / 1e9); }},
    {"sparse_routine", [](R r) { return ofLibrary(r.sparse, routineOf); }},
    {"sparse_median_us", [](R r) { return ofLibrary(r.sparse, medianOf); }},
    {"sparse_relative_error", [](R r) { return ofLibrary(r.sparse, errorOf); }},
    {"csr_routine", [](R r) { return ofLibrary(r.csr, routineOf); }},
    {"csr_median_us", [](R r) { return ofLibrary(r.csr, medianOf); }},
    {"csr_relative_error", [](R r) { return ofLibrary(r.csr, errorOf); }},
    {"unit",
     [](R r) { return std::string(r.ran ? unitName(r.ran->unit) : ""); }},
    {"zeros",
     [](R r) {
       return std::string(r.ran ? r.ran->zeros(r.bench.pattern) : "");
     }},
    {"multiplied",
     [](R r) { return r.ran ? format("%.6g", r.ran->multiplied) : ""; }},
    {"intensity_registers",
     [](R r) { return known(r.product.intensityRegisters); }},
    {"intensity_shared", [](R r) { return known(r.product.intensityShared); }},
    {"intensity_l2", [](R r) { return known(r.product.intensityL2); }},
    {"intensity_memory",
     [](R r) { return format("%.4g", r.bench.flops() / r.bytes); }},
    {"compute_to_loads", [](R r) { return known(r.product.computeToLoads); }},
    {"level_bound", [](R r) { return std::string(r.levelBound()); }},
    {"shared_bytes",
     [](R r) {
       return r.product.sharedBytes ? integer(*r.product.sharedBytes) : "";
     }},
    {"registers",
     [](R r) {
       return r.product.registers ? integer(*r.product.registers) : "";
     }},
    {"registers_from", [](R r) { return r.product.registersFrom; }},
    {"occupancy", [](R r) { return known(r.product.occupancy); }},
    {"mapped_by", [](R r) { return csvText(r.mappedBy); }},
    {"layout",
     [](R r) {
       return std::string(r.bench.shape.m == 1 ? "vector"
                          : r.bench.isMMajor   ? "m-major"
                                               : "row-major");
     }},
    {"arithmetic", [](R r) { return r.arithmetic; }},
    {"quantization",
     [](R r) {
       return r.bench.quantization ? r.bench.quantization->str() : "";
     }},
    {"epilogue",
     [](R r) {
       std::string text = r.bench.epilogue.str();
       return text.empty() ? text : csvText(text.substr(3));
     }},
    {"weights",
     [](R r) { return std::string(r.bench.isConstant ? "constant" : ""); }},
    {"as_is", [](R r) { return integer(r.isAsIs); }},
    {"kernels", [](R) { return integer(kKernelVersion); }},
    {"blas_tf32_median_us",
     [](R r) { return ofLibrary(r.denseTF32, medianOf); }},
    {"blas_tf32_relative_error",
     [](R r) { return ofLibrary(r.denseTF32, errorOf); }},
    {"blas_f16_median_us", [](R r) { return ofLibrary(r.denseF16, medianOf); }},
    {"blas_f16_relative_error",
     [](R r) { return ofLibrary(r.denseF16, errorOf); }},
    {"remark", [](R r) { return csvText(r.remark); }},
};

std::string nm::csvHeader() {
  std::string line;
  for (const Column &column : kColumns)
    line += (line.empty() ? "" : ",") + std::string(column.name);
  return line;
}

std::string nm::csvLine(const CaseResult &result, const std::string &header) {
  std::string line, name;
  std::istringstream names(header);
  for (bool isFirst = true; std::getline(names, name, ','); isFirst = false) {
    line += isFirst ? "" : ",";
    for (const Column &column : kColumns)
      if (column.name == name)
        line += column.text(result);
  }
  return line;
}
