//===- Signature.cpp - What callers see of a function ---------------------===//

#include "Signature.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::string getEncodingText(EncodingAttr encoding) {
  if (!encoding)
    return "";
  std::string text = encoding.getPattern().getPattern().str();
  if (encoding.getDim() != 0)
    text += ", dim = " + std::to_string(encoding.getDim());
  return text;
}

std::optional<TensorInfo> mlir::nm::getTensorInfo(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  std::optional<::nm::ElementType> element =
      mlir::nm::getElementType(shaped.getElementType());
  if (!element)
    return std::nullopt;
  TensorInfo info;
  info.dtype = ::nm::elementName(*element);
  for (int64_t size : shaped.getShape())
    info.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  info.encoding = getEncodingText(getEncoding(type));
  return info;
}

SmallVector<func::FuncOp> mlir::nm::getEntryPoints(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  return functions;
}

/// Row-major memory of the host or, where the function runs on a GPU, of that.
static bool isUpdatedType(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity() && !memref.getMemorySpace();
}

static LogicalResult readTypes(func::FuncOp function, StringRef what,
                               TypeRange types, bool mayUpdate,
                               std::vector<TensorInfo> &infos) {
  for (auto [i, type] : llvm::enumerate(types)) {
    std::optional<TensorInfo> info;
    bool isUpdated = mayUpdate && isUpdatedType(type);
    if (isa<RankedTensorType>(type) || isUpdated)
      info = getTensorInfo(type);
    if (!info)
      return function.emitError()
             << "expected " << what << " " << i << " of @"
             << function.getSymName() << " to be a ranked tensor"
             << (mayUpdate ? ", or a row-major memref, " : " ")
             << "of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32 or i8, "
                "but got "
             << type;
    info->isUpdated = isUpdated;
    infos.push_back(std::move(*info));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The argument that a value is, or the elements of; null if it is neither.
static BlockArgument findArgument(Value value, func::FuncOp function) {
  if (auto elements = value.getDefiningOp<bufferization::ToTensorOp>())
    value = elements.getBuffer();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &function.front() ? argument
                                                              : nullptr;
}

/// The size of dimension `dim` of `value`; none if it is not simply a number or
/// that of an argument's dimension.
static std::optional<DimSource> traceDim(func::FuncOp function, Value value,
                                         int64_t dim) {
  while (auto copy =
             value.getDefiningOp<bufferization::MaterializeInDestinationOp>())
    value = copy.getSource();
  int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
  BlockArgument argument = findArgument(value, function);
  if (argument && ShapedType::isDynamic(size))
    return DimRef{argument.getArgNumber(), dim};
  if (!ShapedType::isDynamic(size))
    return size;
  AffineMap map;
  ValueDimList operands;
  auto isArgument = [&](Value candidate, std::optional<int64_t>,
                        ValueBoundsConstraintSet &) {
    return bool(findArgument(candidate, function));
  };
  if (failed(ValueBoundsConstraintSet::computeBound(
          map, operands, presburger::BoundType::EQ, {value, dim}, isArgument)))
    return std::nullopt;
  AffineExpr bound = map.getResult(0);
  if (auto constant = dyn_cast<AffineConstantExpr>(bound))
    return constant.getValue();
  unsigned position;
  if (auto variable = dyn_cast<AffineDimExpr>(bound))
    position = variable.getPosition();
  else if (auto symbol = dyn_cast<AffineSymbolExpr>(bound))
    position = map.getNumDims() + symbol.getPosition();
  else
    return std::nullopt;
  auto [source, sourceDim] = operands[position];
  argument = findArgument(source, function);
  if (!argument || !sourceDim)
    return std::nullopt;
  return DimRef{argument.getArgNumber(), *sourceDim};
}

static LogicalResult traceResults(func::FuncOp function, Signature &signature) {
  auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
  if (returns.size() != 1)
    return function.emitError()
           << "expected @" << function.getSymName()
           << " to have one return, but got " << returns.size();
  for (auto [i, value] : llvm::enumerate(returns[0].getOperands())) {
    auto type = cast<ShapedType>(value.getType());
    signature.resultDims.emplace_back();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      std::optional<DimSource> source = traceDim(function, value, dim);
      if (!source)
        return function.emitError()
               << "expected dimension " << dim << " of result " << i << " of @"
               << function.getSymName()
               << " to be static or equal to a dimension of an argument, which "
                  "the caller needs to allocate it";
      signature.resultDims.back().push_back(*source);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Argument dimensions that must agree
//===----------------------------------------------------------------------===//

/// The argument dimension that dimension `dim` of `value` is, if it is one.
static std::optional<DimRef> traceToArgument(func::FuncOp function, Value value,
                                             int64_t dim) {
  if (BlockArgument argument = findArgument(value, function))
    return DimRef{argument.getArgNumber(), dim};
  std::optional<DimSource> source = traceDim(function, value, dim);
  if (!source || !std::holds_alternative<DimRef>(*source))
    return std::nullopt;
  return std::get<DimRef>(*source);
}

/// A DimRef as EquivalenceClasses can hash it.
using DimKey = std::pair<int64_t, int64_t>;

/// Joins the argument dimensions that one loop of `op` walks together. Those of
/// static size have been checked by the verifier.
static void joinLoopDims(func::FuncOp function, linalg::LinalgOp op,
                         llvm::EquivalenceClasses<DimKey> &classes) {
  SmallVector<std::optional<DimRef>> firsts(op.getNumLoops());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      std::optional<DimRef> ref = traceToArgument(function, operand.get(), dim);
      if (!ref)
        continue;
      std::optional<DimRef> &first = firsts[loop.getPosition()];
      if (first)
        classes.unionSets(DimKey(first->arg, first->dim),
                          DimKey(ref->arg, ref->dim));
      else
        first = ref;
    }
  }
}

static std::vector<std::vector<DimRef>> findEqualDims(func::FuncOp function) {
  llvm::EquivalenceClasses<DimKey> classes;
  function.walk(
      [&](linalg::LinalgOp op) { joinLoopDims(function, op, classes); });
  std::vector<std::vector<DimRef>> equalDims;
  for (const auto *entry : classes) {
    if (!entry->isLeader())
      continue;
    std::vector<DimRef> members;
    for (auto [arg, dim] : classes.members(*entry))
      members.push_back({arg, dim});
    llvm::sort(members);
    bool anyDynamic = llvm::any_of(members, [&](DimRef ref) {
      return cast<ShapedType>(function.getArgumentTypes()[ref.arg])
          .isDynamicDim(ref.dim);
    });
    if (members.size() > 1 && anyDynamic)
      equalDims.push_back(std::move(members));
  }
  llvm::sort(equalDims);
  return equalDims;
}

void mlir::nm::buildSizeAnalysis(OpPassManager &pm) {
  pm.addPass(createInlinerPass());
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
}

FailureOr<Signature> mlir::nm::getSignature(func::FuncOp function) {
  Signature signature;
  signature.name = function.getSymName();
  if (failed(readTypes(function, "argument", function.getArgumentTypes(),
                       /*mayUpdate=*/true, signature.args)) ||
      failed(readTypes(function, "result", function.getResultTypes(),
                       /*mayUpdate=*/false, signature.results)))
    return failure();
  for (auto [i, result] : llvm::enumerate(signature.results))
    if (!result.encoding.empty())
      return function.emitError()
             << "expected result " << i << " of @" << function.getSymName()
             << " to carry no encoding, but got "
             << function.getResultTypes()[i];
  if (failed(traceResults(function, signature)))
    return failure();
  signature.equalDims = findEqualDims(function);
  return signature;
}
