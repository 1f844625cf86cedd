//===- WgmmaSchedule.cpp - The schedules of strategy wgmma ----------------===//

#include "TilingFields.h"
#include "WgmmaStaging.h"

#include "nm/Schedule/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::WgmmaSchedule;

static WgmmaScheduleAttr toAttribute(Operation *op,
                                     const WgmmaSchedule &chosen) {
  SmallVector<int64_t> block = {chosen.blockM, chosen.blockN, chosen.blockK},
                       warpgroup = {chosen.groupM, chosen.groupN};
  return getCheckedAt<WgmmaScheduleAttr>(
      op, block, warpgroup, chosen.stages, chosen.splitK,
      PackingAttr::get(op->getContext(), chosen.packing));
}

/// Puts what is given in place of what was chosen.
static void takeGiven(WgmmaScheduleAttr given, WgmmaSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarpgroup(), {&chosen.groupM, &chosen.groupN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  if (given.getPacking())
    chosen.packing = given.getPacking().getPacking();
  else if (!given.getBlock().empty())
    chosen.packing.panel = chosen.blockN;
}

namespace {
class WgmmaStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<WgmmaScheduleAttr>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    if (!request.packs)
      return ::nm::Error{"strategy wgmma has no dense weights of each call"};
    ::nm::Result<WgmmaSchedule> chosen =
        ::nm::selectWgmmaSchedule(request.product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice;
    choice.schedule = toAttribute(request.op, *chosen);
    choice.microseconds = chosen->microseconds;
    choice.multiplyFloor = chosen->tensorFloor;
    choice.memoryFloor = chosen->memoryFloor;
    choice.sharedBytes = chosen->sharedBytes;
    if (auto given = cast_if_present<WgmmaScheduleAttr>(request.given)) {
      ScheduleAttrInterface byModel = choice.schedule;
      takeGiven(given, *chosen);
      choice.schedule = toAttribute(request.op, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  bool prefersKMajor() const override { return true; }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageWgmmaOperands(builder, op);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaStrategy() {
  static const WgmmaStrategy strategy;
  return strategy;
}
