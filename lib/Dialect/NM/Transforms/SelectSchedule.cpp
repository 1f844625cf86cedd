//===- SelectSchedule.cpp - How each product is mapped to the chip --------===//

#include "TileUnitChecks.h"

#include "nm/Dialect/NM/Transforms/Phases.h"

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Dialect/NM/Transforms/UnstructuredWeights.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Dialect/NM/Transforms/CpuFeatures.h"
#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/Schedule/CpuSchedule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTSCHEDULE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::CpuProduct;
using ::nm::CpuSchedule;
using ::nm::CpuTarget;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of one batch entry; ops with a batch are tiled to those.
/// `isOfAnyM` says that it is scheduled as if m were not known.
static CpuProduct getProduct(SparseProductOpInterface op,
                             bool isOfAnyM = false) {
  CpuProduct product;
  product.pattern = op.getPattern();
  product.type = *mlir::nm::getElementType(op.getAType().getElementType());
  int64_t m = op.getStaticM();
  product.m = ShapedType::isDynamic(m) || isOfAnyM ? CpuProduct::kUnknown : m;
  product.n = op.getStaticN();
  product.k = op.getStaticK();
  auto spmm = dyn_cast<SpMMOp>(op.getOperation());
  product.isMMajor = spmm && spmm.getTransposeA();
  product.isImage = findPatches(op).has_value();
  return product;
}

/// Why the cost model has nothing to say about `op`, if so.
static std::optional<StringRef> whyUnknown(SparseProductOpInterface op) {
  int64_t k = op.getStaticK(), n = op.getStaticN();
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(n))
    return "k or n is dynamic";
  if (k == 0 || n == 0 || op.getStaticM() == 0)
    return "the product is empty";
  if (op.getRowsOfPanels() != 0)
    return "A is in panels";
  return std::nullopt;
}

