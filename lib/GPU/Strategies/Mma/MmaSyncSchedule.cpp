//===- MmaSyncSchedule.cpp - The schedules of strategy mma_sync -----------===//

#include "GPU/Strategies/Mma/MmaSyncStaging.h"
#include "GPU/Tile/TilingFields.h"

#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;
using ::nm::RowPacking;

static MmaSyncScheduleAttr toAttribute(Operation *op,
                                       const GpuSchedule &chosen) {
  TileSizes tile(chosen);
  return getCheckedAt<MmaSyncScheduleAttr>(
      op, tile.block, tile.warp, chosen.stages, chosen.splitK, chosen.clusterK,
      chosen.sliceK, chosen.pack,
      PackingAttr::get(op->getContext(), chosen.packing));
}

static void takeGiven(SparseProductOpInterface op, MmaSyncScheduleAttr given,
                      GpuSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarp(), {&chosen.warpM, &chosen.warpN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  takeSlices(given, chosen);
  takeCluster(given, chosen);
  chosen.pack = given.getPack().value_or(chosen.pack);
  if (given.getPacking()) {
    chosen.packing = given.getPacking().getPacking();
    return;
  }
  // Panels are cut to the block, and chunks to the rows that it keeps.
  ::nm::Pattern pattern = op.getPattern();
  GpuSchedule tile = chosen;
  tile.blockK = std::min<int64_t>(
      tile.blockK, llvm::alignTo(op.getStaticK(), pattern.windowRows()));
  chosen.packing = ::nm::chooseMmaSyncPacking(pattern, tile);
}

/// What the cost model may do about rows of A that no column uses: lists take
/// long to find, and must serve more than one call.
static RowPacking getRowPacking(SparseProductOpInterface op,
                                MmaSyncScheduleAttr given) {
  // Of a block that is given, the packing's verifier says whether it leaves
  // rows out.
  bool hasTile =
      given && (!given.getBlock().empty() || !given.getWarp().empty());
  if (given && given.packsRows())
    return hasTile ? RowPacking::Never : RowPacking::Always;
  bool isFree = !given || (!given.getPack() && !hasTile);
  return isFree && areWeightsLoaded(op) ? RowPacking::WhereFaster
                                        : RowPacking::Never;
}

/// Checks that blocks that are to stage only the rows of A that they use leave
/// some out.
static LogicalResult checkLists(SparseProductOpInterface op,
                                ScheduleAttrInterface schedule) {
  if (!schedule.packsRows())
    return success();
  return schedule.getPackedForm(op.getPattern())
      .verifyWeights([&] { return op->emitOpError(); }, op.getPattern(),
                     op.getValuesType().getElementType());
}

namespace {
class MmaSyncStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<MmaSyncScheduleAttr>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    SparseProductOpInterface op = request.op;
    auto given = cast_if_present<MmaSyncScheduleAttr>(request.given);
    if (!request.packs)
      return ::nm::Error{"strategy mma_sync expected weights that are packed "
                         "before, but got dense ones that come with each call"};
    ::nm::GpuProduct product = request.product;
    product.rowPacking = getRowPacking(op, given);
    ::nm::Result<GpuSchedule> chosen =
        ::nm::selectMmaSyncSchedule(product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice = makeChoice(toAttribute(op, *chosen), *chosen);
    if (given) {
      ScheduleAttrInterface byModel = choice.schedule;
      takeGiven(op, given, *chosen);
      choice.schedule = toAttribute(op, *chosen);
      if (choice.schedule && failed(checkLists(op, choice.schedule)))
        choice.schedule = {};
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  bool tellsLayoutsApart() const override { return true; }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageMmaSyncOperands(builder, op);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaSyncStrategy() {
  static const MmaSyncStrategy strategy;
  return strategy;
}
