//===- Measurements.cpp - What candidates were measured to take -----------===//

#include "Measurements.h"

#include "BenchReport.h"
#include "Candidates.h"
#include "Format.h"
#include "nm/Support/Counted.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/stat.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

namespace {
/// A line, by the names of its columns.
class Row {
public:
  Row(const std::map<std::string, size_t> &columns,
      const std::vector<std::string> &fields)
      : columns(columns), fields(fields) {}

  std::string text(const std::string &name) const {
    auto at = columns.find(name);
    return at == columns.end() || at->second >= fields.size()
               ? ""
               : fields[at->second];
  }
  double number(const std::string &name) const {
    return std::strtod(text(name).c_str(), nullptr);
  }
  int64_t integer(const std::string &name) const {
    return std::strtoll(text(name).c_str(), nullptr, 10);
  }

private:
  const std::map<std::string, size_t> &columns;
  const std::vector<std::string> &fields;
};
} // namespace

static Measurement measurementOf(const Row &row) {
  Pattern pattern{row.integer("pattern_n"), row.integer("pattern_m"),
                  row.integer("block_k"), row.integer("block_n")};
  std::string type = row.text("type"), quantized = row.text("quantization"),
              text = row.text("epilogue");
  text = text.empty() ? text : " + " + text;
  Result<CaseEpilogue> read = CaseEpilogue::take(text);
  CaseEpilogue epilogue = read ? *read : CaseEpilogue();
  Measurement measured;
  measured.product = {row.integer("m"),
                      row.integer("n"),
                      row.integer("k"),
                      pattern.str(),
                      quantized.empty() ? type : type + " x " + quantized,
                      row.text("result_type"),
                      row.text("layout"),
                      epilogue.className(row.integer("m")),
                      row.text("arithmetic")};
  measured.device = row.text("device");
  measured.kernels = row.integer("kernels");
  measured.schedule = row.text("mapped_by");
  measured.isAsIs = row.integer("as_is") != 0;
  measured.isAccurate = row.integer("accurate") != 0;
  measured.isDisturbed = row.integer("disturbed") != 0;
  measured.candidate = row.text("schedule");
  measured.microseconds = row.number("median_us");
  if (!row.text("blas_median_us").empty())
    measured.dense = row.number("blas_median_us");
  return measured;
}

Result<std::vector<Measurement>> nm::readMeasurements(const std::string &path) {
  std::vector<Measurement> all;
  struct stat info;
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT)
    return all;
  std::ifstream file(path);
  std::string line;
  std::map<std::string, size_t> columns;
  if (!file.is_open())
    return Error{path + ": cannot be read"};
  // A run that was ended may have left a part of the columns' names.
  std::getline(file, line);
  if (file.eof() && csvHeader().compare(0, line.size(), line) == 0)
    return all;
  std::vector<std::string> names = csvFields(line);
  for (size_t i = 0; i < names.size(); ++i)
    columns[names[i]] = i;
  for (const char *needed : {"as_is", "kernels", "mapped_by", "median_us"})
    if (!columns.count(needed))
      return Error{path + ":1: expected a column " + needed +
                   ", as nm-bench --tune writes it, but found none"};
  for (size_t number = 2; std::getline(file, line); ++number) {
    // A run that was ended may have left a part of its last line.
    if (file.eof())
      break;
    std::vector<std::string> fields = csvFields(line);
    if (fields.size() != names.size())
      return Error{path + ":" + std::to_string(number) + ": expected " +
                   counted(names.size(), "field") + ", but got " +
                   std::to_string(fields.size())};
    all.push_back(measurementOf(Row(columns, fields)));
  }
  return all;
}

TableProduct nm::tableProductOf(const BenchCase &bench,
                                const std::string &arithmetic) {
  std::string layout = bench.shape.m == 1 ? "vector"
                       : bench.isMMajor   ? "m-major"
                                          : "row-major";
  return {bench.shape.m,    bench.shape.n,
          bench.shape.k,    bench.pattern.str(),
          bench.typeText(), std::string(elementName(bench.resultType())),
          layout,           bench.epilogue.className(bench.shape.m),
          arithmetic};
}

//===----------------------------------------------------------------------===//
// The best of the measurements
//===----------------------------------------------------------------------===//

