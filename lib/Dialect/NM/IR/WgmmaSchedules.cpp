//===- WgmmaSchedules.cpp - Schedules of strategies of warpgroups ---------===//

#include "ScheduleChecks.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Format/SelectedBytes.h"
#include "nm/Format/SplitFloats.h"
#include "nm/Schedule/TensorBoxes.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

/// Rows of the instruction's first operand, the most columns of its second, and
/// the columns of a row of 128 bytes.
static constexpr int64_t kWgmmaStep = 64, kMaxWgmmaColumns = 256;
static constexpr int64_t kWarpgroup = 128, kWarpgroupWarps = 4,
                         kWarpThreads = kWarpgroup / kWarpgroupWarps;
static constexpr int64_t kMaxProducers = 16;
/// A tile in flight, one whose operands arrive, and one whose slot is free.
static constexpr int64_t kMinWgmmaStages = 3;
/// The fewest stages where a tile's products are waited for.
static constexpr int64_t kMinPromotionStages = 2;

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

/// Registers of both roles, or of neither.
static LogicalResult verifyRegisters(EmitError emitError,
                                     std::optional<int64_t> producers,
                                     std::optional<int64_t> ofProducer,
                                     std::optional<int64_t> ofConsumer) {
  constexpr int64_t kStep = 8, kLeast = 24, kMost = 240;
  if (!ofProducer && !ofConsumer)
    return success();
  if (!ofProducer || !ofConsumer)
    return emitError() << "expected producer_registers and consumer_registers, "
                          "or neither";
  if (producers == 0)
    return emitError()
           << "expected producers for 'producer_registers', but got none";
  for (int64_t registers : {*ofProducer, *ofConsumer})
    if (registers % kStep != 0 || registers < kLeast || registers > kMost)
      return emitError() << "expected registers of a role to be a multiple of "
                         << kStep << " in " << kLeast << ".." << kMost
                         << ", but got " << registers;
  return success();
}

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

/// Slots that C leaves through, where the schedule is given in part or whole.
static LogicalResult verifyStoreBuffers(EmitError emitError,
                                        ArrayRef<int64_t> warpgroup,
                                        std::optional<int64_t> slots,
                                        std::optional<int64_t> producers,
                                        std::optional<int64_t> splitK) {
  constexpr int64_t kMaxSlots = 16, kElements = StageStoresOp::kSlotSide *
                                                StageStoresOp::kSlotSide;
  if (!slots || *slots == 0)
    return success();
  if (*slots < 0 || *slots > kMaxSlots)
    return emitError() << "expected store_buffers in 0.." << kMaxSlots
                       << ", but got " << *slots;
  if (producers == 0)
    return emitError()
           << "expected producers for 'store_buffers', but got none";
  if (splitK.value_or(1) != 1)
    return emitError() << "expected k in one part for 'store_buffers', but got "
                       << *splitK;
  if (!warpgroup.empty() && warpgroup[0] * warpgroup[1] / kElements % *slots)
    return emitError() << "expected store_buffers to divide the "
                       << warpgroup[0] * warpgroup[1] / kElements
                       << " parts of 64 x 64 of a warpgroup's tile, but got "
                       << *slots;
  return success();
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
// Wgmma
//===----------------------------------------------------------------------===//

LogicalResult WgmmaScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> producers, std::optional<int64_t> blocks,
    std::optional<int64_t> groupM, std::optional<int64_t> groupN,
    std::optional<CopyKind> copyA, std::optional<bool>, std::optional<bool>,
    std::optional<int64_t> storeBuffers,
    std::optional<int64_t> producerRegisters,
    std::optional<int64_t> consumerRegisters, std::optional<bool>,
    std::optional<int64_t> padA, PackingAttr packing) {
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
  if (copyA && *copyA != CopyKind::Direct && *copyA != CopyKind::Tensor &&
      *copyA != CopyKind::Bulk)
    return emitError()
           << "expected copy_a to be direct, tensor or bulk, but got "
           << stringifyCopyKind(*copyA);
  // (C5), (C7), (C9), (C10).
  return failure(
      failed(verifyRoles(emitError, producers, blocks, groupM, groupN)) ||
      failed(verifyPadding(emitError, padA)) ||
      failed(verifyRegisters(emitError, producers, producerRegisters,
                             consumerRegisters)) ||
      failed(verifyStoreBuffers(emitError, warpgroup, storeBuffers, producers,
                                splitK)));
}

BlockTiling WgmmaScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this, countProducers());
  if (isPromoted() || (getPacking() && getPacking().getSplits() > 1))
    addPromotedSums(tiling);
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
  // (C5), (C7), (C10).
  if (failed(verifyHasProducers(emitError, getTiling())) ||
      failed(verifySplitC(emitError, getTiling())))
    return failure();
  // (C6).
  if ((isPromoted() || hasTensorCopies() || hasPanelsOfA()) &&
      (countProducers() == 0 || getPacking().getSplits() > 1))
    return emitError()
           << "expected producers, and no splits, for 'promote' and "
              "'copy_a = tensor' or 'bulk', but got "
           << *this;
  // (C8).
  if (isCompensated() && getPacking().getSplits() != ::nm::kMaxSplits)
    return emitError() << "expected a packing of " << ::nm::kMaxSplits
                       << " splits for 'compensated', but got " << *this;
  return success();
}

/// Rows of a box of a tensor copy, of which a tensor map takes so many.
static LogicalResult verifyBoxRows(EmitError emitError,
                                   std::optional<int64_t> rows) {
  if (!rows || (*rows >= 0 && *rows <= ::nm::kMaxBoxRows))
    return success();
  return emitError() << "expected 'box_rows' in 0.." << ::nm::kMaxBoxRows
                     << ", but got " << *rows;
}

