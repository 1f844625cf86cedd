//===- QuantizedWeight.cpp - Weights that linalg dequantizes --------------===//

#include "nm/Dialect/NM/Transforms/QuantizedWeight.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

/// The bits of the element `value` that `converted` is the float of; none where
/// it is something else.
static std::optional<int64_t> matchConversion(Value converted, Value value) {
  auto toFloat = converted.getDefiningOp<arith::SIToFPOp>();
  if (!toFloat)
    return std::nullopt;
  Value integer = toFloat.getIn();
  if (auto trunc = integer.getDefiningOp<arith::TruncIOp>())
    integer = trunc.getIn();
  if (integer != value)
    return std::nullopt;
  return toFloat.getIn().getType().getIntOrFloatBitWidth();
}

/// The bits of the values where `op` yields their product with the scales.
static std::optional<int64_t> matchBody(linalg::GenericOp op) {
  Block &body = *op.getBody();
  auto product =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  Value lhs = product.getLhs(), rhs = product.getRhs();
  Value value = body.getArgument(0), scale = body.getArgument(1);
  if (lhs == scale)
    std::swap(lhs, rhs);
  return rhs == scale ? matchConversion(lhs, value) : std::nullopt;
}

/// Reads off the scales' map where groups and columns are, and how long groups
/// are; fails for other maps.
static LogicalResult matchScales(AffineMap map, unsigned kLoop, int64_t k,
                                 QuantizedWeight &weight) {
  bool hasColumns = false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (loop.getPosition() == kLoop || hasColumns)
        return failure();
      weight.columnDim = int64_t(dim);
      hasColumns = true;
      continue;
    }
    auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv ||
        weight.groupDim)
      return failure();
    auto loop = dyn_cast<AffineDimExpr>(quotient.getLHS());
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!loop || loop.getPosition() != kLoop || !divisor ||
        divisor.getValue() < 1)
      return failure();
    weight.groupDim = int64_t(dim);
    weight.group = divisor.getValue();
  }
  if (!weight.groupDim)
    weight.group = std::max<int64_t>(k, 1);
  return success(hasColumns);
}

::nm::Result<QuantizedWeight> QuantizedWeight::match(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != 2 || op.getNumParallelLoops() != 2)
    return Error{
        "expected a linalg.generic of two parallel loops, of quantized "
        "values and their scales"};
  QuantizedWeight weight;
  weight.values = op.getDpsInputOperand(0)->get();
  weight.scales = op.getDpsInputOperand(1)->get();
  EncodingAttr encoding = getEncoding(weight.values.getType());
  if (!encoding ||
      !getElementTypeOrSelf(weight.values.getType()).isSignlessInteger(8))
    return Error{
        "expected the first input to be quantized values of i8 with an "
        "#nm.encoding"};
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  if (!type.isF16() && !type.isBF16())
    return Error{"expected quantized weights to become f16 or bf16"};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[0].isIdentity() || !maps[2].isIdentity())
    return Error{"expected quantized values and weights in the order of the "
                 "loops"};
  std::optional<int64_t> bits = matchBody(op);
  if (!bits || (*bits != 4 && *bits != 8))
    return Error{"expected arith.sitofp of the value, or of its low four bits "
                 "by arith.trunci to i4, times the scale, by arith.mulf"};
  weight.bits = *bits;
  if (encoding.getPattern().getPattern().isUnstructured())
    return Error{"expected quantized weights of an N:M pattern, but got "
                 "unstructured ones"};
  auto kLoop = static_cast<unsigned>(encoding.getDim());
  int64_t k =
      encoding.getK(cast<ShapedType>(weight.values.getType()).getShape());
  if (failed(matchScales(maps[1], kLoop, k, weight)))
    return Error{
        "expected scales at (k floordiv group, n), in either order, or "
        "at (n)"};
  // Of all of k, as many as whole windows have.
  int64_t window = encoding.getPattern().getPattern().windowRows();
  if (weight.group >= k)
    weight.group = int64_t(llvm::alignTo(weight.group, window));
  if (weight.group % window != 0)
    return Error{"expected groups of a multiple of the window's " +
                 std::to_string(window) + " rows of k, but got " +
                 std::to_string(weight.group)};
  return weight;
}

Value QuantizedWeight::createScales(OpBuilder &builder, Location loc) const {
  auto type = cast<RankedTensorType>(scales.getType());
  Type element = type.getElementType();
  if (!groupDim)
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get({1, type.getDimSize(0)}, element),
        scales, ArrayRef<ReassociationIndices>{{0, 1}});
  if (*groupDim == 0)
    return scales;
  Value empty = tensor::EmptyOp::create(
      builder, loc, {type.getDimSize(1), type.getDimSize(0)}, element);
  return linalg::TransposeOp::create(builder, loc, scales, empty,
                                     ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

linalg::GenericOp mlir::nm::getDequantization(Value value) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  return generic && QuantizedWeight::match(generic) ? generic
                                                    : linalg::GenericOp();
}
