//===- MaterializeStorage.cpp - Encoded tensors to condensed parts --------===//

#include "nm/Dialect/NM/Transforms/Phases.h"

#include "CheckEncodings.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMMATERIALIZESTORAGE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Replaces every nm.disassemble of `constant` by its condensed parts.
static LogicalResult condenseConstant(arith::ConstantOp constant) {
  auto parts = llvm::to_vector(llvm::make_filter_range(
      constant->getUsers(), llvm::IsaPred<DisassembleOp>));
  if (parts.empty())
    return success();
  // An error on the op itself would print the whole constant.
  if (std::optional<std::string> reason = whyNoBytes(constant.getValue()))
    return emitError(constant.getLoc()) << *reason;
  std::optional<ConstantArray> dense = ConstantArray::get(constant.getValue());
  if (!dense)
    return emitError(constant.getLoc())
           << "expected a dense or dense_resource value of at most 4 GiB, but "
              "got one of "
           << constant.getType();
  EncodingAttr encoding = getEncoding(constant.getType());
  ::nm::Result<CondensedConstant> condensed =
      compressConstant(*dense, encoding.getPattern().getPattern(),
                       encoding.getDim(), getConstantName(constant.getValue()));
  if (!condensed)
    return emitError(constant.getLoc()) << condensed.error().message;
  OpBuilder builder(constant);
  Location loc = constant.getLoc();
  Value values = arith::ConstantOp::create(builder, loc, condensed->values);
  Value indices = arith::ConstantOp::create(builder, loc, condensed->indices);
  for (Operation *op : parts) {
    op->replaceAllUsesWith(ValueRange{values, indices});
    op->erase();
  }
  return success();
}

static LogicalResult condenseConstants(ModuleOp module) {
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp constant) {
    if (getEncoding(constant.getType()))
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants)
    if (failed(condenseConstant(constant)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool hasEncoding(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return bool(getEncoding(type)); });
}

/// `types` with each encoded one replaced by the types of its parts.
static SmallVector<Type> expandTypes(TypeRange types) {
  SmallVector<Type> expanded;
  for (Type type : types) {
    if (!getEncoding(type)) {
      expanded.push_back(type);
      continue;
    }
    auto tensorType = cast<RankedTensorType>(type);
    StorageShape shape = condensedShapeOf(tensorType);
    expanded.push_back(shape.valuesType(tensorType.getElementType()));
    expanded.push_back(shape.indicesType(type.getContext()));
  }
  return expanded;
}

/// `values` with each encoded one taken apart.
static SmallVector<Value> disassemble(OpBuilder &builder, Location loc,
                                      ValueRange values) {
  SmallVector<Value> expanded;
  for (Value value : values) {
    if (!getEncoding(value.getType())) {
      expanded.push_back(value);
      continue;
    }
    auto parts = DisassembleOp::create(builder, loc, value);
    expanded.append({parts.getValues(), parts.getIndices()});
  }
  return expanded;
}

/// The values that `parts` stand for, where they were once of `types`.
static SmallVector<Value> assemble(OpBuilder &builder, Location loc,
                                   TypeRange types, ValueRange parts) {
  SmallVector<Value> values;
  size_t next = 0;
  for (Type type : types) {
    if (!getEncoding(type)) {
      values.push_back(parts[next++]);
      continue;
    }
    values.push_back(
        AssembleOp::create(builder, loc, type, parts[next], parts[next + 1]));
    next += 2;
  }
  return values;
}

/// The attributes of the expanded arguments: a part says whose it is.
static SmallVector<DictionaryAttr> expandArgAttrs(func::FuncOp function) {
  Builder builder(function.getContext());
  SmallVector<DictionaryAttr> expanded;
  for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!getEncoding(type)) {
      expanded.push_back(function.getArgAttrDict(position));
      continue;
    }
    for (StringRef name : {"nm.values_of", "nm.indices_of"}) {
      NamedAttrList attributes(function.getArgAttrDict(position));
      attributes.set(name, builder.getI64IntegerAttr(position));
      expanded.push_back(attributes.getDictionary(function.getContext()));
    }
  }
  return expanded;
}

/// The attributes of the expanded results.
static SmallVector<DictionaryAttr> expandResultAttrs(func::FuncOp function) {
  SmallVector<DictionaryAttr> expanded;
  for (auto [position, type] : llvm::enumerate(function.getResultTypes()))
    expanded.append(getEncoding(type) ? 2 : 1,
                    function.getResultAttrDict(position));
  return expanded;
}

