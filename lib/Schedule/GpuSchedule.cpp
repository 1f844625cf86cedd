//===- GpuSchedule.cpp - How a product is mapped to a GPU -----------------===//

#include "nm/Schedule/GpuSchedule.h"

#include "GpuModels.h"

#include <numeric>
#include <optional>
#include <string>

using namespace nm;

int64_t nm::choosePanel(const Pattern &pattern, int64_t blockN, int64_t warpN) {
  // Rows of the tile are then contiguous in memory, to be copied to shared
  // memory without bank conflicts.
  if (pattern.bn < warpN && blockN % pattern.bn == 0)
    return blockN;
  // The largest power of two in bn; the units of a narrower panel repeat their
  // index.
  int64_t power = pattern.bn & -pattern.bn;
  if (power >= kChunk)
    return std::gcd(power, blockN);
  return power;
}

void nm::setFloors(const GpuProduct &product, const GpuChip &chip,
                   GpuSchedule &schedule) {
  const Pattern &pattern = product.pattern;
  double rows = double(product.rows());
  double kept = double(pattern.condensedRows(product.k));
  schedule.fmaFloor =
      rows * kept * product.n /
      (chip.multiprocessors * chip.fmaPerClock * chip.clockGHz) / 1000;
  double bytes = 4 * (rows * product.k + kept * product.n + rows * product.n) +
                 kept / pattern.bk * product.n / pattern.bn;
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}

namespace {
/// A strategy, and what gives the best of its schedules.
struct Model {
  GpuStrategy strategy;
  Result<GpuSchedule> (*select)(const GpuProduct &, const GpuChip &);
};
} // namespace

static constexpr Model kModels[] = {{GpuStrategy::Simt, selectSimtSchedule},
                                    {GpuStrategy::Gemv, selectGemvSchedule}};

/// Whether other strategies come first, whatever the estimates: those of gemv
/// are for the few rows that one of its blocks has.
static bool isLastResort(const GpuProduct &product, GpuStrategy strategy) {
  return strategy == GpuStrategy::Gemv && product.rows() > kMaxGemvRows;
}

Result<GpuSchedule> nm::selectGpuSchedule(const GpuProduct &product,
                                          const GpuChip &chip,
                                          std::optional<GpuStrategy> only) {
  std::optional<GpuSchedule> best;
  std::string reasons;
  for (const Model &model : kModels) {
    if (only ? model.strategy != *only
             : best && isLastResort(product, model.strategy))
      continue;
    Result<GpuSchedule> found = model.select(product, chip);
    if (!found)
      reasons += (reasons.empty() ? "" : "; ") + found.error().message;
    else if (!best || found->microseconds < best->microseconds)
      best = *found;
  }
  if (best)
    return *best;
  return Error{reasons};
}
