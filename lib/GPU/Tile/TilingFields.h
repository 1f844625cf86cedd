//===- TilingFields.h - Fields that #nm.simt and #nm.gemv share -*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_TILINGFIELDS_H
#define NM_LIB_GPU_TILE_TILINGFIELDS_H

#include "GPU/Select/GpuStrategy.h"

namespace mlir::nm {

/// The tiles of a model's schedule, as attributes have them.
struct TileSizes {
  explicit TileSizes(const ::nm::GpuSchedule &chosen)
      : block({chosen.blockM, chosen.blockN, chosen.blockK}),
        warp({chosen.warpM, chosen.warpN}),
        thread({chosen.threadM, chosen.threadN}) {}
  SmallVector<int64_t> block, warp, thread;
};

inline void takeSizes(ArrayRef<int64_t> sizes, ArrayRef<int64_t *> fields) {
  for (auto [field, size] : llvm::zip(fields, sizes))
    *field = size;
}

/// Slices that were chosen may not divide what a tile keeps that is given.
template <typename AttrTy>
void takeSlices(AttrTy given, ::nm::GpuSchedule &chosen) {
  chosen.sliceK =
      given.getSliceK().value_or(given.getBlock().empty() ? chosen.sliceK : 1);
}

/// Puts the tiles and counts of `given` in place of those that were chosen.
template <typename AttrTy>
void takeTiling(AttrTy given, ::nm::GpuSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarp(), {&chosen.warpM, &chosen.warpN});
  takeSizes(given.getThread(), {&chosen.threadM, &chosen.threadN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  takeSlices(given, chosen);
  if (given.getPacking())
    chosen.packing = given.getPacking().getPacking();
}

/// Parts of k that are given are the blocks of a cluster only where that is,
/// too; and those of a cluster that is given are all, unless more are given.
template <typename AttrTy>
void takeCluster(AttrTy given, ::nm::GpuSchedule &chosen) {
  if (given.getSplitK())
    chosen.clusterK = 1;
  if (given.getClusterK()) {
    chosen.clusterK = *given.getClusterK();
    if (!given.getSplitK() && chosen.splitK % chosen.clusterK != 0)
      chosen.splitK = chosen.clusterK;
  }
}

/// The order of tiles: groups along one dimension that are given leave none
/// along the other.
template <typename AttrTy, typename ScheduleTy>
void takeGroups(AttrTy given, ScheduleTy &chosen) {
  if (given.getGroupM() || given.getGroupN())
    chosen.tilesAtOnceM = chosen.tilesAtOnceN = 1;
  chosen.tilesAtOnceM = given.getGroupM().value_or(chosen.tilesAtOnceM);
  chosen.tilesAtOnceN = given.getGroupN().value_or(chosen.tilesAtOnceN);
}

/// Slots that C leaves through, which are chosen for the memory that stages of
/// a tile leave: none where those are given.
template <typename AttrTy, typename ScheduleTy>
void takeSlots(AttrTy given, ScheduleTy &chosen) {
  bool hasOwnTile = !given.getBlock().empty() ||
                    !given.getWarpgroup().empty() || given.getStages() ||
                    given.getSplitK() || given.getProducers();
  chosen.storeBuffers =
      given.getStoreBuffers().value_or(hasOwnTile ? 0 : chosen.storeBuffers);
}

/// What the cost model says of `schedule`, as which it has chosen `chosen`.
inline ScheduleChoice makeChoice(ScheduleAttrInterface schedule,
                                 const ::nm::GpuSchedule &chosen) {
  ScheduleChoice choice;
  choice.schedule = schedule;
  choice.microseconds = chosen.microseconds;
  choice.multiplyFloor = chosen.fmaFloor;
  choice.memoryFloor = chosen.memoryFloor;
  choice.sharedBytes = chosen.sharedBytes;
  return choice;
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_TILINGFIELDS_H
