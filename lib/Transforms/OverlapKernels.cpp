//===- OverlapKernels.cpp - Start a kernel while another one ends ---------===//

#include "nm/Schedule/GpuChip.h"
#include "nm/Support/EarlyStart.h"
#include "nm/Support/KernelObjects.h"
#include "nm/Transforms/EarlyStarts.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMOVERLAPKERNELS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// The largest grid that starts early on one of the chips that `module` is
/// compiled for, or nothing where not every one has griddepcontrol, which came
/// with compute capability 9.0 (PTX ISA 9.7.13.13).
static std::optional<int64_t> getEarlyBlocks(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  if (!targets || targets.empty())
    return std::nullopt;
  int64_t most = 0;
  for (Attribute target : targets) {
    auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target);
    auto known = ::nm::GpuChip::get(nvvm ? nvvm.getChip().str() : "");
    if (!known || !known->startsEarly())
      return std::nullopt;
    most = std::max(most, known->earlyBlocks());
  }
  return most;
}

static bool isPrefetch(Operation *op) {
  return isa<NVVM::CpAsyncBulkPrefetchOp>(op);
}

/// Whether `op` need not wait for the kernel before: what is prefetched to L2
/// is there for that kernel to write as well, and constants it does not write.
static bool isEarly(Operation *op) {
  return isPrefetch(op) || op->hasAttr(mlir::nm::kEarlyLoad);
}

static bool has(Operation *op, bool (*isOne)(Operation *)) {
  return op
      ->walk([&](Operation *inner) {
        return isOne(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The blocks of the kernel, where these are known.
static std::optional<int64_t> countBlocks(gpu::GPUFuncOp kernel) {
  std::optional<ArrayRef<int32_t>> grid = kernel.getKnownGridSize();
  if (!grid)
    return std::nullopt;
  int64_t blocks = 1;
  for (int32_t size : *grid)
    blocks *= size;
  return blocks;
}

/// Whether the runtime launches the kernel when the one before it is over
/// anyway: see gainsFromEarlyStart. A kernel that prefetches may start early
/// behind a kernel of few blocks, see gainsBehindFewBlocks.
static bool isTooLarge(gpu::GPUFuncOp kernel, int64_t earlyBlocks) {
  std::optional<int64_t> blocks = countBlocks(kernel);
  return blocks && *blocks > earlyBlocks && !has(kernel, isPrefetch);
}

/// Whether the kernel leaves nearly all multiprocessors to others, as the norm
/// of a row does.
static bool hasFewBlocks(gpu::GPUFuncOp kernel, int64_t multiprocessors) {
  std::optional<int64_t> blocks = countBlocks(kernel);
  return blocks && ::nm::isOfFewBlocks(*blocks, multiprocessors);
}

/// Whether `op` may touch memory that the kernel before writes.
static bool touchesMemory(Operation &op) {
  if (isEarly(&op))
    return false;
  if (!op.hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return !isMemoryEffectFree(&op);
  return llvm::any_of(op.getRegions(), [](Region &region) {
    return llvm::any_of(region.getOps(), touchesMemory);
  });
}

/// Where the kernel waits: first of all, or after what it prefetches, or loads
/// of constants, before it touches other memory. ptxas orders a kernel's loads
/// and multiplications as without the wait only where nothing is computed
/// before it; elsewhere whole loops came out otherwise, up to 10 % slower, to
/// compute a few addresses earlier.
static Block::iterator findWait(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  Block::iterator place = entry.begin();
  for (Operation &op : entry.without_terminator()) {
    if (touchesMemory(op))
      break;
    if (has(&op, isEarly))
      place = std::next(op.getIterator());
  }
  return place;
}

static bool isShort(gpu::GPUFuncOp kernel) {
  return has(kernel,
             [](Operation *op) { return op->hasAttr(mlir::nm::kShortKernel); });
}

/// A variable that tells the runtime, whatever image it gets of the kernel.
static void addMark(gpu::GPUFuncOp kernel, const char *mark) {
  OpBuilder builder(kernel);
  LLVM::GlobalOp::create(builder, kernel.getLoc(), builder.getI8Type(),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         (mark + kernel.getName()).str(),
                         builder.getI8IntegerAttr(1), /*alignment=*/1,
                         unsigned(NVVM::NVVMMemorySpace::Global));
}

/// Lets the next kernel start. No block of that one starts before all blocks of
/// this one have come here, so none takes a place that a later wave of this
/// kernel needs.
static void letNextStart(OpBuilder &builder, gpu::GPUFuncOp kernel) {
  NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                 NVVM::GridDepActionKind::launch_dependents);
}

static void overlap(gpu::GPUFuncOp kernel, int64_t earlyBlocks) {
  OpBuilder builder(kernel.getContext());
  bool waits = !isTooLarge(kernel, earlyBlocks);
  // Behind a kernel of few blocks the next one prefetches while the kernel
  // before this one still runs. Behind others it starts after the wait, so that
  // one kernel at most waits beside the one that runs.
  bool isFirst = waits && hasFewBlocks(kernel, earlyBlocks);
  builder.setInsertionPoint(&kernel.getBody().front(), findWait(kernel));
  if (isFirst)
    letNextStart(builder, kernel);
  if (waits) {
    NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                   NVVM::GridDepActionKind::wait);
    addMark(kernel, ::nm::kWaitMark);
    if (isShort(kernel))
      addMark(kernel, ::nm::kShortMark);
  }
  if (!isFirst)
    letNextStart(builder, kernel);
}

namespace {
struct NMOverlapKernels
    : mlir::nm::impl::NMOverlapKernelsBase<NMOverlapKernels> {
  void runOnOperation() override {
    std::optional<int64_t> earlyBlocks = getEarlyBlocks(getOperation());
    if (!earlyBlocks)
      return;
    for (auto kernel : llvm::to_vector(getOperation().getOps<gpu::GPUFuncOp>()))
      if (kernel.isKernel())
        overlap(kernel, *earlyBlocks);
  }
};
} // namespace
