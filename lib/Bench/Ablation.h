//===- Ablation.h - What each part of a schedule brings ---------*- C++ -*-===//

#ifndef NM_LIB_BENCH_ABLATION_H
#define NM_LIB_BENCH_ABLATION_H

#include "BenchCase.h"

#include <map>
#include <string>
#include <vector>

namespace nm {

/// 4096 cubed in vectors of 32 columns, from all weights kept on.
std::vector<BenchCase> ablationProducts();

/// Every product with schedules that each have one part more than the one
/// before, in the order of the papers that name the parts. A step that a
/// product cannot have is left out when it is compiled.
std::vector<BenchCase> ablate(const std::vector<BenchCase> &products);

/// The compiler's reason why a product cannot have a schedule: its message
/// without the place in the file.
std::string whyRefused(const std::string &message);

/// The schedules of the steps that were measured: what the cost model chooses
/// for one step may be what another says.
class StepSchedules {
public:
  /// `bench` was mapped by `schedule`.
  void add(const BenchCase &bench, const std::string &schedule);
  /// The step that has measured the schedule of `bench`; empty if none has.
  std::string find(const BenchCase &bench, const std::string &schedule) const;

private:
  /// By product and schedule.
  std::map<std::string, std::string> steps;
};

} // namespace nm

#endif // NM_LIB_BENCH_ABLATION_H