//===----------------------------------------------------------------------===//
// WgmmaSelect
//===----------------------------------------------------------------------===//

LogicalResult WgmmaSelectScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> producers,
    std::optional<int64_t> blocks, std::optional<int64_t> groupM,
    std::optional<bool>, std::optional<int64_t> producerRegisters,
    std::optional<int64_t> consumerRegisters, std::optional<int64_t> boxRows,
    PackingAttr) {
  if (failed(verifyBoxRows(emitError, boxRows)))
    return failure();
  // (C1), (C2).
  if (failed(verifyWarpgroups(emitError, block, warpgroup, stages,
                              /*splitK=*/std::nullopt, kMinPromotionStages)))
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
  return failure(failed(verifyRoles(emitError, producers, blocks, groupM)) ||
                 failed(verifyRegisters(emitError, producers, producerRegisters,
                                        consumerRegisters)));
}

int64_t WgmmaSelectScheduleAttr::countProducers() const {
  return getProducers().value_or(kWarpgroupWarps);
}

/// Threads wait for their products, whose registers the next ones take.
BlockTiling WgmmaSelectScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this, countProducers());
  tiling.productsInFlight = 0;
  tiling.loadsByThread = true;
  if (isPromoted())
    addPromotedSums(tiling);
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
    return emitError()
           << "expected windows of 2, 4 or 8 rows, in units of one row "
              "and a multiple of "
           << SelectedBytes::kLeastColumns
           << " columns, for strategy wgmma_select, but got " << pattern.str();
  // (C4).
  if (getBlock().empty() || getWarpgroup().empty() || !getPacking())
    return emitError() << "expected 'block', 'warpgroup' and 'packing' of "
                          "strategy wgmma_select, but got "
                       << *this;
  ::nm::PanelPacking packing = getPacking().getPacking();
  if (getBlock()[1] != packing.panel || packing.colInfo != 0 ||
      packing.splits != 1 || packing.indexBits != SelectedBytes::kFieldBits ||
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
    std::optional<int64_t> groupN, std::optional<int64_t> splits,
    std::optional<bool>, std::optional<int64_t> storeBuffers,
    std::optional<bool>, std::optional<bool>,
    std::optional<int64_t> producerRegisters,
    std::optional<int64_t> consumerRegisters, std::optional<bool>,
    std::optional<int64_t> boxRows, std::optional<bool>,
    std::optional<int64_t> padA) {
  constexpr int64_t kStepRows = ::nm::SparseOperand::kStepRows;
  // (C9).
  if (failed(verifyBoxRows(emitError, boxRows)) ||
      failed(verifyPadding(emitError, padA)))
    return failure();
  // (C1), (C2), (C3).
  if (failed(
          verifyWarpgroups(emitError, block, warpgroup, stages, splitK,
                           splits ? kMinPromotionStages : kMinWgmmaStages)) ||
      failed(verifyPart(emitError, "warpgroup", block, warpgroup,
                        {kWgmmaStep, kWgmmaStep})) ||
      failed(verifySteps(emitError, block)) ||
      failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  // (C5).
  if (splits && (*splits < 2 || *splits > ::nm::kMaxSplits))
    return emitError() << "expected 2 or " << ::nm::kMaxSplits
                       << " splits, but got " << *splits;
  if (splits && !block.empty() && block[2] != kStepRows)
    return emitError() << "expected k of the block to be " << kStepRows
                       << ", with splits, but got " << block[2];
  // (C4).
  if (failed(verifyRoles(emitError, producers, blocks, groupM, groupN)) ||
      failed(verifyRegisters(emitError, producers, producerRegisters,
                             consumerRegisters)) ||
      failed(verifyStoreBuffers(emitError, warpgroup, storeBuffers, producers,
                                splitK)))
    return failure();
  if (producers.value_or(0) != 0 && clusterK.value_or(1) != 1)
    return emitError() << "expected a cluster_k of 1, with producers, but got "
                       << *clusterK;
  return success();
}

BlockTiling WgmmaSpScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this, countProducers());
  tiling.loadsByThread = true;
  if (countSplits() > 1)
    addPromotedSums(tiling);
  return tiling;
}

PackedFormAttrInterface
WgmmaSpScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  // With producers, threads store pairs of columns from their registers.
  return SparseOperandAttr::get(getContext(),
                                countProducers() != 0 ? SparseOrder::WgmmaPairs
                                                      : SparseOrder::Wgmma,
                                /*bits=*/0, countSplits());
}

LogicalResult WgmmaSpScheduleAttr::verifyPattern(EmitError emitError,
                                                 const ::nm::Pattern &) const {
  // (C5).
  if (countSplits() > 1 && countProducers() == 0)
    return emitError() << "expected producers for splits, but got none";
  // (C7).
  if (isCompensated() && countSplits() != ::nm::kMaxSplits)
    return emitError() << "expected " << ::nm::kMaxSplits
                       << " splits for 'compensated', but got " << *this;
  // (C8).
  if (getOrdered().value_or(false) && !getPromote().value_or(true))
    return emitError() << "expected 'promote' for 'ordered', but got " << *this;
  if (getOverlap().value_or(false) && countSplits() > 1)
    return emitError() << "expected no splits for 'overlap', but got " << *this;
  // (C4), (C6).
  if (failed(verifyHasProducers(emitError, getTiling())))
    return failure();
  return verifySplitC(emitError, getTiling());
}
