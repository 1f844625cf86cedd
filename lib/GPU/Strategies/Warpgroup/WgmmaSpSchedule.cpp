//===- WgmmaSpSchedule.cpp - The schedules of strategy wgmma_sp -----------===//

#include "GPU/Strategies/Mma/SparseOperandSchedule.h"

#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class WgmmaSpStrategy : public SparseOperandStrategy<WgmmaSpScheduleAttr> {
public:
  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    ::nm::Result<ScheduleChoice> chosen =
        SparseOperandStrategy::choose(request);
    if (chosen && !request.given &&
        ::nm::isLongSumOfSplitFloats(request.product) &&
        chosen->schedule.getTiling().splitK == 1)
      return ::nm::Error{"strategy wgmma_sp has no parts of this long sum of "
                         "f32 that are whole tiles"};
    return chosen;
  }

  bool tellsLayoutsApart() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    bool hasProducers =
        cast<WgmmaSpScheduleAttr>(schedule).countProducers() != 0;
    return hasProducers ? ::nm::kBulkRowBytes : ::nm::kAsyncRowBytes;
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ::nm::GpuProduct &product,
         const ::nm::GpuChip &chip) const override {
    return ::nm::selectWgmmaSpSchedule(product, chip);
  }
  ArrayRef<int64_t> getPart(WgmmaSpScheduleAttr schedule) const override {
    return schedule.getWarpgroup();
  }
  WgmmaSpScheduleAttr
  toAttribute(Operation *op, const ::nm::GpuSchedule &chosen) const override {
    TileSizes tile(chosen);
    std::optional<int64_t> producers, blocks, groupM, groupN, splits,
        storeBuffers;
    if (chosen.splits > 1)
      splits = chosen.splits;
    if (chosen.producers != 0) {
      producers = chosen.producers;
      groupM = chosen.tilesAtOnceM;
      if (chosen.tilesAtOnceN != 1)
        groupN = chosen.tilesAtOnceN;
      if (chosen.blocks != 0)
        blocks = chosen.blocks;
    }
    if (chosen.storeBuffers != 0)
      storeBuffers = chosen.storeBuffers;
    return getCheckedAt<WgmmaSpScheduleAttr>(
        op, tile.block, tile.warp, chosen.stages, chosen.splitK,
        chosen.clusterK, producers, blocks, groupM, groupN, splits,
        onlyIf(chosen.compensated), storeBuffers);
  }
  void takeGiven(WgmmaSpScheduleAttr given,
                 ::nm::GpuSchedule &chosen) const override {
    SparseOperandStrategy::takeGiven(given, chosen);
    takeCluster(given, chosen);
    chosen.splits = given.getSplits().value_or(chosen.splits);
    chosen.compensated = given.getCompensated().value_or(
        chosen.compensated && chosen.splits == ::nm::kMaxSplits);
    // Producers copy whole tiles, at which parts of k need not end. Splits have
    // no other copies.
    bool isChosen =
        (given.getBlock().empty() && chosen.splitK == 1) || chosen.splits > 1;
    chosen.producers =
        given.getProducers().value_or(isChosen ? chosen.producers : 0);
    if (chosen.producers != 0 && !given.getClusterK()) {
      chosen.clusterK = 1;
      // The parts that are chosen for splits are whole tiles.
      chosen.splitK =
          given.getSplitK().value_or(chosen.splits > 1 ? chosen.splitK : 1);
    }
    chosen.blocks = given.getBlocks().value_or(chosen.blocks);
    takeGroups(given, chosen);
    takeSlots(given, chosen);
  }
  SparseOperandStaging getStaging() const override {
    return {/*hasMetadata=*/true, /*isAsyncProxy=*/true};
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaSpStrategy() {
  static const WgmmaSpStrategy strategy;
  return strategy;
}
