//===- ConvertLaunch.cpp - gpu.launch_func to the simulator's launch ------===//

#include "ConvertKernel.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Builds the call for one launch.
class LaunchConverter {
public:
  LaunchConverter(ModuleOp module, gpu::LaunchFuncOp launch)
      : module(module), launch(launch), loc(launch.getLoc()), builder(launch),
        pointer(LLVM::LLVMPointerType::get(launch.getContext())),
        i64(builder.getI64Type()) {}

  LogicalResult convert();

private:
  LogicalResult check();
  LogicalResult flattenOperands(LLVM::LLVMFuncOp kernel);
  LogicalResult addTensorMap(Value operand);
  FailureOr<SmallVector<Value>> addExtent(Value memref, MemRefType type);
  Value integer(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI64IntegerAttr(value));
  }
  /// An index or an integer as an i64.
  Value toI64(Value value);
  Value castTo(Value value, Type type);
  Value storeOnStack(ArrayRef<Value> fields);

  ModuleOp module;
  gpu::LaunchFuncOp launch;
  Location loc;
  OpBuilder builder;
  Type pointer, i64;
  SmallVector<Value> arguments;
  /// The fields of each NmSimExtent.
  SmallVector<Value> extents;
};
} // namespace

Value LaunchConverter::castTo(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

Value LaunchConverter::toI64(Value value) {
  if (value.getType().isIndex())
    return castTo(value, i64);
  if (value.getType() == i64)
    return value;
  return LLVM::ZExtOp::create(builder, loc, i64, value);
}

/// A struct of the fields, in a slot that the function's entry makes: a loop
/// around the launch does not grow the stack.
Value LaunchConverter::storeOnStack(ArrayRef<Value> fields) {
  SmallVector<Type> types(ValueRange(fields).getTypes());
  Type type = LLVM::LLVMStructType::getLiteral(launch.getContext(), types);
  Value slot;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(
        &launch->getParentOfType<FunctionOpInterface>()
             .getFunctionBody()
             .front());
    slot = LLVM::AllocaOp::create(builder, loc, pointer, type, integer(1));
  }
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, type, slot,
                                      ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
    LLVM::StoreOp::create(builder, loc, field, place);
  }
  return slot;
}

LogicalResult LaunchConverter::check() {
  if (!launch->getParentOfType<FunctionOpInterface>())
    return launch.emitOpError("expected a launch in a function");
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty())
    return launch.emitOpError("expected a launch without tokens: the "
                              "simulator's are over when they return");
  return success();
}

/// What the kernel may access of `memref`; returns the descriptor's fields.
FailureOr<SmallVector<Value>> LaunchConverter::addExtent(Value memref,
                                                         MemRefType type) {
  LLVMTypeConverter converter(launch.getContext());
  Type descriptorType = converter.convertType(type);
  if (!descriptorType)
    return launch.emitOpError("expected memrefs that LLVM can hold, but got ")
           << type;
  Value descriptor = castTo(memref, descriptorType);
  SmallVector<Value> parts;
  MemRefDescriptor::unpack(builder, loc, descriptor, type, parts);

  // From the first element to the last, or none where a size is zero.
  int64_t rank = type.getRank();
  Value last = integer(0), one = integer(1), zero = integer(0), isEmpty;
  for (int64_t d = 0; d < rank; ++d) {
    Value size = parts[3 + d], stride = parts[3 + rank + d];
    Value steps = LLVM::SubOp::create(builder, loc, size, one);
    last = LLVM::AddOp::create(
        builder, loc, last, LLVM::MulOp::create(builder, loc, steps, stride));
    Value none =
        LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, size, zero);
    isEmpty = isEmpty ? LLVM::OrOp::create(builder, loc, isEmpty, none) : none;
  }
  Type element = converter.convertType(type.getElementType());
  Value first = LLVM::GEPOp::create(builder, loc, pointer, element, parts[1],
                                    ArrayRef<LLVM::GEPArg>{parts[2]});
  Value count = LLVM::AddOp::create(builder, loc, last, one);
  Value bytes = LLVM::MulOp::create(
      builder, loc, count,
      integer((type.getElementType().isIndex()
                   ? 64
                   : int64_t(type.getElementTypeBitWidth()) + 7) /
              8));
  if (isEmpty)
    bytes = LLVM::SelectOp::create(builder, loc, isEmpty, zero, bytes);
  extents.append({first, bytes, parts[1]});
  return parts;
}

