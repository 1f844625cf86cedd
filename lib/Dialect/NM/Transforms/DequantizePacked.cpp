//===- DequantizePacked.cpp - Packed weights that were quantized ----------===//
//
// Packing is a permutation, and to dequantize is elementwise: quantized values
// can be packed once, when they are loaded, and become weights in their packed
// places at each call. The order is that of the weights' bits, so that what is
// written is contiguous; a place says which column and rows of k a weight has,
// and with that its scale.
//
//===----------------------------------------------------------------------===//

#include "DequantizePacked.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/PackedForm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::PanelPacking;
using ::nm::SparseOperand;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Emits what is dequantized at a place of packed weights.
class OffsetEmitter {
public:
  OffsetEmitter(OpBuilder &builder, Location loc, SparseProductOpInterface op,
                Value packed, PackedFormAttrInterface quantized,
                PackedFormAttrInterface form)
      : e{builder, loc}, op(op), packed(packed), quantized(quantized),
        form(form) {}

  /// The weight at element `inPiece` of piece `at[2]` of row `at[0]`, `at[1]`,
  /// of pieces of `size`.
  Value emitWeight(ValueRange at, Value inPiece, int64_t size);

private:
  /// The low bits of an i8 are the quantized value.
  struct Source {
    Value value;
    /// The group and the column of the scale.
    Value group, column;
  };
  Source findInOperand(ValueRange at, Value inPiece, int64_t size);
  Source findInPanel(Value panel, Value line, Value position);
  Source findInTiles(Value panel, Value line, Value position);
  /// The group that a row of condensed values is in.
  Value groupOfRow(Value row) {
    ::nm::Pattern pattern = op.getPattern();
    return e.div(row, op.getQuantizationAttr().getGroup() /
                          pattern.windowRows() * pattern.keptRows());
  }
  Value load(ValueRange at) {
    return tensor::ExtractOp::create(e.builder, e.loc, packed, at);
  }
  Value loadScale(Value group, Value column);

  IndexEmitter e;
  SparseProductOpInterface op;
  Value packed;
  PackedFormAttrInterface quantized, form;
};
} // namespace

OffsetEmitter::Source OffsetEmitter::findInOperand(ValueRange at, Value inPiece,
                                                   int64_t size) {
  using Emitted = EmittedIndex;
  int64_t bits = op.getQuantizationAttr().getBits(),
          group = op.getQuantizationAttr().getGroup();
  SparseOperand weights = cast<SparseOperandAttr>(form).getOperand(
                    op.getAType().getElementType()),
                bytes = cast<SparseOperandAttr>(quantized).getOperand(
                    op.getValuesType().getElementType());
  Value first = e.mul(at[2], size), position = e.add(first, inPiece);
  auto place = weights.placeOf(Emitted{&e, position});
  // Only mma.sp's order depends on the bits that are stored.
  bool isPermuted = weights.order == SparseOperand::Order::Mma;
  Value stored = isPermuted ? bytes.positionOf<Emitted>(place).value : position;
  Value byte = load({at[0], at[1], e.div(stored, bytes.valuesOfByte())});
  Value shift = arith::IndexCastUIOp::create(
      e.builder, e.loc, byte.getType(),
      e.mul(e.rem(stored, bytes.valuesOfByte()), bits));
  Value field = arith::ShRUIOp::create(e.builder, e.loc, byte, shift);
  Value bias = arith::ConstantIntOp::create(e.builder, e.loc, byte.getType(),
                                            static_cast<int8_t>(bytes.bias()));
  // A piece of wgmma's is of one column, and of twice as many rows of k.
  if (!isPermuted && group % (2 * size) == 0)
    place = weights.placeOf(Emitted{&e, first});
  Value k =
      e.add(e.mul(at[1], SparseOperand::kStepRows),
            e.mul(e.div(place.value.value, 2), SparseOperand::kGroupRows));
  return {arith::XOrIOp::create(e.builder, e.loc, field, bias), e.div(k, group),
          e.add(e.mul(at[0], weights.columns()), place.column.value)};
}

