//===- GivenOptions.h - nm-bench's options as they are given ----*- C++ -*-===//

#ifndef NM_LIB_BENCH_GIVENOPTIONS_H
#define NM_LIB_BENCH_GIVENOPTIONS_H

#include "BenchOptions.h"

namespace nm {

/// The options as they are given, before cases are made of them.
struct Given {
  BenchOptions options;
  std::vector<BenchCase> presets;
  std::vector<ProductShape> shapes;
  std::vector<Pattern> patterns;
  std::vector<ElementType> types;
  std::vector<std::string> schedules;
  /// In place of the sizes that cases of presets have.
  std::optional<int64_t> m, n, k;
  std::string filter;
  std::string arithmetic;
  bool ablates = false;
  bool tunes = false;
  std::optional<double> budget;
  std::optional<int64_t> candidates, draws, rounds;
  std::vector<BenchCase> cases;
  bool isMMajor = false;
  bool hasFastAccum = false;
  bool isConstant = false;
  std::optional<ElementType> result;
  std::optional<int64_t> device;
  std::optional<double> seconds;
};

inline void addAll(std::vector<BenchCase> &cases,
                   const std::vector<BenchCase> &more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

/// Completes what --probe takes, which measures no cases.
Status setProbe(Given &given);
/// Completes what --tune takes.
Status setTuning(Given &given);
/// Makes the cases, and checks what is given beside each other.
Status completeOptions(Given &given);

} // namespace nm

#endif // NM_LIB_BENCH_GIVENOPTIONS_H
