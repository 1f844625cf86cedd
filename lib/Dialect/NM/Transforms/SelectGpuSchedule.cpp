//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "DescribeProduct.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/GpuSchedule.h"

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
  product.type = *mlir::nm::getElementType(op.getAType().getElementType());
  product.outputType =
      *mlir::nm::getElementType(op.getCType().getElementType());
  return product;
}

static Strategy toAttribute(GpuStrategy strategy) {
  switch (strategy) {
  case GpuStrategy::Simt:
    return Strategy::Simt;
  case GpuStrategy::Gemv:
    return Strategy::Gemv;
  }
  llvm_unreachable("all strategies are handled");
}

static std::optional<GpuStrategy> fromAttribute(Strategy strategy) {
  switch (strategy) {
  case Strategy::Simt:
    return GpuStrategy::Simt;
  case Strategy::Gemv:
    return GpuStrategy::Gemv;
  default:
    return std::nullopt;
  }
}

/// Sizes that a strategy has no use for are absent.
static SmallVector<int64_t> getSizes(ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return {};
  return SmallVector<int64_t>(sizes);
}

static ScheduleAttr toAttribute(MLIRContext *context,
                                const GpuSchedule &chosen) {
  auto packing = PackingAttr::get(context, chosen.packing);
  return ScheduleAttr::get(
      context, toAttribute(chosen.strategy),
      getSizes({chosen.blockM, chosen.blockN, chosen.blockK}),
      getSizes({chosen.warpM, chosen.warpN}),
      getSizes({chosen.threadM, chosen.threadN}), chosen.stages, chosen.splitK,
      chosen.sliceK, packing);
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
    if (failed(readStrategy()))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](SparseProductOpInterface op) {
      return WalkResult(op.getScheduleAttr() ? checkGiven(op)
                                             : select(op, *found));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult readStrategy();
  LogicalResult override(SparseProductOpInterface op, GpuSchedule &schedule);
  LogicalResult checkGiven(SparseProductOpInterface op) {
    if (hasGpuSchedule(op) ||
        op.getScheduleAttr().getStrategy() == Strategy::Loops)
      return success();
    return op->emitOpError()
           << "expected a schedule of a GPU strategy, but got "
           << stringifyStrategy(op.getScheduleAttr().getStrategy());
  }

  LogicalResult select(SparseProductOpInterface op, const GpuChip &gpu);
  void selectLoops(SparseProductOpInterface op, const Twine &reason);

  /// What the option `strategy` says.
  std::optional<GpuStrategy> only;
};
} // namespace

LogicalResult NMSelectGpuSchedule::readStrategy() {
  if (strategy.empty() || strategy == "loops")
    return success();
  if (std::optional<Strategy> named = symbolizeStrategy(strategy))
    only = fromAttribute(*named);
  if (only)
    return success();
  return getOperation()->emitError()
         << "expected a strategy of GPUs, but got '" << strategy << "'";
}

/// Puts the sizes that the options give in place of the chosen ones.
LogicalResult NMSelectGpuSchedule::override(SparseProductOpInterface op,
                                            GpuSchedule &schedule) {
  auto set = [&](ArrayRef<int64_t> sizes, StringRef name,
                 ArrayRef<int64_t *> fields) -> LogicalResult {
    if (sizes.empty())
      return success();
    if (sizes.size() != fields.size() ||
        llvm::any_of(sizes, [](int64_t size) { return size < 1; }))
      return op->emitOpError() << "expected " << name << " to be "
                               << fields.size() << " positive sizes";
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
  if (stages > 0)
    schedule.stages = stages;
  if (splitK > 0)
    schedule.splitK = splitK;
  if (sliceK > 0)
    schedule.sliceK = sliceK;
  return success();
}

/// The way that is right for every product and fast for none.
void NMSelectGpuSchedule::selectLoops(SparseProductOpInterface op,
                                      const Twine &reason) {
  op.setScheduleAttr(ScheduleAttr::get(&getContext(), Strategy::Loops,
                                       /*block=*/{}, /*warp=*/{}, /*thread=*/{},
                                       /*stages=*/1, /*splitK=*/1, /*sliceK=*/1,
                                       PackingAttr()));
  emitWarning(op.getLoc()) << describeProduct(op)
                           << ": strategy loops, a thread for each element of "
                              "C, which is slow: "
                           << reason;
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
  GpuProduct product = getProduct(op);
  ::nm::Result<GpuSchedule> chosen =
      ::nm::selectGpuSchedule(product, gpu, only);
  if (!chosen && only)
    return op->emitOpError() << chosen.error().message;
  if (!chosen) {
    selectLoops(op, chosen.error().message);
    return success();
  }
  ScheduleAttr byModel = toAttribute(&getContext(), *chosen);
  if (failed(override(op, *chosen)))
    return failure();
  op.setScheduleAttr(toAttribute(&getContext(), *chosen));
  if (op.getScheduleAttr() != byModel) {
    emitRemark(op.getLoc())
        << describeProduct(op, GpuProduct::kTypicalRows) << ": strategy "
        << stringifyStrategy(op.getScheduleAttr().getStrategy()) << " on "
        << gpu.name << ", with sizes that were given; schedule "
        << op.getScheduleAttr();
    return success();
  }
  emitRemark(op.getLoc())
      << describeProduct(op, GpuProduct::kTypicalRows) << ": strategy "
      << stringifyStrategy(op.getScheduleAttr().getStrategy()) << " on "
      << gpu.name << "; estimated " << describeTime(chosen->microseconds)
      << ", at least " << describeTime(chosen->fmaFloor)
      << " of multiplications and " << describeTime(chosen->memoryFloor)
      << " of memory; " << chosen->sharedBytes
      << " bytes of shared memory; schedule " << op.getScheduleAttr();
  return success();
}
