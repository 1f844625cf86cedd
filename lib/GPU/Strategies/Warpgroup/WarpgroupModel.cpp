//===- WarpgroupModel.cpp - A block that a model considers ----------------===//

#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"

#include "GPU/Select/GpuModels.h"

#include "nm/Format/MmaFragments.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"

#include <algorithm>

using namespace nm;

bool WarpgroupBlock::start(int64_t panel, int64_t k, int64_t groupM,
                           int64_t groupN, int64_t warpgroups) {
  constexpr int64_t kTilesAtOnceM = 4;
  int64_t groupsN = panel / groupN, groupsM = warpgroups / groupsN;
  schedule = GpuSchedule();
  schedule.blockM = groupM * groupsM;
  schedule.blockN = panel;
  schedule.blockK = k;
  schedule.warpgroupM = groupM;
  schedule.warpgroupN = groupN;
  schedule.blocks = chip.multiprocessors;
  // Neighbours copy other rows of the same columns of A, which are most of what
  // narrow tiles copy.
  schedule.groupM = panel == kWarpgroupM ? 1 : kTilesAtOnceM;
  bool isLarge = schedule.blockM >= 2 * product.rows() &&
                 schedule.blockM > kWarpgroupM * groupsM;
  return warpgroups % groupsN == 0 && !isLarge;
}

int64_t WarpgroupBlock::countWarpgroups() const {
  return countConsumers(schedule) / kWarpgroupThreads;
}

int64_t WarpgroupBlock::countTilesOfC() const {
  return product.batch * ceilDiv(product.rows(), schedule.blockM) *
         ceilDiv(product.n, schedule.blockN);
}

int64_t WarpgroupBlock::countTurns() const {
  return ceilDiv(countTilesOfC() * schedule.splitK, schedule.blocks);
}

double WarpgroupBlock::bytesOfTileOfC() const {
  return double(schedule.blockM * schedule.blockN) *
         (schedule.splitK > 1 ? 4 : double(elementSize(product.outputType)));
}

void WarpgroupBlock::setStages(int64_t stageBytes, int64_t most,
                               int64_t sharedBytes) {
  schedule.stages = 0;
  schedule.stages =
      std::min(most, (sharedBytes - countSharedBytes(schedule, stageBytes)) /
                         stageBytes);
  schedule.sharedBytes = countSharedBytes(schedule, stageBytes);
}

void WarpgroupBlock::addStoreBuffers(int64_t stageBytes) {
  // In vectors of 128, 4096 cubed takes 57.9 us at 75 % and 35.4 at 87.5 %, and
  // 59.4 and 36.7 with stores from registers; of blocks of one turn it is the
  // other way round, 28.7 and 27.3 us for 1024 rows at 50 % (one H100,
  // 2026-11-25).
  constexpr int64_t kSlots = 2;
  GpuSchedule with = schedule;
  with.storeBuffers = kSlots;
  with.sharedBytes = countSharedBytes(with, stageBytes);
  int64_t parts =
      schedule.warpgroupM * schedule.warpgroupN / kStoreBufferElements;
  if (product.storesByTensor && parts % kSlots == 0 &&
      with.sharedBytes <= chip.sharedPerBlock)
    schedule = with;
}

bool WarpgroupBlock::hasStoreBuffers() const {
  return schedule.storeBuffers != 0;
}

void WarpgroupBlock::setFloorsOfKeptRows(int64_t elementBytes,
                                         double operations) {
  double m = double(product.allRows()), n = double(product.n),
         kept = double(product.pattern.condensedRows(product.k));
  double clocks = chip.multiprocessors * chip.clockGHz * 1000;
  schedule.multiplyFloor =
      operations * m * n * kept / chip.rates.tensor / clocks;
  double bytes = (m * double(product.k) + kept * n) * double(elementBytes) +
                 m * n * double(elementSize(product.outputType));
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}
