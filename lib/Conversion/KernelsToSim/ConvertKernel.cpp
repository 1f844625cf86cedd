//===- ConvertKernel.cpp - The ops of a gpu.module to host code -----------===//

#include "ConvertKernel.h"

#include "Instructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::nm;

static constexpr unsigned kSharedSpace = NM_SIM_SHARED;

//===----------------------------------------------------------------------===//
// Names and types
//===----------------------------------------------------------------------===//

std::string mlir::nm::getSimName(StringRef module, StringRef function) {
  return (module + "." + function).str();
}

std::string mlir::nm::getDescriptorName(StringRef module, StringRef function) {
  return getSimName(module, function) + ".kernel";
}

FailureOr<LLVM::LLVMFuncOp>
mlir::nm::declareFunction(ModuleOp module, Location loc, StringRef name,
                          Type result, ArrayRef<Type> operands) {
  auto type = LLVM::LLVMFunctionType::get(result, operands);
  if (Operation *found = module.lookupSymbol(name)) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(found);
    if (function && function.isExternal() && function.getFunctionType() == type)
      return function;
    return found->emitOpError()
           << "expected the name @" << name
           << " to be free for a function of type " << type;
  }
  OpBuilder builder(module.getBodyRegion());
  return LLVM::LLVMFuncOp::create(builder, loc, name, type);
}

static bool isShared(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == kSharedSpace;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// Shared memory whose size the kernel knows.
struct StaticShared {
  llvm::StringMap<int64_t> offsets;
  int64_t bytes = 0;
};

/// Converts the functions of one gpu.module.
class KernelConverter {
public:
  KernelConverter(ModuleOp module, gpu::GPUModuleOp kernels, StringRef chip,
                  int64_t sharedLimit)
      : module(module), kernels(kernels), chip(chip), sharedLimit(sharedLimit),
        builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()), layout(kernels) {}

  LogicalResult convert();

private:
  LogicalResult placeShared();
  Value addThread(LLVM::LLVMFuncOp function);
  LogicalResult convertFunction(LLVM::LLVMFuncOp function);
  void moveToHost(LLVM::LLVMFuncOp function);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertAccess(Operation *op, OpOperand &address, Type type,
                              int64_t alignment, NmSimKind kind);
  LogicalResult convertAddressOf(LLVM::AddressOfOp op);
  LogicalResult convertCall(LLVM::CallOp op);
  LogicalResult convertInstruction(Operation *op);
  LogicalResult callCollective(Operation *op, const Instruction &instruction,
                               ArrayRef<Value> operands);
  LogicalResult addSteps(LLVM::LLVMFuncOp function);
  void removeAddressSpaces(LLVM::LLVMFuncOp function);

  /// Calls a function of libnm_sim for `op`, with the thread, the op's number
  /// and `operands`.
  FailureOr<LLVM::CallOp> callSim(Operation *op, StringRef name, Type result,
                                  ArrayRef<Value> operands,
                                  const SiteTable::Access &access = {});
  Value createSlot(Operation *op, Type type);
  Value constant(Location loc, Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  StringRef chip;
  int64_t sharedLimit;
  OpBuilder builder;
  Type pointer, i32, i64;
  DataLayout layout;
  StaticShared shared;
  SiteTable sites;
  /// The argument that is the thread.
  Value thread;
};
} // namespace

