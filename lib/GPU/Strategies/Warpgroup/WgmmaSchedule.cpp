//===- WgmmaSchedule.cpp - The schedules of strategy wgmma ----------------===//

#include "GPU/Strategies/Warpgroup/WgmmaStaging.h"
#include "GPU/Tile/TilingFields.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::WgmmaSchedule;

static WgmmaScheduleAttr toAttribute(Operation *op,
                                     const WgmmaSchedule &chosen) {
  SmallVector<int64_t> block = {chosen.blockM, chosen.blockN, chosen.blockK},
                       warpgroup = {chosen.groupM, chosen.groupN};
  std::optional<int64_t> producers, blocks, groupM, groupN, storeBuffers;
  if (chosen.producers != 0) {
    producers = chosen.producers;
    blocks = chosen.blocks;
    groupM = chosen.tilesAtOnceM;
    if (chosen.tilesAtOnceN != 1)
      groupN = chosen.tilesAtOnceN;
  }
  if (chosen.storeBuffers != 0)
    storeBuffers = chosen.storeBuffers;
  std::optional<CopyKind> copyA;
  if (chosen.tensorCopies)
    copyA = CopyKind::Tensor;
  else if (chosen.panelsOfA)
    copyA = CopyKind::Bulk;
  return getCheckedAt<WgmmaScheduleAttr>(
      op, block, warpgroup, chosen.stages, chosen.splitK, producers, blocks,
      groupM, groupN, copyA, onlyIf(chosen.promote), onlyIf(chosen.compensated),
      storeBuffers, PackingAttr::get(op->getContext(), chosen.packing));
}

/// Puts what is given in place of what was chosen.
static void takeGiven(WgmmaScheduleAttr given, const ::nm::GpuProduct &product,
                      WgmmaSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarpgroup(), {&chosen.groupM, &chosen.groupN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  // Parts of k are faster without, but splits have no other copies.
  bool isCut = chosen.splitK > 1 && chosen.splits == 1;
  chosen.producers =
      given.getProducers().value_or(isCut ? 0 : chosen.producers);
  chosen.blocks = given.getBlocks().value_or(chosen.blocks);
  takeGroups(given, chosen);
  if (given.getCopyA()) {
    chosen.tensorCopies = given.hasTensorCopies();
    chosen.panelsOfA = given.hasPanelsOfA();
  }
  chosen.promote = given.getPromote().value_or(chosen.promote);
  takeSlots(given, chosen);
  if (given.getPacking())
    chosen.packing = given.getPacking().getPacking();
  else
    chosen.pack(product.pattern);
  chosen.compensated = given.getCompensated().value_or(::nm::wantsCompensation(
      product, chosen.packing.splits, chosen.packing.tileRows));
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
    auto given = cast_if_present<WgmmaScheduleAttr>(request.given);
    std::optional<bool> panelsOfA;
    if (given && given.getCopyA())
      panelsOfA = given.hasPanelsOfA();
    ::nm::Result<WgmmaSchedule> chosen =
        ::nm::selectWgmmaSchedule(request.product, request.chip, panelsOfA);
    if (!chosen)
      return chosen.error();
    if (::nm::isLongSumOfSplitFloats(request.product) && chosen->splitK == 1 &&
        !request.given)
      return ::nm::Error{"strategy wgmma has no parts of long sums of f32 "
                         "whose tiles are parts of units"};
    ScheduleChoice choice;
    choice.schedule = toAttribute(request.op, *chosen);
    choice.microseconds = chosen->microseconds;
    choice.multiplyFloor = chosen->tensorFloor;
    choice.memoryFloor = chosen->memoryFloor;
    choice.sharedBytes = chosen->sharedBytes;
    if (given) {
      ScheduleAttrInterface byModel = choice.schedule;
      const ::nm::Pattern &pattern = request.product.pattern;
      takeGiven(given, request.product, *chosen);
      if (chosen->splits > 1 && chosen->splitK > 1 &&
          ::nm::gathersWgmmaUnits(pattern, chosen->splits) &&
          chosen->blockK < pattern.windowRows())
        return ::nm::Error{"strategy wgmma has no parts of k of f32 whose "
                           "tiles are parts of units, as those of " +
                           pattern.str() + " are"};
      if (chosen->elementBytes == 1 && chosen->splitK > 1)
        return ::nm::Error{"strategy wgmma has no parts of k of operands of 8 "
                           "bits"};
      if (chosen->panelsOfA &&
          !::nm::canHavePanels(request.product, chosen->blockK))
        return ::nm::Error{
            "strategy wgmma has panels of a row-major A of 8 bits "
            "whose k is whole panels, and filled up to windows whole tiles"};
      choice.schedule = toAttribute(request.op, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  bool tellsLayoutsApart() const override { return true; }

  /// A in panels is made for the schedule.
  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    auto wgmma = cast<WgmmaScheduleAttr>(schedule);
    if (wgmma.hasPanelsOfA())
      return 1;
    return wgmma.hasTensorCopies() ? ::nm::kBulkRowBytes : ::nm::kAsyncRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageWgmmaOperands(builder, op);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaStrategy() {
  static const WgmmaStrategy strategy;
  return strategy;
}
