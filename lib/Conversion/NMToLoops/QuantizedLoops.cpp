//===- QuantizedLoops.cpp - Values of few bits as loops -------------------===//

#include "QuantizedLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::emitQuantizedByte(LoopEmitter &emitter, ValueRange values,
                                  int64_t bits) {
  int64_t count = int64_t(1) << bits;
  Value byte;
  for (auto [i, value] : llvm::enumerate(values)) {
    // A negative value becomes an index without a sign, whose low bits are
    // those of the value.
    Value biased = emitter.add(emitter.toIndex(value), count / 2);
    Value field = emitter.mul(emitter.rem(biased, count),
                              int64_t(1) << int64_t(i) * bits);
    byte = byte ? emitter.add(byte, field) : field;
  }
  return arith::IndexCastUIOp::create(emitter.builder, emitter.loc,
                                      emitter.builder.getI8Type(), byte);
}

Value mlir::nm::loadQuantized(LoopEmitter &emitter, Value bytes,
                              ValueRange place, int64_t bits) {
  int64_t perByte = 8 / bits, count = int64_t(1) << bits;
  SmallVector<Value> at(place);
  at.back() = emitter.div(place.back(), perByte);
  Value byte = emitter.toIndex(emitter.load(bytes, at));
  Value shift = emitter.mul(emitter.rem(place.back(), perByte), bits);
  Value field =
      emitter.builder.createOrFold<arith::ShRUIOp>(emitter.loc, byte, shift);
  Value biased = emitter.rem(field, count);
  return arith::IndexCastOp::create(
      emitter.builder, emitter.loc, emitter.builder.getI8Type(),
      emitter.sub(biased, emitter.index(count / 2)));
}
