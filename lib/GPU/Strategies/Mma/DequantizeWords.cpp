//===- DequantizeWords.cpp - Quantized weights in registers ---------------===//
//
// Integers become floats without a conversion, two at a time: below the bits of
// a power of two P whose unit in the last place is 1 (or 1/16), the bits of an
// integer v make P + v (or P + v/16), from which one operation takes P and the
// bias of the stored value. See "Who Says Elephants Can't Run" (Kim et al.,
// 2022). All of that is exact; what rounds is the product with the scale.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/DequantizeWords.h"

#include "GPU/Expand/Assembly.h"

#include "nm/Format/SparseOperand.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Converts pairs of values, each in its half of a word.
class PairEmitter {
public:
  PairEmitter(ThreadEmitter &emitter, Type type, int64_t bits)
      : emitter(emitter), type(VectorType::get(2, type)), bits(bits),
        bias(double(int64_t(1) << (bits - 1))) {}

  /// The values of register `number` of a lane, as floats.
  Value convert(ArrayRef<Value> words, int64_t number);
  /// `pair` times `scales`, as a word.
  Value scale(Value pair, Value scales);

private:
  bool isF16() const { return type.getElementType().isF16(); }
  Value splat(double value);
  Value asPair(Value word) { return fromWord(word, type); }
  Value fromWord(Value word, Type to);
  Value toWord(Value pair);
  Value maskOnto(Value word, int64_t mask, int64_t power);
  /// a * b + c, in one operation that chips before sm_90 have for bf16, too.
  Value multiplyAdd(Value a, Value b, Value c) {
    return vector::FMAOp::create(emitter.builder, emitter.loc, a, b, c);
  }
  Value convertF16(Value word, int64_t shift);
  Value convertFourBitsBF16(Value word, int64_t shift);
  Value convertBytesBF16(Value word, int64_t shift);

  ThreadEmitter &emitter;
  VectorType type;
  int64_t bits;
  double bias;
};
} // namespace

Value PairEmitter::splat(double value) {
  APFloat element(value);
  bool losesInfo;
  element.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
  return arith::ConstantOp::create(emitter.builder, emitter.loc,
                                   DenseElementsAttr::get(type, element));
}

Value PairEmitter::fromWord(Value word, Type to) {
  Value one = vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(1, emitter.builder.getI32Type()), word);
  return vector::BitCastOp::create(emitter.builder, emitter.loc,
                                   cast<VectorType>(to), one);
}

Value PairEmitter::toWord(Value pair) { return emitter.words(pair).front(); }

/// The bits `mask` of `word`, and those of `power`. Of two operations with
/// constants ptxas 13.0 makes two instructions.
Value PairEmitter::maskOnto(Value word, int64_t mask, int64_t power) {
  constexpr int64_t kAndThenOr = 0xea;
  return emitAssembly(
      emitter.builder, emitter.loc, word.getType(),
      {word, emitter.i32(mask), emitter.i32(power), emitter.i32(kAndThenOr)},
      "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n",
      /*hasSideEffects=*/false);
}

/// 1024 is 0x6400, of ten bits of mantissa: bits 0 to 3 or 7 of each half count
/// ones there, and bits 4 to 7 sixteens.
Value PairEmitter::convertF16(Value word, int64_t shift) {
  constexpr int64_t kPower = 0x64006400;
  constexpr double kValueOfPower = 1024;
  int64_t field = bits == 4 ? 0x000f000f : 0x00ff00ff;
  bool isHigh = bits == 4 && shift % 8 == 4;
  Value pair = asPair(maskOnto(emitter.shiftRight(word, shift / 8 * 8),
                               isHigh ? field << 4 : field, kPower));
  if (isHigh)
    return multiplyAdd(pair, splat(1.0 / 16),
                       splat(-(kValueOfPower / 16 + bias)));
  return arith::SubFOp::create(emitter.builder, emitter.loc, pair,
                               splat(kValueOfPower + bias));
}

/// 128 is 0x4300, of seven bits of mantissa.
Value PairEmitter::convertFourBitsBF16(Value word, int64_t shift) {
  constexpr int64_t kPower = 0x43004300;
  constexpr double kValueOfPower = 128;
  Value pair =
      asPair(maskOnto(emitter.shiftRight(word, shift), 0x000f000f, kPower));
  return multiplyAdd(pair, splat(1), splat(-(kValueOfPower + bias)));
}

/// A byte has more bits than the mantissa of a bf16. An f32 has 2^23,
/// 0x4b000000, and its upper half is the bf16 of an integer of eight bits.
Value PairEmitter::convertBytesBF16(Value word, int64_t shift) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type f32 = builder.getF32Type();
  Value power = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(float(0x1p23 + bias)));
  auto convert = [&](int64_t begin) {
    Value byte = emitter.mask(emitter.shiftRight(word, begin), 0xff);
    Value biased =
        emitter.bitcast(f32, emitter.either(byte, emitter.i32(0x4b000000)));
    Value value = arith::SubFOp::create(builder, loc, biased, power);
    return emitter.bitcast(builder.getI32Type(), value);
  };
  Value low = emitter.shiftRight(convert(shift), 16);
  Value high = emitter.mask(convert(shift + 16), 0xffff0000);
  return asPair(emitter.either(low, high));
}

Value PairEmitter::convert(ArrayRef<Value> words, int64_t number) {
  ::nm::SparseOperand operand;
  operand.storedBits = bits;
  int64_t slot = operand.slotOf<int64_t>(number, 0), perWord = 32 / bits;
  Value word = words[slot / perWord];
  int64_t shift = slot % perWord * bits;
  if (isF16())
    return convertF16(word, shift);
  return bits == 4 ? convertFourBitsBF16(word, shift)
                   : convertBytesBF16(word, shift);
}

Value PairEmitter::scale(Value pair, Value scales) {
  // Adding -0.0 leaves every product as it is, zeros of either sign included.
  Value product = isF16() ? arith::MulFOp::create(emitter.builder, emitter.loc,
                                                  pair, scales)
                                .getResult()
                          : multiplyAdd(pair, scales, splat(-0.0));
  return toWord(product);
}

RegisterScales mlir::nm::scaleRows(ThreadEmitter &emitter, Type type,
                                   Value scales) {
  RegisterScales result;
  // Registers 0 and 2 are of the lane's first row, 1 and 3 of its second.
  for (size_t number = 0; number < result.size(); ++number)
    result[number] = vector::BroadcastOp::create(
        emitter.builder, emitter.loc, VectorType::get(2, type),
        emitter.extract(scales, int64_t(number) % 2));
  return result;
}

SquareWords mlir::nm::dequantizeWords(ThreadEmitter &emitter, Type type,
                                      int64_t bits, ArrayRef<Value> words,
                                      const RegisterScales &scales) {
  PairEmitter pairs(emitter, type, bits);
  SquareWords result;
  for (size_t number = 0; number < result.size(); ++number)
    result[number] =
        pairs.scale(pairs.convert(words, int64_t(number)), scales[number]);
  return result;
}
