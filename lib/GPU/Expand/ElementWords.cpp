//===- ElementWords.cpp - Operands' elements as accumulators --------------===//

#include "GPU/Expand/ElementWords.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"

using namespace mlir;
using namespace mlir::nm;

/// f32 of the low byte of an i32. An e4m3 is a float with fewer bits: in an
/// f32's places it is off by the difference of the biases, subnormals included.
static Value decodeE4M3(ThreadEmitter &emitter, Value byte) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type f32 = builder.getF32Type();
  Value magnitude = emitter.mask(byte, 0x7f);
  Value sign = emitter.shiftLeft(emitter.mask(byte, 0x80), 24);
  Value bits = emitter.either(emitter.shiftLeft(magnitude, 20), sign);
  Value scale = arith::ConstantOp::create(builder, loc,
                                          builder.getF32FloatAttr(0x1.0p120f));
  Value value =
      arith::MulFOp::create(builder, loc, emitter.bitcast(f32, bits), scale);
  Value isNaN = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      magnitude, emitter.i32(0x7f));
  Value nan = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(f32, APFloat::getQNaN(APFloat::IEEEsingle())));
  return arith::SelectOp::create(builder, loc, isNaN, nan, value);
}

/// The f16 whose upper byte an e5m2, the low byte of an i32, is.
static Value widenE5M2(ThreadEmitter &emitter, Value byte) {
  OpBuilder &builder = emitter.builder;
  Value half = arith::TruncIOp::create(
      builder, emitter.loc, builder.getI16Type(), emitter.shiftLeft(byte, 8));
  return emitter.bitcast(builder.getF16Type(), half);
}

/// The bits of `element`, zero-extended to i32.
static Value bitsOf(ThreadEmitter &emitter, Value element) {
  OpBuilder &builder = emitter.builder;
  unsigned width = element.getType().getIntOrFloatBitWidth();
  Type narrow = builder.getIntegerType(width);
  Value bits = isa<IntegerType>(element.getType())
                   ? element
                   : emitter.bitcast(narrow, element);
  if (width == 32)
    return bits;
  return arith::ExtUIOp::create(builder, emitter.loc, builder.getI32Type(),
                                bits);
}

Value mlir::nm::toAccumulator(ThreadEmitter &emitter, Value element) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type type = element.getType(), f32 = builder.getF32Type();
  if (type.isF32() || type.isInteger(32))
    return element;
  if (isa<IntegerType>(type))
    return arith::ExtSIOp::create(builder, loc, builder.getI32Type(), element);
  if (isa<Float8E4M3FNType>(type))
    return decodeE4M3(emitter, bitsOf(emitter, element));
  if (isa<Float8E5M2Type>(type))
    element = widenE5M2(emitter, bitsOf(emitter, element));
  // A bf16 is the upper half of an f32: chips before sm_90 have no conversion.
  if (type.isBF16())
    return emitter.bitcast(f32,
                           emitter.shiftLeft(bitsOf(emitter, element), 16));
  return arith::ExtFOp::create(builder, loc, f32, element);
}

Value mlir::nm::fromAccumulator(ThreadEmitter &emitter, Value sum, Type type) {
  if (sum.getType() == type)
    return sum;
  return arith::TruncFOp::create(emitter.builder, emitter.loc, type, sum);
}

int64_t mlir::nm::rowsPerWord(Type element, int64_t rows) {
  // One row is converted once, where it is staged.
  if (rows == 1 || element.isF32())
    return 1;
  return element.isInteger(8) ? 4 : 2;
}

Type mlir::nm::wordType(Type element, int64_t rows) {
  if (rowsPerWord(element, rows) == 1)
    return mlir::nm::detail::getProductAccumulatorType(element);
  return IntegerType::get(element.getContext(), 32);
}

Value mlir::nm::packWord(ThreadEmitter &emitter, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return toAccumulator(emitter, elements.front());
  OpBuilder &builder = emitter.builder;
  Value word;
  for (auto [i, given] : llvm::enumerate(elements)) {
    Value element = given;
    // f16 has all 8-bit floats.
    if (isa<Float8E5M2Type>(element.getType()))
      element = widenE5M2(emitter, bitsOf(emitter, element));
    else if (isFloat8(element.getType()))
      element =
          arith::TruncFOp::create(builder, emitter.loc, builder.getF16Type(),
                                  toAccumulator(emitter, element));
    Value bits =
        emitter.shiftLeft(bitsOf(emitter, element), i * 32 / elements.size());
    word = word ? emitter.either(word, bits) : bits;
  }
  return word;
}

/// The two f16 of an i32 as f32.
static SmallVector<Value> unpackHalves(ThreadEmitter &emitter, Value word) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value vector = vector::FromElementsOp::create(
      builder, loc, VectorType::get(1, builder.getI32Type()), word);
  Value halves = vector::BitCastOp::create(
      builder, loc, VectorType::get(2, builder.getF16Type()), vector);
  SmallVector<Value> result;
  for (int64_t i : {0, 1})
    result.push_back(arith::ExtFOp::create(builder, loc, builder.getF32Type(),
                                           emitter.extract(halves, i)));
  return result;
}

SmallVector<Value> mlir::nm::unpackWord(ThreadEmitter &emitter, Value word,
                                        Type element, int64_t count) {
  if (count == 1)
    return {word};
  OpBuilder &builder = emitter.builder;
  Type f32 = builder.getF32Type();
  if (element.isBF16())
    return {emitter.bitcast(f32, emitter.shiftLeft(word, 16)),
            emitter.bitcast(f32, emitter.mask(word, 0xffff0000))};
  if (!element.isInteger(8))
    return unpackHalves(emitter, word);
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(arith::ShRSIOp::create(builder, emitter.loc,
                                            emitter.shiftLeft(word, 24 - 8 * i),
                                            emitter.i32(24)));
  return result;
}

/// The sign and magnitude of an e4m3 in the upper byte of each half of a word
/// are those of an f16 whose magnitude stands one bit to the right; f16 has a
/// bias larger by 8.
static SmallVector<Value> decodeE4M3Halves(ThreadEmitter &emitter, Value signs,
                                           Value magnitudes) {
  return unpackHalves(emitter,
                      emitter.either(emitter.mask(signs, 0x80008000),
                                     emitter.mask(magnitudes, 0x3f803f80)));
}

SmallVector<Value> mlir::nm::decodeF8Word(ThreadEmitter &emitter, Value word,
                                          Type type) {
  SmallVector<Value> odd, even;
  Value shifted = emitter.shiftLeft(word, 8);
  if (isa<Float8E5M2Type>(type)) {
    // Each is the upper byte of an f16.
    odd = unpackHalves(emitter, emitter.mask(word, 0xff00ff00));
    even = unpackHalves(emitter, emitter.mask(shifted, 0xff00ff00));
  } else {
    odd = decodeE4M3Halves(emitter, word, emitter.shiftRight(word, 1));
    even = decodeE4M3Halves(emitter, shifted, emitter.shiftLeft(word, 7));
  }
  return {even[0], odd[0], even[1], odd[1]};
}

Value mlir::nm::nanBytes(ThreadEmitter &emitter, Value word) {
  // Only a magnitude of 0x7f reaches the top bit of its byte.
  Value magnitudes = emitter.mask(word, 0x7f7f7f7f);
  return emitter.mask(emitter.add(magnitudes, emitter.i32(0x01010101)),
                      0x80808080);
}