/// Whether packing pays: at each call it would cost more than it gains.
static bool canPack(SparseProductOpInterface op) {
  return op.hasPureTensorSemantics() && areWeightsLoaded(op);
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {
/// Gives products their schedules, by the options of nm-select-schedule.
class ScheduleSelection {
public:
  ScheduleSelection(MLIRContext *context,
                    const NMSelectScheduleOptions &options)
      : context(context), options(options) {}

  /// Reads the options. Errors are at `where`.
  LogicalResult readOptions(Operation *where);
  LogicalResult run(SparseProductOpInterface op);

private:
  LogicalResult checkOp(SparseProductOpInterface op);
  LogicalResult takeGiven(SparseProductOpInterface op);
  LogicalResult checkThreadTile(SparseProductOpInterface op,
                                const BlockTiling &tile);
  LogicalResult select(SparseProductOpInterface op);
  /// Makes a product of unstructured weights a product of columns or a dense
  /// one.
  LogicalResult selectUnstructured(SparseProductOpInterface op);
  /// Selects by what is given, which a table may have said, or by the model.
  LogicalResult selectBy(SparseProductOpInterface op,
                         const MeasuredSchedule *measured);
  LogicalResult selectMeasured(SparseProductOpInterface op,
                               const MeasuredSchedule &found);
  /// The measured schedule that the tables have for `op`, if the cost model
  /// agrees to it.
  std::optional<MeasuredSchedule> findMeasured(SparseProductOpInterface op);
  void selectLoops(SparseProductOpInterface op, ScheduleSource source,
                   StringRef reason);
  /// Keeps `record`, and that subnormal numbers are zero where they are.
  void keepRecord(SparseProductOpInterface op, ProductRecord record);
  /// A record with the fields that the record of every product has.
  ProductRecord makeRecord(SparseProductOpInterface op, ScheduleSource source,
                           StringRef reason);
  /// Adds the time of a dense BLAS, and that of `op` where its schedule is the
  /// one that `chosen` is the estimate of.
  void addEstimates(SparseProductOpInterface op, const CpuSchedule &chosen,
                    ProductRecord &record);
  /// Falls back to dense weights where they are estimated to be faster, and
  /// gives the reason for what was done.
  std::string chooseDense(SparseProductOpInterface op, bool packs,
                          CpuSchedule &chosen);
  /// Has tasks take whole rows of images, whose patches they make.
  void takePatches(SparseProductOpInterface op, CpuSchedule &chosen);
  /// Has tasks read rows of pixels of the image.
  void takeImageTasks(SparseProductOpInterface op,
                      const ::nm::PatchRows &patches, CpuSchedule &chosen);
  /// The cost model's choice, within the strategy that the option says.
  CpuSchedule choose(const CpuProduct &product, bool packs) const;
  ScheduleAttrInterface makeSchedule(const CpuSchedule &chosen,
                                     PackingAttr packing,
                                     const ::nm::GivenFields &given = {});

  MLIRContext *context;
  const NMSelectScheduleOptions &options;
  SmallVector<std::string> tables;
  DeviceQuery device;
  CpuTarget cpu;
  /// What the option `schedule` says; null where it is empty.
  ScheduleAttrInterface given;
};
} // namespace

LogicalResult ScheduleSelection::readOptions(Operation *where) {
  auto emitError = [&] { return where->emitError(); };
  if (!options.schedule.empty()) {
    FailureOr<ScheduleAttrInterface> parsed =
        parseSchedule(options.schedule, context, emitError);
    if (failed(parsed))
      return failure();
    given = *parsed;
  }
  if (given && !given.isForCPU())
    return emitError() << "expected a schedule of strategy vector, amx or "
                          "loops on the cpu, but got "
                       << given;
  ::nm::Result<CpuTarget> found =
      getCpuTarget(options.features, options.threads);
  if (!found)
    return emitError() << found.error().message;
  cpu = *found;
  // Tiles multiply the zeros that are put between weights.
  cpu.expands &= options.denseFallback;
  // Vectors along n, each row by itself, whatever their number.
  if (options.batchInvariant && !given)
    given = *parseSchedule("vector<thread = [1, 64]>", context, emitError);
  tables.assign(options.scheduleTables.begin(), options.scheduleTables.end());
  device.name = options.device;
  device.chip = "cpu";
  device.units = cpu.threads;
  return tables.empty() ? success() : loadScheduleTables(where, tables, device);
}

LogicalResult ScheduleSelection::checkOp(SparseProductOpInterface op) {
  Type type = op.getAType().getElementType();
  if (type.isF32() || type.isF16() || type.isBF16() ||
      type.isSignlessInteger(8))
    return success();
  return op->emitOpError() << "expected operands of element type f32, f16, "
                              "bf16 or i8 on the cpu, but got "
                           << type;
}

/// A tile that does not fit in registers is no schedule that anyone wants.
LogicalResult ScheduleSelection::checkThreadTile(SparseProductOpInterface op,
                                                 const BlockTiling &tile) {
  if (tile.threadM == 0)
    return success();
  int64_t longer = std::max(tile.threadM, tile.threadN);
  int64_t shorter = std::min(tile.threadM, tile.threadN);
  // Divided rather than multiplied, for sizes near 2^63.
  int64_t vectors = longer / cpu.lanes() + (longer % cpu.lanes() != 0);
  if (vectors <= cpu.registers / shorter)
    return success();
  return op->emitOpError() << "expected the schedule's thread tile to fit in "
                           << cpu.registers << " registers of " << cpu.lanes()
                           << " lanes, but got " << tile.threadM << "x"
                           << tile.threadN;
}

ProductRecord ScheduleSelection::makeRecord(SparseProductOpInterface op,
                                            ScheduleSource source,
                                            StringRef reason) {
  ProductRecord record;
  record.source = source;
  record.pattern = op.getPattern();
  record.threads = cpu.threads;
  record.lanes = cpu.lanes();
  record.reason = reason.str();
  return record;
}

void ScheduleSelection::keepRecord(SparseProductOpInterface op,
                                   ProductRecord record) {
  if (multipliesPairs(op, cpu))
    record.reason += "; bf16 is multiplied by pairs, in which subnormal "
                     "numbers are zero";
  setRecord(op, record);
}

void ScheduleSelection::addEstimates(SparseProductOpInterface op,
                                     const CpuSchedule &chosen,
                                     ProductRecord &record) {
  int64_t batches = countBatches(op);
  record.denseEstimate = chosen.denseMicroseconds * batches;
  if (ShapedType::isDynamic(op.getStaticM()))
    record.typicalM = CpuProduct::kTypicalRows;
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  auto packing =
      dyn_cast_if_present<PackingAttr>(schedule.getPackedForm(op.getPattern()));
  if (schedule == makeSchedule(chosen, packing))
    record.estimate = chosen.sparseMicroseconds * batches;
}

/// Checks the schedule that an op came with, and records it.
LogicalResult ScheduleSelection::takeGiven(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!schedule.isForCPU())
    return op->emitOpError()
           << "expected a schedule of strategy vector, amx or loops on the "
              "cpu, but got "
           << schedule.getStrategyName();
  PackedFormAttrInterface packing = op.getPackingAttr(),
                          wanted = schedule.getPackedForm(op.getPattern());
  if (packing && wanted && packing != wanted)
    return op->emitOpError()
           << "expected a schedule with the packing " << packing
           << " that the weights have, but got " << wanted;
  if (failed(checkThreadTile(op, schedule.getTiling())) ||
      failed(checkChunks(op, schedule, cpu)))
    return failure();
  if (schedule.isForTileUnit() &&
      failed(checkTileUnit(op, getProduct(op), cpu, packing || canPack(op))))
    return failure();
  ProductRecord record =
      makeRecord(op, ScheduleSource::Op, "as the schedule it came with says");
  if (!whyUnknown(op))
    addEstimates(op, ::nm::selectCpuSchedule(getProduct(op), cpu), record);
  keepRecord(op, record);
  return success();
}

