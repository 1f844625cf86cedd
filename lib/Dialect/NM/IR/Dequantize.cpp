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

PackedFormAttrInterface
mlir::nm::getQuantizedForm(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  auto mma = dyn_cast_if_present<MmaSpScheduleAttr>(schedule);
  if (!op.getScales() || op.getPackingAttr() || !schedule ||
      (mma && mma.getBits()))
    return nullptr;
  PackedFormAttrInterface form = schedule.getPackedForm(op.getPattern());
  if (!form || form.countTerms() > 1)
    return nullptr;
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (auto operand = dyn_cast<SparseOperandAttr>(form)) {
    // A place tells which four rows a weight may be of.
    if (quantization.getGroup() % ::nm::SparseOperand::kGroupRows != 0 &&
        quantization.getGroup() < op.getStaticK())
      return nullptr;
    return SparseOperandAttr::get(op->getContext(), operand.getOrder(),
                                  quantization.getBits(), /*terms=*/1);
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

void mlir::nm::dequantizeWeights(RewriterBase &rewriter,
                                 SparseProductOpInterface op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value values = op.getValues();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, values),
      op.getAType().getElementType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(2);
  auto weights = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), values, empty,
      ArrayRef<AffineMap>{identity, identity},
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange elements) {
        Value row = linalg::IndexOp::create(body, loc, 0);
        Value column = linalg::IndexOp::create(body, loc, 1);
        linalg::YieldOp::create(
            body, loc,
            emitWeight(body, loc, op, elements.front(), row, column));
      });
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(1, weights.getResult(0));
    op.getScalesMutable().clear();
    op->removeAttr("quantization");
  });
}