/// A tensor map, of which the kernel has the address in its parameters, and by
/// which it copies boxes of the tensor.
LogicalResult LaunchConverter::addTensorMap(Value operand) {
  constexpr int64_t kAlignment = 64;
  auto map = operand.getDefiningOp<TensorMapOp>();
  if (!map)
    return launch.emitOpError("expected nm.tensor_map for a parameter that is "
                              "passed in memory");
  Value tensor = map.getTensor();
  if (failed(addExtent(tensor, cast<MemRefType>(tensor.getType()))))
    return failure();
  Value place = storeOnStack(operand);
  place.getDefiningOp<LLVM::AllocaOp>().setAlignment(kAlignment);
  int64_t bytes = int64_t(DataLayout(module).getTypeSize(operand.getType()));
  extents.append({place, integer(bytes), place});
  arguments.push_back(place);
  return success();
}

LogicalResult LaunchConverter::flattenOperands(LLVM::LLVMFuncOp kernel) {
  for (Value operand : launch.getKernelOperands()) {
    unsigned number = unsigned(arguments.size());
    bool isReference =
        number < kernel.getNumArguments() &&
        kernel.getArgAttr(number, LLVM::LLVMDialect::getByValAttrName());
    if (isReference) {
      if (failed(addTensorMap(operand)))
        return failure();
    } else if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      FailureOr<SmallVector<Value>> parts = addExtent(operand, type);
      if (failed(parts))
        return failure();
      llvm::append_range(arguments, *parts);
    } else if (operand.getType().isIndex()) {
      arguments.push_back(toI64(operand));
    } else if (LLVM::isCompatibleType(operand.getType())) {
      arguments.push_back(operand);
    } else {
      return launch.emitOpError("expected ranked memrefs and scalars for a "
                                "kernel, but got ")
             << operand.getType();
    }
  }
  return success();
}

LogicalResult LaunchConverter::convert() {
  if (failed(check()))
    return failure();
  StringRef kernels = launch.getKernelModuleName();
  StringRef name = launch.getKernelName();
  auto kernel = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
      launch, launch.getKernel());
  if (!kernel)
    return launch.emitOpError("expected a kernel at the NVVM level");
  if (failed(flattenOperands(kernel)))
    return failure();
  if (!llvm::equal(kernel.getArgumentTypes(), ValueRange(arguments).getTypes()))
    return launch.emitOpError("expected arguments of the kernel's types once "
                              "memrefs are descriptors");
  FailureOr<LLVM::LLVMFuncOp> function = declareFunction(
      module, loc, "nmSimLaunch", LLVM::LLVMVoidType::get(launch.getContext()),
      {pointer, pointer});
  if (failed(function))
    return failure();
  Value shared = launch.getDynamicSharedMemorySize();
  SmallVector<Value> fields;
  for (Value size :
       {launch.getGridSizeX(), launch.getGridSizeY(), launch.getGridSizeZ(),
        launch.getBlockSizeX(), launch.getBlockSizeY(), launch.getBlockSizeZ()})
    fields.push_back(toI64(size));
  for (Value size : {launch.getClusterSizeX(), launch.getClusterSizeY(),
                     launch.getClusterSizeZ()})
    fields.push_back(size ? toI64(size) : integer(1));
  fields.push_back(shared ? toI64(shared) : integer(0));
  fields.push_back(storeOnStack(arguments));
  fields.push_back(storeOnStack(extents));
  fields.push_back(integer(int64_t(extents.size() / 3)));
  Value shape = storeOnStack(fields);
  Value descriptor = LLVM::AddressOfOp::create(
      builder, loc, pointer, getDescriptorName(kernels, name));
  LLVM::CallOp::create(builder, loc, *function, ValueRange{descriptor, shape});
  launch.erase();
  return success();
}

LogicalResult mlir::nm::convertLaunch(ModuleOp module,
                                      gpu::LaunchFuncOp launch) {
  return LaunchConverter(module, launch).convert();
}
