//===- LaunchOnStream.cpp - The caller's stream and device ----------------===//

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMLAUNCHONSTREAM
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The pointer that the runtime keeps the copies of a module's constants by.
static constexpr StringLiteral kTable("nm_device_constants");

namespace {
/// Rewrites the functions of one module that launch kernels.
class StreamRewriter {
public:
  explicit StreamRewriter(ModuleOp module)
      : module(module), rewriter(module.getContext()),
        converter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        token(gpu::AsyncTokenType::get(module.getContext())) {}

  LogicalResult run();

private:
  LogicalResult rewriteFunction(func::FuncOp function);
  FailureOr<LLVM::LLVMFuncOp> declare(StringRef name, ArrayRef<Type> arguments,
                                      Type result);
  FailureOr<Value> getStream(func::FuncOp function);
  void rewriteLaunch(gpu::LaunchFuncOp launch, Value stream);
  void rewriteAlloc(memref::AllocOp alloc, Value stream);
  void rewriteDealloc(memref::DeallocOp dealloc, Value stream);
  LogicalResult rewriteConstant(memref::GetGlobalOp constant);
  LogicalResult createTable(Location loc);

  ModuleOp module;
  IRRewriter rewriter;
  LLVMTypeConverter converter;
  LLVM::LLVMPointerType pointer;
  gpu::AsyncTokenType token;
  LLVM::GlobalOp table;
};
} // namespace

FailureOr<LLVM::LLVMFuncOp>
StreamRewriter::declare(StringRef name, ArrayRef<Type> arguments, Type result) {
  return LLVM::lookupOrCreateFn(rewriter, module, name, arguments, result);
}

/// Upstream's lowering takes a token that is made of a stream for the stream.
FailureOr<Value> StreamRewriter::getStream(func::FuncOp function) {
  FailureOr<LLVM::LLVMFuncOp> getter = declare("nmGetStream", {}, pointer);
  if (failed(getter))
    return failure();
  rewriter.setInsertionPointToStart(&function.getBody().front());
  Location loc = function.getLoc();
  Value stream =
      LLVM::CallOp::create(rewriter, loc, *getter, ValueRange()).getResult();
  return UnrealizedConversionCastOp::create(rewriter, loc, token, stream)
      .getResult(0);
}

void StreamRewriter::rewriteLaunch(gpu::LaunchFuncOp launch, Value stream) {
  rewriter.setInsertionPoint(launch);
  gpu::LaunchFuncOp::create(
      rewriter, launch.getLoc(), launch.getKernelAttr(),
      launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues(),
      launch.getDynamicSharedMemorySize(), launch.getKernelOperands(), token,
      ValueRange(stream),
      launch.hasClusterSize()
          ? std::optional<gpu::KernelDim3>(launch.getClusterSizeOperandValues())
          : std::nullopt);
  rewriter.eraseOp(launch);
}

void StreamRewriter::rewriteAlloc(memref::AllocOp alloc, Value stream) {
  rewriter.setInsertionPoint(alloc);
  auto created = gpu::AllocOp::create(
      rewriter, alloc.getLoc(), alloc.getType(), token, ValueRange(stream),
      alloc.getDynamicSizes(), alloc.getSymbolOperands());
  rewriter.replaceOp(alloc, created.getMemref());
}

void StreamRewriter::rewriteDealloc(memref::DeallocOp dealloc, Value stream) {
  rewriter.setInsertionPoint(dealloc);
  gpu::DeallocOp::create(rewriter, dealloc.getLoc(), token, ValueRange(stream),
                         dealloc.getMemref());
  rewriter.eraseOp(dealloc);
}

