//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/GPU/Phases.h"

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/ExactPattern.h"
#include "GPU/Select/SplitK.h"
#include "GPU/Strategies/Warpgroup/SplitFloatsOfC.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/Dialect/NM/Transforms/UnstructuredWeights.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTGPUSCHEDULE
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::GpuProduct;

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {
/// Gives products their schedules, by the options of nm-select-gpu-schedule.
class GpuScheduleSelection {
public:
  GpuScheduleSelection(RewriterBase &rewriter,
                       const NMSelectGpuScheduleOptions &options)
      : rewriter(rewriter), context(rewriter.getContext()), options(options) {}

  /// Parses the option `schedule`. Errors are at `where`.
  LogicalResult readOptions(Operation *where);
  LogicalResult run(SparseProductOpInterface op, const GpuChip &gpu);

private:
  ScheduleSource getSource() const {
    return given ? ScheduleSource::Option : ScheduleSource::Model;
  }
  /// Checks the schedule that an op came with, and records it.
  LogicalResult takeGiven(SparseProductOpInterface op, const GpuChip &gpu);
  LogicalResult checkCluster(SparseProductOpInterface op, const GpuChip &gpu);
  LogicalResult select(SparseProductOpInterface op, const GpuChip &gpu);
  /// Reports the schedule that a table has for `op`, where `op` cannot have it.
  LogicalResult checkMeasured(SparseProductOpInterface op, const GpuChip &gpu,
                              const Alternative &own);
  /// Where none of `list` is possible.
  LogicalResult refuse(SparseProductOpInterface op, const GpuChip &gpu,
                       ArrayRef<Alternative> list);
  /// Makes `op` the `best` alternative.
  LogicalResult take(SparseProductOpInterface op, const GpuChip &gpu,
                     const Alternative &best, ProductRecord record);
  /// Makes `op` cuDNN's convolution, which `best` of `list` is, and the best
  /// other alternative.
  LogicalResult takeConvolution(SparseProductOpInterface op,
                                const AlternativesQuery &query,
                                ArrayRef<Alternative> list,
                                const Alternative &best, ProductRecord record);
  void selectLoops(SparseProductOpInterface op, const GpuChip &gpu,
                   const Twine &reason);
  /// Says where k is not cut into as many parts as the option asks for.
  void warnOfParts(SparseProductOpInterface op);
  /// Sets the schedule, and completes `record`.
  LogicalResult setSchedule(SparseProductOpInterface op, const GpuChip &gpu,
                            const ScheduleChoice &chosen, ProductRecord record);
  /// cuBLAS' schedule of `op`, whose weights are dense, `inColumns` packed with
  /// the k of each column side by side.
  ScheduleAttrInterface makeLibrarySchedule(SparseProductOpInterface op,
                                            const GpuChip &gpu, bool inColumns);

  RewriterBase &rewriter;
  MLIRContext *context;
  const NMSelectGpuScheduleOptions &options;
  /// What the option `schedule` says.
  ScheduleAttrInterface given;
};
} // namespace

LogicalResult GpuScheduleSelection::readOptions(Operation *where) {
  if (options.schedule.empty())
    return success();
  auto emitError = [&] { return where->emitError(); };
  FailureOr<ScheduleAttrInterface> parsed =
      parseSchedule(options.schedule, context, emitError);
  if (failed(parsed))
    return failure();
  given = *parsed;
  if (findGpuStrategy(given) || isLibraryCall(given) || isReference(given))
    return success();
  return emitError() << "expected a schedule of a GPU strategy, but got "
                     << given;
}

/// Where the schedule of `op` takes splits of A, blocks of `before` store them.
static LogicalResult setSplitC(SparseProductOpInterface op,
                               SparseProductOpInterface before) {
  ScheduleAttrInterface own = op.getScheduleAttr(),
                        schedule = before.getScheduleAttr();
  PackedFormAttrInterface form =
      own ? own.getPackedForm(op.getPattern()) : PackedFormAttrInterface();
  if (!form || form.countSplits() == 1 || schedule.getTiling().splitC)
    return success();
  ::nm::ScheduleFields fields = getFields(schedule);
  fields.splitC = true;
  before.setScheduleAttr(findGpuStrategy(schedule)->make(before, fields));
  return success(before.getScheduleAttr() != nullptr);
}

LogicalResult GpuScheduleSelection::run(SparseProductOpInterface op,
                                        const GpuChip &gpu) {
  SparseProductOpInterface before = findSplitterOfA(op);
  if (failed(op.getScheduleAttr() ? takeGiven(op, gpu) : select(op, gpu)))
    return failure();
  // A product of f32 stays the same op.
  return before ? setSplitC(op, before) : success();
}

