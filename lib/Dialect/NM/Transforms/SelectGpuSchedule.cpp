//===- SelectGpuSchedule.cpp - How each product is mapped to a GPU --------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/GpuSchedule.h"

#include "llvm/Support/FormatVariadic.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTGPUSCHEDULE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::GpuProduct;
using ::nm::GpuSchedule;

static GpuProduct getProduct(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(*op);
  int64_t m = product.getStaticM();
  return {product.getPattern(),
          ShapedType::isDynamic(m) ? GpuProduct::kUnknown : m,
          product.getStaticN(), product.getStaticK()};
}

/// Why strategy simt cannot take `op`, if so.
static std::optional<std::string> whyNotSimt(Operation *op) {
  auto product = dyn_cast<SpMMOp>(op);
  if (!product)
    return "expected nm.spmm, the product that strategy simt has";
  auto sparse = cast<SparseProductOpInterface>(op);
  if (!sparse.getAType().getElementType().isF32() ||
      !sparse.getCType().getElementType().isF32())
    return "expected f32 operands for strategy simt";
  if (ShapedType::isDynamic(sparse.getStaticK()) ||
      ShapedType::isDynamic(sparse.getStaticN()))
    return "expected a constant k and n on a GPU";
  return std::nullopt;
}

static ScheduleAttr toAttribute(MLIRContext *context,
                                const GpuSchedule &chosen) {
  auto packing =
      PackingAttr::get(context, chosen.packing.panel, chosen.packing.indexBits);
  return ScheduleAttr::get(
      context, Strategy::Simt, {chosen.blockM, chosen.blockN, chosen.blockK},
      {chosen.warpM, chosen.warpN}, {chosen.threadM, chosen.threadN},
      chosen.stages, /*splitK=*/1, packing);
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
    WalkResult result = getOperation()->walk([&](SparseProductOpInterface op) {
      return WalkResult(op.getScheduleAttr() ? checkGiven(op)
                                             : select(op, *found));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult checkGiven(SparseProductOpInterface op) {
    if (hasGpuSchedule(op))
      return success();
    return op->emitOpError()
           << "expected a schedule of a GPU strategy, but got "
           << stringifyStrategy(op.getScheduleAttr().getStrategy());
  }

  LogicalResult select(SparseProductOpInterface op, const GpuChip &gpu);
};
} // namespace

LogicalResult NMSelectGpuSchedule::select(SparseProductOpInterface op,
                                          const GpuChip &gpu) {
  if (std::optional<std::string> reason = whyNotSimt(op))
    return op->emitOpError() << *reason;
  GpuProduct product = getProduct(cast<SpMMOp>(*op));
  ::nm::Result<GpuSchedule> chosen = ::nm::selectGpuSchedule(product, gpu);
  if (!chosen)
    return op->emitOpError() << chosen.error().message;
  op.setScheduleAttr(toAttribute(&getContext(), *chosen));
  emitRemark(op.getLoc())
      << op->getName() << " <" << product.pattern.str() << "> ("
      << llvm::formatv("{0:f1}", 100 * product.pattern.sparsity()).str()
      << " % sparse), m = "
      << (product.m == GpuProduct::kUnknown ? "?, taken to be " : "")
      << product.rows() << ", n = " << product.n << ", k = " << product.k
      << ": strategy simt on " << gpu.name << "; estimated "
      << llvm::formatv("{0:f1} us, at least {1:f1} us of multiplications and "
                       "{2:f1} us of memory",
                       chosen->microseconds, chosen->fmaFloor,
                       chosen->memoryFloor)
             .str()
      << "; " << chosen->sharedBytes << " bytes of shared memory; schedule "
      << op.getScheduleAttr();
  return success();
}
