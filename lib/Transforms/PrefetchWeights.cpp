//===- PrefetchWeights.cpp - The next product's weights to L2 -------------===//

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPREFETCHWEIGHTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::getChip;

/// Weights that are read sooner than a prefetch of them pays.
static constexpr int64_t kLeastWeights = int64_t(1) << 20;
/// Bytes that a thread asks for.
static constexpr int64_t kChunk = 4096;
/// A line of the second-level cache.
static constexpr int64_t kLine = 128;

namespace {
/// A packed weight: panels, each contiguous in the order in which it is read.
struct Weight {
  Value memory;
  int64_t panels, panelBytes;

  int64_t bytes() const { return panels * panelBytes; }
};
} // namespace

static bool isPackedArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function && argument.getOwner()->isEntryBlock() &&
         (function.getArgAttr(argument.getArgNumber(), "nm.packed_values_of") ||
          function.getArgAttr(argument.getArgNumber(), "nm.packed_indices_of"));
}

/// The weight that `value` is, if it is one.
static std::optional<Weight> getWeight(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type ||
      (!value.getDefiningOp<memref::GetGlobalOp>() && !isPackedArgument(value)))
    return std::nullopt;
  if (type.getRank() < 3 || !type.hasStaticShape() ||
      !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() % 8 != 0)
    return std::nullopt;
  int64_t panelBytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape().drop_front())
    panelBytes *= size;
  if (panelBytes % kLine != 0)
    return std::nullopt;
  return Weight{value, type.getDimSize(0), panelBytes};
}

/// The weights that ops in `op` read.
static SmallVector<Weight> getWeights(Operation *op) {
  llvm::SmallSetVector<Value, 4> seen;
  SmallVector<Weight> weights;
  int64_t bytes = 0;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()) &&
          seen.insert(operand))
        if (std::optional<Weight> weight = getWeight(operand)) {
          weights.push_back(*weight);
          bytes += weight->bytes();
        }
  });
  return bytes < kLeastWeights ? SmallVector<Weight>() : weights;
}

/// Whether threads of a launch are numbered along x alone.
static bool isOneDimensional(gpu::LaunchOp launch) {
  return llvm::all_of(
      ArrayRef<Value>{launch.getGridSizeY(), launch.getGridSizeZ(),
                      launch.getBlockSizeY(), launch.getBlockSizeZ()},
      [](Value size) { return getConstantIntValue(size) == int64_t(1); });
}

/// Has a thread for each chunk of the first `bytes` of `weight`, the same share
/// of each panel, ask for it.
static void prefetch(ImplicitLocOpBuilder &b, Value slot, const Weight &weight,
                     int64_t bytes) {
  int64_t share =
      std::min(weight.panelBytes, bytes / weight.panels / kLine * kLine);
  if (share == 0)
    return;
  int64_t chunks = llvm::divideCeil(share, kChunk);
  int64_t chunk = share / chunks / kLine * kLine;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, slot,
                                      index(weight.panels * chunks));
  auto branch = scf::IfOp::create(b, isOne, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value panel = arith::DivUIOp::create(b, slot, index(chunks)),
        part = arith::RemUIOp::create(b, slot, index(chunks));
  Value offset = arith::AddIOp::create(
      b, arith::MulIOp::create(b, panel, index(weight.panelBytes)),
      arith::MulIOp::create(b, part, index(chunk)));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, weight.memory);
  Value address = arith::IndexCastUIOp::create(
      b, b.getI64Type(), arith::AddIOp::create(b, base, offset));
  auto global = LLVM::LLVMPointerType::get(
      b.getContext(), unsigned(NVVM::NVVMMemorySpace::Global));
  NVVM::CpAsyncBulkPrefetchOp::create(
      b, LLVM::IntToPtrOp::create(b, global, address),
      arith::ConstantIntOp::create(b, chunk, 32), /*l2CacheHint=*/Value());
}

/// Has the threads of `carrier`, as they end, ask for the first `bytes` of the
/// weights, of each in proportion to its size.
static void prefetch(gpu::LaunchOp carrier, ArrayRef<Weight> weights,
                     int64_t bytes) {
  ImplicitLocOpBuilder b(carrier.getLoc(),
                         carrier.getBody().back().getTerminator());
  Value slot =
      arith::AddIOp::create(b,
                            arith::MulIOp::create(b, carrier.getThreadIds().x,
                                                  carrier.getGridSize().x),
                            carrier.getBlockIds().x);
  int64_t all = 0;
  for (const Weight &weight : weights)
    all += weight.bytes();
  double share = std::min(1.0, double(bytes) / double(all));
  for (const Weight &weight : weights)
    prefetch(b, slot, weight, int64_t(share * double(weight.bytes())));
}

/// Has each launch of `block` that reads weights prefetch those of the next one
/// that does.
static void prefetchWeightsOf(Block &block, int64_t bytes) {
  gpu::LaunchOp carrier;
  bool isAdjacent = true;
  for (Operation &op : block) {
    SmallVector<Weight> weights = getWeights(&op);
    auto launch = dyn_cast<gpu::LaunchOp>(op);
    if (weights.empty()) {
      isAdjacent &= !launch && op.getNumRegions() == 0;
      continue;
    }
    // While other kernels run, memory has time for more.
    if (carrier && launch)
      prefetch(carrier, weights, isAdjacent ? bytes : 2 * bytes);
    carrier = launch && isOneDimensional(launch) ? launch : gpu::LaunchOp();
    isAdjacent = true;
  }
}

namespace {
struct NMPrefetchWeights
    : mlir::nm::impl::NMPrefetchWeightsBase<NMPrefetchWeights> {
  using NMPrefetchWeightsBase::NMPrefetchWeightsBase;

  void runOnOperation() override {
    if (bytes == 0)
      return;
    FailureOr<::nm::GpuChip> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    // cp.async.bulk.prefetch came with sm_90, as early starts did.
    if (!chip->startsEarly())
      return;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          prefetchWeightsOf(block, bytes);
      return WalkResult::advance();
    });
  }
};
} // namespace
