//===- GpuStrategy.cpp - What selection asks of a strategy ----------------===//

#include "GPU/Select/GpuStrategy.h"

#include "GPU/Layouts/LayoutCosts.h"
#include "GPU/Select/MeasuredChoice.h"
#include "GPU/Select/ModelledStrategy.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"
#include "nm/GPU/Stage/OperandDemands.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::nm;

::nm::RowPacking mlir::nm::getRowPacking(SparseProductOpInterface op,
                                         const ::nm::GivenFields &given) {
  using ::nm::RowPacking;
  if (given.pack.value_or(false))
    return given.blockM ? RowPacking::Never : RowPacking::Always;
  // Lists take long to find: they must serve more than one call.
  bool isFree = !given.pack && !given.blockM && !given.warpM && !given.threadM;
  return isFree && areWeightsLoaded(op) ? RowPacking::WhereFaster
                                        : RowPacking::Never;
}

LogicalResult mlir::nm::checkLists(SparseProductOpInterface op,
                                   ScheduleAttrInterface schedule) {
  if (!schedule.packsRows())
    return success();
  PackedFormAttrInterface form = schedule.getPackedForm(op.getPattern());
  if (!form)
    return op->emitOpError() << "expected sparse weights to pack rows of A";
  return form.verifyWeights([&] { return op->emitOpError(); }, op.getPattern(),
                            op.getValuesType().getElementType());
}

static ArrayRef<const GpuStrategy *> getGpuStrategies() {
  static const GpuStrategy *const strategies[] = {
#define NM_GPU_STRATEGY(Name, name) &get##Name##Strategy(),
#include "nm/GPU/GpuStrategies.def"
  };
  return strategies;
}

const GpuStrategy *mlir::nm::findGpuStrategy(ScheduleAttrInterface schedule) {
  static const llvm::StringMap<const GpuStrategy *> strategies = {
#define NM_GPU_STRATEGY(Name, name) {name, &get##Name##Strategy()},
#include "nm/GPU/GpuStrategies.def"
  };
  return strategies.lookup(schedule.getStrategyName());
}

/// Whether rows of a transposition of A, in memory of its own, start at
/// multiples of `bytes`: not those of a length that is not known.
static bool hasTransposedRowsAt(const ScheduleRequest &request, int64_t bytes) {
  SparseProductOpInterface op = request.op;
  int64_t columns =
      request.product.isMMajor ? op.getStaticM() : op.getStaticK();
  int64_t elementBytes = op.getAType().getElementTypeBitWidth() / 8;
  return bytes <= elementBytes || (!ShapedType::isDynamic(columns) &&
                                   columns * elementBytes % bytes == 0);
}

/// The microseconds of the copy of A that nm-align-operands makes for
/// `schedule`, where rows of A lie otherwise than the schedule demands; 0 where
/// it stays.
static double estimateCopyOfA(const ScheduleRequest &request,
                              ScheduleAttrInterface schedule) {
  SparseProductOpInterface op = request.op;
  const ::nm::GpuProduct &product = request.product;
  int64_t bytes = getLeastRowBytesOfA(schedule, product.isMMajor);
  auto spmm = dyn_cast<SpMMOp>(*op);
  // Rows of a temporary are padded.
  if (!spmm || product.strideOfA != 0)
    return 0;
  bool isTransposed = spmm.getTransposeA() != product.isMMajor;
  if (isTransposed ? hasTransposedRowsAt(request, bytes)
                   : hasRowsAt(op.getA(), bytes))
    return 0;
  return estimateCopy(cast<RankedTensorType>(op.getAType()), request.chip);
}

/// The microseconds that it takes to pack dequantized weights to a bitmap at
/// each call, which finds the places of weights one by one; 0 for other forms.
/// An H200 takes 590 us for the 22.5 million of 16:32, n x k of 4096 x 11008,
/// and 287 of 8:32 (2026-11-29).
static double estimatePackingAtCalls(const ScheduleRequest &request,
                                     ScheduleAttrInterface schedule) {
  constexpr int64_t kPicoseconds = 26, kMillion = 1000000;
  SparseProductOpInterface op = request.op;
  bool isDequantized = op.getScales() && request.product.weightBits == 0;
  if (!isDequantized ||
      !isa_and_present<BitmapAttr>(schedule.getPackedForm(op.getPattern())) ||
      getQuantizedForm(op, schedule))
    return 0;
  int64_t kept =
      op.getPattern().condensedRows(op.getStaticK()) * op.getStaticN();
  return double(kept * kPicoseconds) / double(kMillion);
}