FailureOr<LLVM::CallOp>
KernelConverter::callSim(Operation *op, StringRef name, Type result,
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

/// What a pointer points into, if it is one of the kernel's own variables.
static bool isLocal(Value pointer) {
  while (auto gep = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = gep.getBase();
  return pointer.getDefiningOp<LLVM::AllocaOp>() != nullptr;
}

LogicalResult KernelConverter::convertAccess(Operation *op, OpOperand &address,
                                             Type type, int64_t alignment,
                                             NmSimKind kind) {
  if (isLocal(address.get()))
    return success();
  auto space =
      cast<LLVM::LLVMPointerType>(address.get().getType()).getAddressSpace();
  if (space != NM_SIM_GENERIC && space != NM_SIM_GLOBAL &&
      space != kSharedSpace)
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

LogicalResult KernelConverter::convertAddressOf(LLVM::AddressOfOp op) {
  auto found = shared.offsets.find(op.getGlobalName());
  if (found == shared.offsets.end())
    return op.emitOpError("expected the address of shared memory, but got "
                          "another global, which the simulator does not have");
  FailureOr<LLVM::CallOp> call =
      found->second < 0 ? callSim(op, "nmSimDynamicShared", pointer, {})
                        : callSim(op, "nmSimStaticShared", pointer,
                                  {constant(op.getLoc(), i64, found->second)});
  if (failed(call))
    return failure();
  op.replaceAllUsesWith(call->getResult());
  op.erase();
  return success();
}

LogicalResult KernelConverter::convertCall(LLVM::CallOp op) {
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
Value KernelConverter::createSlot(Operation *op, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      &op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
  return LLVM::AllocaOp::create(builder, op->getLoc(), pointer, type,
                                constant(op->getLoc(), i64, 1),
                                /*alignment=*/8);
}

LogicalResult KernelConverter::callCollective(Operation *op,
                                              const Instruction &instruction,
                                              ArrayRef<Value> operands) {
  Location loc = op->getLoc();
  ArrayRef<Value> gathered = operands.drop_front();
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
  int64_t width = instruction.execution == Execution::Warpgroup ? 128 : 32;
  if (failed(callSim(op, "nmSimCollective",
                     LLVM::LLVMVoidType::get(op->getContext()),
                     {constant(loc, i32, width), operands.front(), address,
                      slot, result})))
    return failure();
  if (hasResult)
    op->getResult(0).replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, op->getResult(0).getType(), result));
  op->erase();
  return success();
}

LogicalResult KernelConverter::convertInstruction(Operation *op) {
  const Instruction *instruction =
      findInstruction(op->getName().getStringRef());
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
  Type result = op->getNumResults() == 0
                    ? LLVM::LLVMVoidType::get(op->getContext())
                    : op->getResult(0).getType();
  FailureOr<LLVM::CallOp> call = callSim(
      op, instruction->function, result, operands,
      instruction->access ? instruction->access(op) : SiteTable::Access());
  if (failed(call))
    return failure();
  op->replaceAllUsesWith(*call);
  op->erase();
  return success();
}

static LogicalResult checkPlain(Operation *op) {
  if (isa<LLVM::AllocaOp, LLVM::AssumeOp, LLVM::LifetimeStartOp,
          LLVM::LifetimeEndOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
    return success();
  return op->emitOpError("is an op that the simulator does not have");
}

/// Whether `op` does nothing but keep its operand from being computed later.
static bool isWithoutInstructions(LLVM::InlineAsmOp op) {
  return op.getAsmString().empty() && op->getNumOperands() == 1 &&
         op->getNumResults() == 1 &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

LogicalResult KernelConverter::convertOp(Operation *op) {
  builder.setInsertionPoint(op);
  if (isa<NVVM::NVVMDialect>(op->getDialect()))
    return convertInstruction(op);
  if (!isa<LLVM::LLVMDialect>(op->getDialect()))
    return op->emitOpError("is an op that the simulator does not have");
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    auto alignment = int64_t(load.getAlignment().value_or(0));
    // Where a fault is reported, the access must not be another.
    load.setAlignment(1);
    return convertAccess(op, load.getAddrMutable(), load.getType(), alignment,
                         NM_SIM_LOAD);
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    auto alignment = int64_t(store.getAlignment().value_or(0));
    store.setAlignment(1);
    return convertAccess(op, store.getAddrMutable(), store.getValue().getType(),
                         alignment, NM_SIM_STORE);
  }
  if (auto update = dyn_cast<LLVM::AtomicRMWOp>(op)) {
    update.removeSyncscopeAttr();
    return convertAccess(op, update.getPtrMutable(), update.getVal().getType(),
                         0, NM_SIM_ATOMIC);
  }
  if (auto exchange = dyn_cast<LLVM::AtomicCmpXchgOp>(op)) {
    exchange.removeSyncscopeAttr();
    return convertAccess(op, exchange.getPtrMutable(),
                         exchange.getVal().getType(), 0, NM_SIM_ATOMIC);
  }
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
    return convertAddressOf(address);
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return convertCall(call);
  if (auto empty = dyn_cast<LLVM::InlineAsmOp>(op);
      empty && isWithoutInstructions(empty)) {
    empty->replaceAllUsesWith(empty->getOperands());
    empty.erase();
    return success();
  }
  if (auto fma = dyn_cast<LLVM::FMulAddOp>(op)) {
    // A GPU always fuses them.
    Value fused = LLVM::FMAOp::create(builder, fma.getLoc(), fma.getType(),
                                      fma->getOperands());
    fma.replaceAllUsesWith(fused);
    fma.erase();
    return success();
  }
  if (auto toInt = dyn_cast<LLVM::PtrToIntOp>(op);
      toInt && isShared(toInt.getArg().getType())) {
    auto call = callSim(op, "nmSimSharedToInt", i64, {toInt.getArg()});
    if (failed(call))
      return failure();
    Value result = call->getResult();
    if (toInt.getType() != i64)
      result =
          LLVM::TruncOp::create(builder, op->getLoc(), toInt.getType(), result);
    toInt.replaceAllUsesWith(result);
    toInt.erase();
    return success();
  }
  if (auto toPointer = dyn_cast<LLVM::IntToPtrOp>(op);
      toPointer && isShared(toPointer.getType())) {
    Value offset = toPointer.getArg();
    if (offset.getType() != i64)
      offset = LLVM::ZExtOp::create(builder, op->getLoc(), i64, offset);
    auto call = callSim(op, "nmSimIntToShared", pointer, {offset});
    if (failed(call))
      return failure();
    toPointer.replaceAllUsesWith(call->getResult());
    toPointer.erase();
    return success();
  }
  if (isa<LLVM::FenceOp>(op)) {
    op->erase();
    return success();
  }
  return checkPlain(op);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Gives each variable in shared memory its place; -1 is where the dynamic
/// begins.
LogicalResult KernelConverter::placeShared() {
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != kSharedSpace)
      continue;
    auto size = int64_t(layout.getTypeSize(global.getType()));
    if (size == 0) {
      shared.offsets[global.getName()] = -1;
      continue;
    }
    int64_t alignment = std::max<int64_t>(
        int64_t(global.getAlignment().value_or(1)),
        int64_t(layout.getTypeABIAlignment(global.getType())));
    if (alignment > 1024)
      return global.emitOpError("expected an alignment of at most 1024, but "
                                "got ")
             << alignment;
    shared.bytes = llvm::alignTo(shared.bytes, alignment);
    shared.offsets[global.getName()] = shared.bytes;
    shared.bytes += size;
  }
  return success();
}

/// Every loop passes a step, so that one that never ends is found.
LogicalResult KernelConverter::addSteps(LLVM::LLVMFuncOp function) {
  DenseMap<Block *, unsigned> order;
  for (Block &block : function.getBody())
    order[&block] = unsigned(order.size());
  for (Block &block : function.getBody()) {
    Operation *terminator = block.getTerminator();
    if (llvm::none_of(terminator->getSuccessors(), [&](Block *successor) {
          return order[successor] <= order[&block];
        }))
      continue;
    builder.setInsertionPoint(terminator);
    if (failed(callSim(terminator, "nmSimStep",
                       LLVM::LLVMVoidType::get(module.getContext()), {})))
      return failure();
  }
  return success();
}

void KernelConverter::removeAddressSpaces(LLVM::LLVMFuncOp function) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LLVM::LLVMPointerType) { return pointer; });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  SmallVector<Operation *> casts;
  function.walk([&](LLVM::AddrSpaceCastOp cast) { casts.push_back(cast); });
  for (Operation *cast : casts) {
    cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
    cast->erase();
  }
}

