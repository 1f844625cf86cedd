//===- Resume.cpp - What an earlier run has not measured ------------------===//

#include "BenchReport.h"

#include <algorithm>
#include <fstream>
#include <set>

using namespace nm;

/// The columns that say which case a line is of.
static constexpr const char *kCaseColumns =
    "m,n,k,pattern_n,pattern_m,block_k,block_n,type,result_type,step,schedule,"
    "quantization,epilogue,weights";

/// Columns that files of before them have not: of all their cases they are
/// empty.
static bool isNewer(const std::string &column) {
  return column == "quantization" || column == "epilogue" ||
         column == "weights";
}

/// Where the columns of a case are in a file with `header`; past its end those
/// that it lacks.
static Result<std::vector<size_t>> placesIn(const std::string &csv,
                                            const std::string &header) {
  std::vector<std::string> names = csvFields(header);
  std::vector<size_t> places;
  for (const std::string &name : csvFields(kCaseColumns)) {
    auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end() && !isNewer(name))
      return Error{csv + ":1: expected a column " + name +
                   ", as nm-bench --csv writes it, but found none"};
    places.push_back(size_t(at - names.begin()));
  }
  return places;
}

Result<std::vector<BenchCase>>
nm::casesNotIn(const std::string &csv, const std::vector<BenchCase> &cases) {
  if (!Report::canContinue(csv))
    return cases;
  std::ifstream file(csv);
  std::string line;
  std::getline(file, line);
  Result<std::vector<size_t>> places = placesIn(csv, line);
  if (!places)
    return places.error();
  std::set<std::vector<std::string>> measured;
  // A run that was ended may have left a part of its last line.
  while (std::getline(file, line) && !file.eof()) {
    std::vector<std::string> fields = csvFields(line), key;
    for (size_t place : *places)
      key.push_back(place < fields.size() ? fields[place] : "");
    measured.insert(std::move(key));
  }
  std::vector<BenchCase> left;
  for (const BenchCase &bench : cases) {
    CaseResult result;
    result.bench = bench;
    if (!measured.count(csvFields(csvLine(result, kCaseColumns))))
      left.push_back(bench);
  }
  return left;
}
