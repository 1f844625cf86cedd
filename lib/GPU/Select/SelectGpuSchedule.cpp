//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/GPU/Phases.h"

#include "GPU/Layouts/LayoutCosts.h"
#include "GPU/Select/CoarsenedBlocks.h"
#include "GPU/Select/ExactPattern.h"
#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"
#include "GPU/Select/OverlappingWindows.h"
#include "GPU/Select/QuantizedAlternatives.h"
#include "GPU/Select/SplitK.h"
#include "GPU/Select/WidenOperands.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTGPUSCHEDULE
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::GpuProduct;

/// Columns that share what little there is of an index of dense weights.
static constexpr int64_t kDenseColumns = 32;

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
  LogicalResult run(SparseProductOpInterface op, const GpuChip &gpu) {
    return op.getScheduleAttr() ? takeGiven(op, gpu) : select(op, gpu);
  }

private:
  SelectionOptions getSelectionOptions() const {
    return {given, options.denseFallback, options.exactPattern};
  }
  /// Checks the schedule that an op came with, and records it.
  LogicalResult takeGiven(SparseProductOpInterface op, const GpuChip &gpu);
  LogicalResult checkCluster(SparseProductOpInterface op, const GpuChip &gpu);
  LogicalResult select(SparseProductOpInterface op, const GpuChip &gpu);
  /// Makes `op` a product of f16 where operands of 8 bits are slower. Returns
  /// what the record says of it; nothing where there is nothing to say.
  std::string widen(SparseProductOpInterface &op, const GpuChip &gpu,
                    ProductRecord &record);
  /// Makes `op` a product of 2:4 where groups of four rows that overlap have
  /// its windows, and that is faster. Returns what the record says of it;
  /// nothing where there is nothing to say.
  std::string overlap(SparseProductOpInterface op, const GpuChip &gpu,
                      ProductRecord &record);
  /// Selects for quantized weights: strategy mma_sp converts them in
  /// registers, and what it does not take is dequantized before the product.
  LogicalResult selectQuantized(SparseProductOpInterface op,
                                const GpuChip &gpu);
  /// Gives `op` dense weights, which are dequantized at each call, for cuBLAS
  /// to multiply. `chosen` is the best of our own strategies.
  LogicalResult selectDenseQuantized(SparseProductOpInterface op,
                                     const GpuChip &gpu,
                                     ::nm::Result<ScheduleChoice> chosen);
  /// Gives `op` the schedule that it has with dequantized weights.
  LogicalResult selectDequantized(SparseProductOpInterface op,
                                  const GpuChip &gpu);
  void selectLoops(SparseProductOpInterface op, const GpuChip &gpu,
                   const Twine &reason);
  /// Says where k is not cut into as many parts as the option asks for.
  void warnOfParts(SparseProductOpInterface op);
  /// Sets the schedule, and completes `record`.
  LogicalResult setSchedule(SparseProductOpInterface op, const GpuChip &gpu,
                            const ScheduleChoice &chosen, ProductRecord record);
  /// Gives `op` dense weights and cuBLAS' schedule where that is estimated to
  /// be faster than `chosen`, or nothing else can make the product, and the
  /// reason for what was done.
  std::string chooseDense(SparseProductOpInterface op, const GpuChip &gpu,
                          ::nm::Result<ScheduleChoice> &chosen);

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