CpuSchedule ScheduleSelection::choose(const CpuProduct &product,
                                      bool packs) const {
  if (given && given.isForTileUnit()) {
    CpuSchedule tiles = ::nm::selectTileSchedule(product, cpu);
    if (!::nm::checkTiles(product, cpu))
      tiles.sparseMicroseconds = std::numeric_limits<double>::infinity();
    return tiles;
  }
  // Tiles read weights in their own packed form only.
  bool canTile = packs && !given;
  return ::nm::selectCpuSchedule(product, canTile ? cpu : cpu.withoutTiles());
}

/// The schedule that the cost model chose, with the packed form `packing` and
/// what is given in place of what it has.
ScheduleAttrInterface
ScheduleSelection::makeSchedule(const CpuSchedule &chosen, PackingAttr packing,
                                const ::nm::GivenFields &given) {
  ::nm::ScheduleFields fields = chosen;
  if (packing)
    fields.packing = packing.getPacking();
  given.replaceIn(fields);
  if (!packing)
    fields.packing.panel = 0;
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(context)); };
  if (chosen.tiles)
    return getSchedule<AmxScheduleAttr>(emitError, context, fields);
  return getSchedule<VectorScheduleAttr>(emitError, context, fields);
}

std::string ScheduleSelection::chooseDense(SparseProductOpInterface op,
                                           bool packs, CpuSchedule &chosen) {
  CpuProduct product = getProduct(op);
  int64_t margin = chosen.tiles ? ::nm::marginOfOneForm(product, cpu) : 1;
  bool hasZeros = ::nm::expandsTiles(product, cpu);
  product.pattern = getDensePattern(cpu.lanes());
  CpuSchedule dense = choose(product, packs);
  std::string time = describeTime(dense.sparseMicroseconds * countBatches(op));
  if (margin > 1 &&
      double(margin) * dense.sparseMicroseconds >= chosen.sparseMicroseconds)
    return "dense weights would take " + time + ", and more memory" +
           (hasZeros ? "; " + kDenseMeetsNonFinite.str() : "");
  if (dense.sparseMicroseconds >= chosen.sparseMicroseconds)
    return chosen.denseMicroseconds < chosen.sparseMicroseconds
               ? "a dense BLAS would be faster, but the dense product that "
                 "is available, " +
                     time + ", is not"
               : "the product with its zeros skipped is faster";
  // Products of other numbers of rows share the weights with their zeros
  // skipped, beside which dense ones would take twice the memory of those.
  constexpr double kClearly = 0.6, kFew = 0.75;
  bool takesMore = op.getPattern().n <= kFew * op.getPattern().m;
  if (takesMore &&
      dense.sparseMicroseconds >= kClearly * chosen.sparseMicroseconds)
    return "dense weights would take " + time +
           ", which more memory does not pay for";
  if (std::optional<StringRef> obstacle = whyNotDense(op))
    return ("dense would be faster, but " + *obstacle).str();
  makeDense(op, product.pattern);
  std::string reason = "falls back to dense weights, which ";
  reason +=
      std::isinf(chosen.sparseMicroseconds)
          ? "strategy amx can multiply"
          : "are faster: " +
                describeTime(chosen.sparseMicroseconds * countBatches(op)) +
                " with the zeros skipped";
  if (isa<FloatType>(op.getAccumulatorType()))
    reason += "; " + kDenseMeetsNonFinite.str();
  chosen = dense;
  return reason;
}

