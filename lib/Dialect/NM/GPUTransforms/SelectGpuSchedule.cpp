//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/Dialect/NM/GPUTransforms/Passes.h"

#include "GpuProductCost.h"
#include "GpuStrategy.h"
#include "SplitK.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/GPUTransforms/GpuTile.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/Schedule/GpuSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTGPUSCHEDULE
#include "nm/Dialect/NM/GPUTransforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::GpuProduct;

/// Columns that share what little there is of an index of dense weights.
static constexpr int64_t kDenseColumns = 32;

namespace {
struct NMSelectGpuSchedule
    : mlir::nm::impl::NMSelectGpuScheduleBase<NMSelectGpuSchedule> {
  using NMSelectGpuScheduleBase::NMSelectGpuScheduleBase;

  void runOnOperation() override {
    FailureOr<GpuChip> found = getChip(getOperation());
    if (failed(found) || failed(readGiven()))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](SparseProductOpInterface op) {
      bool isGiven = op.getScheduleAttr() != nullptr;
      if (failed(isGiven ? checkGiven(op) : select(op, *found)))
        return WalkResult::interrupt();
      return WalkResult(checkCluster(op, *found));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Parses the option `schedule`.
  LogicalResult readGiven();
  LogicalResult checkGiven(SparseProductOpInterface op) {
    ScheduleAttrInterface given = op.getScheduleAttr();
    if (given.isForGPU() || isa<LoopsScheduleAttr>(given))
      return success();
    return op->emitOpError()
           << "expected a schedule of a GPU strategy, but got "
           << given.getStrategyName();
  }

  LogicalResult checkCluster(SparseProductOpInterface op, const GpuChip &gpu);
  LogicalResult select(SparseProductOpInterface op, const GpuChip &gpu);
  void selectLoops(SparseProductOpInterface op, const Twine &reason);
  /// Says where k is not cut into as many parts as the option asks for.
  void warnOfParts(SparseProductOpInterface op);
  /// Sets the schedule, and says in a remark on the product `name` why.
  LogicalResult setSchedule(SparseProductOpInterface op, const GpuChip &gpu,
                            const ScheduleChoice &chosen, StringRef name,
                            StringRef reason, bool wasDense);
  /// Gives `op` dense weights and cuBLAS' schedule where that is estimated to
  /// be faster than `chosen`, or nothing else can make the product, and the
  /// reason for what was done.
  std::string chooseDense(SparseProductOpInterface op, const GpuChip &gpu,
                          ::nm::Result<ScheduleChoice> &chosen);

  /// What the option `schedule` says.
  ScheduleAttrInterface given;
};
} // namespace

LogicalResult NMSelectGpuSchedule::readGiven() {
  if (schedule.empty())
    return success();
  auto emitError = [&] { return getOperation()->emitError(); };
  FailureOr<ScheduleAttrInterface> parsed =
      parseSchedule(schedule, &getContext(), emitError);
  if (failed(parsed))
    return failure();
  given = *parsed;
  if (findGpuStrategy(given) ||
      isa<CublasScheduleAttr, LoopsScheduleAttr>(given))
    return success();
  return emitError() << "expected a schedule of a GPU strategy, but got "
                     << given;
}

LogicalResult NMSelectGpuSchedule::checkCluster(SparseProductOpInterface op,
                                                const GpuChip &gpu) {
  int64_t blocks = op.getScheduleAttr().getTiling().clusterK;
  if (blocks == 1 || gpu.hasClusters())
    return success();
  return op->emitOpError() << "expected a chip with thread block clusters, "
                              "sm_90 or later, for cluster_k = "
                           << blocks << ", but got " << gpu.name;
}

/// The way that is right for every product and fast for none.
void NMSelectGpuSchedule::selectLoops(SparseProductOpInterface op,
                                      const Twine &reason) {
  op.setScheduleAttr(LoopsScheduleAttr::get(&getContext()));
  ProductRecord record;
  record.reason = reason.str();
  record.remark = describeProduct(op) +
                  ": strategy loops, a thread for each element of C, which is "
                  "slow: " +
                  record.reason;
  setRecord(op, record);
  emitWarning(op.getLoc()) << record.remark;
}

/// Our own product with dense weights, which takes cuBLAS' place where that
/// cannot be loaded, in f32 for narrower floats: of strategy simt, unless
/// another is given, and by loops where that has no such product. Null where
/// what is given cannot be.
static ScheduleAttrInterface chooseOwn(SparseProductOpInterface op,
                                       GpuProduct product, const GpuChip &gpu,
                                       ScheduleAttrInterface given) {
  auto loops = LoopsScheduleAttr::get(op->getContext());
  if (isa_and_present<LoopsScheduleAttr>(given))
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
NMSelectGpuSchedule::chooseDense(SparseProductOpInterface op,
                                 const GpuChip &gpu,
                                 ::nm::Result<ScheduleChoice> &chosen) {
  GpuProduct product = getGpuProduct(op);
  double dense = ::nm::estimateCublas(product, gpu);
  std::optional<std::string> obstacle =
      whyNotCublas(op, dense, /*isDemanded=*/bool(given));
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
  auto cublas = cast_if_present<CublasScheduleAttr>(given);
  // Of the weights as they come.
  std::optional<StringRef> rowMajor =
      isOfBytes(op) ? whyNotInColumns(op) : std::nullopt;
  if (cublas && cublas.getOwn() && !isa<LoopsScheduleAttr>(cublas.getOwn()))
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
  library.isByModel = !cublas || !cublas.getOwn();
  if (ScheduleAttrInterface own = chooseOwn(
          op, product, gpu, cublas ? cublas.getOwn() : ScheduleAttrInterface()))
    library.schedule = CublasScheduleAttr::getChecked(
        [&] { return op->emitOpError(); }, &getContext(), own, packing);
  chosen = library;
  return reason;
}

/// Whether `schedule` stores zeros in place of pruned weights.
static bool fillsUp(SparseProductOpInterface op,
                    ScheduleAttrInterface schedule) {
  return schedule &&
         isa_and_present<SparseOperandAttr>(
             schedule.getPackedForm(op.getPattern())) &&
         ::nm::fillsUpSparseOperand(op.getPattern());
}

LogicalResult NMSelectGpuSchedule::select(SparseProductOpInterface op,
                                          const GpuChip &gpu) {
  if (isa_and_present<LoopsScheduleAttr>(given)) {
    selectLoops(op, "as the schedule option says");
    return success();
  }
  if (std::optional<std::string> reason = whyUnknown(op)) {
    if (given)
      return op->emitOpError() << *reason;
    selectLoops(op, *reason);
    return success();
  }
  // A dense matrix that comes with each call is best left as it is.
  bool wasDense = isDense(op);
  bool packs = !wasDense || areWeightsLoaded(op);
  if (!packs && op.hasPureTensorSemantics() &&
      op.getValuesType().hasStaticShape())
    narrowDenseUnits(op, kDenseColumns);
  std::string name = describeProduct(op, GpuProduct::kTypicalRows);
  bool onlyCublas = isa_and_present<CublasScheduleAttr>(given);
  ::nm::Result<ScheduleChoice> chosen = ::nm::Error{};
  if (!onlyCublas) {
    packs |= given && given.getPackedForm(op.getPattern());
    GpuProduct product = getGpuProduct(op);
    product.avoidsPrunedWeights = !denseFallback && !given;
    chosen = chooseGpuSchedule({op, product, gpu, given, packs});
  }
  std::string reason = "dense was not considered";
  if (onlyCublas || (denseFallback && !given))
    reason = chooseDense(op, gpu, chosen);
  if (!chosen && given)
    return op->emitOpError() << chosen.error().message;
  if (!chosen) {
    selectLoops(op, chosen.error().message);
    return success();
  }
  if (fillsUp(op, chosen->schedule))
    reason += "; zeros fill up groups of four weights, and " +
              kDenseMeetsNonFinite.str();
  return setSchedule(op, gpu, *chosen, name, reason, wasDense);
}

void NMSelectGpuSchedule::warnOfParts(SparseProductOpInterface op) {
  if (!given || given.getTiling().splitK == 1)
    return;
  BlockTiling tiling = op.getScheduleAttr().getTiling();
  KParts parts(op.getStaticK(), tiling.block[2], tiling.splitK,
               tiling.clusterK);
  if (parts.count != tiling.splitK)
    emitWarning(op.getLoc())
        << "expected k = " << op.getStaticK() << " to have " << tiling.splitK
        << " parts of whole tiles of " << tiling.block[2]
        << ", as split_k asks for, but it is cut into " << parts.count;
}

/// What the cost model says of `chosen`, and of cuBLAS.
static void addEstimates(SparseProductOpInterface op, const GpuChip &gpu,
                         const ScheduleChoice &chosen, ProductRecord &record) {
  record.estimate = chosen.microseconds;
  double dense = ::nm::estimateCublas(getGpuProduct(op), gpu);
  if (dense >= 0)
    record.denseEstimate = dense;
  if (isa<CublasScheduleAttr>(chosen.schedule))
    return;
  record.multiplyFloor = chosen.multiplyFloor;
  record.memoryFloor = chosen.memoryFloor;
  record.sharedBytes = chosen.sharedBytes;
}

/// The remark that `record` makes.
static std::string describe(StringRef name, const GpuChip &gpu,
                            ScheduleAttrInterface schedule,
                            const ProductRecord &record, bool isByModel) {
  std::string text;
  llvm::raw_string_ostream remark(text);
  remark << name << ": strategy " << schedule.getStrategyName() << " on "
         << StringRef(gpu.name);
  if (!isByModel) {
    remark << ", with sizes that were given; schedule " << schedule;
    return text;
  }
  remark << "; estimated " << describeTime(*record.estimate);
  if (record.sharedBytes)
    remark << ", at least " << describeTime(*record.multiplyFloor)
           << " of multiplications and " << describeTime(*record.memoryFloor)
           << " of memory; " << *record.sharedBytes
           << " bytes of shared memory";
  remark << "; " << record.reason << "; schedule " << schedule;
  return text;
}

LogicalResult NMSelectGpuSchedule::setSchedule(SparseProductOpInterface op,
                                               const GpuChip &gpu,
                                               const ScheduleChoice &chosen,
                                               StringRef name, StringRef reason,
                                               bool wasDense) {
  if (!chosen.schedule)
    return failure();
  op.setScheduleAttr(chosen.schedule);
  warnOfParts(op);
  ProductRecord record;
  record.reason = reason.str();
  record.fallsBack = isa<CublasScheduleAttr>(chosen.schedule) && !wasDense;
  if (chosen.isByModel)
    addEstimates(op, gpu, chosen, record);
  record.remark =
      describe(name, gpu, chosen.schedule, record, chosen.isByModel);
  setRecord(op, record);
  emitRemark(op.getLoc()) << record.remark;
  return success();
}
