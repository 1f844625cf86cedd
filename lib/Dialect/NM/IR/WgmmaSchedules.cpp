//===- WgmmaSchedules.cpp - Schedules of strategies of warpgroups ---------===//

#include "ScheduleChecks.h"

#include "nm/Format/SelectedBytes.h"
#include "nm/Format/SplitTerms.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

/// Rows of the instruction's first operand, the most columns of its second, and
/// the columns of a row of 128 bytes.
static constexpr int64_t kWgmmaStep = 64, kMaxWgmmaColumns = 256;
static constexpr int64_t kWarpgroup = 128, kWarpgroupWarps = 4,
                         kWarpThreads = kWarpgroup / kWarpgroupWarps;
static constexpr int64_t kMaxProducers = 16;
/// A tile under way, one whose operands arrive, and one whose slot is free.
static constexpr int64_t kMinWgmmaStages = 3;
/// The same of a tile whose products are waited for.
static constexpr int64_t kMinTotalStages = 2;

/// Sizes and counts that strategies of warpgroups have.
static LogicalResult verifyWarpgroups(EmitError emitError,
                                      ArrayRef<int64_t> block,
                                      ArrayRef<int64_t> warpgroup,
                                      std::optional<int64_t> stages,
                                      std::optional<int64_t> splitK,
                                      int64_t minStages = kMinWgmmaStages) {
  // (C1).
  if (failed(verifySizes(emitError, "block", block, 3, ::nm::kMaxSize)) ||
      failed(verifySizes(emitError, "warpgroup", warpgroup, 2, kMaxTile)))
    return failure();
  for (int64_t size : warpgroup)
    if (size % kWgmmaStep != 0)
      return emitError() << "expected sizes in 'warpgroup' to be multiples of "
                         << kWgmmaStep << ", but got " << size;
  if (!warpgroup.empty() && warpgroup[0] > kMaxWgmmaColumns)
    return emitError() << "expected at most " << kMaxWgmmaColumns
                       << " rows of A in 'warpgroup', but got " << warpgroup[0];
  // (C2).
  if (failed(verifyCounts(emitError, stages, splitK, /*sliceK=*/std::nullopt)))
    return failure();
  if (stages && *stages < minStages)
    return emitError() << "expected at least " << minStages
                       << " stages, but got " << *stages;
  return success();
}

/// Warps that copy, the blocks that take turns, and the order of their tiles.
static LogicalResult verifyRoles(EmitError emitError,
                                 std::optional<int64_t> producers,
                                 std::optional<int64_t> blocks,
                                 std::optional<int64_t> groupM,
                                 std::optional<int64_t> groupN = {}) {
  if (producers && (*producers < 0 || *producers > kMaxProducers ||
                    *producers % kWarpgroupWarps != 0))
    return emitError() << "expected a multiple of " << kWarpgroupWarps
                       << " producers, at most " << kMaxProducers
                       << ", but got " << *producers;
  if (blocks && producers == 0)
    return emitError() << "expected producers for 'blocks', but got none";
  if (groupM.value_or(1) != 1 && groupN.value_or(1) != 1)
    return emitError() << "expected a group_m or a group_n of 1, but got "
                       << *groupM << " and " << *groupN;
  return failure(failed(verifyCount(emitError, "blocks", blocks, kMaxParts)) ||
                 failed(verifyCount(emitError, "group_m", groupM, kMaxParts)) ||
                 failed(verifyCount(emitError, "group_n", groupN, kMaxParts)));
}

/// Checks that an op's schedule with tiling `tiling` has the producers that it
/// asks for.
static LogicalResult verifyHasProducers(EmitError emitError,
                                        const BlockTiling &tiling) {
  if (tiling.producerWarps != 0)
    return success();
  for (auto [name, isGiven] : {std::pair("group_m", tiling.groupM != 1),
                               std::pair("group_n", tiling.groupN != 1),
                               std::pair("c_slots", tiling.slotsOfC != 0)})
    if (isGiven)
      return emitError() << "expected producers for '" << name
                         << "', but got none";
  return success();
}