LogicalResult GpuScheduleSelection::checkCluster(SparseProductOpInterface op,
                                                 const GpuChip &gpu) {
  int64_t blocks = op.getScheduleAttr().getTiling().clusterK;
  if (blocks == 1 || gpu.hasClusters())
    return success();
  return op->emitOpError() << "expected a chip with thread block clusters, "
                              "sm_90 or later, for cluster_k = "
                           << blocks << ", but got " << gpu.name;
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
  double dense = estimateLibrary(op, gpu);
  if (dense < 0)
    return;
  // That of operands before they were widened stays.
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
  ProductRecord record = makeRecord(op, gpu, ScheduleSource::Op,
                                    "as the schedule it came with says");
  addDenseEstimate(op, gpu, record);
  setRecord(op, record);
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

/// Whether the library takes the weights of `op` in columns alone, which of our
/// own strategies loops read.
static bool needsColumns(SparseProductOpInterface op) {
  return isFloat8(op.getAType().getElementType());
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
  if (isFloat(product.type))
    product.type = product.outputType = ::nm::ElementType::F32;
  const GpuStrategy &strategy =
      given ? *findGpuStrategy(given) : getSimtStrategy();
  ::nm::Result<ScheduleChoice> own =
      strategy.choose({op, product, gpu, given, /*packs=*/false});
  return own ? own->schedule : loops;
}

std::string
GpuScheduleSelection::chooseDense(SparseProductOpInterface op,
                                  const GpuChip &gpu,
                                  ::nm::Result<ScheduleChoice> &chosen) {
  GpuProduct product = getGpuProduct(op);
  double dense = estimateLibrary(op, gpu);
  auto cublas = cast_if_present<CublasScheduleAttr>(given);
  bool givesOwn = cublas && cublas.getOwn() && !isReference(cublas.getOwn());
  std::optional<std::string> obstacle =
      whyNotCublas(op, dense, /*isDemanded=*/bool(given));
  if (!obstacle && givesOwn && needsColumns(op))
    obstacle = "beside cuBLAS expected own = #nm.loops, but got strategy " +
               cublas.getOwn().getStrategyName().str();
  if (!obstacle && !isDense(op))
    if (std::optional<StringRef> kept = whyNotDense(op))
      obstacle =
          "cuBLAS would take " + describeTime(dense) + ", but " + kept->str();
  if (obstacle) {
    if (!chosen)
      chosen =
          ::nm::Error{chosen.error().message +
                      (chosen.error().message.empty() ? "" : "; ") + *obstacle};
    return *obstacle;
  }
  if (chosen && chosen->microseconds <= dense)
    return "cuBLAS is estimated to take " + describeTime(dense) +
           " with dense weights";
  // Of the weights as they come.
  std::optional<StringRef> rowMajor =
      isOfBytes(op) ? whyNotInColumns(op) : std::nullopt;
  if (givesOwn)
    rowMajor = StringRef("so our own product wants them");
  bool losesPattern = !isDense(op) && isa<FloatType>(op.getAccumulatorType());
  if (!isDense(op))
    makeDense(op, getDensePattern(kDenseColumns));
  std::string reason = "calls cuBLAS with dense weights, ";
  if (given)
    reason += "as the schedule option says";
  else if (chosen)
    reason += "which is faster: " + describeTime(chosen->microseconds) +
              " by strategy " + chosen->schedule.getStrategyName().str();
  else
    reason +=
        "for no other strategy has this product: " + chosen.error().message;
  if (losesPattern)
    reason += "; " + kDenseMeetsNonFinite.str();
  PackingAttr packing = cublas ? cublas.getPacking() : PackingAttr();
  if (isOfBytes(op) && !packing) {
    if (rowMajor)
      reason += "; slow, for the columns of its weights are not contiguous: " +
                rowMajor->str();
    else
      packing = getColumnPacking(op);
  }
  ScheduleChoice library;
  library.microseconds = dense;
  if (ScheduleAttrInterface own = chooseOwn(
          op, product, gpu, cublas ? cublas.getOwn() : ScheduleAttrInterface()))
    library.schedule = CublasScheduleAttr::getChecked(
        [&] { return op->emitOpError(); }, context, own, packing);
  chosen = library;
  return reason;
}

/// Gives `op` the weights of `wider`; the reason, beside `narrower`, the choice
/// for those that it had.
static std::string
takeCoarsenedBlocks(SparseProductOpInterface op, const CoarsenedBlocks &wider,
                    const ::nm::Result<ScheduleChoice> &narrower) {
  bool wasDense = isDense(op);
  makeDense(op, wider.pattern);
  std::string reason =
      "weights are taken to be " + wider.pattern.str() + ", which is faster";
  if (narrower)
    reason += ": " + describeTime(narrower->microseconds) + " by strategy " +
              narrower->schedule.getStrategyName().str();
  return wasDense ? reason : reason + "; " + kDenseMeetsNonFinite.str();
}

LogicalResult GpuScheduleSelection::selectQuantized(SparseProductOpInterface op,
                                                    const GpuChip &gpu) {
  QuantizedAlternatives ways =
      findQuantizedAlternatives(op, gpu, getSelectionOptions());
  int64_t bits = op.getQuantizationAttr().getBits();
  std::string obstacle = ways.whyNotInRegisters();
  if (obstacle.empty()) {
    const ScheduleChoice &chosen = *ways.inRegisters;
    std::string reason = "weights stay in " + std::to_string(bits) +
                         " bits, which registers convert";
    if (!given)
      reason += ways.adviseOn(op);
    if (StringRef zeros = describeZeros(op, chosen.schedule); !zeros.empty())
      reason += "; " + zeros.str() + ", and " + kDenseMeetsNonFinite.str();
    auto source = given ? ScheduleSource::Option : ScheduleSource::Model;
    return setSchedule(op, gpu, chosen, makeRecord(op, gpu, source, reason));
  }
  op->emitRemark() << "weights of " << bits
                   << " bits are dequantized before the product, at each "
                      "call: "
                   << obstacle;
  return ways.isDenseFastest() ? selectDenseQuantized(op, gpu, ways.own())
                               : selectDequantized(op, gpu);
}

LogicalResult GpuScheduleSelection::selectDenseQuantized(
    SparseProductOpInterface op, const GpuChip &gpu,
    ::nm::Result<ScheduleChoice> chosen) {
  auto source = given ? ScheduleSource::Option : ScheduleSource::Model;
  ProductRecord record = makeRecord(op, gpu, source, "");
  record.fallsBack = !isDense(op);
  double before = estimateDenseDequantization(op, gpu);
  makeDense(op, getDensePattern(kDenseColumns));
  dequantizeWeights(rewriter, op, kWeightsAtOnce);
  record.reason = chooseDense(op, gpu, chosen) +
                  "; weights are made dense when they are loaded, a byte each, "
                  "and dequantized in estimated " +
                  describeTime(before) + " before";
  if (record.fallsBack)
    record.reason += "; " + kDenseMeetsNonFinite.str();
  return setSchedule(op, gpu, *chosen, std::move(record));
}

LogicalResult
GpuScheduleSelection::selectDequantized(SparseProductOpInterface op,
                                        const GpuChip &gpu) {
  QuantizationAttr quantization = op.getQuantizationAttr();
  PatternAttr pattern = op.getPatternAttr();
  Value values = op.getValues(), scales = op.getScales();
  dequantizeWeights(rewriter, op);
  auto dequantization = op.getValues().getDefiningOp<linalg::GenericOp>();
  if (failed(select(op, gpu)))
    return failure();
  if (op.getValues() != dequantization.getResult(0) ||
      op.getPatternAttr() != pattern)
    return success();
  // nm-pack-weights leaves less to each call where it knows what they were.
  Operation *empty = dequantization.getOutputs()[0].getDefiningOp();
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(1, values);
    op.getScalesMutable().assign(scales);
    op->setAttr("quantization", quantization);
  });
  rewriter.eraseOp(dequantization);
  rewriter.eraseOp(empty);
  if (!getQuantizedForm(op))
    dequantizeWeights(rewriter, op);
  return success();
}