/// Attributes that speak of a GPU.
static void removeTargetAttributes(LLVM::LLVMFuncOp function) {
  auto isForTarget = [](StringRef name) {
    return name.starts_with("nvvm.") || name.starts_with("gpu.");
  };
  for (NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (isForTarget(attribute.getName()))
      function->removeDiscardableAttr(attribute.getName());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    for (NamedAttribute attribute :
         llvm::to_vector(FunctionOpInterface(function).getArgAttrs(i)))
      if (isForTarget(attribute.getName()))
        function.removeArgAttr(i, attribute.getName());
  function.removeTargetFeaturesAttr();
}

/// Makes the thread the function's first argument, and returns it.
/// FunctionOpInterface cannot: it takes a function of type void to have no
/// result.
Value KernelConverter::addThread(LLVM::LLVMFuncOp function) {
  LLVM::LLVMFunctionType type = function.getFunctionType();
  SmallVector<Type> parameters(type.getParams());
  parameters.insert(parameters.begin(), pointer);
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(type.getReturnType(), parameters));
  if (ArrayAttr attributes = function.getArgAttrsAttr()) {
    SmallVector<Attribute> all(attributes.getValue());
    all.insert(all.begin(), builder.getDictionaryAttr({}));
    function.setArgAttrsAttr(builder.getArrayAttr(all));
  }
  return function.getBody().insertArgument(0u, pointer, function.getLoc());
}

LogicalResult KernelConverter::convertFunction(LLVM::LLVMFuncOp function) {
  removeTargetAttributes(function);
  thread = addThread(function);
  SmallVector<Operation *> ops;
  function.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(convertOp(op)))
      return failure();
  if (failed(addSteps(function)))
    return failure();
  removeAddressSpaces(function);
  return success();
}

void KernelConverter::moveToHost(LLVM::LLVMFuncOp function) {
  function->remove();
  function.setName(getSimName(kernels.getName(), function.getName()));
  function.setLinkage(LLVM::Linkage::Internal);
  module.push_back(function);
}

LogicalResult KernelConverter::convert() {
  if (failed(placeShared()))
    return failure();
  SmallVector<LLVM::LLVMFuncOp> functions, entryPoints;
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    functions.push_back(function);
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      entryPoints.push_back(function);
  }
  for (LLVM::LLVMFuncOp function : functions)
    if (failed(convertFunction(function)))
      return failure();
  // Not before all calls are converted, which look for their callees.
  for (LLVM::LLVMFuncOp function : functions)
    moveToHost(function);
  createDescriptors(module, kernels, entryPoints,
                    {chip, sharedLimit, shared.bytes}, sites);
  kernels.erase();
  return success();
}

LogicalResult mlir::nm::convertKernels(ModuleOp module,
                                       gpu::GPUModuleOp kernels, StringRef chip,
                                       int64_t sharedLimit) {
  return KernelConverter(module, kernels, chip, sharedLimit).convert();
}
