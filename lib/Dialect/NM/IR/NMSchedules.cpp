//===- NMSchedules.cpp - A schedule for each strategy ---------------------===//

#include "Quantization.h"
#include "ScheduleSyntax.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

FailureOr<ScheduleAttrInterface>
mlir::nm::parseSchedule(StringRef text, MLIRContext *context,
                        function_ref<InFlightDiagnostic()> emitError) {
  StringRef trimmed = text.trim();
  std::string whole = (trimmed.starts_with("#") ? "" : "#nm.") + trimmed.str();
  auto schedule = dyn_cast_if_present<ScheduleAttrInterface>(
      parseAttribute(whole, context));
  if (!schedule)
    return emitError() << "expected a schedule, such as 'simt' or "
                          "'simt<stages = 3>', but got '"
                       << text << "'";
  return schedule;
}

void ParameterList::add(StringRef name, PackingAttr packing) {
  if (!packing)
    return;
  ParameterList inner(builder.getContext());
  inner.add("panel", std::optional(packing.getPanel()));
  inner.add("index_bits", std::optional(packing.getIndexBits()));
  inner.add("chunk_rows", std::optional(packing.getChunkRows()));
  inner.add("chunk_columns", std::optional(packing.getChunkColumns()));
  inner.add("index_rows", std::optional(packing.getIndexRows()));
  inner.add("col_info", std::optional(packing.getColInfo()));
  if (packing.getTileRows() != 0)
    inner.add("tile_rows", std::optional(packing.getTileRows()));
  if (packing.getTerms() != 1)
    inner.add("terms", std::optional(packing.getTerms()));
  list.set(name, inner.take());
}

