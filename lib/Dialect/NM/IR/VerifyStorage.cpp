//===- VerifyStorage.cpp - Checks shared by the ops' verifiers ------------===//

#include "VerifyStorage.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::verifyShape(Operation *op, StringRef name,
                                    ShapedType type,
                                    ArrayRef<int64_t> expected) {
  if (type.getRank() != static_cast<int64_t>(expected.size()))
    return op->emitOpError() << "expected " << name << " to have rank "
                             << expected.size() << ", but got " << type;
  for (auto [dim, size] : llvm::enumerate(expected)) {
    int64_t got = type.getDimSize(dim);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(got) &&
        size != got)
      return op->emitOpError()
             << "expected size of dim " << dim << " of " << name << " to be "
             << size << ", but got " << got;
  }
  return success();
}

LogicalResult mlir::nm::verifyLists(Operation *op, PackedFormAttrInterface form,
                                    Value lists, ArrayRef<int64_t> expected) {
  if (lists && !expected.empty())
    return verifyShape(op, "lists", cast<ShapedType>(lists.getType()),
                       expected);
  if (!lists && expected.empty())
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError() << "expected ";
  if (lists)
    diagnostic << "no lists of rows, of which ";
  else
    diagnostic << "lists of rows, of which ";
  if (form)
    diagnostic << form;
  else
    diagnostic << "the condensed form";
  if (lists)
    return diagnostic << " has none, but got " << lists.getType();
  diagnostic << " has ";
  llvm::interleave(expected, diagnostic, "x");
  return diagnostic << ", but got none";
}

LogicalResult
mlir::nm::verifyMatrixSize(function_ref<InFlightDiagnostic()> emitError,
                           int64_t k, int64_t n) {
  // A dynamic size is negative.
  if (k > ::nm::kMaxSize || n > ::nm::kMaxSize)
    return emitError() << "expected k and n to be at most " << ::nm::kMaxSize
                       << ", but got k x n = " << k << "x" << n;
  return success();
}

LogicalResult mlir::nm::verifySizeLimits(Operation *op, StringRef name,
                                         ShapedType type) {
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size > ::nm::kMaxSize)
      return op->emitOpError()
             << "expected size of dim " << dim << " of " << name
             << " to be at most " << ::nm::kMaxSize << ", but got " << size;
  return success();
}

LogicalResult mlir::nm::verifyTensorsOrMemRefs(Operation *op) {
  bool onTensors = isa<TensorType>(op->getOperand(0).getType());
  for (auto [position, type] : llvm::enumerate(op->getOperandTypes())) {
    if (isa<TensorType>(type) != onTensors)
      return op->emitOpError()
             << "expected all operands to be tensors or all to be memrefs";
    // An encoded tensor is a whole weight, which has no place here: the ops
    // take the parts of one, or a dense matrix.
    if (EncodingAttr encoding = getEncoding(type))
      return op->emitOpError()
             << "expected operand " << position
             << " to be a plain tensor, but it carries " << encoding;
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && !memref.isStrided() &&
        !isa<TileLayoutAttr>(memref.getLayout()))
      return op->emitOpError()
             << "expected operand " << position
             << " to have a strided or tile layout, but got " << type;
  }
  auto destinations = cast<DestinationStyleOpInterface>(op).getDpsInits();
  size_t numResults = onTensors ? destinations.size() : 0;
  if (op->getNumResults() != numResults)
    return op->emitOpError()
           << "expected number of results to be " << numResults << " on "
           << (onTensors ? "tensors" : "memrefs") << ", but got "
           << op->getNumResults();
  for (auto [destination, result] : llvm::zip(destinations, op->getResults()))
    if (destination.getType() != result.getType())
      return op->emitOpError()
             << "expected result type " << destination.getType()
             << " (of its destination), but got " << result.getType();
  return success();
}

void mlir::nm::getDestinationStyleEffects(
    DestinationStyleOpInterface op, bool accumulates,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isDestination = op.isDpsInit(&operand);
    if (!isDestination || accumulates)
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
    if (isDestination)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

LogicalResult mlir::nm::reifyDestinations(OpBuilder &builder,
                                          DestinationStyleOpInterface op,
                                          ReifiedRankedShapedTypeDims &shapes) {
  for (Value destination : op.getDpsInits()) {
    if (!isa<RankedTensorType>(destination.getType()))
      return failure();
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(), destination));
  }
  return success();
}

LogicalResult mlir::nm::verifyWeightType(
    function_ref<InFlightDiagnostic()> emitError, Type elementType,
    function_ref<::nm::Status(::nm::ElementType)> verify) {
  std::optional<::nm::ElementType> type = mlir::nm::getElementType(elementType);
  if (!type)
    return emitError() << "expected an element type with weights, but got "
                       << elementType;
  if (::nm::Status status = verify(*type); !status)
    return emitError() << status.error().message;
  return success();
}

LogicalResult
mlir::nm::verifySingleWeights(function_ref<InFlightDiagnostic()> emitError,
                              Attribute form, const ::nm::Pattern &pattern) {
  if (pattern == ::nm::Pattern())
    return success();
  return emitError() << "expected pattern 1:1 for " << form << ", but got "
                     << pattern.str();
}
