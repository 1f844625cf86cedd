//===- ConvertOps.cpp - The ops of a kernel to host code ------------------===//

#include "ConvertOps.h"

#include "ConvertKernel.h"
#include "Instructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

static bool isShared(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == NM_SIM_SHARED;
}

FailureOr<LLVM::CallOp> OpConverter::callSim(Operation *op, StringRef name,
                                             Type result,
                                             ArrayRef<Value> operands,
                                             const SiteTable::Access &access) {
  SmallVector<Value> all = {thread,
                            constant(op->getLoc(), i32, sites.add(op, access))};
  llvm::append_range(all, operands);
  // Pointers lose their address spaces later.
  auto types = llvm::map_to_vector(ValueRange(all).getTypes(), [&](Type type) {
    return isa<LLVM::LLVMPointerType>(type) ? pointer : type;
  });
  FailureOr<LLVM::LLVMFuncOp> function =
      declareFunction(module, op->getLoc(), name, result, types);
  if (failed(function))
    return failure();
  return LLVM::CallOp::create(builder, op->getLoc(), *function, all);
}

LogicalResult OpConverter::replaceByCall(Operation *op, StringRef name,
                                         Type result, ArrayRef<Value> operands,
                                         const SiteTable::Access &access) {
  FailureOr<LLVM::CallOp> call = callSim(op, name, result, operands, access);
  if (failed(call))
    return failure();
  Value value = op->getNumResults() ? call->getResult() : Value();
  // Accesses through it must still find its address space.
  if (value && value.getType() != op->getResult(0).getType())
    value = LLVM::AddrSpaceCastOp::create(builder, op->getLoc(),
                                          op->getResult(0).getType(), value);
  if (value)
    op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether `pointer` points into a variable of the thread's own.
static bool isLocal(Value pointer) {
  while (auto gep = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = gep.getBase();
  return pointer.getDefiningOp<LLVM::AllocaOp>() != nullptr;
}

LogicalResult OpConverter::convertAccess(Operation *op, OpOperand &address,
                                         Type type, int64_t alignment,
                                         NmSimKind kind) {
  if (isLocal(address.get()))
    return success();
  auto space =
      cast<LLVM::LLVMPointerType>(address.get().getType()).getAddressSpace();
  if (space != NM_SIM_GENERIC && space != NM_SIM_GLOBAL &&
      space != NM_SIM_SHARED && space != NM_SIM_SHARED_CLUSTER)
    return op->emitOpError("expected an access of global or shared memory, but "
                           "got address space ")
           << space << ", which the simulator does not have";
  if (alignment == 0)
    alignment = int64_t(layout.getTypeABIAlignment(type));
  SiteTable::Access access{kind, NmSimSpace(space),
                           int64_t(layout.getTypeSize(type)), alignment};
  FailureOr<LLVM::CallOp> call =
      callSim(op, "nmSimAccess", pointer, {address.get()}, access);
  if (failed(call))
    return failure();
  address.set(call->getResult());
  return success();
}

/// The alignment that a load or a store says, or 0. It is taken away: where a
/// fault is reported, the access must not be another.
template <typename OpTy>
static int64_t takeAlignment(OpTy op) {
  auto alignment = int64_t(op.getAlignment().value_or(0));
  op.setAlignment(1);
  return alignment;
}

LogicalResult OpConverter::convertAddressOf(LLVM::AddressOfOp op) {
  auto found = shared.offsets.find(op.getGlobalName());
  if (found == shared.offsets.end())
    return op.emitOpError("expected the address of shared memory, but got "
                          "another global, which the simulator does not have");
  if (found->second < 0)
    return replaceByCall(op, "nmSimDynamicShared", pointer, {});
  return replaceByCall(op, "nmSimStaticShared", pointer,
                       {constant(op.getLoc(), i64, found->second)});
}

LogicalResult OpConverter::convertSharedToInt(LLVM::PtrToIntOp op) {
  FailureOr<LLVM::CallOp> call =
      callSim(op, "nmSimSharedToInt", i64, {op.getArg()});
  if (failed(call))
    return failure();
  Value result = call->getResult();
  if (op.getType() != i64)
    result = LLVM::TruncOp::create(builder, op.getLoc(), op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult OpConverter::convertIntToShared(LLVM::IntToPtrOp op) {
  Value offset = op.getArg();
  if (offset.getType() != i64)
    offset = LLVM::ZExtOp::create(builder, op.getLoc(), i64, offset);
  return replaceByCall(op, "nmSimIntToShared", pointer, {offset});
}

//===----------------------------------------------------------------------===//
// Calls and instructions
//===----------------------------------------------------------------------===//

LogicalResult OpConverter::convertCall(LLVM::CallOp op) {
  std::optional<StringRef> callee = op.getCallee();
  auto function =
      callee ? kernels.lookupSymbol<LLVM::LLVMFuncOp>(*callee) : nullptr;
  if (!function)
    return op.emitOpError("expected a call of a function by name: the "
                          "simulator has no other");
  if (!function.isExternal()) {
    op.setCallee(getSimName(kernels.getName(), *callee));
    op.getCalleeOperandsMutable().assign(llvm::to_vector(
        llvm::concat<Value>(SmallVector<Value>{thread},
                            SmallVector<Value>(op.getCalleeOperands()))));
    return success();
  }
  std::string host = findMathFunction(*callee);
  if (host.empty())
    return op.emitOpError("the simulator has no function for @") << *callee;
  auto type = function.getFunctionType();
  if (failed(declareFunction(module, op.getLoc(), host, type.getReturnType(),
                             type.getParams())))
    return failure();
  op.setCallee(host);
  return success();
}

/// A slot for `type` that the function's entry makes.
Value OpConverter::createSlot(Operation *op, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      &op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
  return LLVM::AllocaOp::create(builder, op->getLoc(), pointer, type,
                                constant(op->getLoc(), i64, 1),
                                /*alignment=*/8);
}

LogicalResult OpConverter::callCollective(Operation *op,
                                          const Instruction &instruction,
                                          ArrayRef<Value> operands) {
  Location loc = op->getLoc();
  SmallVector<Value> gathered(operands.drop_front());
  bool isWarpgroup = instruction.execution == Execution::Warpgroup;
  SiteTable::Access access;
  if (instruction.access)
    access = instruction.access(op);
  if (instruction.access && !isWarpgroup) {
    FailureOr<LLVM::CallOp> call =
        callSim(op, "nmSimAccessOfLanes", pointer,
                {gathered[0], constant(loc, i32, access.lanes)}, access);
    if (failed(call))
      return failure();
    gathered[0] = call->getResult();
  }
  auto type = LLVM::LLVMStructType::getLiteral(
      op->getContext(), SmallVector<Type>(ValueRange(gathered).getTypes()));
  Value slot = createSlot(op, type);
  for (auto [i, value] : llvm::enumerate(gathered)) {
    Value field = LLVM::GEPOp::create(builder, loc, pointer, type, slot,
                                      ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    LLVM::StoreOp::create(builder, loc, value, field);
  }
  // Room for words where the op's result is a predicate.
  bool hasResult = op->getNumResults() != 0;
  auto resultType = LLVM::LLVMStructType::getLiteral(
      op->getContext(), {hasResult ? op->getResult(0).getType() : i32, i64});
  Value result = createSlot(op, resultType);
  auto lanes = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(op->getContext()), {pointer});
  FailureOr<LLVM::LLVMFuncOp> function = declareFunction(
      module, loc, instruction.function, lanes.getReturnType(), {pointer});
  if (failed(function))
    return failure();
  Value address = LLVM::AddressOfOp::create(builder, loc, *function);
  int64_t width = isWarpgroup ? 128 : 32;
  if (failed(callSim(
          op, "nmSimCollective", LLVM::LLVMVoidType::get(op->getContext()),
          {constant(loc, i32, width), operands.front(), address, slot, result},
          isWarpgroup ? access : SiteTable::Access())))
    return failure();
  if (hasResult)
    op->getResult(0).replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(), result));
  op->erase();
  return success();
}

LogicalResult OpConverter::convertInstruction(Operation *op) {
  const Instruction *instruction = findInstruction(op);
  if (!instruction)
    return op->emitOpError(
        "is an instruction that the simulator does not have");
  OperandBuilder operandBuilder(builder, op);
  SmallVector<Value> operands;
  if (instruction->operands) {
    FailureOr<SmallVector<Value>> built = instruction->operands(operandBuilder);
    if (failed(built))
      return failure();
    operands = std::move(*built);
  } else {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      operands.push_back(operandBuilder.operand(i));
  }
  if (instruction->execution == Execution::Warp ||
      instruction->execution == Execution::Warpgroup)
    return callCollective(op, *instruction, operands);
  if (instruction->execution == Execution::Register)
    operands.push_back(constant(op->getLoc(), i32, instruction->reg));
  Type result = instruction->returnsState
                    ? i64
                    : LLVM::LLVMVoidType::get(op->getContext());
  if (op->getNumResults() != 0)
    result = isa<LLVM::LLVMPointerType>(op->getResult(0).getType())
                 ? pointer
                 : op->getResult(0).getType();
  return replaceByCall(op, instruction->function, result, operands,
                       instruction->access ? instruction->access(op)
                                           : SiteTable::Access());
}

/// Whether `op` does nothing but keep its operand from being computed later.
static bool isWithoutInstructions(LLVM::InlineAsmOp op) {
  return op.getAsmString().empty() && op->getNumOperands() == 1 &&
         op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

/// A GPU always fuses them.
static LogicalResult fuse(OpBuilder &builder, LLVM::FMulAddOp op) {
  Value fused = LLVM::FMAOp::create(builder, op.getLoc(), op.getType(),
                                    op->getOperands());
  op.replaceAllUsesWith(fused);
  op.erase();
  return success();
}

static LogicalResult checkPlain(Operation *op) {
  if (isa<LLVM::AllocaOp, LLVM::AssumeOp, LLVM::LifetimeStartOp,
          LLVM::LifetimeEndOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
    return success();
  return op->emitOpError("is an op that the simulator does not have");
}

LogicalResult OpConverter::convertLLVM(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LLVM::LoadOp load) {
        return convertAccess(load, load.getAddrMutable(), load.getType(),
                             takeAlignment(load), NM_SIM_LOAD);
      })
      .Case([&](LLVM::StoreOp store) {
        return convertAccess(store, store.getAddrMutable(),
                             store.getValue().getType(), takeAlignment(store),
                             NM_SIM_STORE);
      })
      .Case([&](LLVM::AtomicRMWOp update) {
        update.removeSyncscopeAttr();
        return convertAccess(update, update.getPtrMutable(),
                             update.getVal().getType(), /*alignment=*/0,
                             NM_SIM_ATOMIC);
      })
      .Case([&](LLVM::AtomicCmpXchgOp exchange) {
        exchange.removeSyncscopeAttr();
        return convertAccess(exchange, exchange.getPtrMutable(),
                             exchange.getVal().getType(), /*alignment=*/0,
                             NM_SIM_ATOMIC);
      })
      .Case(
          [&](LLVM::AddressOfOp address) { return convertAddressOf(address); })
      .Case([&](LLVM::CallOp call) { return convertCall(call); })
      .Case([&](LLVM::InlineAsmOp text) {
        if (findInstruction(text))
          return convertInstruction(text);
        if (!isWithoutInstructions(text))
          return checkPlain(text);
        text->replaceAllUsesWith(text->getOperands());
        text.erase();
        return success();
      })
      .Case([&](LLVM::FMulAddOp fma) { return fuse(builder, fma); })
      .Case([&](LLVM::CallIntrinsicOp call) {
        // Those of scalars that nm-approximate-math makes: the host has them.
        return llvm::is_contained({"llvm.fabs", "llvm.floor", "llvm.ceil",
                                   "llvm.trunc", "llvm.roundeven"},
                                  call.getIntrin())
                   ? success()
                   : checkPlain(call);
      })
      .Case([&](LLVM::PtrToIntOp cast) {
        return isShared(cast.getArg().getType()) ? convertSharedToInt(cast)
                                                 : checkPlain(cast);
      })
      .Case([&](LLVM::IntToPtrOp cast) {
        return isShared(cast.getType()) ? convertIntToShared(cast)
                                        : checkPlain(cast);
      })
      .Case([&](LLVM::FenceOp fence) {
        fence.erase();
        return success();
      })
      .Default([](Operation *other) { return checkPlain(other); });
}

LogicalResult
OpConverter::addProductChecks(Operation *op,
                              ArrayRef<ProductRegisters::Entry> entries) {
  builder.setInsertionPoint(op);
  for (const ProductRegisters::Entry &entry : entries) {
    StringRef name =
        entry.use == ProductRegisters::Use::Start  ? "nmSimStartProduct"
        : entry.use == ProductRegisters::Use::Sums ? "nmSimUseSums"
                                                   : "nmSimChangeRegister";
    if (failed(callSim(op, name, LLVM::LLVMVoidType::get(op->getContext()),
                       {constant(op->getLoc(), i32, entry.product)})))
      return failure();
  }
  return success();
}

LogicalResult OpConverter::convert(Operation *op) {
  builder.setInsertionPoint(op);
  if (isa_and_present<NVVM::NVVMDialect>(op->getDialect()))
    return convertInstruction(op);
  if (isa_and_present<LLVM::LLVMDialect>(op->getDialect()))
    return convertLLVM(op);
  return op->emitOpError("is an op that the simulator does not have");
}

LogicalResult OpConverter::addStep(Operation *terminator) {
  builder.setInsertionPoint(terminator);
  return callSim(terminator, "nmSimStep",
                 LLVM::LLVMVoidType::get(module.getContext()), {});
}
