//===- Summary.h - Speed-ups over many cases --------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_SUMMARY_H
#define NM_LIB_BENCH_SUMMARY_H

#include "BenchCase.h"

#include <map>
#include <string>
#include <vector>

namespace nm {

/// The speed-ups of cases over a BLAS, as tables of geometric means: a row for
/// each granularity, and each of its schedules where several are compared, a
/// column for each sparsity, and a table for each type and
/// for many rows or a few.
class Summary {
public:
  void add(const BenchCase &bench, double speedup);

  /// Markdown; where patterns of one granularity and sparsity differ in M, each
  /// but that of the longest windows has a row of its own. Empty where no mean
  /// would be of several cases.
  std::string text() const;

private:
  struct Cell {
    std::vector<double> speedups;
    /// `1.84 (1.46-2.18)`.
    std::string text() const;
  };
  /// Cells by sparsity.
  using Row = std::map<double, Cell>;
  struct Table {
    /// By granularity, in the order in which they came, and by M.
    std::vector<std::string> granularities;
    std::map<std::string, std::map<int64_t, Row>> rows;

    std::vector<std::pair<std::string, Row>> namedRows() const;
    std::string text(const std::string &title) const;
  };

  bool comparesSchedules = false;
  std::vector<std::string> titles;
  std::map<std::string, Table> tables;
};

} // namespace nm

#endif // NM_LIB_BENCH_SUMMARY_H
