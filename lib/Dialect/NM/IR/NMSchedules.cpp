//===- NMSchedules.cpp - A schedule for each strategy ---------------------===//

#include "Quantization.h"
#include "ScheduleChecks.h"
#include "ScheduleSyntax.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Format/Bitmap.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Support/Warp.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// The parameters that had other names in version 0.1. These names go with the
/// next version.
static constexpr std::pair<StringLiteral, StringLiteral> kFormerNames[] = {
    {"c_slots", "store_buffers"}, {"in_turn", "ordered"},
    {"residuals", "compensated"}, {"terms", "splits"},
    {"totals", "promote"},
};

static StringRef findNewName(StringRef name) {
  for (auto [former, now] : kFormerNames)
    if (name == former)
      return now;
  return {};
}

/// `text` with former names of parameters replaced, each of which `warn` is
/// told.
static std::string
replaceFormerNames(StringRef text,
                   function_ref<void(StringRef former, StringRef now)> warn) {
  auto isNameChar = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::string result;
  while (!text.empty()) {
    StringRef name = text.take_while(isNameChar);
    StringRef now = findNewName(name);
    if (!now.empty())
      warn(name, now);
    result += now.empty() ? name.str() : now.str();
    text = text.drop_front(name.size());
    StringRef between = text.take_until(isNameChar);
    result += between.str();
    text = text.drop_front(between.size());
  }
  return result;
}

/// Where `emitError` reports.
static Location getLocation(function_ref<InFlightDiagnostic()> emitError) {
  InFlightDiagnostic diagnostic = emitError();
  Location location = diagnostic.getUnderlyingDiagnostic()->getLocation();
  diagnostic.abandon();
  return location;
}

FailureOr<ScheduleAttrInterface>
mlir::nm::parseSchedule(StringRef text, MLIRContext *context,
                        function_ref<InFlightDiagnostic()> emitError) {
  StringRef trimmed = text.trim();
  std::string whole = replaceFormerNames(
      (trimmed.starts_with("#") ? "" : "#nm.") + trimmed.str(),
      [&](StringRef former, StringRef now) {
        emitWarning(getLocation(emitError))
            << "'" << former << "' is now '" << now
            << "'; the next version takes the new name alone";
      });
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
  if (packing.getSplits() != 1)
    inner.add("splits", std::optional(packing.getSplits()));
  if (packing.getLaneWords() != 1)
    inner.add("lane_words", std::optional(packing.getLaneWords()));
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

/// Lists of rows follow from `pack`, and only strategy simt reads them.
static LogicalResult verifyNoLists(EmitError emitError, PackingAttr packing) {
  if (!packing || packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing without col_info, which follows "
                        "from 'pack = true', but got "
                     << packing;
}

/// (C3) of the schedules whose weights are packed as #nm.columns.
static LogicalResult verifyColumns(EmitError emitError,
                                   std::optional<int64_t> kept,
                                   std::optional<int64_t> tileRows) {
  if (kept.has_value() != tileRows.has_value())
    return emitError() << "expected 'kept' and 'tile_rows' together";
  if (!kept)
    return success();
  ::nm::Status status = ::nm::ColumnsForm{*kept, *tileRows}.verify();
  return status ? success() : emitError() << status.error().message;
}

//===----------------------------------------------------------------------===//
// Vector
//===----------------------------------------------------------------------===//

LogicalResult VectorScheduleAttr::verify(EmitError emitError,
                                         ArrayRef<int64_t> block,
                                         ArrayRef<int64_t> thread,
                                         PackingAttr packing,
                                         std::optional<int64_t> kept,
                                         std::optional<int64_t> tileRows) {
  // (C1), (C2).
  if (failed(verifyTiles(emitError, block, /*warp=*/{}, thread)) ||
      failed(verifyNoLists(emitError, packing)))
    return failure();
  // (C3).
  if (kept.has_value() != tileRows.has_value() || (kept && packing))
    return emitError() << "expected 'kept' and 'tile_rows' together, without "
                          "'packing'";
  return verifyColumns(emitError, kept, tileRows);
}

BlockTiling VectorScheduleAttr::getTiling() const {
  return BlockTiling(getFields(*this));
}

PackedFormAttrInterface
VectorScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  if (getKept())
    return ColumnsAttr::get(getContext(), *getKept(), *getTileRows());
  return getPacking();
}

/// A CPU's code is made for the packing that it finds.
bool VectorScheduleAttr::canRead(const ::nm::Pattern &pattern,
                                 PackedFormAttrInterface packedForm) const {
  if (getKept())
    return packedForm == getPackedForm(pattern);
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
    std::optional<CopyKind> copyA, std::optional<TileOrder>,
    std::optional<bool>, std::optional<bool>, std::optional<bool>,
    std::optional<bool>, std::optional<bool>, std::optional<int64_t> padA,
    PackingAttr packing) {
  // (C1), (C2), (C5).
  if (failed(verifyTiles(emitError, block, warp, thread)) ||
      failed(verifyPadding(emitError, padA)) ||
      failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
      failed(verifyCount(emitError, "group_m", groupM, kMaxParts)))
    return failure();
  // (C3).
  if (failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  // (C4).
  if (copyA == CopyKind::Bulk || copyA == CopyKind::Tensor)
    return emitError() << "expected copy_a to be direct, matrices, elements or "
                          "squares, but got "
                       << stringifyCopyKind(*copyA);
  return verifyNoLists(emitError, packing);
}

BlockTiling SimtScheduleAttr::getTiling() const {
  return BlockTiling(getFields(*this));
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
             getPromote(), getLateLoads(), getPadA(), getPacking());
}

//===----------------------------------------------------------------------===//
// Gemv
//===----------------------------------------------------------------------===//

/// (C3).
static LogicalResult verifyEarlyBytes(EmitError emitError,
                                      ArrayRef<int64_t> block,
                                      std::optional<int64_t> bytes) {
  constexpr int64_t kLine = 128, kMost = 1 << 16;
  if (!bytes || *bytes == 0)
    return success();
  if (*bytes < 0 || *bytes > kMost || *bytes % kLine != 0)
    return emitError() << "expected 'early_bytes' to be a multiple of " << kLine
                       << " in 0.." << kMost << ", but got " << *bytes;
  if (!block.empty() && block.front() != 1)
    return emitError() << "expected a block of one row for 'early_bytes', but "
                          "got "
                       << block.front();
  return success();
}

LogicalResult GemvScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    ArrayRef<int64_t> thread, std::optional<int64_t> stages,
    std::optional<int64_t> splitK, std::optional<int64_t> sliceK,
    std::optional<int64_t> earlyBytes, std::optional<int64_t> padA,
    PackingAttr packing) {
  return failure(failed(verifyEarlyBytes(emitError, block, earlyBytes)) ||
                 failed(verifyPadding(emitError, padA)) ||
                 failed(verifyTiles(emitError, block, warp, thread)) ||
                 failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
                 failed(verifyNoLists(emitError, packing)));
}

