//===- WgmmaSelectSchedule.cpp - The schedules of wgmma_select ------------===//

#include "GPU/Strategies/Warpgroup/WgmmaSelectStaging.h"
#include "GPU/Tile/TilingFields.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::WgmmaSchedule;

static WgmmaSelectScheduleAttr toAttribute(Operation *op,
                                           const WgmmaSchedule &chosen) {
  SmallVector<int64_t> block = {chosen.blockM, chosen.blockN, chosen.blockK},
                       warpgroup = {chosen.groupM, chosen.groupN};
  return getCheckedAt<WgmmaSelectScheduleAttr>(
      op, block, warpgroup, chosen.stages, chosen.producers, chosen.blocks,
      chosen.tilesAtOnceM, onlyIf(chosen.promote),
      PackingAttr::get(op->getContext(), chosen.packing));
}

/// Puts what is given in place of what was chosen.
static void takeGiven(WgmmaSelectScheduleAttr given,
                      const ::nm::Pattern &pattern, WgmmaSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarpgroup(), {&chosen.groupM, &chosen.groupN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.producers = given.getProducers().value_or(chosen.producers);
  chosen.blocks = given.getBlocks().value_or(chosen.blocks);
  chosen.tilesAtOnceM = given.getGroupM().value_or(chosen.tilesAtOnceM);
  chosen.promote = given.getPromote().value_or(chosen.promote);
  chosen.packing =
      given.getPacking()
          ? given.getPacking().getPacking()
          : ::nm::packForSelection(pattern, chosen.blockN, chosen.blockK);
}

namespace {
class WgmmaSelectStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<WgmmaSelectScheduleAttr>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    if (!request.packs)
      return ::nm::Error{
          "strategy wgmma_select has no dense weights of each call"};
    if (auto matrix = dyn_cast<SpMMOp>(*request.op);
        !matrix || matrix.getTransposeC())
      return ::nm::Error{"strategy wgmma_select makes a row-major C"};
    ::nm::Result<WgmmaSchedule> chosen =
        ::nm::selectWgmmaSelectSchedule(request.product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice;
    choice.schedule = toAttribute(request.op, *chosen);
    choice.microseconds = chosen->microseconds;
    choice.multiplyFloor = chosen->tensorFloor;
    choice.memoryFloor = chosen->memoryFloor;
    choice.sharedBytes = chosen->sharedBytes;
    if (auto given = cast_if_present<WgmmaSelectScheduleAttr>(request.given)) {
      ScheduleAttrInterface byModel = choice.schedule;
      takeGiven(given, request.product.pattern, *chosen);
      choice.schedule = toAttribute(request.op, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  bool tellsLayoutsApart() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    return ::nm::kBulkRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageWgmmaSelectOperands(builder, op);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaSelectStrategy() {
  static const WgmmaSelectStrategy strategy;
  return strategy;
}
