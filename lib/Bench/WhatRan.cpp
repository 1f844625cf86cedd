//===- WhatRan.cpp - Which unit multiplied, and which zeros ---------------===//

#include "WhatRan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

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

static bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

static Unit unitOf(const std::string &strategy, bool onCpu) {
  if (onCpu)
    return Unit::CpuCores;
  if (strategy == "cublas")
    return Unit::Library;
  if (strategy == "wgmma_sp" || strategy == "mma_sp")
    return Unit::SparseTensorCores;
  if (startsWith(strategy, "wgmma") || startsWith(strategy, "mma"))
    return Unit::TensorCores;
  return Unit::CudaCores;
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
  ran.unit = unitOf(op.strategy, onCpu);
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

//===----------------------------------------------------------------------===//
// Intensity
//===----------------------------------------------------------------------===//

/// The numbers of `name = [1, 2, 3]` in a schedule.
static std::vector<double> sizesOf(const std::string &schedule,
                                   const char *name) {
  std::vector<double> sizes;
  size_t at = schedule.find(std::string("<") + name + " = [");
  if (at == std::string::npos)
    at = schedule.find(std::string(" ") + name + " = [");
  if (at == std::string::npos)
    return sizes;
  const char *text = schedule.c_str() + schedule.find('[', at) + 1;
  while (true) {
    char *end = nullptr;
    double size = std::strtod(text, &end);
    if (end == text)
      return sizes;
    sizes.push_back(size);
    text = end + (*end == ',' ? 1 : 0);
  }
}

/// Whether blocks load those rows of A alone that their columns keep.
static bool gathersRows(const OpInfo &op, const WhatRan &ran) {
  return ran.unit == Unit::TensorCores ||
         op.schedule.find("pack = true") != std::string::npos;
}

static double multiplyAddsALoad(const std::vector<double> &tile) {
  return tile[0] * tile[1] / (tile[0] + tile[1]);
}

Intensity nm::intensityOf(const BenchCase &bench, const OpInfo &op,
                          const WhatRan &ran) {
  Intensity intensity;
  double bytes = double(elementSize(bench.type));
  if (ran.unit == Unit::CudaCores)
    intensity.registers = 2 / (3 * bytes);
  std::vector<double> block = sizesOf(op.schedule, "block"),
                      warp = sizesOf(op.schedule, "warp"),
                      thread = sizesOf(op.schedule, "thread");
  if (ran.unit == Unit::Library || block.size() < 2)
    return intensity;
  // Of a tile of C, by row of k. An index belongs to the columns of a unit.
  double m = std::min(block[0], double(bench.shape.m)),
         n = std::min(block[1], double(bench.shape.n));
  double rows = gathersRows(op, ran) ? ran.multiplied : 1;
  double indices = double(bench.pattern.indexBits()) / 8 /
                   double(bench.pattern.bn * bench.pattern.bk);
  intensity.l2 = 2 * m * n * ran.multiplied /
                 (m * rows * bytes + n * ran.multiplied * (bytes + indices));
  if (thread.size() < 2 || warp.size() < 2)
    return intensity;
  intensity.ratio = multiplyAddsALoad(thread);
  intensity.shared = 2 * *intensity.ratio / bytes;
  intensity.sharedByWarp = 2 * multiplyAddsALoad(warp) / bytes;
  return intensity;
}