/// Slots that C leaves through, where the schedule is given in part or whole.
static LogicalResult verifySlotsOfC(EmitError emitError,
                                    ArrayRef<int64_t> warpgroup,
                                    std::optional<int64_t> slots,
                                    std::optional<int64_t> producers,
                                    std::optional<int64_t> splitK) {
  constexpr int64_t kMaxSlots = 16, kElements = StageStoresOp::kSlotSide *
                                                StageStoresOp::kSlotSide;
  if (!slots || *slots == 0)
    return success();
  if (*slots < 0 || *slots > kMaxSlots)
    return emitError() << "expected c_slots in 0.." << kMaxSlots << ", but got "
                       << *slots;
  if (producers == 0)
    return emitError() << "expected producers for 'c_slots', but got none";
  if (splitK.value_or(1) != 1)
    return emitError() << "expected k in one part for 'c_slots', but got "
                       << *splitK;
  if (!warpgroup.empty() && warpgroup[0] * warpgroup[1] / kElements % *slots)
    return emitError() << "expected c_slots to divide the "
                       << warpgroup[0] * warpgroup[1] / kElements
                       << " parts of 64 x 64 of a warpgroup's tile, but got "
                       << *slots;
  return success();
}

/// The tiling of `schedule`, of any strategy.
template <typename AttrTy>
static BlockTiling getWarpgroupTiling(AttrTy schedule) {
  BlockTiling tiling;
  tiling.block = schedule.getBlock();
  tiling.stages = schedule.getStages().value_or(kMinWgmmaStages);
  tiling.productsUnderWay = 1;
  tiling.groupM = schedule.getGroupM().value_or(1);
  tiling.producerWarps = schedule.countProducers();
  tiling.blocks = schedule.getBlocks().value_or(0);
  if (schedule.getBlock().empty() || schedule.getWarpgroup().empty())
    return tiling;
  int64_t warpgroups = 1;
  // Clamped, so that it cannot overflow; no block has so many.
  for (int dim : {0, 1})
    warpgroups *= std::clamp<int64_t>(
        schedule.getBlock()[dim] / schedule.getWarpgroup()[dim], 1, kMaxTile);
  tiling.threads =
      warpgroups * kWarpgroup + tiling.producerWarps * kWarpThreads;
  return tiling;
}

/// Gives each element of C a second sum, that of a tile, which is waited for
/// and added to the first.
static void addTotals(BlockTiling &tiling) {
  tiling.sumsOfElement = 2;
  tiling.productsUnderWay = 0;
}

//===----------------------------------------------------------------------===//
// Wgmma
//===----------------------------------------------------------------------===//

LogicalResult WgmmaScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> producers, std::optional<int64_t> blocks,
    std::optional<int64_t> groupM, std::optional<int64_t> groupN,
    std::optional<CopyWay> copyA, std::optional<bool>, std::optional<bool>,
    std::optional<int64_t> slotsOfC, PackingAttr packing) {
  // (C1), (C2).
  if (failed(verifyWarpgroups(emitError, block, warpgroup, stages, splitK)))
    return failure();
  // (C3).
  if (packing && (packing.getColInfo() != 0 || packing.getIndexBits() != 8 ||
                  !packing.getPacking().isRowWise()))
    return emitError() << "expected a packing with index_bits = 8 and without "
                          "col_info or chunks, but got "
                       << packing;
  // (C6).
  if (copyA && *copyA != CopyWay::Direct && *copyA != CopyWay::Tensor &&
      *copyA != CopyWay::Bulk)
    return emitError()
           << "expected copy_a to be direct, tensor or bulk, but got "
           << stringifyCopyWay(*copyA);
  // (C5), (C7).
  return failure(
      failed(verifyRoles(emitError, producers, blocks, groupM, groupN)) ||
      failed(
          verifySlotsOfC(emitError, warpgroup, slotsOfC, producers, splitK)));
}

BlockTiling WgmmaScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this);
  tiling.splitK = getSplitK().value_or(1);
  tiling.groupN = getGroupN().value_or(1);
  tiling.slotsOfC = getCSlots().value_or(0);
  if (hasTotals() || (getPacking() && getPacking().getTerms() > 1))
    addTotals(tiling);
  return tiling;
}

PackedFormAttrInterface
WgmmaScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

