//===- Summary.cpp - Speed-ups over many cases ----------------------------===//

#include "Summary.h"

#include "nm/Support/Counted.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

using namespace nm;

static std::string titleOf(const BenchCase &bench) {
  std::string title(elementName(bench.type));
  // Few rows are a kind of their own each: what bounds them differs.
  title += bench.isCold() ? ", m = " + std::to_string(bench.shape.m)
                          : ", m > " + std::to_string(BenchCase::kMostColdRows);
  return title;
}

/// What the rows of a table differ in: a list of schedules, or granularities.
static std::string rowOf(const BenchCase &bench) {
  std::string granularity = granularityName(bench.pattern);
  if (bench.isConstant)
    granularity += ", constant";
  if (!bench.step.empty())
    return granularity + ", " + bench.step;
  if (!bench.schedule.empty())
    return granularity + ", " + bench.schedule;
  return granularity;
}

void Summary::add(const BenchCase &bench, double speedup) {
  std::string title = titleOf(bench);
  std::string granularity = rowOf(bench);
  comparesSchedules |= !bench.schedule.empty();
  if (tables.find(title) == tables.end())
    titles.push_back(title);
  Table &table = tables[title];
  if (table.rows.find(granularity) == table.rows.end())
    table.granularities.push_back(granularity);
  table.rows[granularity][bench.pattern.m][bench.sparsity()].speedups.push_back(
      speedup);
}

std::string Summary::Cell::text() const {
  if (speedups.empty())
    return "-";
  double logs = 0;
  for (double speedup : speedups)
    logs += std::log(speedup);
  auto [least, most] = std::minmax_element(speedups.begin(), speedups.end());
  char buffer[64];
  std::snprintf(buffer, sizeof buffer,
                speedups.size() == 1 ? "%.2f" : "%.2f (%.2f-%.2f)",
                std::exp(logs / double(speedups.size())), *least, *most);
  return buffer;
}

/// The rows of a table with their names.
std::vector<std::pair<std::string, Summary::Row>>
Summary::Table::namedRows() const {
  std::vector<std::pair<std::string, Row>> named;
  for (const std::string &granularity : granularities) {
    const std::map<int64_t, Row> &byWindow = rows.at(granularity);
    size_t main = named.size();
    named.emplace_back(granularity, Row());
    for (auto at = byWindow.rbegin(); at != byWindow.rend(); ++at) {
      Row others;
      for (const auto &[sparsity, cell] : at->second)
        if (!named[main].second.emplace(sparsity, cell).second)
          others.emplace(sparsity, cell);
      if (!others.empty())
        named.emplace_back(granularity + ", M = " + std::to_string(at->first),
                           others);
    }
  }
  return named;
}

std::string Summary::Table::text(const std::string &title) const {
  std::set<double> sparsities;
  size_t most = 0;
  for (const auto &[name, row] : namedRows())
    for (const auto &[sparsity, cell] : row) {
      sparsities.insert(sparsity);
      most = std::max(most, cell.speedups.size());
    }
  std::string text =
      "\n" + title + " (up to " + counted(most, "shape") + ")\n\n| |";
  std::string rule = "\n| --- |";
  for (double sparsity : sparsities) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, " %.1f %% |", 100 * sparsity);
    text += buffer;
    rule += " --- |";
  }
  text += rule + "\n";
  for (const auto &[name, row] : namedRows()) {
    text += "| " + name + " |";
    for (double sparsity : sparsities) {
      auto cell = row.find(sparsity);
      text += " " + (cell == row.end() ? "-" : cell->second.text()) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string Summary::text() const {
  bool hasSeveral = comparesSchedules;
  std::string text;
  for (const std::string &title : titles) {
    const Table &table = tables.at(title);
    text += table.text(title);
    for (const auto &[name, row] : table.namedRows())
      for (const auto &[sparsity, cell] : row)
        hasSeveral |= cell.speedups.size() > 1;
  }
  if (!hasSeveral)
    return "";
  return "\nSpeed-up over the BLAS, geometric mean (least-most):\n" + text;
}
