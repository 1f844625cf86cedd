//===- SparseTensorToNM.cpp - Structured levels to encodings --------------===//

#include "nm/Conversion/SparseTensorToNM/SparseTensorToNM.h"

#include "ReplaceEncodings.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTSPARSETENSORTONM
#include "nm/Conversion/SparseTensorToNM/SparseTensorToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using sparse_tensor::LevelType;
using sparse_tensor::SparseTensorEncodingAttr;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool hasStructuredLevel(SparseTensorEncodingAttr levels) {
  return llvm::any_of(levels.getLvlTypes(), sparse_tensor::isNOutOfMLT);
}

/// The dimension d of a level `d floordiv m` or `d mod m`, if it is one.
static std::optional<unsigned> findDim(AffineExpr level, AffineExprKind kind,
                                       int64_t m) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(level);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !size || size.getValue() != m)
    return std::nullopt;
  return dim.getPosition();
}

/// The position of k where levels are the other dimension, k floordiv m and, as
/// the last one, k mod m: structured[n, m]. Dense levels may stand in any
/// order.
static std::optional<unsigned> findK(SparseTensorEncodingAttr levels) {
  AffineMap map = levels.getDimToLvl();
  ArrayRef<LevelType> types = levels.getLvlTypes();
  if (map.getNumDims() != 2 || map.getNumResults() != 3 ||
      !sparse_tensor::isDenseLT(types[0]) ||
      !sparse_tensor::isDenseLT(types[1]) ||
      !sparse_tensor::isNOutOfMLT(types[2]))
    return std::nullopt;
  auto m = static_cast<int64_t>(types[2].getM());
  std::optional<unsigned> k = findDim(map.getResult(2), AffineExprKind::Mod, m);
  if (!k)
    return std::nullopt;
  AffineExpr other = getAffineDimExpr(1 - *k, levels.getContext());
  for (unsigned window : {0, 1})
    if (findDim(map.getResult(window), AffineExprKind::FloorDiv, m) == k &&
        map.getResult(1 - window) == other)
      return k;
  return std::nullopt;
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static FailureOr<Attribute> replaceLevels(RankedTensorType type,
                                          EmitError emitError) {
  auto levels = dyn_cast<SparseTensorEncodingAttr>(type.getEncoding());
  if (!levels || !hasStructuredLevel(levels))
    return Attribute();
  std::optional<unsigned> k = findK(levels);
  if (!k || !levels.getDimSlices().empty() || levels.getExplicitVal() ||
      levels.getImplicitVal()) {
    emitError() << "expected levels (n : dense, k floordiv M : dense, k mod M "
                   ": structured[N, M]), but got "
                << type;
    return failure();
  }
  LevelType structured = levels.getLvlTypes().back();
  MLIRContext *context = type.getContext();
  auto pattern = PatternAttr::getChecked(
      emitError, context, int64_t(structured.getN()),
      int64_t(structured.getM()), /*bk=*/int64_t(1), /*bn=*/int64_t(1));
  if (!pattern)
    return failure();
  auto encoding =
      EncodingAttr::getChecked(emitError, context, pattern, int64_t(*k));
  if (!encoding || failed(encoding.verifyEncoding(
                       type.getShape(), type.getElementType(), emitError)))
    return failure();
  return Attribute(encoding);
}

//===----------------------------------------------------------------------===//
// Conversions from dense and to dense
//===----------------------------------------------------------------------===//

static EncodingAttr getEncoding(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast_if_present<EncodingAttr>(type.getEncoding())
              : EncodingAttr();
}

static bool isDense(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding();
}

static Value createEmpty(OpBuilder &builder, Location loc,
                         RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

/// A dense tensor as one with an encoding.
static Value encode(OpBuilder &builder, Location loc, Value dense,
                    RankedTensorType type) {
  if (auto constant = dense.getDefiningOp<arith::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, elements.reshape(type));
  auto encoding = cast<EncodingAttr>(type.getEncoding());
  StorageShape shape = StorageShape::condensed(
      encoding.getPattern().getPattern(), encoding.getK(type.getShape()),
      encoding.getN(type.getShape()));
  auto valuesType = shape.valuesType(type.getElementType());
  auto indicesType = shape.indicesType(builder.getContext());
  auto parts = CompressOp::create(
      builder, loc, TypeRange{valuesType, indicesType}, encoding.getPattern(),
      encoding.getDim(), dense, createEmpty(builder, loc, valuesType),
      createEmpty(builder, loc, indicesType));
  return AssembleOp::create(builder, loc, type, parts.getResult(0),
                            parts.getResult(1));
}

static Value decode(OpBuilder &builder, Location loc, Value encoded,
                    RankedTensorType type) {
  EncodingAttr encoding = getEncoding(encoded);
  auto parts = DisassembleOp::create(builder, loc, encoded);
  return DecompressOp::create(builder, loc, TypeRange{type},
                              encoding.getPattern(), encoding.getDim(),
                              parts.getValues(), parts.getIndices(),
                              createEmpty(builder, loc, type))
      .getResult(0);
}

/// Leaves what it does not know, which the check behind it finds.
static void rewriteConversion(sparse_tensor::ConvertOp op) {
  OpBuilder builder(op);
  Value from = op.getSource(), to = op.getDest();
  auto type = dyn_cast<RankedTensorType>(to.getType());
  Value result;
  if (from.getType() == to.getType() && getEncoding(from))
    result = from;
  else if (isDense(from) && getEncoding(to))
    result = encode(builder, op.getLoc(), from, type);
  else if (getEncoding(from) && isDense(to))
    result = decode(builder, op.getLoc(), from, type);
  if (!result)
    return;
  to.replaceAllUsesWith(result);
  op.erase();
}

/// Ops of sparse_tensor read its levels, which are gone.
static WalkResult checkOp(Operation *op) {
  if (!isa_and_present<sparse_tensor::SparseTensorDialect>(op->getDialect()))
    return WalkResult::advance();
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  for (Value value : values)
    if (EncodingAttr encoding = getEncoding(value)) {
      op->emitOpError()
          << "has no counterpart for weights with " << encoding
          << ": expected a contraction, or sparse_tensor.convert from or to a "
             "dense tensor";
      return WalkResult::interrupt();
    }
  return WalkResult::advance();
}

LogicalResult mlir::nm::convertSparseTensorToNM(Operation *op) {
  if (failed(replaceEncodings(op, replaceLevels)))
    return failure();
  op->walk(rewriteConversion);
  return failure(op->walk(checkOp).wasInterrupted());
}

namespace {
struct ConvertSparseTensorToNM
    : mlir::nm::impl::ConvertSparseTensorToNMBase<ConvertSparseTensorToNM> {
  using ConvertSparseTensorToNMBase::ConvertSparseTensorToNMBase;

  void runOnOperation() override {
    if (failed(convertSparseTensorToNM(getOperation())))
      signalPassFailure();
  }
};
} // namespace
