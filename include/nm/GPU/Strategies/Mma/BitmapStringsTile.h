//===- BitmapStringsTile.h - Shared memory of a warp ------------*- C++ -*-===//
//
// Each warp of strategy mma_bitmap that multiplies weights kept anywhere (see
// nm/Format/BitmapStrings.h) has memory of its own for the values of the step
// that it multiplies and of the one behind, which are as long as they are: they
// take turns at the beginning and at the end of it. A step that finds no room
// beside the one before is copied behind that.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STRATEGIES_MMA_BITMAPSTRINGSTILE_H
#define NM_GPU_STRATEGIES_MMA_BITMAPSTRINGSTILE_H

#include "nm/Format/BitmapStrings.h"

namespace nm {

/// Slots for each of `stages` steps, which half of the weights of a step take
/// with some to spare, and the fewest stages: one step may have all slots.
inline constexpr int64_t kSlotsOfStage = 48, kLeastStringStages = 2;

/// Slots that steps have together.
inline constexpr int64_t roomOfSteps(int64_t stages) {
  return stages * kSlotsOfStage;
}
/// Values of a warp: behind the last slot of each step is another, which rows
/// that are not kept read.
inline constexpr int64_t valuesOfWarp(int64_t stages) {
  return (roomOfSteps(stages) + 1) * BitmapForm::kSlotValues;
}

} // namespace nm

#endif // NM_GPU_STRATEGIES_MMA_BITMAPSTRINGSTILE_H