/// Whether `schedule` has zeros in place of weights that are kept anywhere, and
/// these may meet no activation.
static bool hasForbiddenZeros(const ::nm::GpuProduct &product,
                              ScheduleAttrInterface schedule) {
  return product.kept != 0 && product.avoidsPrunedWeights &&
         ::nm::isFloat(product.type) && !skipsZeros(schedule, product);
}

/// The microseconds of the kernel that puts the channels of the image last.
static double estimateTransposedImage(const ScheduleRequest &request) {
  SparseProductOpInterface op = request.op;
  return estimateTransposition(
      RankedTensorType::get({request.product.imageElements},
                            op.getAType().getElementType()),
      request.chip);
}

/// The schedule that `strategy` chooses for a product that reads the image of
/// its A where `request` says that there is one. Its estimate has what copies
/// of A and packing of weights take before the product.
static ::nm::Result<ScheduleChoice>
chooseReading(const GpuStrategy &strategy, const ScheduleRequest &request) {
  const ::nm::GpuProduct &product = request.product;
  ::nm::Result<ScheduleChoice> choice = strategy.choose(request);
  if (!choice || !choice->schedule)
    return choice;
  std::string name = choice->schedule.getStrategyName().str();
  if (hasForbiddenZeros(product, choice->schedule))
    return ::nm::Error{name + ": zeros stand in place of pruned weights"};
  // A schedule that is given in part may have no tensor copies.
  if (product.hasPixels && !strategy.copiesPixels(choice->schedule))
    return ::nm::Error{name + ": no tensor copies of an image"};
  choice->microseconds += estimatePackingAtCalls(request, choice->schedule);
  if (product.hasPixels && product.isImageTransposed)
    choice->microseconds += estimateTransposedImage(request);
  if (!product.hasImage && !product.hasPixels)
    choice->microseconds +=
        product.patchMicroseconds + estimateCopyOfA(request, choice->schedule);
  return choice;
}

/// The schedule that `strategy` chooses, with the image of A or without.
static ::nm::Result<ScheduleChoice> choose(const GpuStrategy &strategy,
                                           const ScheduleRequest &request) {
  ScheduleRequest own = request;
  own.product.hasImage &=
      strategy.readsImages() &&
      (!request.product.hasChannelsLast || strategy.readsChannelsLast());
  own.product.hasPixels &= strategy.hasPixelCopies();
  ::nm::Result<ScheduleChoice> choice = chooseReading(strategy, own);
  if (!own.product.hasPixels)
    return choice;
  own.product.hasPixels = false;
  ::nm::Result<ScheduleChoice> ofPatches = chooseReading(strategy, own);
  bool isFaster = choice && (!ofPatches || !ofPatches->schedule ||
                             choice->microseconds <= ofPatches->microseconds);
  return isFaster ? choice : ofPatches;
}

static ::nm::Result<ScheduleChoice>
chooseByModel(const ScheduleRequest &request) {
  if (request.given)
    return choose(*findGpuStrategy(request.given), request);
  std::optional<ScheduleChoice> best;
  std::string reasons;
  for (bool isLast : {false, true}) {
    if (best)
      break;
    for (const GpuStrategy *strategy : getGpuStrategies()) {
      if (strategy->isLastResort(request.product) != isLast ||
          (request.product.weightBits != 0 && !strategy->convertsWeights()))
        continue;
      ::nm::Result<ScheduleChoice> found = choose(*strategy, request);
      if (!found)
        reasons += (reasons.empty() ? "" : "; ") + found.error().message;
      else if (!best || found->microseconds < best->microseconds)
        best = *found;
    }
  }
  if (best)
    return *best;
  return ::nm::Error{reasons};
}

::nm::Result<ScheduleChoice>
mlir::nm::chooseGpuSchedule(const ScheduleRequest &request) {
  if (std::optional<ScheduleChoice> measured =
          chooseMeasured(request, chooseByModel))
    return *measured;
  return chooseByModel(request);
}
