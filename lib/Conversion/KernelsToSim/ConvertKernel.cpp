//===- ConvertKernel.cpp - The functions of a gpu.module to host code -----===//

#include "ConvertKernel.h"

#include "ConvertOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Names
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

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Converts the functions of one gpu.module.
class KernelConverter {
public:
  KernelConverter(ModuleOp module, gpu::GPUModuleOp kernels, StringRef chip,
                  int64_t sharedLimit)
      : module(module), kernels(kernels), chip(chip), sharedLimit(sharedLimit),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        ops(module, kernels, shared) {}

  LogicalResult convert();

private:
  LogicalResult placeShared();
  Value addThread(LLVM::LLVMFuncOp function);
  LogicalResult convertFunction(LLVM::LLVMFuncOp function);
  LogicalResult addSteps(LLVM::LLVMFuncOp function);
  void removeAddressSpaces(LLVM::LLVMFuncOp function);
  void moveToHost(LLVM::LLVMFuncOp function);

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  StringRef chip;
  int64_t sharedLimit;
  Type pointer;
  StaticShared shared;
  OpConverter ops;
  int32_t numProducts = 0;
};
} // namespace

/// Gives each variable in shared memory its place. Dynamic memory comes after
/// static memory, aligned as its variables are: operands of wgmma have to be at
/// a multiple of 1024.
LogicalResult KernelConverter::placeShared() {
  DataLayout layout(kernels);
  int64_t dynamicAlignment = 1;
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != NM_SIM_SHARED)
      continue;
    auto size = int64_t(layout.getTypeSize(global.getType()));
    int64_t alignment = std::max<int64_t>(
        int64_t(global.getAlignment().value_or(1)),
        int64_t(layout.getTypeABIAlignment(global.getType())));
    if (alignment > 1024)
      return global.emitOpError("expected an alignment of at most 1024, but "
                                "got ")
             << alignment;
    if (size == 0) {
      shared.offsets[global.getName()] = -1;
      dynamicAlignment = std::max(dynamicAlignment, alignment);
      continue;
    }
    shared.bytes = llvm::alignTo(shared.bytes, alignment);
    shared.offsets[global.getName()] = shared.bytes;
    shared.bytes += size;
  }
  shared.bytes = llvm::alignTo(shared.bytes, dynamicAlignment);
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
    if (failed(ops.addStep(terminator)))
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

/// Attributes that speak of a GPU, or of how its parameters are passed.
static void removeTargetAttributes(LLVM::LLVMFuncOp function) {
  auto isForTarget = [](StringRef name) {
    return name.starts_with("nvvm.") || name.starts_with("gpu.") ||
           name == LLVM::LLVMDialect::getByValAttrName();
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
    all.insert(all.begin(), DictionaryAttr::get(module.getContext()));
    function.setArgAttrsAttr(ArrayAttr::get(module.getContext(), all));
  }
  return function.getBody().insertArgument(0u, pointer, function.getLoc());
}

LogicalResult KernelConverter::convertFunction(LLVM::LLVMFuncOp function) {
  removeTargetAttributes(function);
  ops.setThread(addThread(function));
  // New ones are not to be converted.
  SmallVector<Operation *> before;
  function.getBody().walk([&](Operation *op) { before.push_back(op); });
  ProductRegisters registers(function, numProducts);
  for (Operation *op : before)
    if (failed(ops.addProductChecks(op, registers.get(op))) ||
        failed(ops.convert(op)))
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
                    {chip, sharedLimit, shared.bytes}, ops.getSites());
  kernels.erase();
  return success();
}

LogicalResult mlir::nm::convertKernels(ModuleOp module,
                                       gpu::GPUModuleOp kernels, StringRef chip,
                                       int64_t sharedLimit) {
  return KernelConverter(module, kernels, chip, sharedLimit).convert();
}