LogicalResult
WgmmaScheduleAttr::verifyPattern(EmitError emitError,
                                 const ::nm::Pattern &pattern) const {
  // (C4).
  if (getBlock().empty() || getWarpgroup().empty() || !getPacking())
    return emitError() << "expected 'block', 'warpgroup' and 'packing' of "
                          "strategy wgmma, but got "
                       << *this;
  if (getBlock()[1] != getPacking().getPanel())
    return emitError() << "expected the block tile's n to be the panel's "
                       << getPacking().getPanel() << " columns, but got "
                       << getBlock()[1];
  if (getPacking().getPanel() > pattern.bn)
    return emitError() << "expected columns of a block that share a unit of "
                       << pattern.bn << ", but got a panel of "
                       << getPacking().getPanel();
  for (int dim : {0, 1})
    if (getBlock()[dim] % getWarpgroup()[dim] != 0)
      return emitError() << "expected the warpgroup's tile to divide the "
                            "block's "
                         << getBlock()[dim] << ", but got "
                         << getWarpgroup()[dim];
  if ((getPacking().getTileRows() != 0) != (countProducers() != 0))
    return emitError() << "expected a packing with tile_rows where there are "
                          "producers, and only there, but got "
                       << *this;
  // (C5), (C7).
  if (failed(verifyHasProducers(emitError, getTiling())))
    return failure();
  // (C6).
  if ((hasTotals() || hasTensorCopies() || hasPanelsOfA()) &&
      (countProducers() == 0 || getPacking().getTerms() > 1))
    return emitError() << "expected producers, and no terms, for 'totals' and "
                          "'copy_a = tensor' or 'bulk', but got "
                       << *this;
  // (C8).
  if (hasResiduals() && getPacking().getTerms() != ::nm::kMaxTerms)
    return emitError() << "expected a packing of " << ::nm::kMaxTerms
                       << " terms for 'residuals', but got " << *this;
  return success();
}

//===----------------------------------------------------------------------===//
// WgmmaSelect
//===----------------------------------------------------------------------===//

LogicalResult WgmmaSelectScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> producers,
    std::optional<int64_t> blocks, std::optional<int64_t> groupM,
    std::optional<bool>, PackingAttr) {
  // (C1), (C2).
  if (failed(verifyWarpgroups(emitError, block, warpgroup, stages,
                              /*splitK=*/std::nullopt, kMinTotalStages)))
    return failure();
  if (!warpgroup.empty() &&
      (warpgroup[0] != kWgmmaStep || warpgroup[1] > kMaxWgmmaColumns))
    return emitError() << "expected " << kWgmmaStep << " rows of A and at most "
                       << kMaxWgmmaColumns
                       << " columns in 'warpgroup', but got " << warpgroup[0]
                       << " and " << warpgroup[1];
  // (C3).
  if (producers == 0)
    return emitError() << "expected producers for strategy wgmma_select, but "
                          "got none";
  return verifyRoles(emitError, producers, blocks, groupM);
}

int64_t WgmmaSelectScheduleAttr::countProducers() const {
  return getProducers().value_or(kWarpgroupWarps);
}

/// Threads wait for their products, whose registers the next ones take.
BlockTiling WgmmaSelectScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this);
  tiling.productsUnderWay = 0;
  if (hasTotals())
    addTotals(tiling);
  return tiling;
}

PackedFormAttrInterface
WgmmaSelectScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