void ScheduleSelection::takeImageTasks(SparseProductOpInterface op,
                                       const ::nm::PatchRows &patches,
                                       CpuSchedule &chosen) {
  ::nm::ImageProduct product;
  product.patches = patches;
  product.k = op.getStaticK();
  product.n = op.getStaticN();
  bool isColumns = chosen.kept > 0;
  ::nm::Pattern pattern = op.getPattern();
  product.kept =
      isColumns ? double(chosen.kept)
                : double(pattern.condensedRows(product.k)) * double(product.n);
  product.lanes = cpu.lanes();
  product.threads = std::max<int64_t>(1, cpu.threads);
  product.batches = countBatches(op);
  ::nm::ImageTasks tasks = ::nm::chooseImageTasks(product, chosen.blockN);
  chosen.blockM = tasks.blockM;
  chosen.blockN = tasks.blockN;
  if (isColumns) {
    chosen.threadM = tasks.vectors * cpu.lanes();
    chosen.tileRows = ::nm::imageTileRows(tasks.vectors * cpu.vectorBits / 8);
  }
}

void ScheduleSelection::takePatches(SparseProductOpInterface op,
                                    CpuSchedule &chosen) {
  std::optional<Patches> patches = findPatches(op);
  if (!patches || op.getStaticM() <= 0)
    return;
  if (chosen.alongM && !chosen.tiles && canReadImageRows(op))
    return takeImageTasks(op, patches->getRows(), chosen);
  int64_t columns = llvm::divideCeil(op.getStaticN(), chosen.blockN);
  chosen.blockM = ::nm::choosePatchRows(
      patches->getRows(), cpu.lanes(), cpu.threads, columns * countBatches(op));
}

void ScheduleSelection::selectLoops(SparseProductOpInterface op,
                                    ScheduleSource source, StringRef reason) {
  op.setScheduleAttr(LoopsScheduleAttr::get(context));
  ProductRecord record = makeRecord(op, source, reason);
  if (!whyUnknown(op))
    addEstimates(op, ::nm::selectCpuSchedule(getProduct(op), cpu), record);
  keepRecord(op, record);
}