void ParameterList::add(StringRef name, ScheduleAttrInterface schedule) {
  if (!schedule)
    return;
  NamedAttrList inner(schedule.getParameters());
  inner.set("strategy", builder.getStringAttr(schedule.getStrategyName()));
  list.set(name, inner.getDictionary(builder.getContext()));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

/// The longest side of a warp's or a thread's tile, which is unrolled; no chip
/// has the registers for more.
static constexpr int64_t kMaxTile = 1024;
/// The most buffers of a pipeline, and the most parts of k.
static constexpr int64_t kMaxParts = 1 << 16;
/// The most warps of a block.
static constexpr int64_t kMaxWarps = 32;
/// The most blocks of a cluster that every chip with clusters has.
static constexpr int64_t kMaxCluster = 8;

static LogicalResult verifySizes(EmitError emitError, StringRef name,
                                 ArrayRef<int64_t> sizes, size_t rank,
                                 int64_t most) {
  if (!sizes.empty() && sizes.size() != rank)
    return emitError() << "expected " << rank << " sizes in '" << name
                       << "', but got " << sizes.size();
  for (int64_t size : sizes)
    if (size < 1 || size > most)
      return emitError() << "expected sizes in '" << name << "' to be in 1.."
                         << most << ", but got " << size;
  return success();
}

static LogicalResult verifyTiles(EmitError emitError, ArrayRef<int64_t> block,
                                 ArrayRef<int64_t> warp,
                                 ArrayRef<int64_t> thread) {
  return failure(
      failed(verifySizes(emitError, "block", block, 3, ::nm::kMaxSize)) ||
      failed(verifySizes(emitError, "warp", warp, 2, kMaxTile)) ||
      failed(verifySizes(emitError, "thread", thread, 2, kMaxTile)));
}

static LogicalResult verifyCount(EmitError emitError, StringRef name,
                                 std::optional<int64_t> count, int64_t most) {
  if (!count || (*count >= 1 && *count <= most))
    return success();
  return emitError() << "expected " << name << " in 1.." << most << ", but got "
                     << *count;
}

static LogicalResult verifyCounts(EmitError emitError,
                                  std::optional<int64_t> stages,
                                  std::optional<int64_t> splitK,
                                  std::optional<int64_t> sliceK) {
  return failure(failed(verifyCount(emitError, "stages", stages, kMaxParts)) ||
                 failed(verifyCount(emitError, "split_k", splitK, kMaxParts)) ||
                 failed(verifyCount(emitError, "slice_k", sliceK, kMaxWarps)));
}

/// Blocks of clusters that have all parts of k.
static LogicalResult verifyCluster(EmitError emitError,
                                   std::optional<int64_t> splitK,
                                   std::optional<int64_t> clusterK) {
  if (failed(verifyCount(emitError, "cluster_k", clusterK, kMaxCluster)))
    return failure();
  if (splitK && clusterK && *splitK % *clusterK != 0)
    return emitError() << "expected cluster_k to divide split_k, " << *splitK
                       << ", but got " << *clusterK;
  return success();
}

/// Lists of rows follow from `pack`, and only strategy simt reads them.
static LogicalResult verifyNoLists(EmitError emitError, PackingAttr packing) {
  if (!packing || packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing without col_info, which follows "
                        "from 'pack = true', but got "
                     << packing;
}

//===----------------------------------------------------------------------===//
// Vector
//===----------------------------------------------------------------------===//

LogicalResult VectorScheduleAttr::verify(EmitError emitError,
                                         ArrayRef<int64_t> block,
                                         ArrayRef<int64_t> thread,
                                         PackingAttr packing) {
  // (C1), (C2).
  return failure(failed(verifyTiles(emitError, block, /*warp=*/{}, thread)) ||
                 failed(verifyNoLists(emitError, packing)));
}

BlockTiling VectorScheduleAttr::getTiling() const {
  BlockTiling tiling;
  tiling.block = getBlock();
  tiling.thread = getThread();
  return tiling;
}

PackedFormAttrInterface
VectorScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

/// A CPU's code is made for the packing that it finds.
bool VectorScheduleAttr::canRead(const ::nm::Pattern &,
                                 PackedFormAttrInterface packedForm) const {
  auto packing = dyn_cast<PackingAttr>(packedForm);
  return packing && packing.getColInfo() == 0;
}

//===----------------------------------------------------------------------===//
// Simt
//===----------------------------------------------------------------------===//

LogicalResult SimtScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    ArrayRef<int64_t> thread, std::optional<int64_t> stages,
    std::optional<int64_t> splitK, std::optional<int64_t> clusterK,
    std::optional<int64_t> sliceK, std::optional<int64_t> groupM,
    std::optional<CopyWay> copyA, std::optional<TileOrder>, std::optional<bool>,
    std::optional<bool>, std::optional<bool>, std::optional<bool>,
    PackingAttr packing) {
  // (C1), (C2).
  if (failed(verifyTiles(emitError, block, warp, thread)) ||
      failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
      failed(verifyCount(emitError, "group_m", groupM, kMaxParts)))
    return failure();
  // (C3).
  if (failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  // (C4).
  if (copyA == CopyWay::Bulk || copyA == CopyWay::Tensor)
    return emitError() << "expected copy_a to be direct, matrices, elements or "
                          "squares, but got "
                       << stringifyCopyWay(*copyA);
  return verifyNoLists(emitError, packing);
}

BlockTiling SimtScheduleAttr::getTiling() const {
  BlockTiling tiling;
  tiling.block = getBlock();
  tiling.warp = getWarp();
  tiling.thread = getThread();
  tiling.stages = getStages().value_or(1);
  tiling.clusterK = getClusterK().value_or(1);
  tiling.splitK = getSplitK().value_or(tiling.clusterK);
  tiling.sliceK = getSliceK().value_or(1);
  tiling.groupM = getGroupM().value_or(1);
  return tiling;
}

/// The packing of `schedule`, with the lists of rows that `pack` asks for.
template <typename AttrTy>
static PackingAttr getFormWithLists(AttrTy schedule,
                                    const ::nm::Pattern &pattern) {
  if (!schedule.packsRows() || !schedule.getPacking() ||
      schedule.getBlock().empty())
    return schedule.getPacking();
  ::nm::PanelPacking packing = schedule.getPacking().getPacking();
  // A panel narrower than a unit has the unit to itself.
  int64_t columns =
      packing.panel < pattern.bn ? packing.panel : packing.columnStep(pattern);
  packing.colInfo = llvm::alignTo(schedule.getBlock()[1], columns);
  return PackingAttr::get(schedule.getContext(), packing);
}

/// (C4).
template <typename AttrTy>
static LogicalResult verifyPack(EmitError emitError, AttrTy schedule) {
  if (schedule.packsRows() &&
      (schedule.getBlock().empty() || !schedule.getPacking()))
    return emitError() << "expected 'block' and 'packing' with 'pack'";
  return success();
}

PackedFormAttrInterface
SimtScheduleAttr::getPackedForm(const ::nm::Pattern &pattern) const {
  return getFormWithLists(*this, pattern);
}

bool SimtScheduleAttr::canRead(const ::nm::Pattern &pattern,
                               PackedFormAttrInterface packedForm) const {
  auto packing = dyn_cast<PackingAttr>(packedForm);
  auto wanted = dyn_cast_if_present<PackingAttr>(getPackedForm(pattern));
  if (wanted == packing)
    return true;
  if (!wanted || !packing || wanted.getColInfo() != packing.getColInfo() ||
      packing.getIndexBits() != 8 || !packing.getPacking().isRowWise() ||
      getBlock().empty() || getWarp().empty())
    return false;
  int64_t step = std::max(packing.getPanel(), pattern.bn);
  return llvm::alignTo(getBlock()[1], step) % getWarp()[1] == 0;
}

LogicalResult SimtScheduleAttr::verifyPattern(EmitError emitError,
                                              const ::nm::Pattern &) const {
  return verifyPack(emitError, *this);
}

ScheduleAttrInterface SimtScheduleAttr::withoutPack() const {
  return get(getContext(), getBlock(), getWarp(), getThread(), getStages(),
             getSplitK(), getClusterK(), getSliceK(), getGroupM(), getCopyA(),
             getLayoutA(), getPrefetch(), getDefer(), /*pack=*/false,
             getTotals(), getPacking());
}

//===----------------------------------------------------------------------===//
// Gemv
//===----------------------------------------------------------------------===//

LogicalResult
GemvScheduleAttr::verify(EmitError emitError, ArrayRef<int64_t> block,
                         ArrayRef<int64_t> warp, ArrayRef<int64_t> thread,
                         std::optional<int64_t> stages,
                         std::optional<int64_t> splitK,
                         std::optional<int64_t> sliceK, PackingAttr packing) {
  return failure(failed(verifyTiles(emitError, block, warp, thread)) ||
                 failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
                 failed(verifyNoLists(emitError, packing)));
}

BlockTiling GemvScheduleAttr::getTiling() const {
  BlockTiling tiling;
  tiling.block = getBlock();
  tiling.warp = getWarp();
  tiling.thread = getThread();
  tiling.stages = getStages().value_or(1);
  tiling.splitK = getSplitK().value_or(1);
  tiling.sliceK = getSliceK().value_or(1);
  // A panel that no multiple of a warp's columns fills leaves lanes idle.
  tiling.leavesLanes = true;
  return tiling;
}

PackedFormAttrInterface
GemvScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

//===----------------------------------------------------------------------===//
// MmaSync
//===----------------------------------------------------------------------===//

LogicalResult MmaSyncScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> sliceK,
    std::optional<bool> pack, PackingAttr packing) {
  return failure(failed(verifyTiles(emitError, block, warp, /*thread=*/{})) ||
                 failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
                 failed(verifyCluster(emitError, splitK, clusterK)) ||
                 failed(verifyNoLists(emitError, packing)));
}

/// Lanes that have neighbouring rows, or pairs of columns, of the sums of an
/// mma.sync; which of the two m is leaves a warp's tile as large.
static constexpr int64_t kLanesOfSums = 4;

BlockTiling MmaSyncScheduleAttr::getTiling() const {
  BlockTiling tiling;
  tiling.block = getBlock();
  tiling.warp = getWarp();
  tiling.lanesM = kLanesOfSums;
  tiling.stages = getStages().value_or(1);
  tiling.clusterK = getClusterK().value_or(1);
  tiling.splitK = getSplitK().value_or(tiling.clusterK);
  tiling.sliceK = getSliceK().value_or(1);
  return tiling;
}

PackedFormAttrInterface
MmaSyncScheduleAttr::getPackedForm(const ::nm::Pattern &pattern) const {
  return getFormWithLists(*this, pattern);
}

LogicalResult MmaSyncScheduleAttr::verifyPattern(EmitError emitError,
                                                 const ::nm::Pattern &) const {
  return verifyPack(emitError, *this);
}

ScheduleAttrInterface MmaSyncScheduleAttr::withoutPack() const {
  return get(getContext(), getBlock(), getWarp(), getStages(), getSplitK(),
             getClusterK(), getSliceK(), /*pack=*/false, getPacking());
}

//===----------------------------------------------------------------------===//
// Sparse operands
//===----------------------------------------------------------------------===//

/// Rows of k of a step of packed weights.
static constexpr int64_t kStepRows = ::nm::SparseOperand::kStepRows;

/// `part`, the tile [m, n] that some warps have of `block`, is whole steps of
/// their instruction and divides it.
static LogicalResult verifyPart(EmitError emitError, StringRef name,
                                ArrayRef<int64_t> block, ArrayRef<int64_t> part,
                                ArrayRef<int64_t> steps) {
  for (auto [i, size] : llvm::enumerate(part)) {
    if (size % steps[i] != 0)
      return emitError() << "expected sizes in '" << name
                         << "' to be multiples of " << steps << ", but got "
                         << part;
    if (!block.empty() && block[i] % size != 0)
      return emitError() << "expected '" << name << "' to divide the block's "
                         << block.take_front(2) << ", but got " << part;
  }
  return success();
}

/// A block's k is whole steps of packed weights.
static LogicalResult verifySteps(EmitError emitError, ArrayRef<int64_t> block) {
  if (!block.empty() && block[2] % kStepRows != 0)
    return emitError() << "expected k of the block to be a multiple of "
                       << kStepRows << ", but got " << block[2];
  return success();
}

LogicalResult MmaSpScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> sliceK,
    std::optional<int64_t> bits) {
  // (C1), (C2), (C3), (C4).
  if (failed(verifyTiles(emitError, block, warp, /*thread=*/{})) ||
      failed(verifyPart(emitError, "warp", block, warp, {8, 16})) ||
      (bits && failed(verifyQuantizedBits(emitError, *bits))) ||
      failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
      failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  return verifySteps(emitError, block);
}

BlockTiling MmaSpScheduleAttr::getTiling() const {
  constexpr int64_t kWarpThreads = 32;
  BlockTiling tiling;
  tiling.block = getBlock();
  tiling.sliceK = getSliceK().value_or(1);
  if (!getBlock().empty() && !getWarp().empty())
    tiling.threads = getBlock()[0] / getWarp()[0] *
                     (getBlock()[1] / getWarp()[1]) * tiling.sliceK *
                     kWarpThreads;
  tiling.stages = getStages().value_or(1);
  tiling.clusterK = getClusterK().value_or(1);
  tiling.splitK = getSplitK().value_or(tiling.clusterK);
  return tiling;
}

//===----------------------------------------------------------------------===//
// Wgmma
//===----------------------------------------------------------------------===//

/// Rows of the instruction's first operand, the most columns of its second, and
/// the columns of a row of 128 bytes.
static constexpr int64_t kWgmmaStep = 64, kMaxWgmmaColumns = 256;
static constexpr int64_t kWarpgroup = 128, kWarpgroupWarps = 4;
static constexpr int64_t kMaxProducers = 16;
/// A tile under way, one whose operands arrive, and one whose slot is free.
static constexpr int64_t kMinWgmmaStages = 3;

/// Sizes and counts that both strategies of warpgroups have.
static LogicalResult verifyWarpgroups(EmitError emitError,
                                      ArrayRef<int64_t> block,
                                      ArrayRef<int64_t> warpgroup,
                                      std::optional<int64_t> stages,
                                      std::optional<int64_t> splitK) {
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
  if (stages && *stages < kMinWgmmaStages)
    return emitError() << "expected at least " << kMinWgmmaStages
                       << " stages, but got " << *stages;
  return success();
}

/// The tiling of `schedule`, of either strategy.
template <typename AttrTy>
static BlockTiling getWarpgroupTiling(AttrTy schedule) {
  BlockTiling tiling;
  tiling.block = schedule.getBlock();
  tiling.stages = schedule.getStages().value_or(kMinWgmmaStages);
  tiling.splitK = schedule.getSplitK().value_or(1);
  tiling.productsUnderWay = 1;
  if (schedule.getBlock().empty() || schedule.getWarpgroup().empty())
    return tiling;
  int64_t warpgroups = 1;
  // Far more than a block has are as bad as more.
  for (int dim : {0, 1})
    warpgroups *= std::clamp<int64_t>(
        schedule.getBlock()[dim] / schedule.getWarpgroup()[dim], 1, kMaxTile);
  tiling.threads = warpgroups * kWarpgroup;
  return tiling;
}

LogicalResult WgmmaScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warpgroup,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> producers, std::optional<int64_t> blocks,
    std::optional<int64_t> groupM, PackingAttr packing) {
  // (C1), (C2).
  if (failed(verifyWarpgroups(emitError, block, warpgroup, stages, splitK)))
    return failure();
  // (C3).
  if (packing && (packing.getColInfo() != 0 || packing.getIndexBits() != 8 ||
                  !packing.getPacking().isRowWise()))
    return emitError() << "expected a packing with index_bits = 8 and without "
                          "col_info or chunks, but got "
                       << packing;
  // (C5).
  if (producers && (*producers < 0 || *producers > kMaxProducers ||
                    *producers % kWarpgroupWarps != 0))
    return emitError() << "expected a multiple of " << kWarpgroupWarps
                       << " producers, at most " << kMaxProducers
                       << ", but got " << *producers;
  if (blocks && producers == 0)
    return emitError() << "expected producers for 'blocks', but got none";
  return failure(failed(verifyCount(emitError, "blocks", blocks, kMaxParts)) ||
                 failed(verifyCount(emitError, "group_m", groupM, kMaxParts)));
}

