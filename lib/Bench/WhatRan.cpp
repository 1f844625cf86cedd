//===- WhatRan.cpp - Which unit multiplied, and which zeros ---------------===//

#include "WhatRan.h"

#include <optional>

using namespace nm;

const char *nm::unitName(Unit unit) {
  switch (unit) {
  case Unit::CpuCores:
    return "cpu cores";
  case Unit::CudaCores:
    return "cuda cores";
  case Unit::TensorCores:
    return "tensor cores";
  case Unit::SparseTensorCores:
    return "sparse tensor cores";
  case Unit::Library:
    return "cublas";
  }
  return "";
}

static double densityOf(const Pattern &pattern) {
  return double(pattern.n) / double(pattern.m);
}

const char *WhatRan::zeros(const Pattern &pattern) const {
  constexpr double kRounding = 1e-9;
  if (multiplied <= densityOf(pattern) + kRounding)
    return "skipped";
  return multiplied < 1 ? "partly" : "multiplied";
}

/// The pattern that the cost model took the weights for, where it is wider than
/// their own; the record has it in its reason alone.
static std::optional<Pattern> widerPattern(const std::string &reason) {
  const std::string before = "weights are taken to be ", after = ", which is";
  size_t begin = reason.find(before);
  if (begin == std::string::npos)
    return std::nullopt;
  begin += before.size();
  size_t end = reason.find(after, begin);
  if (end == std::string::npos)
    return std::nullopt;
  Result<Pattern> pattern = Pattern::parse(reason.substr(begin, end - begin));
  return pattern ? std::optional(*pattern) : std::nullopt;
}

WhatRan nm::whatRan(const BenchCase &bench, const OpInfo &op, bool onCpu) {
  WhatRan ran;
  ran.unit = onCpu ? Unit::CpuCores : unitOfStrategy(op.strategy);
  // Sparse tensor cores multiply two of each four.
  constexpr double kHalf = 0.5;
  // mma_bitmap keeps zeros out of memory alone: lanes expand them for mma.sync.
  bool expands = op.strategy == "mma_bitmap";
  ran.multiplied =
      op.fallsBack || expands || ran.unit == Unit::Library ? 1
      : ran.unit == Unit::SparseTensorCores
          ? kHalf
          : densityOf(widerPattern(op.reason).value_or(bench.pattern));
  return ran;
}
