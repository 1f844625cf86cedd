//===- InlineLaunches.cpp - Calls of what launches a kernel to launches ---===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMINLINELAUNCHES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Whether calls of `function` are inlined.
static bool launchesKernel(func::FuncOp function) {
  return function.isPrivate() && function.getBody().hasOneBlock() &&
         function.getNumResults() == 0 &&
         !function.getOps<gpu::LaunchFuncOp>().empty();
}

static void inlineCall(func::CallOp call, func::FuncOp function) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(function.getArguments(), call.getOperands());
  for (Operation &op : function.front().without_terminator())
    builder.clone(op, mapping)->setLoc(call.getLoc());
  call.erase();
}

namespace {
struct NMInlineLaunches
    : mlir::nm::impl::NMInlineLaunchesBase<NMInlineLaunches> {
  void runOnOperation() override;
};
} // namespace

void NMInlineLaunches::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<func::CallOp> calls;
  getOperation().walk([&](func::CallOp call) { calls.push_back(call); });
  llvm::SmallPtrSet<Operation *, 8> inlined;
  for (func::CallOp call : calls) {
    auto function = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!function || !launchesKernel(function))
      continue;
    inlineCall(call, function);
    inlined.insert(function);
  }
  for (Operation *function : inlined)
    function->erase();
}