BlockTiling WgmmaScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this);
  constexpr int64_t kWarpThreads = kWarpgroup / kWarpgroupWarps;
  tiling.groupM = getGroupM().value_or(1);
  tiling.producerWarps = countProducers();
  tiling.blocks = getBlocks().value_or(0);
  // Those of a tile of terms, which is waited for, and what they are added to.
  if (getPacking() && getPacking().getTerms() > 1) {
    tiling.sumsOfElement = 2;
    tiling.productsUnderWay = 0;
  }
  if (tiling.threads != 0)
    tiling.threads += tiling.producerWarps * kWarpThreads;
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
  // (C5).
  if (countProducers() == 0 && getTiling().groupM != 1)
    return emitError() << "expected producers for 'group_m', but got none";
  return success();
}

LogicalResult WgmmaSpScheduleAttr::verify(EmitError emitError,
                                          ArrayRef<int64_t> block,
                                          ArrayRef<int64_t> warpgroup,
                                          std::optional<int64_t> stages,
                                          std::optional<int64_t> splitK,
                                          std::optional<int64_t> clusterK) {
  // (C1), (C2), (C3).
  return failure(
      failed(verifyWarpgroups(emitError, block, warpgroup, stages, splitK)) ||
      failed(verifyPart(emitError, "warpgroup", block, warpgroup,
                        {kWgmmaStep, kWgmmaStep})) ||
      failed(verifySteps(emitError, block)) ||
      failed(verifyCluster(emitError, splitK, clusterK)));
}

