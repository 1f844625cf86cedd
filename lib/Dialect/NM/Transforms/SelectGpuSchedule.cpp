//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "DenseFallback.h"
#include "DescribeProduct.h"
#include "SplitK.h"
#include "WeightOrigin.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/GpuSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTGPUSCHEDULE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::GpuProduct;
using ::nm::GpuSchedule;
using ::nm::GpuStrategy;
using ::nm::RowPacking;

/// Columns that share what little there is of an index of dense weights.
static constexpr int64_t kDenseColumns = 32;

/// Why no cost model has anything to say about `op`, if so.
static std::optional<std::string> whyUnknown(SparseProductOpInterface op) {
  for (Type type : {op.getAType(), op.getCType()})
    if (!mlir::nm::getElementType(getElementTypeOrSelf(type)))
      return "expected operands of an element type with weights, but got " +
             debugString(type);
  if (ShapedType::isDynamic(op.getStaticK()) ||
      ShapedType::isDynamic(op.getStaticN()))
    return "expected a constant k and n on a GPU";
  return std::nullopt;
}

static GpuProduct getProduct(SparseProductOpInterface op) {
  GpuProduct product;
  product.pattern = op.getPattern();
  product.isVector = isa<SpMVOp>(op);
  int64_t m = op.getStaticM();
  product.m = ShapedType::isDynamic(m) ? GpuProduct::kUnknown : m;
  product.n = op.getStaticN();
  product.k = op.getStaticK();
  if (auto spmm = dyn_cast<SpMMOp>(op.getOperation()))
    product.isKMajor = spmm.getTransposeA();
  product.type = *mlir::nm::getElementType(op.getAType().getElementType());
  product.outputType =
      *mlir::nm::getElementType(op.getCType().getElementType());
  return product;
}

/// Strategies by the names that the cost models have for them.
static constexpr std::pair<GpuStrategy, StringLiteral> kStrategies[] = {
    {GpuStrategy::Simt, "simt"},
    {GpuStrategy::Gemv, "gemv"},
    {GpuStrategy::Cublas, "cublas"}};

static StringRef nameOf(GpuStrategy strategy) {
  return llvm::find_if(
             kStrategies,
             [&](const auto &entry) { return entry.first == strategy; })
      ->second;
}

static std::optional<GpuStrategy> findStrategy(StringRef name) {
  for (auto [strategy, known] : kStrategies)
    if (known == name)
      return strategy;
  return std::nullopt;
}

namespace {
/// Makes the attributes of chosen schedules; null, and an error, where options
/// have led to one that cannot be.
class ScheduleMaker {
public:
  ScheduleMaker(Operation *op, const GpuSchedule &chosen, PackingAttr packing)
      : op(op), chosen(chosen), packing(packing),
        block({chosen.blockM, chosen.blockN, chosen.blockK}),
        warp({chosen.warpM, chosen.warpN}),
        thread({chosen.threadM, chosen.threadN}) {}

  ScheduleAttrInterface make() {
    switch (chosen.strategy) {
    case GpuStrategy::Simt:
      return makeSimt();
    case GpuStrategy::Gemv:
      return makeGemv();
    case GpuStrategy::Cublas:
      return makeCublas();
    }
    return {};
  }

private:
  template <typename AttrTy, typename... Args>
  AttrTy getChecked(const Args &...args) {
    if (failed(AttrTy::verify([&] { return op->emitOpError(); }, args...)))
      return {};
    return AttrTy::get(op->getContext(), args...);
  }
  SimtScheduleAttr makeSimt() {
    return getChecked<SimtScheduleAttr>(
        block, warp, thread, chosen.stages, chosen.splitK, chosen.clusterK,
        chosen.sliceK, chosen.prefetch, chosen.pack, packing);
  }
  GemvScheduleAttr makeGemv() {
    if (!chosen.prefetch || chosen.clusterK != 1) {
      op->emitOpError() << "expected strategy simt with prefetch = false or "
                           "cluster_k, but got gemv";
      return {};
    }
    return getChecked<GemvScheduleAttr>(block, warp, thread, chosen.stages,
                                        chosen.splitK, chosen.sliceK, packing);
  }
  /// Our own product is of strategy simt where that has tiles for it.
  CublasScheduleAttr makeCublas() {
    ScheduleAttrInterface own = LoopsScheduleAttr::get(op->getContext());
    if (chosen.blockM != 0)
      own = makeSimt();
    return own ? CublasScheduleAttr::get(op->getContext(), own)
               : CublasScheduleAttr();
  }

