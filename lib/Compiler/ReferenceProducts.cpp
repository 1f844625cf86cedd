//===- ReferenceProducts.cpp - nm products as plain linalg ----------------===//

#include "ReferenceProducts.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// One product, as a loop over C's dimensions and the kept weights of a column.
class ProductEmitter {
public:
  ProductEmitter(SparseProductOpInterface op)
      : op(op), b(op.getLoc(), op), pattern(op.getPattern()) {}

  Value emit();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value extend(Value value);
  /// The position in k of the weight `slot` of `column`.
  Value emitPosition(Value slot, Value column);
  Value emitActivation(Value position);
  Value emitSum(Value sum);

  SparseProductOpInterface op;
  ImplicitLocOpBuilder b;
  ::nm::Pattern pattern;
};
} // namespace

Value ProductEmitter::extend(Value value) {
  Type accumulator = op.getAccumulatorType();
  if (value.getType() == accumulator)
    return value;
  if (isa<FloatType>(accumulator))
    return arith::ExtFOp::create(b, accumulator, value);
  return arith::ExtSIOp::create(b, accumulator, value);
}

Value ProductEmitter::emitPosition(Value slot, Value column) {
  Value unit = arith::DivUIOp::create(b, slot, index(pattern.bk));
  Value row = arith::RemUIOp::create(b, slot, index(pattern.bk));
  Value block = arith::DivUIOp::create(b, column, index(pattern.bn));
  Value byte =
      tensor::ExtractOp::create(b, op.getIndices(), ValueRange{unit, block});
  Value inWindow = arith::IndexCastUIOp::create(b, b.getIndexType(), byte);
  Value window = arith::DivUIOp::create(b, unit, index(pattern.n));
  Value first = arith::MulIOp::create(b, window, index(pattern.m));
  Value keptUnit = arith::AddIOp::create(b, first, inWindow);
  Value start = arith::MulIOp::create(b, keptUnit, index(pattern.bk));
  return arith::AddIOp::create(b, start, row);
}

Value ProductEmitter::emitActivation(Value position) {
  SmallVector<Value> subscripts(op.getAType().getRank());
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    subscripts[dim] = linalg::IndexOp::create(b, dim);
  if (std::optional<int64_t> m = op.getMDimOfA())
    subscripts[*m] = linalg::IndexOp::create(b, *op.getMDimOfC());
  subscripts[op.getKDimOfA()] = position;
  if (int64_t columns = op.getColumnsOfPanels(); columns != 1) {
    subscripts[op.getKDimOfA()] =
        arith::DivUIOp::create(b, position, index(columns));
    Value &m = subscripts[*op.getMDimOfA()];
    m = arith::AddIOp::create(
        b, arith::MulIOp::create(b, m, index(columns)),
        arith::RemUIOp::create(b, position, index(columns)));
  }
  return tensor::ExtractOp::create(b, op.getA(), subscripts);
}

Value ProductEmitter::emitSum(Value sum) {
  Type type = sum.getType();
  Value slot = linalg::IndexOp::create(b, op.getCType().getRank());
  Value column = linalg::IndexOp::create(b, op.getNDimOfC());
  Value position = emitPosition(slot, column);
  // A slot of the last window may stand for a row beyond k, which is no row.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                       index(op.getStaticK()));
  position = arith::SelectOp::create(b, inside, position, index(0));
  Value lhs = extend(emitActivation(position));
  Value rhs = extend(
      tensor::ExtractOp::create(b, op.getValues(), ValueRange{slot, column}));
  Value before = extend(sum);
  bool isFloat = isa<FloatType>(before.getType());
  Value product = isFloat ? arith::MulFOp::create(b, lhs, rhs).getResult()
                          : arith::MulIOp::create(b, lhs, rhs).getResult();
  Value after = isFloat ? arith::AddFOp::create(b, before, product).getResult()
                        : arith::AddIOp::create(b, before, product).getResult();
  after = arith::SelectOp::create(b, inside, after, before);
  if (after.getType() == type)
    return after;
  return isFloat ? arith::TruncFOp::create(b, type, after).getResult()
                 : arith::TruncIOp::create(b, type, after).getResult();
}

Value ProductEmitter::emit() {
  int64_t rank = op.getCType().getRank();
  // Its size alone is used: that of the loop over kept weights.
  Value slots = tensor::EmptyOp::create(
      b, op.getValuesType().getShape().take_front(), b.getI8Type());
  MLIRContext *context = b.getContext();
  AffineMap slotMap =
      AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank), context);
  AffineMap outputMap =
      AffineMap::getMultiDimIdentityMap(rank + 1, context).getMajorSubMap(rank);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{op.getC().getType()}, ValueRange{slots},
      ValueRange{op.getC()}, ArrayRef<AffineMap>{slotMap, outputMap}, iterators,
      [&](OpBuilder &body, Location, ValueRange arguments) {
        b.setInsertionPoint(body.getInsertionBlock(), body.getInsertionPoint());
        Value sum = emitSum(arguments[1]);
        linalg::YieldOp::create(b, sum);
      });
  return generic.getResult(0);
}

/// Whether the weights are the condensed form of a static k.
static bool isReplaceable(SparseProductOpInterface op) {
  return !op.getPackingAttr() && isa<RankedTensorType>(op.getC().getType()) &&
         !ShapedType::isDynamic(op.getStaticK());
}

void mlir::nm::replaceSparseProducts(ModuleOp module) {
  SmallVector<SparseProductOpInterface> products;
  module.walk([&](SparseProductOpInterface op) {
    if (isReplaceable(op))
      products.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (SparseProductOpInterface op : products) {
    if (op.getPattern().isUnstructured())
      makeDense(op, ::nm::Pattern());
    if (op.getScales())
      dequantizeWeights(rewriter, op);
    if (op.hasEpilogue())
      op = splitEpilogue(rewriter, op, op.getAccumulatorType());
    op->replaceAllUsesWith(ValueRange{ProductEmitter(op).emit()});
    op->erase();
  }
}