std::string GpuScheduleSelection::widen(SparseProductOpInterface &op,
                                        const GpuChip &gpu,
                                        ProductRecord &record) {
  if (!isOfBytes(op))
    return "";
  SelectionOptions selection = getSelectionOptions();
  std::optional<WidenedProduct> widened =
      findWidenedProduct(op, gpu, selection);
  if (!widened)
    return "";
  double asTyped = estimateAsTyped(op, gpu, selection, ActivationForm::AsIs);
  if (!isWidened(*widened, selection, asTyped))
    return "";
  std::string type = debugString(op.getAType().getElementType());
  if (!isWidenedExact(op))
    return "as f16 it is estimated to take " + describeTime(widened->total()) +
           ", but sums of " + type + " would not be exact: it has " +
           std::to_string(op.getPattern().condensedRows(op.getStaticK())) +
           " kept rows of k, and may have " + std::to_string(kMostExactRows) +
           ", or constant weights that add up to at most " +
           std::to_string(kMostExactColumn) + " in each column";
  std::string reason = "operands of " + type +
                       " are widened to f16, which has all of their values: "
                       "estimated " +
                       describeTime(widened->widening) +
                       " before the product, and " +
                       describeTime(widened->product) + " for it, ";
  if (given)
    reason +=
        "as strategy " + given.getStrategyName().str() + " has none of " + type;
  else if (asTyped < kRefusedMicroseconds)
    reason += "beside " + describeTime(asTyped) + " of " + type;
  else
    reason += "for no strategy has one of " + type;
  addDenseEstimate(op, gpu, record);
  op = widenOperands(rewriter, op, *widened);
  return reason;
}

