//===- Ablation.cpp - What each part of a schedule brings -----------------===//

#include "Ablation.h"

#include "nm/Format/SparseOperand.h"

#include <algorithm>

using namespace nm;

namespace {
struct Step {
  const char *name;
  /// What it does not say is the cost model's choice.
  const char *schedule;
};
using Steps = std::vector<Step>;
} // namespace

/// f32 in vectors and blocks, in the order of NM-SpMM. Packing stands beside
/// blocking: the steps behind it take it where the cost model does.
static const Steps kVectorSteps = {
    {"naive", "loops"},
    {"+ blocking", "simt<stages = 1, split_k = 1, prefetch = false>"},
    {"+ packing",
     "simt<stages = 1, split_k = 1, prefetch = false, pack = true>"},
    {"+ double buffering", "simt<stages = 2, split_k = 1, prefetch = false>"},
    {"+ index prefetch", "simt<stages = 2, split_k = 1>"},
    {"+ as many buffers as fit", "simt<split_k = 1>"},
    {"+ split-k", "simt"},
    {"chosen", ""},
};

/// f32 of single weights, in the order of the study of 2:4. There are no rows
/// that columns have in common to pack.
static const Steps kElementSteps = {
    {"naive", "loops"},
    {"+ blocking", "simt<stages = 1, split_k = 1, prefetch = false>"},
    {"+ double buffering", "simt<stages = 2, split_k = 1, prefetch = false>"},
    {"+ index prefetch", "simt<stages = 2, split_k = 1, prefetch = true>"},
    {"+ as many buffers as fit", "simt<split_k = 1>"},
    {"+ split-k", "simt"},
    {"chosen", ""},
};

/// Other types are multiplied on tensor cores, which three buffers feed at
/// least.
static const Steps kSparseTensorCoreSteps = {
    {"naive", "loops"},
    {"+ blocking, 3 buffers", "wgmma_sp<stages = 3, split_k = 1>"},
    {"+ as many buffers as fit", "wgmma_sp<split_k = 1>"},
    {"+ split-k", "wgmma_sp"},
    {"chosen", ""},
};
static const Steps kTensorCoreSteps = {
    {"naive", "loops"},
    {"+ blocking, 3 buffers", "wgmma<stages = 3, split_k = 1>"},
    {"+ as many buffers as fit", "wgmma<split_k = 1>"},
    {"+ split-k", "wgmma"},
    {"chosen", ""},
};

static const Steps &stepsOf(const BenchCase &bench) {
  if (bench.type == ElementType::F32)
    return bench.pattern.bn == 1 ? kElementSteps : kVectorSteps;
  return fitsSparseOperand(bench.pattern) ? kSparseTensorCoreSteps
                                          : kTensorCoreSteps;
}

std::vector<BenchCase> nm::ablationProducts() {
  std::vector<BenchCase> cases;
  for (int64_t kept : {32, 16, 12, 8, 4, 3})
    cases.push_back({{4096, 4096, 4096}, {kept, 32, 1, 32}});
  return cases;
}

std::vector<BenchCase> nm::ablate(const std::vector<BenchCase> &products) {
  std::vector<BenchCase> cases;
  for (const BenchCase &product : products)
    for (const Step &step : stepsOf(product)) {
      cases.push_back(product);
      cases.back().schedule = step.schedule;
      cases.back().step = step.name;
    }
  return cases;
}

std::string nm::whyRefused(const std::string &message) {
  const std::string mark = "error: ";
  size_t at = message.find(mark);
  size_t begin = at == std::string::npos ? 0 : at + mark.size();
  std::string line = message.substr(begin, message.find('\n', begin) - begin);
  const std::string op = "'nm.spmm' op ";
  if (line.rfind(op, 0) == 0)
    line.erase(0, op.size());
  return line;
}

/// A product, and how it was mapped; empty where that is not known.
static std::string describe(const BenchCase &bench,
                            const std::string &schedule) {
  if (bench.step.empty() || schedule.empty())
    return "";
  BenchCase product = bench;
  product.schedule.clear();
  return product.str() + " " + schedule;
}

void StepSchedules::add(const BenchCase &bench, const std::string &schedule) {
  if (std::string key = describe(bench, schedule); !key.empty())
    steps.emplace(key, bench.step);
}

std::string StepSchedules::find(const BenchCase &bench,
                                const std::string &schedule) const {
  auto known = steps.find(describe(bench, schedule));
  return known == steps.end() ? "" : known->second;
}