/// Replaces the entry block's arguments by the expanded ones.
static void expandEntryBlock(func::FuncOp function, TypeRange newTypes) {
  Block &entry = function.front();
  SmallVector<Type> oldTypes(entry.getArgumentTypes());
  unsigned numOld = entry.getNumArguments();
  for (Type type : newTypes)
    entry.addArgument(type, function.getLoc());
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  SmallVector<Value> replacements =
      assemble(builder, function.getLoc(), oldTypes,
               entry.getArguments().drop_front(numOld));
  for (auto [argument, replacement] :
       llvm::zip(entry.getArguments().take_front(numOld), replacements))
    argument.replaceAllUsesWith(replacement);
  entry.eraseArguments(0, numOld);
}

static void expandSignature(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  if (!hasEncoding(type.getInputs()) && !hasEncoding(type.getResults()))
    return;
  SmallVector<Type> inputs = expandTypes(type.getInputs());
  SmallVector<DictionaryAttr> argAttrs = expandArgAttrs(function);
  SmallVector<DictionaryAttr> resultAttrs = expandResultAttrs(function);
  if (!function.isExternal())
    expandEntryBlock(function, inputs);
  function.setFunctionType(FunctionType::get(function.getContext(), inputs,
                                             expandTypes(type.getResults())));
  function.setAllArgAttrs(argAttrs);
  function.setAllResultAttrs(resultAttrs);
}

static void expandReturn(func::ReturnOp op) {
  if (!hasEncoding(op.getOperandTypes()))
    return;
  OpBuilder builder(op);
  op.getOperandsMutable().assign(
      disassemble(builder, op.getLoc(), op.getOperands()));
}

static void expandCall(func::CallOp op) {
  if (!hasEncoding(op.getOperandTypes()) && !hasEncoding(op.getResultTypes()))
    return;
  OpBuilder builder(op);
  auto expanded =
      func::CallOp::create(builder, op.getLoc(), op.getCalleeAttr(),
                           expandTypes(op.getResultTypes()),
                           disassemble(builder, op.getLoc(), op.getOperands()));
  op.replaceAllUsesWith(assemble(builder, op.getLoc(), op.getResultTypes(),
                                 expanded.getResults()));
  op.erase();
}

static void expandFunctions(ModuleOp module) {
  module.walk([](func::FuncOp function) { expandSignature(function); });
  module.walk([](func::ReturnOp op) { expandReturn(op); });
  module.walk([](func::CallOp op) { expandCall(op); });
}

//===----------------------------------------------------------------------===//
// Clean-up
//===----------------------------------------------------------------------===//

/// Joins each nm.disassemble to the nm.assemble it takes apart.
static void joinParts(ModuleOp module) {
  module.walk([](DisassembleOp op) {
    auto source = op.getEncoded().getDefiningOp<AssembleOp>();
    if (!source)
      return;
    op.replaceAllUsesWith(ValueRange{source.getValues(), source.getIndices()});
    op.erase();
  });
}

/// Refuses weights that are neither arguments, nor constants, nor compressed.
static LogicalResult verifyNoDisassemble(ModuleOp module) {
  WalkResult result = module.walk([](DisassembleOp op) {
    Operation *source = op.getEncoded().getDefiningOp();
    InFlightDiagnostic diagnostic =
        emitError(source ? source->getLoc() : op.getLoc())
        << "expected a weight with " << getEncoding(op.getEncoded().getType())
        << " to be an argument of a function, a constant or what nm.compress "
           "gives, but it comes from ";
    if (source)
      diagnostic << "'" << source->getName() << "'";
    else
      diagnostic << "the argument of a block";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static void eraseUnusedSources(ModuleOp module) {
  module.walk([](Operation *op) {
    bool isEncodedSource =
        isa<AssembleOp>(op) ||
        (isa<arith::ConstantOp>(op) && hasEncoding(op->getResultTypes()));
    if (isEncodedSource && op->use_empty())
      op->erase();
  });
}

LogicalResult mlir::nm::materializeStorage(ModuleOp module) {
  // Calls and returns take constants apart too, so those come after.
  expandFunctions(module);
  joinParts(module);
  if (failed(condenseConstants(module)))
    return failure();
  eraseUnusedSources(module);
  return failure(
      failed(verifyNoDisassemble(module)) ||
      failed(verifyNoEncodings(
          module, "where storage is materialized",
          [](Attribute encoding) { return isa<EncodingAttr>(encoding); })));
}

namespace {
struct NMMaterializeStorage
    : mlir::nm::impl::NMMaterializeStorageBase<NMMaterializeStorage> {
  void runOnOperation() override {
    if (failed(materializeStorage(getOperation())))
      signalPassFailure();
  }
};
} // namespace