LogicalResult GpuScheduleSelection::checkCluster(SparseProductOpInterface op,
                                                 const GpuChip &gpu) {
  int64_t blocks = op.getScheduleAttr().getTiling().clusterK;
  if (blocks == 1 || gpu.hasClusters())
    return success();
  return op->emitOpError() << "expected a chip with thread block clusters, "
                              "sm_90 or later, for cluster_k = "
                           << blocks << ", but got " << gpu.name;
}

/// Gives a product whose strategy reads images the image that its A is made of,
/// if it is.
static void takeImageForSchedule(RewriterBase &rewriter,
                                 SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  const GpuStrategy *strategy = findGpuStrategy(schedule);
  if (!strategy)
    return;
  if (strategy->copiesPixels(schedule) && findPixels(op))
    return takeCopiedImage(rewriter, op);
  if (!strategy->readsImages())
    return;
  std::optional<ReadableImage> image = findReadableImage(op);
  if (image && (strategy->readsChannelsLast() || !image->hasChannelsLast))
    takeImage(rewriter, op);
}

/// What every record of a product on `gpu` says.
static ProductRecord makeRecord(SparseProductOpInterface op, const GpuChip &gpu,
                                ScheduleSource source, const Twine &reason) {
  ProductRecord record;
  record.source = source;
  record.pattern = op.getPattern();
  record.chip = gpu.name;
  record.reason = reason.str();
  return record;
}

/// Adds cuBLAS' time of the product, where it is known.
static void addDenseEstimate(SparseProductOpInterface op, const GpuChip &gpu,
                             ProductRecord &record) {
  if (whyUnknown(op))
    return;
  double dense =
      estimateLibrary(op, getGpuProduct(op), gpu, ActivationForm::AsIs);
  if (dense < 0)
    return;
  // The dense estimate of operands before they are widened stays.
  if (!record.denseEstimate)
    record.denseEstimate = dense;
  if (ShapedType::isDynamic(op.getStaticM()))
    record.typicalM = GpuProduct::kTypicalRows;
}

LogicalResult GpuScheduleSelection::takeGiven(SparseProductOpInterface op,
                                              const GpuChip &gpu) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!schedule.isForGPU() && !isReference(schedule))
    return op->emitOpError()
           << "expected a schedule of a GPU strategy, but got "
           << schedule.getStrategyName();
  if (failed(checkCluster(op, gpu)) ||
      (options.exactPattern && failed(checkExactPattern(op, schedule))))
    return failure();
  const GpuStrategy *strategy = findGpuStrategy(schedule);
  if (strategy && !whyUnknown(op)) {
    schedule = strategy->completeGiven({op, getGpuProduct(op), gpu, schedule});
    if (!schedule)
      return failure();
    op.setScheduleAttr(schedule);
  }
  ProductRecord record = makeRecord(op, gpu, ScheduleSource::Op,
                                    "as the schedule it came with says");
  addDenseEstimate(op, gpu, record);
  setRecord(op, record);
  takeImageForSchedule(rewriter, op);
  return success();
}

/// The way that is right for every product and fast for none.
void GpuScheduleSelection::selectLoops(SparseProductOpInterface op,
                                       const GpuChip &gpu,
                                       const Twine &reason) {
  op.setScheduleAttr(LoopsScheduleAttr::get(op->getContext()));
  auto source = given ? ScheduleSource::Option : ScheduleSource::Only;
  ProductRecord record = makeRecord(op, gpu, source, reason);
  addDenseEstimate(op, gpu, record);
  setRecord(op, record, DiagnosticSeverity::Warning);
}

