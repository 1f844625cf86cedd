//===- WgmmaSchedules.cpp - Schedules of strategies of warpgroups ---------===//

#include "ScheduleChecks.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Format/SelectedBytes.h"
#include "nm/Format/SplitFloats.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kWarpgroup = 128, kWarpgroupWarps = 4,
                         kWarpThreads = kWarpgroup / kWarpgroupWarps;

/// Checks that an op's schedule with tiling `tiling` has the producers that it
/// asks for.
static LogicalResult verifyHasProducers(EmitError emitError,
                                        const BlockTiling &tiling) {
  if (tiling.producers != 0)
    return success();
  for (auto [name, isGiven] :
       {std::pair("group_m", tiling.groupM != 1),
        std::pair("group_n", tiling.groupN != 1),
        std::pair("store_buffers", tiling.storeBuffers != 0)})
    if (isGiven)
      return emitError() << "expected producers for '" << name
                         << "', but got none";
  return success();
}

/// Checks that an op's schedule with tiling `tiling`, where its blocks store
/// splits of C, keeps sums in the registers that they are stored from.
static LogicalResult verifySplitC(EmitError emitError,
                                  const BlockTiling &tiling) {
  if (!tiling.splitC || tiling.storesFromRegisters())
    return success();
  return emitError() << "expected producers, k in one part and no "
                        "store_buffers for 'split_c'";
}

/// The tiling of `schedule`, of any strategy.
static BlockTiling getWarpgroupTiling(ScheduleAttrInterface schedule,
                                      int64_t producers) {
  BlockTiling tiling(getFields(schedule));
  tiling.producers = producers;
  if (!getGivenFields(schedule).stages)
    tiling.stages = kMinWgmmaStages;
  tiling.productsInFlight = 1;
  if (!tiling.hasBlock() || tiling.warpgroupM == 0)
    return tiling;
  // Clamped, so that it cannot overflow; no block has so many.
  auto count = [](int64_t block, int64_t part) {
    return std::clamp<int64_t>(block / part, 1, kMaxTile);
  };
  int64_t warpgroups = count(tiling.blockM, tiling.warpgroupM) *
                       count(tiling.blockN, tiling.warpgroupN);
  tiling.threads = warpgroups * kWarpgroup + tiling.producers * kWarpThreads;
  return tiling;
}

/// Gives each element of C a second sum, that of a tile, which is waited for
/// and added to the first.
static void addPromotedSums(BlockTiling &tiling) {
  tiling.sumsOfElement = 2;
  tiling.productsInFlight = 0;
}

//===----------------------------------------------------------------------===//
// What all say
//===----------------------------------------------------------------------===//

int64_t WarpgroupScheduleAttr::countProducers() const {
  return getProducers().value_or(
      getSource() == SourceKind::Selected ? kWarpgroupWarps : 0);
}

int64_t WarpgroupScheduleAttr::countSplits() const {
  if (getSource() == SourceKind::Gathered)
    return getPacking() ? getPacking().getSplits() : 1;
  return getSplits().value_or(1);
}

BlockTiling WarpgroupScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this, countProducers());
  tiling.loadsByThread = getSource() != SourceKind::Gathered;
  // Threads wait for products of what they select, whose registers the next
  // ones take.
  if (getSource() == SourceKind::Selected)
    tiling.productsInFlight = 0;
  if (countSplits() > 1 || (isPromoted() && getSource() != SourceKind::Sparse))
    addPromotedSums(tiling);
  return tiling;
}

PackedFormAttrInterface
WarpgroupScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  if (getSource() != SourceKind::Sparse)
    return getPacking();
  // With producers, threads store pairs of columns from their registers.
  return SparseOperandAttr::get(getContext(),
                                countProducers() != 0
                                    ? ::nm::SparseOperand::Order::WgmmaPairs
                                    : ::nm::SparseOperand::Order::Wgmma,
                                /*bits=*/0, countSplits());
}

//===----------------------------------------------------------------------===//
// Of one source
//===----------------------------------------------------------------------===//

