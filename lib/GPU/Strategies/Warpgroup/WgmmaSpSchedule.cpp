//===- WgmmaSpSchedule.cpp - The schedules of strategy wgmma_sp -----------===//

#include "GPU/Strategies/Mma/SparseOperandSchedule.h"

#include "nm/Format/SplitTerms.h"
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
    if (chosen && !request.given && ::nm::isLongSumOfTerms(request.product) &&
        chosen->schedule.getTiling().splitK == 1)
      return ::nm::Error{"strategy wgmma_sp has no parts of this long sum of "
                         "f32 that are whole tiles"};
    return chosen;
  }

  bool tellsLayoutsApart() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isKMajor) const override {
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
    std::optional<int64_t> producers, blocks, groupM, groupN, terms, slotsOfC;
    if (chosen.terms > 1)
      terms = chosen.terms;
    if (chosen.producers != 0) {
      producers = chosen.producers;
      groupM = chosen.tilesAtOnceM;
      if (chosen.tilesAtOnceN != 1)
        groupN = chosen.tilesAtOnceN;
      if (chosen.blocks != 0)
        blocks = chosen.blocks;
    }
    if (chosen.slotsOfC != 0)
      slotsOfC = chosen.slotsOfC;
    return getCheckedAt<WgmmaSpScheduleAttr>(
        op, tile.block, tile.warp, chosen.stages, chosen.splitK,
        chosen.clusterK, producers, blocks, groupM, groupN, terms,
        onlyIf(chosen.residuals), slotsOfC);
  }
  void takeGiven(WgmmaSpScheduleAttr given,
                 ::nm::GpuSchedule &chosen) const override {
    SparseOperandStrategy::takeGiven(given, chosen);
    takeCluster(given, chosen);
    chosen.terms = given.getTerms().value_or(chosen.terms);
    chosen.residuals = given.getResiduals().value_or(
        chosen.residuals && chosen.terms == ::nm::kMaxTerms);
    // Producers copy whole tiles, at which parts of k need not end. Terms have
    // no other copies.
    bool isChosen =
        (given.getBlock().empty() && chosen.splitK == 1) || chosen.terms > 1;
    chosen.producers =
        given.getProducers().value_or(isChosen ? chosen.producers : 0);
    if (chosen.producers != 0 && !given.getClusterK()) {
      chosen.clusterK = 1;
      // The parts that are chosen for terms are whole tiles.
      chosen.splitK =
          given.getSplitK().value_or(chosen.terms > 1 ? chosen.splitK : 1);
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