std::string GpuScheduleSelection::overlap(SparseProductOpInterface op,
                                          const GpuChip &gpu,
                                          ProductRecord &record) {
  SelectionOptions selection = getSelectionOptions();
  std::optional<OverlappingWindows> found =
      findOverlappingWindows(op, getGpuProduct(op), gpu, selection);
  if (!found)
    return "";
  double asIs = estimateAsTyped(op, gpu, selection, ActivationForm::AsIs);
  if (!isWorthOverlapping(*found, selection, asIs))
    return "";
  addDenseEstimate(op, gpu, record);
  if (record.denseEstimate)
    record.reason = "cuBLAS is estimated to take " +
                    describeTime(*record.denseEstimate) + " with dense weights";
  bool addsZeros = op.getPattern() != found->kept;
  int64_t k = op.getStaticK();
  overlapWindows(rewriter, op, *found);
  std::string reason =
      "windows of " + found->kept.str() + " along k = " + std::to_string(k) +
      " are taken to be groups of four rows that overlap, which have " +
      std::to_string(op.getStaticK()) + " rows in all";
  if (found->expansion > 0)
    reason += ": estimated " + describeTime(found->expansion) +
              " for an A that has these";
  if (asIs < kRefusedMicroseconds)
    reason += "; estimated " + describeTime(asIs) + " without";
  return addsZeros ? reason + "; " + kDenseMeetsNonFinite.str() : reason;
}

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
  if (op.getScales())
    return selectQuantized(op, gpu);
  auto source = given ? ScheduleSource::Option : ScheduleSource::Model;
  // Of the weights as they come, which dense ones may replace.
  ProductRecord record =
      makeRecord(op, gpu, source, "dense was not considered");
  std::string widening = widen(op, gpu, record);
  std::string overlapping = overlap(op, gpu, record);
  // A dense matrix that comes with each call is best left as it is.
  bool wasDense = isDense(op);
  bool packs = !wasDense || areWeightsLoaded(op);
  if (!packs && op.hasPureTensorSemantics() &&
      op.getValuesType().hasStaticShape())
    narrowDenseUnits(op, kDenseColumns);
  bool onlyCublas = isLibraryCall(given);
  ::nm::Result<ScheduleChoice> chosen = ::nm::Error{};
  if (!onlyCublas) {
    packs |= given && given.getPackedForm(op.getPattern());
    GpuProduct product = getGpuProduct(op);
    product.avoidsPrunedWeights =
        getSelectionOptions().avoidsPrunedWeights(product);
    chosen = chooseGpuSchedule({op, product, gpu, given, packs});
  }
  bool mayKeepZeros = options.denseFallback && !given;
  std::optional<CoarsenedBlocks> wider;
  if (mayKeepZeros)
    wider = findCoarsenedBlocks(op, getGpuProduct(op), gpu, chosen);
  ::nm::Result<ScheduleChoice> narrower = chosen;
  if (wider)
    chosen = wider->choice;
  if ((onlyCublas || mayKeepZeros) && overlapping.empty())
    record.reason = chooseDense(op, gpu, chosen);
  bool isWider = wider && chosen->schedule == wider->choice.schedule;
  if (isWider)
    record.reason += "; " + takeCoarsenedBlocks(op, *wider, narrower);
  for (const std::string &before : {widening, overlapping})
    if (!before.empty())
      record.reason += "; " + before;
  if (!chosen && given)
    return op->emitOpError() << chosen.error().message;
  if (!chosen) {
    selectLoops(op, gpu, chosen.error().message);
    return success();
  }
  if (StringRef zeros = describeZeros(op, chosen->schedule); !zeros.empty())
    record.reason += "; " + zeros.str() + ", and " + kDenseMeetsNonFinite.str();
  record.fallsBack = !wasDense && (isLibraryCall(chosen->schedule) ||
                                   (isWider && isDense(op)));
  return setSchedule(op, gpu, *chosen, std::move(record));
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
      signalPassFailure();
  }
};
} // namespace
