//===- NMSchedules.cpp - A schedule for each strategy ---------------------===//

#include "ScheduleChecks.h"
#include "ScheduleSyntax.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Schedule/WarpsByFours.h"
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
  if (packing.getBits() != 0)
    inner.add("bits", std::optional(packing.getBits()));
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
// Vector
//===----------------------------------------------------------------------===//

BlockTiling VectorScheduleAttr::getTiling() const {
  return BlockTiling(getFields(*this));
}

PackedFormAttrInterface
VectorScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  if (getWordRows())
    return BitmapPanelsAttr::get(getContext(), *getKept(), *getWordRows());
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

/// `schedule` with pack = false.
template <typename AttrTy>
static AttrTy clearPack(AttrTy schedule) {
  ::nm::GivenFields fields = getGivenFields(schedule);
  fields.pack = false;
  MLIRContext *context = schedule.getContext();
  return getSchedule<AttrTy>(mlir::detail::getDefaultDiagnosticEmitFn(context),
                             context, fields);
}

ScheduleAttrInterface SimtScheduleAttr::withoutPack() const {
  return clearPack(*this);
}

//===----------------------------------------------------------------------===//
// Gemv
//===----------------------------------------------------------------------===//

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
// GemvColumns
//===----------------------------------------------------------------------===//

BlockTiling GemvColumnsScheduleAttr::getTiling() const {
  BlockTiling tiling(getFields(*this));
  // A block takes all of k at once.
  if (tiling.hasBlock())
    tiling.blockK = ::nm::kMaxSize;
  return tiling;
}

PackedFormAttrInterface
GemvColumnsScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  if (!getSteps())
    return {};
  return EllAttr::get(getContext(), *getSteps(), *getGapBits(),
                      getSliceK().value_or(1));
}

//===----------------------------------------------------------------------===//
// Mma
//===----------------------------------------------------------------------===//

/// Lanes that have neighbouring rows, or pairs of columns, of the sums of an
/// mma.sync; which of the two m is leaves a warp's tile as large.
static constexpr int64_t kLanesOfSums = 4;

BlockTiling MmaScheduleAttr::getTiling() const {
  BlockTiling tiling(getFields(*this));
  tiling.hasSlicesOfWindows = true;
  if (getSource() == SourceKind::MmaGathered) {
    tiling.lanesM = kLanesOfSums;
    return tiling;
  }
  if (getSource() == SourceKind::MmaImage) {
    tiling.lanesM = kLanesOfSums;
    tiling.hasSlicesOfWindows = false;
    // A block takes all of k at once.
    if (tiling.hasBlock())
      tiling.blockK = ::nm::kMaxSize;
    return tiling;
  }
  // Warps have their part of the block's tile, and a slice of its k.
  if (tiling.hasBlock() && tiling.warpM != 0)
    tiling.threads = tiling.blockM / tiling.warpM *
                     (tiling.blockN / tiling.warpN) * tiling.sliceK *
                     ::nm::kWarpSize;
  // Products of warpgroups go on while the next tile's weights are converted.
  if (getSource() == SourceKind::MmaSparse)
    tiling.productsInFlight = ::nm::haveProductsInFlight(tiling);
  return tiling;
}

PackedFormAttrInterface
MmaScheduleAttr::getPackedForm(const ::nm::Pattern &pattern) const {
  if (getSource() == SourceKind::MmaBitmap)
    return BitmapAttr::get(getContext());
  if (getSource() == SourceKind::MmaSparse)
    return SparseOperandAttr::get(getContext(),
                                  hasPairs()
                                      ? ::nm::SparseOperand::Order::WgmmaPairs
                                      : ::nm::SparseOperand::Order::Mma,
                                  getBits().value_or(0), /*splits=*/1);
  PackingAttr form = getFormWithLists(*this, pattern);
  if (!form || !getBits())
    return form;
  ::nm::PanelPacking packing = form.getPacking();
  packing.bits = *getBits();
  return PackingAttr::get(getContext(), packing);
}

LogicalResult MmaScheduleAttr::verifyPattern(EmitError emitError,
                                             const ::nm::Pattern &) const {
  return verifyPack(emitError, *this);
}

ScheduleAttrInterface MmaScheduleAttr::withoutPack() const {
  return clearPack(*this);
}

//===----------------------------------------------------------------------===//
// Cublas
//===----------------------------------------------------------------------===//

LogicalResult CublasScheduleAttr::verify(EmitError emitError,
                                         ScheduleAttrInterface own,
                                         PackingAttr packing,
                                         std::optional<int64_t> padA) {
  // (C1).
  if (own && !own.isReference() && (!own.isForGPU() || own.isLibraryCall()))
    return emitError() << "expected 'own' to be a schedule of a GPU's kernels, "
                          "but got "
                       << own;
  // (C3).
  if (padA && failed(verifyCount(emitError, "pad_a", *padA, 0, 64, 8)))
    return failure();
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

BlockTiling CublasScheduleAttr::getTiling() const {
  BlockTiling tiling;
  tiling.padA = getPadA().value_or(0);
  return tiling;
}

PackedFormAttrInterface
CublasScheduleAttr::getPackedForm(const ::nm::Pattern &) const {
  return getPacking();
}
