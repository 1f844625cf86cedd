//===- MarkSteps.cpp - When each step of a function is over ---------------===//

#include "nm/Dialect/NM/IR/SourceLocation.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMMARKSTEPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Whether the time of `op` is worth a line of its own.
static bool isStep(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  return op->getNumRegions() != 0 || isa<CallOpInterface>(op) ||
         isa<DestinationStyleOpInterface, memref::CopyOp, gpu::LaunchFuncOp,
             gpu::MemcpyOp>(op);
}

/// The function or kernel that runs when `op` does, where `op` is a call or a
/// launch; null for other ops.
static Operation *findCallee(Operation *op) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return SymbolTable::lookupNearestSymbolFrom(op, launch.getKernelAttr());
  if (auto call = dyn_cast<CallOpInterface>(op))
    return call.resolveCallable();
  return nullptr;
}

/// The names that `nm-name-steps` has given to what became `op`.
static std::string describe(Operation *op) {
  llvm::SmallSetVector<StringRef, 4> names;
  auto collect = [&](Operation *part) {
    part->getLoc()->walk([&](Location location) {
      if (auto name = dyn_cast<NameLoc>(location))
        names.insert(name.getName().getValue());
      return WalkResult::advance();
    });
  };
  op->walk<WalkOrder::PreOrder>(collect);
  if (Operation *callee = findCallee(op))
    callee->walk<WalkOrder::PreOrder>(collect);
  if (names.empty())
    return op->getName().getStringRef().str();
  return llvm::join(names.getArrayRef(), " + ");
}

/// Bytes of `type`; -1 where they are not known.
static int64_t countBytes(MemRefType type) {
  if (!type.hasStaticShape() || !type.getElementType().isIntOrIndexOrFloat())
    return -1;
  constexpr int64_t kIndexBits = 64;
  int64_t bits = type.getElementType().isIndex()
                     ? kIndexBits
                     : type.getElementTypeBitWidth();
  return llvm::divideCeil(type.getNumElements() * bits, 8);
}

/// Bytes of all memrefs that `op` takes from outside.
static int64_t countBytes(Operation *op) {
  llvm::SmallSetVector<Value, 8> memrefs;
  op->walk([&](Operation *part) {
    for (Value operand : part->getOperands())
      if (isa<MemRefType>(operand.getType()) &&
          !op->isAncestor(operand.getParentBlock()->getParentOp()))
        memrefs.insert(operand);
  });
  int64_t sum = 0;
  for (Value memref : memrefs) {
    int64_t bytes = countBytes(cast<MemRefType>(memref.getType()));
    if (bytes < 0)
      return -1;
    sum += bytes;
  }
  return sum;
}

static DictionaryAttr describeStep(Operation *op) {
  Builder builder(op->getContext());
  StringRef kernel;
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    kernel = launch.getKernelName().getValue();
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(describe(op))),
       builder.getNamedAttr("kernel", builder.getStringAttr(kernel)),
       builder.getNamedAttr("place",
                            builder.getStringAttr(getPlace(op->getLoc()))),
       builder.getNamedAttr("bytes",
                            builder.getI64IntegerAttr(countBytes(op)))});
}

namespace {
struct NMMarkSteps : mlir::nm::impl::NMMarkStepsBase<NMMarkSteps> {
  void runOnOperation() override;

private:
  LogicalResult markFunction(func::FuncOp function);
};
} // namespace

LogicalResult NMMarkSteps::markFunction(func::FuncOp function) {
  OpBuilder builder(&getContext());
  FailureOr<LLVM::LLVMFuncOp> mark = LLVM::lookupOrCreateFn(
      builder, getOperation(), "nmMarkStep", {builder.getI64Type()},
      LLVM::LLVMVoidType::get(&getContext()));
  if (failed(mark))
    return failure();
  SmallVector<Attribute> steps;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isStep(&op))
      continue;
    builder.setInsertionPointAfter(&op);
    Value step = LLVM::ConstantOp::create(
        builder, op.getLoc(), builder.getI64IntegerAttr(int64_t(steps.size())));
    LLVM::CallOp::create(builder, op.getLoc(), *mark, step);
    steps.push_back(describeStep(&op));
  }
  function->setAttr(kSteps, builder.getArrayAttr(steps));
  return success();
}

void NMMarkSteps::runOnOperation() {
  SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    // Packing runs once, where weights are loaded.
    if (function.isPublic() && function.getBody().hasOneBlock() &&
        !function->hasAttr(kHostFunction))
      functions.push_back(function);
  for (func::FuncOp function : functions)
    if (failed(markFunction(function)))
      return signalPassFailure();
}