LogicalResult
ScheduleSelection::selectUnstructured(SparseProductOpInterface op) {
  auto source = given ? ScheduleSource::Option : ScheduleSource::Model;
  ProductRecord record = makeRecord(op, source, "");
  CpuProduct product = getProduct(op);
  int64_t kept = countKept(op);
  // Asked before format ops take the place of what was loaded.
  bool packs = canPack(op);
  product.pattern = getDensePattern(cpu.lanes());
  std::optional<StringRef> whyLoops =
      isReference(given) ? "as the schedule option says" : whyUnknown(op);
  if (whyLoops) {
    makeDense(op, product.pattern);
    selectLoops(op, source, *whyLoops);
    return success();
  }
  CpuSchedule dense = choose(product, packs);
  CpuSchedule columns = ::nm::selectColumnsSchedule(product, kept, cpu);
  std::string share =
      llvm::formatv("{0:f1} % of the weights are kept, ",
                    100 * double(kept) / double(product.k * product.n))
          .str();
  bool isFaster =
      packs && columns.sparseMicroseconds < dense.sparseMicroseconds;
  bool takesColumns = (isFaster || !options.denseFallback) &&
                      !(given && given.isForTileUnit()) &&
                      ::nm::ColumnsForm{columns.kept, /*tileRows=*/1}.verify();
  CpuSchedule chosen = takesColumns ? columns : dense;
  makeDense(op, takesColumns ? ::nm::Pattern() : product.pattern);
  if (takesColumns) {
    record.reason = share +
                    (columns.wordRows ? "and vectors expand them; "
                                      : "and zeros are skipped; ") +
                    "dense weights would take " +
                    describeTime(dense.sparseMicroseconds * countBatches(op));
  } else {
    record.fallsBack = true;
    record.reason =
        share + "it falls back to dense weights, which " +
        (packs
             ? "are faster: " +
                   describeTime(columns.sparseMicroseconds * countBatches(op)) +
                   " with the zeros skipped"
             : "are made at each call, as columns would have to be; weights of "
               "an argument with the encoding are packed once, when they are "
               "loaded");
    if (isa<FloatType>(op.getAccumulatorType()))
      record.reason += "; " + kDenseMeetsNonFinite.str();
  }
  if (chosen.tiles && failed(checkTileUnit(op, getProduct(op), cpu, packs)))
    return failure();
  takePatches(op, chosen);
  PackingAttr packing = packs && !takesColumns
                            ? PackingAttr::get(context, chosen.packing)
                            : PackingAttr();
  op.setScheduleAttr(
      makeSchedule(chosen, packing,
                   takesColumns ? ::nm::GivenFields() : getGivenFields(given)));
  addEstimates(op, chosen, record);
  record.estimate = chosen.sparseMicroseconds * countBatches(op);
  keepRecord(op, record);
  return success();
}

std::optional<MeasuredSchedule>
ScheduleSelection::findMeasured(SparseProductOpInterface op) {
  if (given || tables.empty() || !isInTables(op) || !canPack(op) ||
      op.getPackingAttr() || whyUnknown(op))
    return std::nullopt;
  std::optional<MeasuredSchedule> found =
      findMeasuredSchedule(tables, device, getTableProduct(op));
  if (!found || found->isExact)
    return found;
  // The model knows no schedule but its own: of another product's it has the
  // strategy to agree to, and that dense weights do not take their place.
  CpuProduct product = getProduct(op), dense = product;
  dense.pattern = getDensePattern(cpu.lanes());
  CpuSchedule model = choose(product, /*packs=*/true);
  bool isDense = choose(dense, /*packs=*/true).sparseMicroseconds <
                 model.sparseMicroseconds * kModelAgrees;
  StringRef strategy = model.tiles ? "#nm.amx" : "#nm.vector";
  if (isDense || !StringRef(found->entry.schedule).starts_with(strategy))
    return std::nullopt;
  return found;
}

LogicalResult ScheduleSelection::selectMeasured(SparseProductOpInterface op,
                                                const MeasuredSchedule &found) {
  llvm::scope_exit forget([&] { given = {}; });
  std::string reason;
  {
    ScopedDiagnosticHandler keep(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        reason = diagnostic.str();
      return success();
    });
    auto emitError = [&] { return op->emitError(); };
    FailureOr<ScheduleAttrInterface> parsed =
        parseSchedule(found.entry.schedule, context, emitError);
    if (succeeded(parsed)) {
      given = *parsed;
      if (!given.isForCPU())
        reason = "it is of no strategy of a CPU";
      else if (given.isForTileUnit())
        (void)checkTileUnit(op, getProduct(op), cpu, /*packs=*/true);
      else
        (void)checkThreadTile(op, given.getTiling());
    }
  }
  if (reason.empty())
    return selectBy(op, &found);
  given = {};
  if (failed(reportUnfit(op, found, reason)))
    return failure();
  return selectBy(op, nullptr);
}

