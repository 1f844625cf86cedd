//===- WindowsToGPU.cpp - Reductions of windows to kernels ----------------===//

#include "nm/GPU/Windows/WindowsToGPU.h"

#include "GPU/Windows/SharedWindows.h"
#include "GPU/Windows/WindowKernel.h"

#include "nm/Dialect/NM/IR/MemoryAccesses.h"
#include "nm/Dialect/NM/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTWINDOWSTOGPU
#include "nm/GPU/Windows/WindowsToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Elements of a window, all of which a thread's code names.
static constexpr int64_t kMaxTaps = 64;

/// Says what is in the kernel beside a reduction of windows.
static void reportRest(InFlightDiagnostic &remark, const WindowOp &window) {
  if (llvm::any_of(window.inputs, [](const WindowOperand &input) {
        return input.padded.has_value();
      }))
    remark << ", and which reads the image without its padding";
  if (window.epilogue)
    remark << ", with the op behind it";
}

/// Launches a kernel whose threads have windows of their own.
static void launch(OpBuilder &builder, const WindowOp &window) {
  linalg::LinalgOp op = window.op;
  WindowShape shape = chooseShape(window);
  InFlightDiagnostic remark = emitRemark(op.getLoc());
  remark << op->getName() << " is a kernel of windows of " << window.countTaps()
         << " elements, whose threads make " << shape.width
         << (shape.width == 1 ? " element" : " neighbours");
  if (shape.width > 1)
    remark << (shape.hasVectors ? " of vectors" : " one by one");
  reportRest(remark, window);
  launchWindowKernel(builder, window, shape);
}

/// Launches a kernel whose threads share windows.
static void launch(OpBuilder &builder, const WindowOp &window,
                   const SharedShape &shape) {
  linalg::LinalgOp op = window.op;
  InFlightDiagnostic remark = emitRemark(op.getLoc());
  remark << op->getName() << " is a kernel of windows of " << window.countTaps()
         << " elements, of which " << shape.shares << " threads "
         << (shape.isAlongTaps ? "side by side" : "behind each other")
         << " share those of " << shape.thread.width
         << (shape.thread.width == 1 ? " element" : " neighbours");
  reportRest(remark, window);
  launchSharedWindows(builder, window, shape);
}

/// Makes a kernel of `window`, if one of both ways is for it.
static void convert(OpBuilder &builder, WindowOp window) {
  llvm::SmallSetVector<Value, 4> memory;
  for (Value operand : window.op->getOperands())
    if (Value root =
            isa<MemRefType>(operand.getType()) ? findRoot(operand) : Value())
      memory.insert(root);
  window.readImages();
  window.takeEpilogue();
  bool isWhole = window.hasWindows() && window.countTaps() <= kMaxTaps &&
                 !window.readsIndices();
  std::optional<SharedShape> shared;
  if (!isWhole)
    shared = chooseSharedShape(window);
  if (!isWhole && !shared)
    return;
  builder.setInsertionPoint(window.getLast());
  if (shared)
    launch(builder, window, *shared);
  else
    launch(builder, window);
  for (const WindowOperand &input : window.inputs)
    if (input.padded)
      for (Operation *dealloc : input.padded->deallocs)
        dealloc->moveAfter(window.getLast());
  if (window.epilogue)
    for (Operation *dealloc : window.epilogue->deallocs)
      dealloc->moveAfter(window.getLast());
  if (window.epilogue)
    window.epilogue->op->erase();
  window.op->erase();
  if (window.fill)
    window.fill->op->erase();
  for (Value root : memory)
    eraseUnread(root);
}

/// The linalg ops that the host would run, one after the other.
static SmallVector<linalg::LinalgOp> collectOps(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto found = dyn_cast<linalg::LinalgOp>(op))
      ops.push_back(found);
    return isa<gpu::LaunchOp, scf::ForallOp, scf::ParallelOp, linalg::LinalgOp>(
               op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  return ops;
}

void mlir::nm::convertWindowsToGPU(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  std::vector<WindowOp> windows;
  // Others are erased with those that read what they fill or copy.
  for (linalg::LinalgOp op : collectOps(function))
    if (std::optional<WindowOp> window = WindowOp::get(op))
      windows.push_back(std::move(*window));
  for (WindowOp &window : windows)
    convert(builder, std::move(window));
}

namespace {
struct ConvertWindowsToGPU
    : mlir::nm::impl::ConvertWindowsToGPUBase<ConvertWindowsToGPU> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(mlir::nm::kHostFunction))
      mlir::nm::convertWindowsToGPU(getOperation());
  }
};
} // namespace
