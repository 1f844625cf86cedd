//===- WeightAccess.cpp - Reads condensed and packed weights --------------===//

#include "WeightAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

IndexField IndexField::at(LoopEmitter &emitter, int64_t bits, Value group) {
  Value bit = emitter.mul(group, bits);
  return {emitter.div(bit, 8), emitter.rem(bit, 8)};
}

Value WeightAccess::rows() { return emitter.size(values, packing ? 1 : 0); }

Value WeightAccess::value(Value row, Value column) {
  if (!packing)
    return emitter.load(values, {row, column});
  int64_t panel = packing.getPanel();
  return emitter.load(
      values, {emitter.div(column, panel), row, emitter.rem(column, panel)});
}

Value WeightAccess::kOf(Value row, Value column) {
  Value position = unitPosition(row, column);
  Value window = emitter.div(row, pattern.keptRows());
  Value unit = emitter.add(emitter.mul(window, pattern.windowRows()),
                           emitter.mul(position, pattern.bk));
  return emitter.add(unit, emitter.rem(row, pattern.bk));
}

Value WeightAccess::unitPosition(Value row, Value column) {
  Value unitRow = emitter.div(row, pattern.bk);
  if (!packing)
    return emitter.byteToIndex(
        emitter.load(indices, {unitRow, emitter.div(column, pattern.bn)}));
  int64_t panel = packing.getPanel();
  return loadField(emitter.div(column, panel), unitRow,
                   emitter.div(emitter.rem(column, panel), pattern.bn));
}

Value WeightAccess::loadField(Value panel, Value unitRow, Value group) {
  int64_t bits = packing.getIndexBits();
  auto loadByte = [&](Value byte) {
    return emitter.byteToIndex(emitter.load(indices, {panel, unitRow, byte}));
  };
  IndexField field = IndexField::at(emitter, bits, group);
  Value word = loadByte(field.byte);
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  if (fieldsStraddleBytes(bits)) {
    // The next byte may not exist where the field ends in this one.
    Value straddles = emitter.less(emitter.index(8 - bits), field.shift);
    Value high = emitter.choose(
        straddles,
        [&] { return emitter.mul(loadByte(emitter.add(field.byte, 1)), 256); },
        [&] { return emitter.index(0); });
    word = emitter.add(word, high);
  }
  Value shifted = builder.createOrFold<arith::ShRUIOp>(loc, word, field.shift);
  return emitter.rem(shifted, int64_t(1) << bits);
}
