//===- WgmmaSpSchedule.cpp - The schedules of strategy wgmma_sp -----------===//

#include "SparseOperandSchedule.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class WgmmaSpStrategy : public SparseOperandStrategy<WgmmaSpScheduleAttr> {
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
    return getCheckedAt<WgmmaSpScheduleAttr>(op, tile.block, tile.warp,
                                             chosen.stages, chosen.splitK,
                                             chosen.clusterK);
  }
  void takeGiven(WgmmaSpScheduleAttr given,
                 ::nm::GpuSchedule &chosen) const override {
    SparseOperandStrategy::takeGiven(given, chosen);
    takeCluster(given, chosen);
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
