//===- SimtSchedule.cpp - The schedules of strategy simt ------------------===//

#include "GPU/Strategies/Simt/SimtStaging.h"
#include "GPU/Tile/TilingFields.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"
#include "nm/GPU/Stage/RowBytes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;
using ::nm::RowPacking;

static void takeGiven(SimtScheduleAttr given, const ::nm::Pattern &pattern,
                      GpuSchedule &chosen) {
  takeTiling(given, chosen);
  takeCluster(given, chosen);
  // Panels are cut to the block.
  if (!given.getBlock().empty() && !given.getPacking())
    chosen.packing.panel =
        ::nm::choosePanel(pattern, chosen.blockN, chosen.warpN);
  chosen.pack = given.getPack().value_or(chosen.pack);
}

static ::nm::GivenSimtCopies getGivenCopies(SimtScheduleAttr given) {
  ::nm::GivenSimtCopies copies;
  if (given.getCopyA())
    copies.copyA = getCopyOfA(*given.getCopyA());
  if (given.getLayoutA())
    copies.layoutA = getLayoutOfA(*given.getLayoutA());
  copies.prefetch = given.getPrefetch();
  copies.defer = given.getDefer();
  return copies;
}

static CopyKind getCopyKind(::nm::CopyOfA copy) {
  switch (copy) {
  case ::nm::CopyOfA::Direct:
    return CopyKind::Direct;
  case ::nm::CopyOfA::Matrices:
    return CopyKind::Matrices;
  case ::nm::CopyOfA::Elements:
    return CopyKind::Elements;
  case ::nm::CopyOfA::Squares:
    return CopyKind::Squares;
  }
  llvm_unreachable("a way of copying");
}

static TileOrder getTileOrder(::nm::LayoutOfA layout) {
  switch (layout) {
  case ::nm::LayoutOfA::MMajor:
    return TileOrder::MMajor;
  case ::nm::LayoutOfA::Interleaved:
    return TileOrder::Interleaved;
  case ::nm::LayoutOfA::RowMajor:
    return TileOrder::RowMajor;
  }
  llvm_unreachable("an order of a tile");
}

static SimtScheduleAttr toAttribute(const ScheduleRequest &request,
                                    const GpuSchedule &chosen,
                                    int64_t groupM = 1) {
  SparseProductOpInterface op = request.op;
  PackingAttr packing;
  if (request.packs)
    packing = PackingAttr::get(op->getContext(), chosen.packing);
  TileSizes tile(chosen);
  return getCheckedAt<SimtScheduleAttr>(
      op, tile.block, tile.warp, tile.thread, chosen.stages, chosen.splitK,
      chosen.clusterK, chosen.sliceK, std::optional(groupM),
      getCopyKind(chosen.copies.copyA), getTileOrder(chosen.copies.layoutA),
      chosen.copies.prefetch, chosen.copies.defer, chosen.pack,
      onlyIf(chosen.promote), packing);
}

/// What the cost model may do about rows of A that no column uses.
static RowPacking getRowPacking(SparseProductOpInterface op,
                                SimtScheduleAttr given) {
  // Of a block that is given, checkLists says whether it leaves rows out.
  if (given && given.packsRows())
    return given.getBlock().empty() ? RowPacking::Always : RowPacking::Never;
  // Lists take long to find: they must serve more than one call.
  bool isFree =
      !given || (!given.getPack() && given.getBlock().empty() &&
                 given.getWarp().empty() && given.getThread().empty());
  return isFree && areWeightsLoaded(op) ? RowPacking::WhereFaster
                                        : RowPacking::Never;
}

/// Checks that blocks that are to stage only the rows of A that they use leave
/// some out.
static LogicalResult checkLists(SparseProductOpInterface op,
                                SimtScheduleAttr schedule) {
  if (!schedule.getPacking())
    return op->emitOpError() << "expected sparse weights to pack rows of A";
  return schedule.getPackedForm(op.getPattern())
      .verifyWeights([&] { return op->emitOpError(); }, op.getPattern(),
                     op.getValuesType().getElementType());
}

/// The schedule with what is given; null, and an error, where it cannot be.
static SimtScheduleAttr completeGiven(const ScheduleRequest &request,
                                      const ::nm::GpuProduct &product,
                                      SimtScheduleAttr given,
                                      GpuSchedule chosen) {
  SparseProductOpInterface op = request.op;
  takeGiven(given, op.getPattern(), chosen);
  completeSimtTile(product, request.chip, getGivenCopies(given), chosen);
  SimtScheduleAttr schedule =
      toAttribute(request, chosen, given.getGroupM().value_or(1));
  if (schedule && given.packsRows() && failed(checkLists(op, schedule)))
    return {};
  if (::nm::Status status = verifySimtCopies(product, chosen);
      schedule && !status) {
    op->emitOpError() << status.error().message;
    return {};
  }
  return schedule;
}

namespace {
class SimtStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<SimtScheduleAttr>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    auto given = cast_if_present<SimtScheduleAttr>(request.given);
    ::nm::GpuProduct product = request.product;
    product.rowPacking = getRowPacking(request.op, given);
    product.isPacked = request.packs;
    if (given)
      product.promote = given.getPromote();
    ::nm::Result<GpuSchedule> chosen =
        ::nm::selectSimtSchedule(product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice = makeChoice(toAttribute(request, *chosen), *chosen);
    if (given) {
      ScheduleAttrInterface byModel = choice.schedule;
      choice.schedule = completeGiven(request, product, given, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    auto simt = cast<SimtScheduleAttr>(schedule);
    if (isMMajor)
      return 1;
    if (simt.getOrderOfA() == TileOrder::RowMajor)
      return ::nm::kLineRowBytes;
    return simt.getCopyA().value_or(CopyKind::Elements) == CopyKind::Elements
               ? 1
               : ::nm::kBulkRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageSimtOperands(builder, op);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getSimtStrategy() {
  static const SimtStrategy strategy;
  return strategy;
}