BlockTiling GemvScheduleAttr::getTiling() const {
  BlockTiling tiling(getFields(*this));
  // A panel that no multiple of a warp's columns fills leaves lanes idle.
  tiling.leavesLanes = true;
  return tiling;
}

PackedFormAttrInterface
GemvScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}

//===----------------------------------------------------------------------===//
// SimtColumns
//===----------------------------------------------------------------------===//

LogicalResult SimtColumnsScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    ArrayRef<int64_t> thread, std::optional<int64_t> sliceK,
    std::optional<int64_t> kept, std::optional<int64_t> tileRows) {
  // (C1), (C2), (C3).
  if (failed(verifyTiles(emitError, block, warp, thread)) ||
      failed(verifyCounts(emitError, /*stages=*/{}, /*splitK=*/{}, sliceK)) ||
      failed(verifyColumns(emitError, kept, tileRows)))
    return failure();
  // (C4).
  constexpr int64_t kMostColumns = 64;
  bool isWarp = warp.empty() || (llvm::is_contained({32, 64, 128}, warp[0]) &&
                                 warp[1] <= (kept ? 1 : kMostColumns));
  bool fits = warp.empty() || thread.empty() ||
              (warp[0] == thread[0] * ::nm::kWarpSize && warp[1] == thread[1]);
  if (isWarp && fits)
    return success();
  return emitError() << "expected warps of 32, 64 or 128 rows, of 32 threads "
                        "each, and of one column with 'kept', else at most "
                     << kMostColumns;
}

BlockTiling SimtColumnsScheduleAttr::getTiling() const {
  BlockTiling tiling(getFields(*this));
  // A block takes all of k at once.
  if (tiling.hasBlock())
    tiling.blockK = ::nm::kMaxSize;
  return tiling;
}

PackedFormAttrInterface
SimtColumnsScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  if (!getKept())
    return {};
  return ColumnsAttr::get(getContext(), *getKept(), *getTileRows());
}

//===----------------------------------------------------------------------===//
// MmaSync
//===----------------------------------------------------------------------===//

/// (C5): a lane has registers for as many promoted sums as it has sums.
static LogicalResult verifyMmaPromotion(EmitError emitError,
                                        ArrayRef<int64_t> warp,
                                        std::optional<bool> promote) {
  if (!promote.value_or(false) || warp.empty() ||
      ::nm::hasMmaPromotion(warp[0] * warp[1] / ::nm::kWarpSize))
    return success();
  return emitError() << "expected a warp's tile of few enough sums for "
                        "'promote', but got "
                     << warp[0] << " x " << warp[1];
}