/// Our own product with dense weights, which takes cuBLAS' place where that
/// cannot be loaded, in f32 for narrower floats: of strategy simt, unless
/// another is given, and by loops where that has no such product. Null where
/// what is given cannot be.
static ScheduleAttrInterface chooseOwn(SparseProductOpInterface op,
                                       GpuProduct product, const GpuChip &gpu,
                                       ScheduleAttrInterface given) {
  auto loops = LoopsScheduleAttr::get(op->getContext());
  if (isReference(given) || needsColumns(op))
    return loops;
  product.pattern = getDensePattern(kDenseColumns);
  if (isFloat(product.type)) {
    // A temporary in f32 has rows as they come, which nothing pads.
    if (product.type != ::nm::ElementType::F32)
      product.strideOfA = 0;
    product.type = product.outputType = ::nm::ElementType::F32;
  }
  const GpuStrategy &strategy =
      given ? *findGpuStrategy(given) : getSimtStrategy();
  ::nm::Result<ScheduleChoice> own =
      strategy.choose({op, product, gpu, given, /*packs=*/false});
  return own ? own->schedule : loops;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

LogicalResult GpuScheduleSelection::select(SparseProductOpInterface op,
                                           const GpuChip &gpu) {
  if (isReference(given)) {
    selectLoops(op, gpu, "as the schedule option says");
    return success();
  }
  if (std::optional<std::string> reason = whyUnknown(op)) {
    if (given)
      return op->emitOpError() << *reason;
    selectLoops(op, gpu, *reason);
    return success();
  }
  if (given && options.exactPattern && failed(checkExactPattern(op, given)))
    return failure();
  SelectionOptions selection{given, options.denseFallback,
                             options.exactPattern};
  AlternativesQuery query{op, gpu, selection};
  AlternativeList list = listAlternatives(query);
  const Alternative *best = findBest(list, selection);
  if (!best)
    return refuse(op, gpu, list);
  if (failed(checkMeasured(op, gpu, list.front())))
    return failure();
  ProductRecord record =
      makeRecord(op, gpu, getSource(), explainChoice(query, list, *best));
  record.alternatives = recordAlternatives(query, list, best);
  if (const auto &own = list.front().choice; own && !own->measured.empty()) {
    record.source = ScheduleSource::Table;
    record.reason += "; " + own->measured;
  }
  // Before weights and operands change.
  addDenseEstimate(op, gpu, record);
  if (best->isConvolution())
    return takeConvolution(op, query, list, *best, std::move(record));
  return take(op, gpu, *best, std::move(record));
}

LogicalResult GpuScheduleSelection::takeConvolution(
    SparseProductOpInterface op, const AlternativesQuery &query,
    ArrayRef<Alternative> list, const Alternative &best, ProductRecord record) {
  AlternativeList others = withoutConvolution(list);
  const Alternative *other = findBest(others, query.options);
  std::string place =
      "in place of cuDNN, where that cannot be loaded or "
      "refuses: " +
      (other ? explainChoice(query, others, *other) : explainRefusal(others));
  bool wasDense = isDense(op);
  auto convolution =
      cast<SparseProductOpInterface>(*branchOnConvolution(rewriter, op));
  if (!wasDense && ::nm::isFloat(best.product.type))
    record.reason += "; " + kDenseMeetsNonFinite.str();
  record.fallsBack = !wasDense;
  if (best.choice->isByModel)
    record.estimate = best.total();
  convolution.setScheduleAttr(CublasScheduleAttr::get(
      context, /*own=*/{}, getColumnPacking(convolution),
      /*padA=*/std::nullopt));
  setRecord(convolution, record);
  if (!other)
    selectLoops(op, query.chip, place);
  else if (failed(take(op, query.chip, *other,
                       makeRecord(op, query.chip, getSource(), place))))
    return failure();
  sinkOperands(op);
  return success();
}

/// Says what is wrong with the schedule that a table has for `op`, if it is: an
/// error where it is demanded.
LogicalResult GpuScheduleSelection::checkMeasured(SparseProductOpInterface op,
                                                  const GpuChip &gpu,
                                                  const Alternative &own) {
  auto module = op->getParentOfType<ModuleOp>();
  if (given || !module || !module->hasAttr(kScheduleTablesAttr))
    return success();
  ::nm::Result<ScheduleChoice> again =
      chooseGpuSchedule({op, own.product, gpu, given, own.packs});
  return success(!again || again->schedule);
}

/// Makes weights of the quantized ones that nm-pack-weights leaves to each
/// call.
static void dequantizeUnpacked(RewriterBase &rewriter,
                               SparseProductOpInterface op) {
  bool converts = getFields(op.getScheduleAttr()).bits != 0;
  if (op.getScales() && !converts && !getQuantizedForm(op))
    dequantizeWeights(rewriter, op);
}

LogicalResult GpuScheduleSelection::refuse(SparseProductOpInterface op,
                                           const GpuChip &gpu,
                                           ArrayRef<Alternative> list) {
  const Alternative &own = list.front();
  if (own.isGivenWrong()) {
    // An error of the choice is reported where the choice is asked for again.
    (void)chooseGpuSchedule({op, own.product, gpu, given, own.packs});
    return failure();
  }
  std::string reason = explainRefusal(list);
  if (given)
    return op->emitOpError() << reason;
  selectLoops(op, gpu, reason);
  dequantizeUnpacked(rewriter, op);
  return success();
}

/// The share of the weights that are not zero.
static std::string describeKept(const GpuProduct &product) {
  double share = product.kept != 0
                     ? double(product.kept) / (double(product.k) * product.n)
                     : 1 - product.pattern.sparsity();
  return llvm::formatv("{0:f1} %", 100 * share).str();
}

LogicalResult GpuScheduleSelection::take(SparseProductOpInterface op,
                                         const GpuChip &gpu,
                                         const Alternative &best,
                                         ProductRecord record) {
  bool wasDense = isDense(op);
  op = applyAlternative(rewriter, op, best);
  ScheduleChoice chosen = *best.choice;
  if (best.isDense())
    chosen.schedule = makeLibrarySchedule(op, gpu, best.inColumns);
  if (StringRef zeros = describeZeros(op, chosen.schedule); !zeros.empty())
    record.reason += "; " + zeros.str() + ", and " + kDenseMeetsNonFinite.str();
  bool skips = skipsZeros(chosen.schedule, best.product);
  if (skips)
    record.reason += "; zeros are skipped, " + describeKept(best.product) +
                     " of the weights are kept";
  record.fallsBack = !wasDense && isDense(op) && !skips;
  if (failed(setSchedule(op, gpu, chosen, std::move(record))))
    return failure();
  dequantizeUnpacked(rewriter, op);
  return success();
}

ScheduleAttrInterface
GpuScheduleSelection::makeLibrarySchedule(SparseProductOpInterface op,
                                          const GpuChip &gpu, bool inColumns) {
  ScheduleAttrInterface own =
      chooseOwn(op, getGpuProduct(op), gpu, given ? given.getOwn() : nullptr);
  PackingAttr packing;
  if (given)
    packing =
        cast_if_present<PackingAttr>(given.getPackedForm(op.getPattern()));
  if (inColumns && !packing)
    packing = getColumnPacking(op);
  if (!own)
    return {};
  return CublasScheduleAttr::getChecked(
      [&] { return op->emitOpError(); }, context, own, packing,
      asPadding(choosePadding(op, getGpuProduct(op), /*splits=*/1)));
}

void GpuScheduleSelection::warnOfParts(SparseProductOpInterface op) {
  if (!given || given.getTiling().splitK == 1)
    return;
  BlockTiling tiling = op.getScheduleAttr().getTiling();
  KParts parts(op.getStaticK(), tiling.blockK, tiling.splitK, tiling.clusterK);
  if (parts.count != tiling.splitK)
    emitWarning(op.getLoc())
        << "expected k = " << op.getStaticK() << " to have " << tiling.splitK
        << " parts of whole tiles of " << tiling.blockK
        << ", as split_k asks for, but it is cut into " << parts.count;
}

/// What the cost model says of `chosen`.
static void addEstimates(SparseProductOpInterface op,
                         const ScheduleChoice &chosen, ProductRecord &record) {
  record.estimate = chosen.microseconds;
  if (ShapedType::isDynamic(op.getStaticM()))
    record.typicalM = GpuProduct::kTypicalRows;
  if (isLibraryCall(chosen.schedule))
    return;
  record.multiplyFloor = chosen.multiplyFloor;
  record.memoryFloor = chosen.memoryFloor;
  record.sharedBytes = chosen.sharedBytes;
}

LogicalResult GpuScheduleSelection::setSchedule(SparseProductOpInterface op,
                                                const GpuChip &gpu,
                                                const ScheduleChoice &chosen,
                                                ProductRecord record) {
  if (!chosen.schedule)
    return failure();
  op.setScheduleAttr(chosen.schedule);
  if (failed(checkCluster(op, gpu)))
    return failure();
  warnOfParts(op);
  addDenseEstimate(op, gpu, record);
  if (chosen.isByModel)
    addEstimates(op, chosen, record);
  setRecord(op, record);
  takeImageForSchedule(rewriter, op);
  return success();
}

LogicalResult
mlir::nm::selectGpuSchedule(RewriterBase &rewriter, SparseProductOpInterface op,
                            const NMSelectGpuScheduleOptions &options) {
  FailureOr<GpuChip> gpu = getChip(op);
  GpuScheduleSelection selection(rewriter, options);
  return success(succeeded(gpu) && succeeded(selection.readOptions(op)) &&
                 succeeded(selection.run(op, *gpu)));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct NMSelectGpuSchedule
    : mlir::nm::impl::NMSelectGpuScheduleBase<NMSelectGpuSchedule> {
  using NMSelectGpuScheduleBase::NMSelectGpuScheduleBase;

  void runOnOperation() override {
    FailureOr<GpuChip> gpu = getChip(getOperation());
    NMSelectGpuScheduleOptions options;
    options.schedule = schedule;
    options.denseFallback = denseFallback;
    options.exactPattern = exactPattern;
    IRRewriter rewriter(&getContext());
    GpuScheduleSelection selection(rewriter, options);
    if (failed(gpu) || failed(selection.readOptions(getOperation())))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](SparseProductOpInterface op) {
      return WalkResult(selection.run(op, *gpu));
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([](SparseProductOpInterface op) {
      op->removeDiscardableAttr(kKeptAttr);
      op->removeDiscardableAttr(kEllStepsAttr);
    });
  }
};
} // namespace
