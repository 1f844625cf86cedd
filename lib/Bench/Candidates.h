//===- Candidates.h - Schedules to be measured ------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_CANDIDATES_H
#define NM_LIB_BENCH_CANDIDATES_H

#include "BenchCase.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nm {

/// `#nm.simt<block = [64, 64, 128], stages = 2>`, as its fields' text.
struct ScheduleText {
  std::string strategy;
  std::vector<std::pair<std::string, std::string>> fields;

  /// Nothing is in one that is no schedule.
  static ScheduleText parse(const std::string &text);
  /// Without the dialect's name, as the option takes it.
  std::string str() const;
  void set(const std::string &name, const std::string &value);
  bool has(const std::string &name) const;
};

/// The candidates that tuning compiles first: the cost model's choice, its
/// choices without other layouts of A and, on a GPU, without dense weights, and
/// the model's best of each strategy.
std::vector<BenchCase> firstCandidates(const BenchCase &product, bool onCpu);

/// Schedules that differ in one field from `schedule`, which `product` was
/// mapped by: sizes of blocks and numbers of parts and of buffers, halved and
/// doubled.
std::vector<BenchCase> neighbours(const BenchCase &product,
                                  const std::string &schedule, bool onCpu);

/// A schedule some random steps of `neighbours` away from `schedule`; empty
/// where none of them is possible.
std::string drawSchedule(const std::string &schedule, bool onCpu,
                         std::mt19937_64 &random);

/// The schedule with what two of its neighbours have of their own; empty where
/// both change one field.
std::string combine(const std::string &schedule, const std::string &left,
                    const std::string &right);

/// `product` by `schedule`, with A as it comes and no dense weights.
BenchCase makeCandidate(const BenchCase &product, const std::string &schedule,
                        const std::string &step, bool onCpu);

/// Whether nothing is in place of the product that was asked for: neither
/// another layout of A nor dense weights.
bool isAsItComes(const BenchCase &candidate, bool onCpu);

/// Whether `options`, a candidate's, leave the schedule to the cost model.
bool isModelsChoice(const std::string &options);

} // namespace nm

#endif // NM_LIB_BENCH_CANDIDATES_H
