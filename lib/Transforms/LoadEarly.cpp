//===- LoadEarly.cpp - Constants first of all that a kernel loads ---------===//

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Transforms/EarlyStarts.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMLOADEARLY
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// What `op` loads, or copies to shared memory; null for other ops.
static Value findSource(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([](memref::LoadOp load) { return load.getMemRef(); })
      .Case([](vector::LoadOp load) { return load.getBase(); })
      .Case([](nvgpu::DeviceAsyncCopyOp copy) { return copy.getSrc(); })
      .Default(Value());
}

/// Whether `memory` is a constant's, which no kernel writes.
static bool isConstant(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  auto global = memory.getDefiningOp<memref::GetGlobalOp>();
  if (!global)
    return false;
  auto symbol = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      global, global.getNameAttr());
  return symbol && symbol.getConstant();
}

namespace {
/// What an op at a kernel's begin does: it computes, loads constants alone,
/// loads other memory, too, or ends the begin.
enum class Step { Computes, LoadsConstants, Loads, Ends };
} // namespace

static Step classify(Operation *op) {
  if (Value source = findSource(op))
    return isConstant(source) ? Step::LoadsConstants : Step::Loads;
  if (isa<NVVM::CpAsyncCommitGroupOp>(op))
    return Step::Loads;
  // Of conditions, those around copies.
  auto condition = dyn_cast<scf::IfOp>(op);
  if (!condition || condition->getNumResults() != 0)
    return isMemoryEffectFree(op) && op->getNumRegions() == 0 ? Step::Computes
                                                              : Step::Ends;
  Step most = Step::Computes;
  for (Region &region : condition->getRegions())
    for (Operation &inner : region.getOps())
      if (!inner.hasTrait<OpTrait::IsTerminator>())
        most = std::max(most, classify(&inner));
  return most;
}

/// Marks what `op` loads of constants.
static void markEarly(Operation *op) {
  op->walk([](Operation *inner) {
    if (findSource(inner))
      inner->setAttr(mlir::nm::kEarlyLoad, UnitAttr::get(inner->getContext()));
  });
}

/// Puts `op`, and before it what computes its operands, in front of `place`, an
/// op before it in its block; false where these are not computed alone.
static bool moveBefore(Operation *place, Operation *op) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> open = {op};
  auto addOperands = [&](Operation *user) {
    for (Value operand : user->getOperands())
      if (Operation *made = operand.getDefiningOp();
          made && made->getBlock() == place->getBlock() &&
          !made->isBeforeInBlock(place))
        open.push_back(made);
  };
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!needed.insert(next))
      continue;
    if (next != op && classify(next) != Step::Computes)
      return false;
    next->walk(addOperands);
  }
  SmallVector<Operation *> inOrder = llvm::to_vector(needed);
  llvm::sort(inOrder,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *each : inOrder)
    each->moveBefore(place);
  return true;
}

/// Loads of constants that the kernel begins with come before all other loads.
static void loadEarly(gpu::LaunchOp launch) {
  Operation *first = nullptr;
  for (Operation &op :
       llvm::make_early_inc_range(launch.getBody().front().getOperations())) {
    Step step = classify(&op);
    // Loops, barriers and stores.
    if (step == Step::Ends)
      return;
    if (step == Step::Loads)
      first = first ? first : &op;
    else if (step == Step::LoadsConstants && (!first || moveBefore(first, &op)))
      markEarly(&op);
  }
}

/// The blocks of the launch, where these are known.
static std::optional<int64_t> countBlocks(gpu::LaunchOp launch) {
  int64_t blocks = 1;
  for (Value size :
       {launch.getGridSizeX(), launch.getGridSizeY(), launch.getGridSizeZ()}) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known)
      return std::nullopt;
    blocks *= *known;
  }
  return blocks;
}

namespace {
struct NMLoadEarly : mlir::nm::impl::NMLoadEarlyBase<NMLoadEarly> {
  void runOnOperation() override {
    FailureOr<::nm::GpuChip> chip = mlir::nm::getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    // Larger grids start when all before them is over.
    int64_t most = chip->earlyBlocks();
    getOperation().walk([&](gpu::LaunchOp launch) {
      if (std::optional<int64_t> blocks = countBlocks(launch);
          blocks && *blocks <= most)
        loadEarly(launch);
    });
  }
};
} // namespace