OffsetEmitter::Source OffsetEmitter::findInPanel(Value panel, Value line,
                                                 Value position) {
  PanelPacking packing = cast<PackingAttr>(form).getPacking();
  int64_t columns = packing.chunkColumns, size = columns * packing.chunkRows;
  auto [chunk, inChunk] = e.split(position, size);
  auto [rowOfChunk, columnOfChunk] = e.split(inChunk, columns);
  Value row = e.add(e.mul(line, packing.chunkRows), rowOfChunk);
  Value inPanel = e.add(e.mul(chunk, columns), columnOfChunk);
  return {load({panel, line, position}), groupOfRow(row),
          e.add(e.mul(panel, packing.panel), inPanel)};
}

/// Inverts PanelPacking::positionInTiles of weights, and evaluates that of
/// bytes.
OffsetEmitter::Source OffsetEmitter::findInTiles(Value panel, Value line,
                                                 Value position) {
  constexpr int64_t kPanel = PanelPacking::kTilePanel,
                    kChunk = PanelPacking::kTileChunk,
                    kRows = PanelPacking::kByteChunk;
  PanelPacking packing = cast<PackingAttr>(form).getPacking();
  int64_t filled = packing.filledTileRows(), size = packing.panel;
  auto [tile, lineInTile] = e.split(line, filled);
  Value inTile = e.add(e.mul(lineInTile, size), position);
  auto [part, inPart] = e.split(inTile, filled * kPanel);
  auto [row, inRow] = e.split(inPart, kPanel);
  auto [swizzled, inChunk] = e.split(inRow, kChunk);
  Value chunk =
      arith::XOrIOp::create(e.builder, e.loc, swizzled, e.rem(row, kChunk));
  auto [pair, half] = e.split(chunk, 2);
  Value column = e.add(e.add(e.mul(pair, 2 * kChunk), half),
                       e.add(e.mul(inChunk, 2), e.mul(part, kPanel)));
  auto [rows, inRows] = e.split(row, kRows);
  Value inOrder = e.add(e.mul(chunk, kChunk), inChunk);
  Value byte = e.add(e.mul(e.add(e.add(e.mul(part, filled / kRows * kPanel),
                                       e.mul(rows, kPanel)),
                                 inOrder),
                           kRows),
                     inRows);
  auto [byteLine, byteInLine] = e.split(byte, size);
  return {load({panel, e.add(e.mul(tile, filled), byteLine), byteInLine}),
          groupOfRow(e.add(e.mul(tile, packing.tileRows),
                           packing.rowOfStored(EmittedIndex{&e, row}).value)),
          e.add(e.mul(panel, size), column)};
}

Value OffsetEmitter::loadScale(Value group, Value column) {
  // Padding has the scale of what it fills up.
  auto shape = cast<RankedTensorType>(op.getScales().getType()).getShape();
  return tensor::ExtractOp::create(
      e.builder, e.loc, op.getScales(),
      ValueRange{e.least(group, e.index(shape[0] - 1)),
                 e.least(column, e.index(shape[1] - 1))});
}

Value OffsetEmitter::emitWeight(ValueRange at, Value inPiece, int64_t size) {
  Source source;
  if (isa<SparseOperandAttr>(form)) {
    source = findInOperand(at, inPiece, size);
  } else {
    Value position = e.add(e.mul(at[2], size), inPiece);
    bool hasTiles = cast<PackingAttr>(form).getTileRows() != 0;
    source = hasTiles ? findInTiles(at[0], at[1], position)
                      : findInPanel(at[0], at[1], position);
  }
  return emitDequantized(e.builder, e.loc, source.value,
                         op.getQuantizationAttr().getBits(),
                         loadScale(source.group, source.column));
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

Value mlir::nm::dequantizePacked(OpBuilder &builder,
                                 SparseProductOpInterface op, Value packed,
                                 PackedFormAttrInterface quantized,
                                 PackedFormAttrInterface form) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> condensed = op.getValuesType().getShape();
  SmallVector<int64_t> shape(
      form.getStorageShape(op.getPattern(), condensed[0], condensed[1]).values);
  int64_t size = std::gcd(shape.back(), kWeightsAtOnce);
  return createInPieces(
      builder, loc, shape, op.getAType().getElementType(), size,
      [&](IndexEmitter &e, ValueRange at) {
        OffsetEmitter emitter(e.builder, e.loc, op, packed, quantized, form);
        return emitter.emitWeight(at.drop_back(), at.back(), size);
      });
}
