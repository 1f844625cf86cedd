//===- WarpgroupModel.h - A block that a model considers --------*- C++ -*-===//
//
// What the models of all strategies of warpgroups count alike: warpgroups,
// tiles of C, stages, and the least times that a chip allows.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPMODEL_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

#include <optional>

namespace nm {

class WarpgroupBlock {
public:
  WarpgroupBlock(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip) {}

  GpuSchedule schedule;

protected:
  /// Starts a schedule whose blocks have `panel` columns and `warpgroups` tiles
  /// [groupM, groupN], take turns, and are neighbours along m where they have
  /// more columns than an instruction. False where warpgroups cannot share the
  /// columns, or several rows of 64 of each make the block much larger than the
  /// product.
  bool start(int64_t panel, int64_t k, int64_t groupM, int64_t groupN,
             int64_t warpgroups);
  int64_t countWarpgroups() const;
  /// Tiles of C, and those that a block has in turn of them and of parts of k.
  int64_t countTilesOfC() const;
  int64_t countTurns() const;
  /// Bytes of a tile of C, or of sums of a part of k.
  double bytesOfTileOfC() const;
  /// Gives the schedule stages of `stageBytes`, `most` or as many as fit in
  /// `sharedBytes` beside the barriers of its roles.
  void setStages(int64_t stageBytes, int64_t most, int64_t sharedBytes);
  /// Lets C leave through slots, where tensor copies can store it and the slots
  /// fit beside the stages of `stageBytes`.
  void addStoreBuffers(int64_t stageBytes);
  bool hasStoreBuffers() const;
  /// Sets the least times where the kept rows are gathered or selected: of
  /// elements of `elementBytes`, and `operations` of the tensor cores for each
  /// two that are multiplied.
  void setFloorsOfKeptRows(int64_t elementBytes, double operations);

  const GpuProduct &product;
  const GpuChip &chip;
};

/// Puts `schedule` in place of `best`, if it takes less time.
inline void takeFaster(const GpuSchedule &schedule,
                       std::optional<GpuSchedule> &best) {
  if (!best || schedule.microseconds < best->microseconds)
    best = schedule;
}

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_WARPGROUPMODEL_H