BlockTiling WgmmaSpScheduleAttr::getTiling() const {
  BlockTiling tiling = getWarpgroupTiling(*this);
  tiling.clusterK = getClusterK().value_or(1);
  tiling.splitK = getSplitK().value_or(tiling.clusterK);
  return tiling;
}

PackedFormAttrInterface
WgmmaSpScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return SparseOperandAttr::get(getContext(), SparseOrder::Wgmma, /*bits=*/0);
}

//===----------------------------------------------------------------------===//
// Cublas
//===----------------------------------------------------------------------===//

LogicalResult CublasScheduleAttr::verify(EmitError emitError,
                                         ScheduleAttrInterface own,
                                         PackingAttr packing) {
  // (C1).
  if (own && !isa<LoopsScheduleAttr>(own) &&
      (!own.isForGPU() || isa<CublasScheduleAttr>(own)))
    return emitError() << "expected 'own' to be a schedule of a GPU's kernels, "
                          "but got "
                       << own;
  // (C2).
  if (!packing)
    return success();
  if (packing.getChunkColumns() != 1 || packing.getColInfo() != 0 ||
      packing.getChunkRows() != packing.getIndexRows())
    return emitError() << "expected 'packing' to have chunks of one column, "
                          "as high as an index row, but got "
                       << packing;
  if (own && !isa<LoopsScheduleAttr>(own))
    return emitError() << "expected 'own' to be #nm.loops beside 'packing', "
                          "but got "
                       << own;
  return success();
}

PackedFormAttrInterface
CublasScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}