/// None where there are no numbers.
static std::optional<double> medianOf(std::vector<double> numbers) {
  if (numbers.empty())
    return std::nullopt;
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

static bool counts(const Measurement &measured, const TableProduct &product,
                   const std::string &device) {
  return measured.product == product && measured.device == device &&
         measured.kernels == kKernelVersion && measured.isAccurate &&
         measured.microseconds > 0;
}

std::vector<CandidateTime> nm::rank(const std::vector<Measurement> &all,
                                    const TableProduct &product,
                                    const std::string &device, bool asIsOnly) {
  std::map<std::string, std::vector<double>> times;
  std::map<std::string, Measurement> first;
  for (const Measurement &measured : all) {
    if (!counts(measured, product, device) || (asIsOnly && !measured.isAsIs))
      continue;
    std::string key = (measured.isAsIs ? "" : "other ") + measured.schedule;
    times[key].push_back(measured.microseconds);
    first.emplace(key, measured);
  }
  std::vector<CandidateTime> ranked;
  for (const auto &[key, measured] : first)
    ranked.push_back({measured, *medianOf(times[key]), times[key].size()});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const CandidateTime &left, const CandidateTime &right) {
                     return left.microseconds < right.microseconds;
                   });
  return ranked;
}

std::optional<double> nm::denseTime(const std::vector<Measurement> &all,
                                    const TableProduct &product,
                                    const std::string &device) {
  std::vector<double> times;
  for (const Measurement &measured : all)
    if (measured.dense && !measured.isDisturbed &&
        counts(measured, product, device))
      times.push_back(*measured.dense);
  return medianOf(std::move(times));
}

/// Whether a way other than a kernel of the product itself is clearly faster:
/// not a library's, which is looked up beside ours.
static bool isOtherFaster(const std::vector<CandidateTime> &all, double best) {
  constexpr double kClearly = 0.98;
  return std::any_of(all.begin(), all.end(), [&](const CandidateTime &time) {
    return !time.measured.isAsIs &&
           time.measured.schedule.rfind("#nm.cublas", 0) != 0 &&
           time.microseconds < kClearly * best;
  });
}

/// The fastest, or the model's own where that is not clearly slower, so that
/// noise does not choose.
static const CandidateTime &pick(const std::vector<CandidateTime> &ranked) {
  constexpr double kClearly = 0.98;
  for (const CandidateTime &time : ranked)
    if (isModelsChoice(time.measured.candidate) &&
        ranked.front().microseconds >= kClearly * time.microseconds)
      return time;
  return ranked.front();
}

std::string nm::summarize(const std::vector<Measurement> &all,
                          const BenchCase &bench, const std::string &arithmetic,
                          const std::string &device) {
  TableProduct product = tableProductOf(bench, arithmetic);
  std::vector<CandidateTime> ranked =
      rank(all, product, device, /*asIsOnly=*/true);
  if (ranked.empty())
    return "";
  const CandidateTime &best = pick(ranked);
  std::vector<double> ofModel;
  for (const Measurement &measured : all)
    if (measured.candidate.empty() && counts(measured, product, device))
      ofModel.push_back(measured.microseconds);
  auto text = [](std::optional<double> time) {
    return time ? format("%.4f", *time) : std::string();
  };
  return csvText(bench.str()) + "," + csvText(best.measured.schedule) + "," +
         text(best.microseconds) + "," + text(medianOf(std::move(ofModel))) +
         "," + text(denseTime(all, product, device)) + "," +
         std::to_string(ranked.size()) + "\n";
}

std::vector<TableEntry> nm::makeEntries(const std::vector<Measurement> &all,
                                        const std::string &device) {
  std::vector<TableEntry> entries;
  std::vector<TableProduct> products;
  for (const Measurement &measured : all)
    if (std::find(products.begin(), products.end(), measured.product) ==
        products.end())
      products.push_back(measured.product);
  for (const TableProduct &product : products) {
    std::vector<CandidateTime> ranked =
        rank(all, product, device, /*asIsOnly=*/true);
    if (ranked.empty())
      continue;
    const CandidateTime &best = pick(ranked);
    if (isOtherFaster(rank(all, product, device, /*asIsOnly=*/false),
                      best.microseconds))
      continue;
    entries.push_back({product, best.measured.schedule, best.microseconds,
                       denseTime(all, product, device)});
  }
  return entries;
}
