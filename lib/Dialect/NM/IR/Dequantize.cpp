//===- Dequantize.cpp - Weights of quantized values -----------------------===//

#include "nm/Dialect/NM/IR/Dequantize.h"

#include "nm/Dialect/NM/IR/IndexEmitter.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/SparseOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::emitDequantized(OpBuilder &builder, Location loc, Value value,
                                int64_t bits, Value scale) {
  if (bits < 8)
    value = arith::TruncIOp::create(
        builder, loc, builder.getIntegerType(static_cast<unsigned>(bits)),
        value);
  // Exact: f16 and bf16 have all integers of eight bits.
  Value exact = arith::SIToFPOp::create(builder, loc, scale.getType(), value);
  return arith::MulFOp::create(builder, loc, exact, scale);
}

Value mlir::nm::createInPieces(
    OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element,
    int64_t atOnce, function_ref<Value(IndexEmitter &, ValueRange)> emit) {
  SmallVector<int64_t> pieces(shape);
  pieces.back() /= atOnce;
  pieces.push_back(atOnce);
  auto rank = int64_t(pieces.size());
  Value empty = tensor::EmptyOp::create(builder, loc, pieces, element);
  auto made = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty,
      builder.getMultiDimIdentityMap(unsigned(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange) {
        IndexEmitter emitter{body, loc};
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < rank; ++dim)
          at.push_back(linalg::IndexOp::create(body, loc, dim));
        linalg::YieldOp::create(body, loc, emit(emitter, at));
      });
  SmallVector<ReassociationIndices> together;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    together.push_back({dim});
  together.back().push_back(rank - 1);
  return tensor::CollapseShapeOp::create(builder, loc,
                                         RankedTensorType::get(shape, element),
                                         made.getResult(0), together);
}

PackedFormAttrInterface
mlir::nm::getQuantizedForm(SparseProductOpInterface op) {
  return getQuantizedForm(op, op.getScheduleAttr());
}

PackedFormAttrInterface
mlir::nm::getQuantizedForm(SparseProductOpInterface op,
                           ScheduleAttrInterface schedule) {
  if (!op.getScales() || op.getPackingAttr() || !schedule ||
      schedule.getTiling().bits != 0)
    return nullptr;
  PackedFormAttrInterface form = schedule.getPackedForm(op.getPattern());
  if (!form || form.countSplits() > 1)
    return nullptr;
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (auto operand = dyn_cast<SparseOperandAttr>(form)) {
    // A place tells which four rows a weight may be of.
    if (quantization.getGroup() % ::nm::SparseOperand::kGroupRows != 0 &&
        quantization.getGroup() < op.getStaticK())
      return nullptr;
    return SparseOperandAttr::get(op->getContext(), operand.getOrder(),
                                  quantization.getBits(), /*splits=*/1);
  }
  // Bytes have an order of their own in tiles, which has whole instructions.
  auto panels = dyn_cast<PackingAttr>(form);
  constexpr int64_t kRows = ::nm::PanelPacking::kByteInstructionRows;
  return panels && panels.getTileRows() % kRows == 0 ? form : nullptr;
}

/// The weight of a quantized value at `row` and `column` of condensed ones.
static Value emitWeight(OpBuilder &builder, Location loc,
                        SparseProductOpInterface op, Value value, Value row,
                        Value column) {
  IndexEmitter emitter{builder, loc};
  QuantizationAttr quantization = op.getQuantizationAttr();
  ::nm::Pattern pattern = op.getPattern();
  Value scales = op.getScales();
  // Groups are whole windows. Padding has the scale of what it fills up.
  int64_t rows =
      quantization.getGroup() / pattern.windowRows() * pattern.keptRows();
  auto clamp = [&](Value position, int64_t dim) {
    Value size = builder.createOrFold<tensor::DimOp>(loc, scales, dim);
    return emitter.least(position, emitter.sub(size, emitter.index(1)));
  };
  Value scale = tensor::ExtractOp::create(
      builder, loc, scales,
      ValueRange{clamp(emitter.div(row, rows), 0), clamp(column, 1)});
  return emitDequantized(builder, loc, value, quantization.getBits(), scale);
}

/// Makes weights of the quantized ones of `op`, an element at a time.
static Value dequantizeElements(OpBuilder &builder,
                                SparseProductOpInterface op) {
  Location loc = op.getLoc();
  Value values = op.getValues();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, values),
      op.getAType().getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(2);
  auto weights = linalg::GenericOp::create(
      builder, loc, empty.getType(), values, empty,
      ArrayRef<AffineMap>{identity, identity},
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange elements) {
        Value row = linalg::IndexOp::create(body, loc, 0);
        Value column = linalg::IndexOp::create(body, loc, 1);
        linalg::YieldOp::create(
            body, loc,
            emitWeight(body, loc, op, elements.front(), row, column));
      });
  return weights.getResult(0);
}

/// Makes weights of the quantized ones of `op`, several elements of a row at
/// once.
static Value dequantizePieces(OpBuilder &builder, SparseProductOpInterface op,
                              int64_t atOnce) {
  return createInPieces(
      builder, op.getLoc(), op.getValuesType().getShape(),
      op.getAType().getElementType(), atOnce,
      [&](IndexEmitter &e, ValueRange at) {
        Value column = e.add(e.mul(at[1], atOnce), at[2]);
        Value value = tensor::ExtractOp::create(
            e.builder, e.loc, op.getValues(), ValueRange{at[0], column});
        return emitWeight(e.builder, e.loc, op, value, at[0], column);
      });
}

void mlir::nm::dequantizeWeights(RewriterBase &rewriter,
                                 SparseProductOpInterface op, int64_t atOnce) {
  rewriter.setInsertionPoint(op);
  RankedTensorType type = cast<RankedTensorType>(op.getValuesType());
  bool hasPieces =
      atOnce > 1 && type.hasStaticShape() && type.getDimSize(1) % atOnce == 0;
  Value weights = hasPieces ? dequantizePieces(rewriter, op, atOnce)
                            : dequantizeElements(rewriter, op);
  rewriter.modifyOpInPlace(op, [&] {
    op.getValuesMutable().assign(weights);
    op.getScalesMutable().clear();
    op.setQuantizationAttr({});
  });
}