/// Makes the table of copies, which is null at first, and a destructor.
LogicalResult StreamRewriter::createTable(Location loc) {
  if (table)
    return success();
  FailureOr<LLVM::LLVMFuncOp> release =
      declare("nmReleaseDeviceConstants", {pointer},
              LLVM::LLVMVoidType::get(module.getContext()));
  if (failed(release))
    return failure();
  rewriter.setInsertionPointToEnd(module.getBody());
  table = LLVM::GlobalOp::create(rewriter, loc, pointer, /*isConstant=*/false,
                                 LLVM::Linkage::Internal, kTable, Attribute());
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.createBlock(&table.getInitializerRegion());
    Value null = LLVM::ZeroOp::create(rewriter, loc, pointer);
    LLVM::ReturnOp::create(rewriter, loc, null);
  }
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()), {});
  auto unload =
      LLVM::LLVMFuncOp::create(rewriter, loc, (kTable + "_release").str(), type,
                               LLVM::Linkage::Internal);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(unload.addEntryBlock(rewriter));
    Value address = LLVM::AddressOfOp::create(rewriter, loc, table);
    LLVM::CallOp::create(rewriter, loc, *release, ValueRange(address));
    LLVM::ReturnOp::create(rewriter, loc, ValueRange());
  }
  LLVM::GlobalDtorsOp::create(
      rewriter, loc, rewriter.getArrayAttr({FlatSymbolRefAttr::get(unload)}),
      rewriter.getI32ArrayAttr({/*priority=*/65535}),
      rewriter.getArrayAttr({LLVM::ZeroAttr::get(module.getContext())}));
  return success();
}

LogicalResult StreamRewriter::rewriteConstant(memref::GetGlobalOp constant) {
  Location loc = constant.getLoc();
  MemRefType type = constant.getType();
  if (type.getMemorySpace())
    return constant.emitOpError()
           << "expected a constant without a memory space, but got " << type;
  Type i64 = rewriter.getI64Type();
  FailureOr<LLVM::LLVMFuncOp> getter =
      declare("nmDeviceConstant", {pointer, pointer, i64}, pointer);
  if (failed(getter) || failed(createTable(loc)))
    return failure();
  rewriter.setInsertionPointAfter(constant);
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(
      rewriter, loc, constant.getResult());
  Value integer = arith::IndexCastOp::create(rewriter, loc, i64, index);
  Value address = LLVM::IntToPtrOp::create(rewriter, loc, pointer, integer);
  // An element of fewer than 8 bits has a byte of its own, too.
  int64_t bytes =
      type.getNumElements() *
      int64_t(DataLayout::closest(constant).getTypeSize(type.getElementType()));
  Value size = LLVM::ConstantOp::create(rewriter, loc, i64, bytes);
  Value slot = LLVM::AddressOfOp::create(rewriter, loc, table);
  Value copy = LLVM::CallOp::create(rewriter, loc, *getter,
                                    ValueRange{slot, address, size})
                   .getResult();
  Value descriptor =
      MemRefDescriptor::fromStaticShape(rewriter, loc, converter, type, copy);
  Value onDevice =
      UnrealizedConversionCastOp::create(rewriter, loc, type, descriptor)
          .getResult(0);
  rewriter.replaceAllUsesExcept(constant.getResult(), onDevice,
                                index.getDefiningOp());
  return success();
}

LogicalResult StreamRewriter::rewriteFunction(func::FuncOp function) {
  SmallVector<Operation *> ops;
  bool launches = false;
  function.walk([&](Operation *op) {
    launches |= isa<gpu::LaunchFuncOp>(op);
    if (isa<OpenChecksOp, MarkChecksOp, CloseChecksOp>(op))
      op->setAttr("device", rewriter.getUnitAttr());
    if (isa<gpu::LaunchFuncOp, memref::AllocOp, memref::DeallocOp,
            memref::GetGlobalOp>(op))
      ops.push_back(op);
  });
  if (!launches)
    return success();
  FailureOr<Value> stream = getStream(function);
  if (failed(stream))
    return failure();
  for (Operation *op : ops) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      rewriteLaunch(launch, *stream);
    else if (auto alloc = dyn_cast<memref::AllocOp>(op))
      rewriteAlloc(alloc, *stream);
    else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
      rewriteDealloc(dealloc, *stream);
    else if (failed(rewriteConstant(cast<memref::GetGlobalOp>(op))))
      return failure();
  }
  return success();
}

LogicalResult StreamRewriter::run() {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (failed(rewriteFunction(function)))
      return failure();
  return success();
}

namespace {
struct NMLaunchOnStream
    : mlir::nm::impl::NMLaunchOnStreamBase<NMLaunchOnStream> {
  void runOnOperation() override {
    if (failed(StreamRewriter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