LogicalResult MmaSyncScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> sliceK,
    std::optional<bool> pack, std::optional<bool> promote, std::optional<bool>,
    std::optional<int64_t> padA, PackingAttr packing) {
  return failure(failed(verifyTiles(emitError, block, warp, /*thread=*/{})) ||
                 failed(verifyPadding(emitError, padA)) ||
                 failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
                 failed(verifyCluster(emitError, splitK, clusterK)) ||
                 failed(verifyMmaPromotion(emitError, warp, promote)) ||
                 failed(verifyNoLists(emitError, packing)));
}

/// Lanes that have neighbouring rows, or pairs of columns, of the sums of an
/// mma.sync; which of the two m is leaves a warp's tile as large.
static constexpr int64_t kLanesOfSums = 4;

BlockTiling MmaSyncScheduleAttr::getTiling() const {
  BlockTiling tiling(getFields(*this));
  tiling.lanesM = kLanesOfSums;
  tiling.hasSlicesOfWindows = true;
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
             getClusterK(), getSliceK(), /*pack=*/false, getPromote(),
             getLateLoads(), getPadA(), getPacking());
}

//===----------------------------------------------------------------------===//
// Sparse operands
//===----------------------------------------------------------------------===//

LogicalResult MmaSpScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> sliceK,
    std::optional<int64_t> bits, std::optional<bool> pairs,
    std::optional<bool> promote, std::optional<bool>,
    std::optional<int64_t> padA) {
  // (C5).
  if (pairs.value_or(false) && bits)
    return emitError() << "expected no bits for 'pairs', but got " << *bits;
  if (pairs.value_or(false) && !block.empty() &&
      block[1] % ::nm::kWarpgroupM != 0)
    return emitError() << "expected n of the block to be a multiple of "
                       << ::nm::kWarpgroupM << " for 'pairs', but got "
                       << block[1];
  // (C1), (C2), (C3), (C4), (C6).
  if (failed(verifyTiles(emitError, block, warp, /*thread=*/{})) ||
      failed(verifyPart(emitError, "warp", block, warp, {8, 16})) ||
      (bits && failed(verifyQuantizedBits(emitError, *bits))) ||
      failed(verifyMmaPromotion(emitError, warp, promote)) ||
      failed(verifyPadding(emitError, padA)) ||
      failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
      failed(verifyCluster(emitError, splitK, clusterK)))
    return failure();
  return verifySteps(emitError, block);
}

/// Warps have their part of the block's tile, and a slice of its k.
template <typename AttrTy>
static BlockTiling getTilingOfWarps(AttrTy schedule) {
  BlockTiling tiling(getFields(schedule));
  tiling.hasSlicesOfWindows = true;
  if (tiling.hasBlock() && tiling.warpM != 0)
    tiling.threads = tiling.blockM / tiling.warpM *
                     (tiling.blockN / tiling.warpN) * tiling.sliceK *
                     ::nm::kWarpSize;
  return tiling;
}

BlockTiling MmaSpScheduleAttr::getTiling() const {
  return getTilingOfWarps(*this);
}

//===----------------------------------------------------------------------===//
// Bitmaps
//===----------------------------------------------------------------------===//

LogicalResult MmaBitmapScheduleAttr::verify(
    EmitError emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> warp,
    std::optional<int64_t> stages, std::optional<int64_t> splitK,
    std::optional<int64_t> clusterK, std::optional<int64_t> sliceK,
    std::optional<bool> promote, std::optional<bool>,
    std::optional<int64_t> padA) {
  // (C1), (C2), (C3), (C4).
  return failure(
      failed(verifyMmaPromotion(emitError, warp, promote)) ||
      failed(verifyPadding(emitError, padA)) ||
      failed(verifyTiles(emitError, block, warp, /*thread=*/{})) ||
      failed(verifyPart(emitError, "warp", block, warp, {8, 16})) ||
      failed(verifyCounts(emitError, stages, splitK, sliceK)) ||
      failed(verifyCluster(emitError, splitK, clusterK)) ||
      failed(verifySteps(emitError, block, ::nm::BitmapForm::kStepRows)));
}

BlockTiling MmaBitmapScheduleAttr::getTiling() const {
  return getTilingOfWarps(*this);
}

PackedFormAttrInterface
MmaBitmapScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return BitmapAttr::get(getContext());
}

//===----------------------------------------------------------------------===//
// Cublas
//===----------------------------------------------------------------------===//

LogicalResult CublasScheduleAttr::verify(EmitError emitError,
                                         ScheduleAttrInterface own,
                                         PackingAttr packing) {
  // (C1).
  if (own && !own.isReference() && (!own.isForGPU() || own.isLibraryCall()))
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
  if (own && !own.isReference())
    return emitError() << "expected 'own' to be #nm.loops beside 'packing', "
                          "but got "
                       << own;
  return success();
}

PackedFormAttrInterface
CublasScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}