  Operation *op;
  const GpuSchedule &chosen;
  PackingAttr packing;
  SmallVector<int64_t> block, warp, thread;
};
} // namespace

static ScheduleAttrInterface
toAttribute(Operation *op, const GpuSchedule &chosen, bool packs) {
  PackingAttr packing;
  if (packs)
    packing = PackingAttr::get(op->getContext(), chosen.packing);
  return ScheduleMaker(op, chosen, packing).make();
}

namespace {
struct NMSelectGpuSchedule
    : mlir::nm::impl::NMSelectGpuScheduleBase<NMSelectGpuSchedule> {
  using NMSelectGpuScheduleBase::NMSelectGpuScheduleBase;

  void runOnOperation() override {
    ::nm::Result<GpuChip> found = GpuChip::get(chip);
    if (!found) {
      getOperation()->emitError() << found.error().message;
      return signalPassFailure();
    }
    if (failed(readStrategy()) || failed(checkPack()))
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
  LogicalResult readStrategy();
  LogicalResult checkPack();
  RowPacking getRowPacking(SparseProductOpInterface op);
  LogicalResult override(SparseProductOpInterface op, GpuSchedule &schedule);
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
  void warnOfParts(SparseProductOpInterface op, const GpuSchedule &chosen);
  /// Sets the schedule, and says in a remark on the product `name` why.
  LogicalResult setSchedule(SparseProductOpInterface op, const GpuChip &gpu,
                            GpuSchedule chosen, bool packs, StringRef name,
                            StringRef reason);
  /// Whether options say how products are tiled.
  bool hasGivenSizes() const {
    return !block.empty() || !warp.empty() || !thread.empty() || stages != 0 ||
           splitK != 0 || clusterK != 0 || sliceK != 0 || !prefetch ||
           pack == "true";
  }
  /// Gives `op` dense weights and cuBLAS' schedule where that is estimated to
  /// be faster than `chosen`, or nothing else can make the product, and the
  /// reason for what was done.
  std::string chooseDense(SparseProductOpInterface op, const GpuChip &gpu,
                          ::nm::Result<GpuSchedule> &chosen);

  /// What the option `strategy` says.
  std::optional<GpuStrategy> only;
};
} // namespace

LogicalResult NMSelectGpuSchedule::readStrategy() {
  if (strategy.empty() || strategy == "loops")
    return success();
  only = findStrategy(strategy);
  if (only)
    return success();
  return getOperation()->emitError()
         << "expected a strategy of GPUs, but got '" << strategy << "'";
}

LogicalResult NMSelectGpuSchedule::checkPack() {
  if (pack.empty() || pack == "true" || pack == "false")
    return success();
  return getOperation()->emitError()
         << "expected pack to be true, false or empty, but got '" << pack
         << "'";
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

/// What the cost model may do for `op`.
RowPacking NMSelectGpuSchedule::getRowPacking(SparseProductOpInterface op) {
  // Of a block that is given, packRows says whether it leaves rows out.
  if (pack == "true")
    return block.empty() ? RowPacking::Always : RowPacking::Never;
  // Lists take long to find: they must serve more than one call.
  bool isFree = pack.empty() && block.empty() && warp.empty() && thread.empty();
  return isFree && areWeightsLoaded(op) ? RowPacking::WhereFaster
                                        : RowPacking::Never;
}

/// Puts the sizes that the options give in place of the chosen ones.
LogicalResult NMSelectGpuSchedule::override(SparseProductOpInterface op,
                                            GpuSchedule &schedule) {
  auto set = [&](ArrayRef<int64_t> sizes, StringRef name,
                 ArrayRef<int64_t *> fields) -> LogicalResult {
    if (sizes.empty())
      return success();
    if (sizes.size() != fields.size() || llvm::any_of(sizes, [](int64_t size) {
          return size < 1 || size > ::nm::kMaxSize;
        }))
      return op->emitOpError()
             << "expected " << name << " to be " << fields.size()
             << " sizes from 1 to " << ::nm::kMaxSize;
    for (auto [field, size] : llvm::zip(fields, sizes))
      *field = size;
    return success();
  };
  if (failed(set(block, "block",
                 {&schedule.blockM, &schedule.blockN, &schedule.blockK})) ||
      failed(set(warp, "warp", {&schedule.warpM, &schedule.warpN})) ||
      failed(set(thread, "thread", {&schedule.threadM, &schedule.threadN})))
    return failure();
  // The panels of simt are cut to the block.
  if (!block.empty() && schedule.strategy == GpuStrategy::Simt)
    schedule.packing.panel =
        ::nm::choosePanel(op.getPattern(), schedule.blockN, schedule.warpN);
  if (stages != 0)
    schedule.stages = stages;
  // Parts that are given are the blocks of a cluster only where that is, too.
  if (splitK != 0) {
    schedule.splitK = splitK;
    schedule.clusterK = 1;
  }
  if (clusterK != 0)
    schedule.clusterK = clusterK;
  // Those chosen may not divide what a tile keeps that is given.
  if (sliceK != 0 || !block.empty())
    schedule.sliceK = std::max<int64_t>(sliceK, 1);
  schedule.prefetch = prefetch;
  return success();
}

/// Lets blocks stage only the rows of A that they use.
static LogicalResult packRows(SparseProductOpInterface op,
                              GpuSchedule &schedule, bool packsWeights) {
  if (schedule.strategy != GpuStrategy::Simt)
    return op->emitOpError()
           << "expected strategy simt to pack rows of A, but got "
           << nameOf(schedule.strategy);
  if (!packsWeights)
    return op->emitOpError() << "expected sparse weights to pack rows of A";
  schedule.pack = true;
  ScheduleAttrInterface attribute = toAttribute(op, schedule, /*packs=*/true);
  if (!attribute)
    return failure();
  PackingAttr packing = attribute.getPackingOf(op.getPattern());
  if (::nm::Status status = packing.getPacking().verify(op.getPattern());
      !status)
    return op->emitOpError() << status.error().message;
  return success();
}

/// The way that is right for every product and fast for none.
void NMSelectGpuSchedule::selectLoops(SparseProductOpInterface op,
                                      const Twine &reason) {
  op.setScheduleAttr(LoopsScheduleAttr::get(&getContext()));
  emitWarning(op.getLoc()) << describeProduct(op)
                           << ": strategy loops, a thread for each element of "
                              "C, which is slow: "
                           << reason;
}

/// The tiles of our own product with dense weights, which takes cuBLAS' place
/// where that cannot be loaded, in f32 for narrower floats; without any where
/// strategy simt has no such product.
static GpuSchedule getDenseSchedule(GpuProduct product, const GpuChip &gpu,
                                    double microseconds) {
  product.pattern = getDensePattern(kDenseColumns);
  if (isFloat(product.type))
    product.type = product.outputType = ::nm::ElementType::F32;
  ::nm::Result<GpuSchedule> own =
      ::nm::selectGpuSchedule(product, gpu, GpuStrategy::Simt);
  GpuSchedule schedule;
  if (own)
    schedule = *own;
  schedule.strategy = GpuStrategy::Cublas;
  schedule.microseconds = microseconds;
  return schedule;
}

/// Whether cuBLAS is known to refuse the i8 product `op`, as cuBLAS 13.1 does
/// on an H200 whatever its documentation says: of layouts that do not have both
/// operands contiguous along k, which ours never do, it has all where it sees
/// fewer than 32 rows, and the rest from k = 136. Its rows are our columns,
/// unless C is transposed.
static bool isRefusedInBytes(SparseProductOpInterface op) {
  bool isTransposed = cast<SpMMOp>(*op).getTransposeC();
  int64_t rows = isTransposed ? op.getStaticM() : op.getStaticN();
  return rows >= 32 && op.getStaticK() < 136;
}

/// Why cuBLAS has no product like `op`, if so.
static std::optional<std::string>
whyNotCublas(SparseProductOpInterface op, double estimate, bool isDemanded) {
  if (!isa<SpMMOp>(op) || estimate < 0 || op.getNumBatchDims() > 1)
    return "cuBLAS has no such product";
  // Its rows of bytes are whole words.
  bool isBytes = op.getAType().getElementType().isSignlessInteger(8);
  auto isWhole = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % 4 == 0;
  };
  if (isBytes && !(isWhole(op.getStaticM()) && isWhole(op.getStaticN()) &&
                   isWhole(op.getStaticK())))
    return "cuBLAS multiplies i8 where all sizes are known multiples of 4";
  // On demand it is asked, and what it refuses our own product makes.
  if (isBytes && !isDemanded && isRefusedInBytes(op))
    return "cuBLAS refuses sums of i8 that are as short";
  return std::nullopt;
}

std::string
NMSelectGpuSchedule::chooseDense(SparseProductOpInterface op,
                                 const GpuChip &gpu,
                                 ::nm::Result<GpuSchedule> &chosen) {
  GpuProduct product = getProduct(op);
  double dense = ::nm::estimateCublas(product, gpu);
  std::optional<std::string> obstacle =
      whyNotCublas(op, dense, only.has_value());
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
  if (!isDense(op))
    makeDense(op, getDensePattern(kDenseColumns));
  std::string reason = "calls cuBLAS with dense weights, ";
  if (only)
    reason += "as the strategy option says";
  else if (chosen)
    reason += "which is faster: " + describeTime(chosen->microseconds) +
              " by strategy " + nameOf(chosen->strategy).str();
  else
    reason +=
        "for no other strategy has this product: " + chosen.error().message;
  chosen = getDenseSchedule(product, gpu, dense);
  return reason;
}

LogicalResult NMSelectGpuSchedule::select(SparseProductOpInterface op,
                                          const GpuChip &gpu) {
  if (strategy == "loops") {
    selectLoops(op, "as the strategy option says");
    return success();
  }
  if (std::optional<std::string> reason = whyUnknown(op)) {
    if (only)
      return op->emitOpError() << *reason;
    selectLoops(op, *reason);
    return success();
  }
  // A dense matrix that comes with each call is best left as it is.
  bool packs = !isDense(op) || areWeightsLoaded(op);
  if (!packs && op.hasPureTensorSemantics() &&
      op.getValuesType().hasStaticShape())
    narrowDenseUnits(op, kDenseColumns);
  std::string name = describeProduct(op, GpuProduct::kTypicalRows);
  GpuProduct product = getProduct(op);
  product.rowPacking = getRowPacking(op);
  bool mustPack = pack == "true";
  ::nm::Result<GpuSchedule> chosen = ::nm::selectGpuSchedule(
      product, gpu, mustPack && !only ? GpuStrategy::Simt : only);
  std::string reason = "dense was not considered";
  bool onlyCublas = only == GpuStrategy::Cublas;
  if (onlyCublas || (denseFallback && !only && !hasGivenSizes()))
    reason = chooseDense(op, gpu, chosen);
  if (!chosen && (only || mustPack))
    return op->emitOpError() << chosen.error().message;
  if (!chosen) {
    selectLoops(op, chosen.error().message);
    return success();
  }
  return setSchedule(op, gpu, *chosen, packs, name, reason);
}

void NMSelectGpuSchedule::warnOfParts(SparseProductOpInterface op,
                                      const GpuSchedule &chosen) {
  if (splitK == 0 || chosen.strategy == GpuStrategy::Cublas)
    return;
  KParts parts(op.getStaticK(), chosen.blockK, splitK, chosen.clusterK);
  if (parts.count != splitK)
    emitWarning(op.getLoc())
        << "expected k = " << op.getStaticK() << " to have "
        << splitK.getValue() << " parts of whole tiles of " << chosen.blockK
        << ", as split-k asks for, but it is cut into " << parts.count;
}

LogicalResult NMSelectGpuSchedule::setSchedule(SparseProductOpInterface op,
                                               const GpuChip &gpu,
                                               GpuSchedule chosen, bool packs,
                                               StringRef name,
                                               StringRef reason) {
  bool isCublas = chosen.strategy == GpuStrategy::Cublas;
  // Strategy gemv reads packed weights alone, so that a dense matrix that comes
  // with each call is packed then.
  packs = !isCublas && (packs || chosen.strategy == GpuStrategy::Gemv);
  ScheduleAttrInterface byModel = toAttribute(op, chosen, packs);
  if (failed(override(op, chosen)) ||
      (pack == "true" && failed(packRows(op, chosen, packs))))
    return failure();
  ScheduleAttrInterface schedule = toAttribute(op, chosen, packs);
  if (!schedule)
    return failure();
  op.setScheduleAttr(schedule);
  warnOfParts(op, chosen);
  InFlightDiagnostic remark = emitRemark(op.getLoc());
  remark << name << ": strategy " << schedule.getStrategyName() << " on "
         << gpu.name;
  if (schedule != byModel) {
    remark << ", with sizes that were given; schedule " << schedule;
    return success();
  }
  remark << "; estimated " << describeTime(chosen.microseconds);
  if (!isCublas)
    remark << ", at least " << describeTime(chosen.fmaFloor)
           << " of multiplications and " << describeTime(chosen.memoryFloor)
           << " of memory; " << chosen.sharedBytes << " bytes of shared memory";
  remark << "; " << reason << "; schedule " << schedule;
  return success();
}