LogicalResult ScheduleSelection::select(SparseProductOpInterface op) {
  if (op.getPattern().isUnstructured())
    return selectUnstructured(op);
  if (std::optional<MeasuredSchedule> found = findMeasured(op))
    return selectMeasured(op, *found);
  return selectBy(op, nullptr);
}

LogicalResult ScheduleSelection::selectBy(SparseProductOpInterface op,
                                          const MeasuredSchedule *measured) {
  if (std::optional<StringRef> unknown = whyUnknown(op)) {
    selectLoops(op, ScheduleSource::Only, *unknown);
    return success();
  }
  if (isReference(given)) {
    selectLoops(op, ScheduleSource::Option, "as the schedule option says");
    return success();
  }
  auto source = measured ? ScheduleSource::Table
                : given  ? ScheduleSource::Option
                         : ScheduleSource::Model;
  // Of the weights as they come, which dense ones may replace.
  ProductRecord record =
      makeRecord(op, source,
                 measured ? measured->describe("a dense BLAS")
                          : "dense was not considered");
  bool wasDense = isDense(op);
  // Asked before dense weights take the place of what was loaded.
  bool packs = canPack(op) && !op.getPackingAttr();
  CpuSchedule chosen = choose(getProduct(op, options.batchInvariant), packs);
  if (op.getPattern().n == op.getPattern().m && !measured)
    record.reason = "the pattern keeps every weight";
  else if (options.denseFallback && !measured && !options.batchInvariant)
    record.reason = chooseDense(op, packs, chosen);
  record.fallsBack = !wasDense && isDense(op);
  if (chosen.tiles && failed(checkTileUnit(op, getProduct(op), cpu, packs)))
    return failure();
  takePatches(op, chosen);
  PackingAttr packing = op.getPanelPacking();
  if (packs)
    packing = PackingAttr::get(context, chosen.packing);
  ScheduleAttrInterface schedule =
      makeSchedule(chosen, packing, getGivenFields(given));
  if (failed(checkThreadTile(op, schedule.getTiling())) ||
      failed(checkChunks(op, schedule, cpu)))
    return failure();
  if (!schedule.getPackedForm(op.getPattern()))
    record.reason += "; weights stay condensed, for they would be packed at "
                     "each call";
  op.setScheduleAttr(schedule);
  addEstimates(op, chosen, record);
  keepRecord(op, record);
  return success();
}

LogicalResult ScheduleSelection::run(SparseProductOpInterface op) {
  if (op.getScales() && !isReference(given) && !op.getScheduleAttr()) {
    IRRewriter rewriter(context);
    dequantizeWeights(rewriter, op);
  }
  if (failed(checkOp(op)))
    return failure();
  return op.getScheduleAttr() ? takeGiven(op) : select(op);
}

LogicalResult mlir::nm::selectSchedule(SparseProductOpInterface op,
                                       const NMSelectScheduleOptions &options) {
  ScheduleSelection selection(op->getContext(), options);
  return success(succeeded(selection.readOptions(op)) &&
                 succeeded(selection.run(op)));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct NMSelectSchedule
    : mlir::nm::impl::NMSelectScheduleBase<NMSelectSchedule> {
  using NMSelectScheduleBase::NMSelectScheduleBase;

  void runOnOperation() override {
    NMSelectScheduleOptions options;
    options.schedule = schedule;
    options.denseFallback = denseFallback;
    options.threads = threads;
    options.features = features;
    options.scheduleTables.assign(scheduleTables.begin(), scheduleTables.end());
    options.device = device;
    options.batchInvariant = batchInvariant;
    ScheduleSelection selection(&getContext(), options);
    if (failed(selection.readOptions(getOperation())))
      return signalPassFailure();
    SmallVector<SparseProductOpInterface> products;
    getOperation()->walk(
        [&](SparseProductOpInterface op) { products.push_back(op); });
    for (SparseProductOpInterface op : products)
      if (failed(selection.run(op)))
        return signalPassFailure();
  }
};
} // namespace
