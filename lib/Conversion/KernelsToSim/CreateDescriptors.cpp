//===- CreateDescriptors.cpp - What the simulator knows of a kernel -------===//

#include "ConvertKernel.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Describes the kernels of one gpu.module.
class DescriptorBuilder {
public:
  DescriptorBuilder(ModuleOp module, gpu::GPUModuleOp kernels,
                    const KernelLimits &limits, const SiteTable &sites)
      : kernels(kernels), limits(limits),
        builder(OpBuilder::atBlockEnd(module.getBody())),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i64(builder.getI64Type()), numSites(sites.size()) {
    std::tie(siteTable, siteText) =
        sites.create(builder, kernels.getLoc(), kernels.getName());
  }

  void describe(LLVM::LLVMFuncOp function);

private:
  LLVM::GlobalOp createString(const Twine &name, StringRef text);
  LLVM::LLVMFuncOp createEntry(LLVM::LLVMFuncOp function);

  gpu::GPUModuleOp kernels;
  KernelLimits limits;
  OpBuilder builder;
  Type pointer, i64;
  int64_t numSites;
  LLVM::GlobalOp siteTable, siteText;
};
} // namespace

LLVM::GlobalOp DescriptorBuilder::createString(const Twine &name,
                                               StringRef text) {
  std::string value = text.str() + '\0';
  return LLVM::GlobalOp::create(
      builder, kernels.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), value.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, name.str(),
      builder.getStringAttr(value));
}

/// A function that takes the kernel's arguments from a struct.
LLVM::LLVMFuncOp DescriptorBuilder::createEntry(LLVM::LLVMFuncOp function) {
  Location loc = function.getLoc();
  MLIRContext *context = builder.getContext();
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, (function.getName() + ".entry").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer}),
      LLVM::Linkage::Internal);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  ArrayRef<Type> parameters =
      function.getFunctionType().getParams().drop_front();
  auto type = LLVM::LLVMStructType::getLiteral(context, parameters);
  SmallVector<Value> arguments = {block->getArgument(0)};
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    Value field =
        LLVM::GEPOp::create(builder, loc, pointer, type, block->getArgument(1),
                            ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, parameter, field));
  }
  LLVM::CallOp::create(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return entry;
}

void DescriptorBuilder::describe(LLVM::LLVMFuncOp function) {
  Location loc = function.getLoc();
  std::string prefix = function.getName().str();
  StringRef name = function.getName().drop_front(kernels.getName().size() + 1);
  LLVM::LLVMFuncOp entry = createEntry(function);
  LLVM::GlobalOp nameText = createString(prefix + ".name", name);
  LLVM::GlobalOp chipText = createString(prefix + ".chip", limits.chip);
  // NmSimKernel.
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(),
      {pointer, pointer, i64, i64, pointer, pointer, i64, pointer});
  auto global = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      getDescriptorName(kernels.getName(), name), Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  auto addressOf = [&](auto target) -> Value {
    return LLVM::AddressOfOp::create(builder, loc, target);
  };
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI64IntegerAttr(value));
  };
  Value fields[] = {addressOf(nameText),
                    addressOf(chipText),
                    constant(limits.sharedLimit),
                    constant(limits.staticShared),
                    addressOf(entry),
                    addressOf(siteTable),
                    constant(numSites),
                    addressOf(siteText)};
  Value descriptor = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    descriptor = LLVM::InsertValueOp::create(builder, loc, descriptor, field,
                                             int64_t(i));
  LLVM::ReturnOp::create(builder, loc, descriptor);
}

void mlir::nm::createDescriptors(ModuleOp module, gpu::GPUModuleOp kernels,
                                 ArrayRef<LLVM::LLVMFuncOp> functions,
                                 const KernelLimits &limits,
                                 const SiteTable &sites) {
  DescriptorBuilder builder(module, kernels, limits, sites);
  for (LLVM::LLVMFuncOp function : functions)
    builder.describe(function);
}
