//===- GpuScheduleAttr.cpp - Chosen GPU schedules as attributes -----------===//

#include "GpuScheduleAttr.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;
using ::nm::GpuStrategy;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr std::pair<GpuStrategy, StringLiteral> kStrategies[] = {
    {GpuStrategy::Simt, "simt"},
    {GpuStrategy::Gemv, "gemv"},
    {GpuStrategy::Cublas, "cublas"}};

StringRef mlir::nm::getStrategyName(GpuStrategy strategy) {
  return llvm::find_if(
             kStrategies,
             [&](const auto &entry) { return entry.first == strategy; })
      ->second;
}

std::optional<GpuStrategy> mlir::nm::findGpuStrategy(StringRef name) {
  for (auto [strategy, known] : kStrategies)
    if (known == name)
      return strategy;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is given
//===----------------------------------------------------------------------===//

static void takeSizes(ArrayRef<int64_t> sizes, ArrayRef<int64_t *> fields) {
  for (auto [field, size] : llvm::zip(fields, sizes))
    *field = size;
}

/// Tiles and counts that strategies simt and gemv both have.
template <typename AttrTy>
static void takeTiling(AttrTy given, GpuSchedule &chosen) {
  takeSizes(given.getBlock(), {&chosen.blockM, &chosen.blockN, &chosen.blockK});
  takeSizes(given.getWarp(), {&chosen.warpM, &chosen.warpN});
  takeSizes(given.getThread(), {&chosen.threadM, &chosen.threadN});
  chosen.stages = given.getStages().value_or(chosen.stages);
  chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  // Slices that were chosen may not divide what a tile keeps that is given.
  chosen.sliceK =
      given.getSliceK().value_or(given.getBlock().empty() ? chosen.sliceK : 1);
  if (given.getPacking())
    chosen.packing = given.getPacking().getPacking();
}

/// Parts of k that are given are the blocks of a cluster only where that is,
/// too; and those of a cluster that is given are all, unless more are given.
static void takeCluster(SimtScheduleAttr given, GpuSchedule &chosen) {
  if (given.getSplitK())
    chosen.clusterK = 1;
  if (given.getClusterK()) {
    chosen.clusterK = *given.getClusterK();
    if (!given.getSplitK() && chosen.splitK % chosen.clusterK != 0)
      chosen.splitK = chosen.clusterK;
  }
}

static void takeSimt(SimtScheduleAttr given, const ::nm::Pattern &pattern,
                     GpuSchedule &chosen) {
  takeTiling(given, chosen);
  takeCluster(given, chosen);
  // Panels are cut to the block.
  if (!given.getBlock().empty() && !given.getPacking())
    chosen.packing.panel =
        ::nm::choosePanel(pattern, chosen.blockN, chosen.warpN);
  chosen.prefetch = given.prefetchesIndices();
  chosen.pack = given.getPack().value_or(chosen.pack);
}

void mlir::nm::takeGiven(ScheduleAttrInterface given,
                         const ::nm::Pattern &pattern, GpuSchedule &chosen) {
  if (auto cublas = dyn_cast<CublasScheduleAttr>(given))
    given = cublas.getOwn();
  if (auto simt = dyn_cast_if_present<SimtScheduleAttr>(given))
    takeSimt(simt, pattern, chosen);
  else if (auto gemv = dyn_cast_if_present<GemvScheduleAttr>(given))
    takeTiling(gemv, chosen);
  else if (isa_and_present<LoopsScheduleAttr>(given))
    chosen.blockM = 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
class ScheduleMaker {
public:
  ScheduleMaker(Operation *op, const GpuSchedule &chosen, PackingAttr packing)
      : op(op), chosen(chosen), packing(packing),
        block({chosen.blockM, chosen.blockN, chosen.blockK}),
        warp({chosen.warpM, chosen.warpN}),
        thread({chosen.threadM, chosen.threadN}) {}

  ScheduleAttrInterface make() {
    switch (chosen.strategy) {
    case GpuStrategy::Simt:
      return makeSimt();
    case GpuStrategy::Gemv:
      return getChecked<GemvScheduleAttr>(block, warp, thread, chosen.stages,
                                          chosen.splitK, chosen.sliceK,
                                          packing);
    case GpuStrategy::Cublas:
      return makeCublas();
    }
    return {};
  }

private:
  template <typename AttrTy, typename... Args>
  AttrTy getChecked(const Args &...args) {
    if (failed(AttrTy::verify([&] { return op->emitOpError(); }, args...)))
      return {};
    return AttrTy::get(op->getContext(), args...);
  }
  SimtScheduleAttr makeSimt() {
    return getChecked<SimtScheduleAttr>(
        block, warp, thread, chosen.stages, chosen.splitK, chosen.clusterK,
        chosen.sliceK, chosen.prefetch, chosen.pack, packing);
  }
  /// Our own product is of strategy simt where that has tiles for it.
  CublasScheduleAttr makeCublas() {
    ScheduleAttrInterface own = LoopsScheduleAttr::get(op->getContext());
    if (chosen.blockM != 0)
      own = makeSimt();
    return own ? CublasScheduleAttr::get(op->getContext(), own)
               : CublasScheduleAttr();
  }

  Operation *op;
  const GpuSchedule &chosen;
  PackingAttr packing;
  SmallVector<int64_t> block, warp, thread;
};
} // namespace

ScheduleAttrInterface
mlir::nm::toAttribute(Operation *op, const GpuSchedule &chosen, bool packs) {
  PackingAttr packing;
  if (packs)
    packing = PackingAttr::get(op->getContext(), chosen.packing);
  return ScheduleMaker(op, chosen, packing).make();
}