LogicalResult
WgmmaSelectScheduleAttr::verifyPattern(EmitError emitError,
                                       const ::nm::Pattern &pattern) const {
  using ::nm::SelectedBytes;
  // (C5).
  std::optional<SelectedBytes> bytes = SelectedBytes::of(pattern);
  if (!bytes || pattern.bn % SelectedBytes::kLeastColumns != 0)
    return emitError() << "expected windows of " << SelectedBytes::kLeastRows
                       << " to " << SelectedBytes::kMostRows
                       << " rows, in units of one row and a multiple of "
                       << SelectedBytes::kLeastColumns
                       << " columns, for strategy wgmma_select, but got "
                       << pattern.str();
  // (C4).
  if (getBlock().empty() || getWarpgroup().empty() || !getPacking())
    return emitError() << "expected 'block', 'warpgroup' and 'packing' of "
                          "strategy wgmma_select, but got "
                       << *this;
  ::nm::PanelPacking packing = getPacking().getPacking();
  if (getBlock()[1] != packing.panel || packing.colInfo != 0 ||
      packing.terms != 1 || packing.indexBits != SelectedBytes::kFieldBits ||
      packing.indexRows != SelectedBytes::kWord || packing.tileRows == 0 ||
      packing.tileRows % bytes->tileStep() != 0 ||
      packing.laneWords != bytes->wordsOfRun() ||
      bytes->rowsOf(packing.tileRows) != getBlock()[2])
    return emitError() << "expected a packing with the block's columns as the "
                          "panel, index_bits = 4, index_rows = 4, lane_words = "
                       << bytes->wordsOfRun()
                       << ", and as tile_rows what the block's k keeps, a "
                          "multiple of "
                       << bytes->tileStep() << ", but got " << *this;
  for (int dim : {0, 1})
    if (getBlock()[dim] % getWarpgroup()[dim] != 0)
      return emitError() << "expected the warpgroup's tile to divide the "
                            "block's "
                         << getBlock()[dim] << ", but got "
                         << getWarpgroup()[dim];
  return success();
}

//===----------------------------------------------------------------------===//
// WgmmaSp
//===----------------------------------------------------------------------===//

LogicalResult WgmmaSpScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> producers,
    std::optional<int64_t> blocks, std::optional<int64_t> groupM,
    std::optional<int64_t> groupN, std::optional<int64_t> terms,
    std::optional<bool>, std::optional<int64_t> slotsOfC) {
  constexpr int64_t kStepRows = ::nm::SparseOperand::kStepRows;
  // (C1), (C2), (C3).
  if (failed(verifyWarpgroups(emitError, block, warpgroup, stages, splitK,
                              terms ? kMinTotalStages : kMinWgmmaStages)) ||
      failed(verifyPart(emitError, "warpgroup", block, warpgroup,
                        {kWgmmaStep, kWgmmaStep})) ||
      failed(verifySteps(emitError, block)) ||
      failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  // (C5).
  if (terms && (*terms < 2 || *terms > ::nm::kMaxTerms))
    return emitError() << "expected 2 or " << ::nm::kMaxTerms
                       << " terms, but got " << *terms;
  if (terms && !block.empty() && block[2] != kStepRows)
    return emitError() << "expected k of the block to be " << kStepRows
                       << ", with terms, but got " << block[2];
  // (C4).
  if (failed(verifyRoles(emitError, producers, blocks, groupM, groupN)) ||
      failed(verifySlotsOfC(emitError, warpgroup, slotsOfC, producers, splitK)))
    return failure();
  if (producers.value_or(0) != 0 && clusterK.value_or(1) != 1)
    return emitError() << "expected a cluster_k of 1, with producers, but got "
                       << *clusterK;
  return success();
}

BlockTiling WgmmaSpScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this);
  tiling.clusterK = getClusterK().value_or(1);
  tiling.splitK = getSplitK().value_or(tiling.clusterK);
  tiling.groupN = getGroupN().value_or(1);
  tiling.slotsOfC = getCSlots().value_or(0);
  if (countTerms() > 1)
    addTotals(tiling);
  return tiling;
}

PackedFormAttrInterface
WgmmaSpScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  // With producers, threads store pairs of columns from their registers.
  return SparseOperandAttr::get(getContext(),
                                countProducers() != 0 ? SparseOrder::WgmmaPairs
                                                      : SparseOrder::Wgmma,
                                /*bits=*/0, countTerms());
}

LogicalResult WgmmaSpScheduleAttr::verifyPattern(EmitError emitError,
                                                 const ::nm::Pattern &) const {
  // (C5).
  if (countTerms() > 1 && countProducers() == 0)
    return emitError() << "expected producers for terms, but got none";
  // (C7).
  if (hasResiduals() && countTerms() != ::nm::kMaxTerms)
    return emitError() << "expected " << ::nm::kMaxTerms
                       << " terms for 'residuals', but got " << *this;
  // (C4), (C6).
  return verifyHasProducers(emitError, getTiling());
}