static LogicalResult verifyGathered(EmitError emitError,
                                    WarpgroupScheduleAttr schedule,
                                    const ::nm::Pattern &pattern) {
  // (C4).
  if (schedule.getBlock().empty() || schedule.getWarpgroup().empty() ||
      !schedule.getPacking())
    return emitError() << "expected 'block', 'warpgroup' and 'packing' of "
                          "strategy wgmma, but got "
                       << schedule;
  if (schedule.getBlock()[1] != schedule.getPacking().getPanel())
    return emitError() << "expected the block tile's n to be the panel's "
                       << schedule.getPacking().getPanel()
                       << " columns, but got " << schedule.getBlock()[1];
  if (schedule.getPacking().getPanel() > pattern.bn)
    return emitError() << "expected columns of a block that share a unit of "
                       << pattern.bn << ", but got a panel of "
                       << schedule.getPacking().getPanel();
  if ((schedule.getPacking().getTileRows() != 0) !=
      (schedule.countProducers() != 0))
    return emitError() << "expected a packing with tile_rows where there are "
                          "producers, and only there, but got "
                       << schedule;
  // (C5), (C7), (C10).
  if (failed(verifyHasProducers(emitError, schedule.getTiling())) ||
      failed(verifySplitC(emitError, schedule.getTiling())))
    return failure();
  // (C6).
  if ((schedule.isPromoted() || schedule.hasTensorCopies() ||
       schedule.hasPanelsOfA()) &&
      (schedule.countProducers() == 0 || schedule.getPacking().getSplits() > 1))
    return emitError()
           << "expected producers, and no splits, for 'promote' and "
              "'copy_a = tensor' or 'bulk', but got "
           << schedule;
  // (C8).
  if (schedule.isCompensated() &&
      schedule.getPacking().getSplits() != ::nm::kMaxSplits)
    return emitError() << "expected a packing of " << ::nm::kMaxSplits
                       << " splits for 'compensated', but got " << schedule;
  return success();
}

static LogicalResult verifySelected(EmitError emitError,
                                    WarpgroupScheduleAttr schedule,
                                    const ::nm::Pattern &pattern) {
  using ::nm::SelectedBytes;
  // (C5).
  std::optional<SelectedBytes> bytes = SelectedBytes::of(pattern);
  if (!bytes || pattern.bn % SelectedBytes::kLeastColumns != 0)
    return emitError()
           << "expected windows of 2, 4 or 8 rows, in units of one row "
              "and a multiple of "
           << SelectedBytes::kLeastColumns
           << " columns, for strategy wgmma_select, but got " << pattern.str();
  // (C4).
  if (schedule.getBlock().empty() || schedule.getWarpgroup().empty() ||
      !schedule.getPacking())
    return emitError() << "expected 'block', 'warpgroup' and 'packing' of "
                          "strategy wgmma_select, but got "
                       << schedule;
  ::nm::PanelPacking packing = schedule.getPacking().getPacking();
  if (schedule.getBlock()[1] != packing.panel || packing.colInfo != 0 ||
      packing.splits != 1 || packing.indexBits != SelectedBytes::kFieldBits ||
      packing.indexRows != SelectedBytes::kWord || packing.tileRows == 0 ||
      packing.tileRows % bytes->tileStep() != 0 ||
      packing.laneWords != bytes->wordsOfRun() ||
      bytes->rowsOf(packing.tileRows) != schedule.getBlock()[2])
    return emitError() << "expected a packing with the block's columns as the "
                          "panel, index_bits = 4, index_rows = 4, lane_words = "
                       << bytes->wordsOfRun()
                       << ", and as tile_rows what the block's k keeps, a "
                          "multiple of "
                       << bytes->tileStep() << ", but got " << schedule;
  return success();
}

static LogicalResult verifySparse(EmitError emitError,
                                  WarpgroupScheduleAttr schedule) {
  // (C5).
  if (schedule.countSplits() > 1 && schedule.countProducers() == 0)
    return emitError() << "expected producers for splits, but got none";
  // (C7).
  if (schedule.isCompensated() && schedule.countSplits() != ::nm::kMaxSplits)
    return emitError() << "expected " << ::nm::kMaxSplits
                       << " splits for 'compensated', but got " << schedule;
  // (C8).
  if (schedule.getOrdered().value_or(false) &&
      !schedule.getPromote().value_or(true))
    return emitError() << "expected 'promote' for 'ordered', but got "
                       << schedule;
  if (schedule.getOverlap().value_or(false) && schedule.countSplits() > 1)
    return emitError() << "expected no splits for 'overlap', but got "
                       << schedule;
  // (C4), (C6).
  if (failed(verifyHasProducers(emitError, schedule.getTiling())))
    return failure();
  return verifySplitC(emitError, schedule.getTiling());
}

LogicalResult
WarpgroupScheduleAttr::verifyPattern(EmitError emitError,
                                     const ::nm::Pattern &pattern) const {
  switch (*getSource()) {
  case SourceKind::Gathered:
    return verifyGathered(emitError, *this, pattern);
  case SourceKind::Selected:
    return verifySelected(emitError, *this, pattern);
  case SourceKind::Sparse:
    return verifySparse(emitError, *this);
  }
  llvm_unreachable("unknown source");
}
