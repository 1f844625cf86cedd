//===- FormatOps.cpp - Ops between dense, condensed and packed ------------===//

#include "Quantization.h"
#include "TilingInterfaceImpl.h"
#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/PartialSums.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::nm;

using EffectInstances =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifySameElementType(Operation *op, ShapedType expected,
                                           ShapedType got) {
  if (expected.getElementType() == got.getElementType())
    return success();
  return op->emitOpError() << "expected element type "
                           << expected.getElementType() << ", but got "
                           << got.getElementType();
}

/// (C1) and (C2) of nm.compress and nm.decompress.
template <typename OpTy>
static LogicalResult verifyConversion(OpTy op) {
  auto dense = cast<ShapedType>(op.getDense().getType());
  auto values = cast<ShapedType>(op.getValues().getType());
  auto indices = cast<ShapedType>(op.getIndices().getType());
  int64_t k = dense.getDimSize(op.getDim());
  int64_t n = dense.getDimSize(1 - op.getDim());
  if (failed(verifyMatrixSize([&] { return op.emitOpError(); }, k, n)))
    return failure();
  StorageShape shape =
      StorageShape::condensed(op.getPattern().getPattern(), k, n);
  if (failed(verifyShape(op, "values", values, shape.values)) ||
      failed(verifyShape(op, "indices", indices, shape.indices)) ||
      failed(verifySameElementType(op, dense, values)))
    return failure();
  // (C3).
  return verifyTensorsOrMemRefs(op);
}

LogicalResult CompressOp::verify() { return verifyConversion(*this); }
LogicalResult DecompressOp::verify() { return verifyConversion(*this); }

LogicalResult PruneOp::verify() {
  auto dense = cast<ShapedType>(getDense().getType());
  auto pruned = cast<ShapedType>(getPruned().getType());
  // (C1).
  if (failed(verifySizeLimits(*this, "input", dense)) ||
      failed(verifyShape(*this, "output", pruned, dense.getShape())) ||
      failed(verifySameElementType(*this, dense, pruned)))
    return failure();
  // (C2).
  return verifyTensorsOrMemRefs(*this);
}

LogicalResult PackOp::verify() {
  auto values = cast<ShapedType>(getValues().getType());
  auto packedValues = cast<ShapedType>(getPackedValues().getType());
  ::nm::Pattern pattern = getPattern().getPattern();
  if (failed(getPacking().verifyWeights([&] { return emitOpError(); }, pattern,
                                        values.getElementType())))
    return failure();
  // (C1). The condensed sizes are whole units of the pattern.
  for (auto [dim, unit] :
       {std::pair(0, pattern.keptRows()), std::pair(1, pattern.bn)}) {
    int64_t size = values.getDimSize(dim);
    if (!ShapedType::isDynamic(size) && size % unit != 0)
      return emitOpError() << "expected size of dim " << dim
                           << " of values to be a multiple of " << unit
                           << ", but got " << size;
  }
  auto divide = [](int64_t size, int64_t by) {
    return ShapedType::isDynamic(size) ? size : size / by;
  };
  int64_t rows = values.getDimSize(0), columns = values.getDimSize(1);
  StorageShape packed = getPacking().getStorageShape(pattern, rows, columns);
  if (failed(verifyShape(
          *this, "indices", cast<ShapedType>(getIndices().getType()),
          {divide(rows, pattern.bk), divide(columns, pattern.bn)})) ||
      failed(
          verifyShape(*this, "packed values", packedValues, packed.values)) ||
      failed(verifyShape(*this, "packed indices",
                         cast<ShapedType>(getPackedIndices().getType()),
                         packed.indices)) ||
      failed(verifyLists(*this, getPacking(), getPackedLists(), packed.lists)))
    return failure();
  // (C2). What is packed as splits is f32 before.
  if (getPacking().countSplits() > 1 && !values.getElementType().isF32())
    return emitOpError() << "expected values of f32 for splits, but got "
                         << values.getElementType();
  Type packedType = getPacking().getPackedType(values.getElementType());
  if (packedValues.getElementType() != packedType)
    return emitOpError() << "expected element type " << packedType
                         << ", but got " << packedValues.getElementType();
  // (C3).
  return verifyTensorsOrMemRefs(*this);
}

/// (C1) and (C2) of nm.disassemble and nm.assemble.
static LogicalResult verifyParts(Operation *op, RankedTensorType encoded,
                                 ShapedType values, ShapedType indices) {
  StorageShape shape = condensedShapeOf(encoded);
  if (failed(verifyShape(op, "values", values, shape.values)) ||
      failed(verifyShape(op, "indices", indices, shape.indices)))
    return failure();
  for (ShapedType part : {values, indices})
    if (!part.hasStaticShape())
      return op->emitOpError()
             << "expected the parts of " << encoded
             << " to have static shapes, as it has, but got " << part;
  return verifySameElementType(op, encoded, values);
}

LogicalResult DisassembleOp::verify() {
  return verifyParts(*this, getEncoded().getType(),
                     cast<ShapedType>(getValues().getType()),
                     cast<ShapedType>(getIndices().getType()));
}

LogicalResult AssembleOp::verify() {
  return verifyParts(*this, getEncoded().getType(),
                     cast<ShapedType>(getValues().getType()),
                     cast<ShapedType>(getIndices().getType()));
}

//===----------------------------------------------------------------------===//
// Effects, shapes and builders
//===----------------------------------------------------------------------===//

void CompressOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

void DecompressOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

void PruneOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

void PackOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

LogicalResult CompressOp::reifyResultShapes(OpBuilder &builder,
                                            ReifiedRankedShapedTypeDims &dims) {
  return reifyDestinations(builder, *this, dims);
}

LogicalResult
DecompressOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &dims) {
  return reifyDestinations(builder, *this, dims);
}

LogicalResult PruneOp::reifyResultShapes(OpBuilder &builder,
                                         ReifiedRankedShapedTypeDims &dims) {
  return reifyDestinations(builder, *this, dims);
}

LogicalResult PackOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &dims) {
  return reifyDestinations(builder, *this, dims);
}

void DisassembleOp::build(OpBuilder &builder, OperationState &state,
                          Value encoded) {
  auto type = cast<RankedTensorType>(encoded.getType());
  StorageShape shape = condensedShapeOf(type);
  build(builder, state, shape.valuesType(type.getElementType()),
        shape.indicesType(builder.getContext()), encoded);
}
