//===- SplitFloatEmitter.cpp - f32 to bf16 splits and back ----------------===//

#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"

#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Arithmetic on scalars or vectors of the shape of `like`.
class SplitFloatEmitter {
public:
  SplitFloatEmitter(OpBuilder &builder, Location loc, Value like)
      : builder(builder), loc(loc), like(like.getType()) {}

  SmallVector<Value> split(Value value, int64_t splits);
  Value join(ValueRange splits);
  SmallVector<Value> filled(int64_t splits);
  Value isFilled(ValueRange splits);

private:
  Type withElement(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type f32() const { return withElement(builder.getF32Type()); }
  Type bf16() const { return withElement(builder.getBF16Type()); }
  Type bits(unsigned width) const {
    return withElement(builder.getIntegerType(width));
  }
  Value constant(Type type, TypedAttr element) {
    TypedAttr value = element;
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, element);
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value real(float value) {
    return constant(f32(), builder.getF32FloatAttr(value));
  }
  Value word(unsigned width, int64_t value) {
    return constant(bits(width), builder.getIntegerAttr(
                                     builder.getIntegerType(width), value));
  }
  Value isHuge(Value value);
  Value bf16OfBits(uint16_t value) {
    return bitcast(bf16(), word(16, static_cast<int16_t>(value)));
  }
  /// The upper half of f32's bits, or the lower.
  Value half(Value value, bool isUpper);
  Value bitcast(Type type, Value value) {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
  Value select(Value condition, Value then, Value otherwise) {
    return arith::SelectOp::create(builder, loc, condition, then, otherwise);
  }

  OpBuilder &builder;
  Location loc;
  Type like;
};
} // namespace

/// Also of NaN.
Value SplitFloatEmitter::isHuge(Value value) {
  Value magnitude = arith::AndIOp::create(
      builder, loc, bitcast(bits(32), value), word(32, 0x7fffffff));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                               magnitude,
                               word(32, ::nm::detail::toBits(::nm::kHuge)));
}

Value SplitFloatEmitter::half(Value value, bool isUpper) {
  Value word32 = bitcast(bits(32), value);
  if (isUpper)
    word32 = arith::ShRUIOp::create(builder, loc, word32, word(32, 16));
  return arith::TruncIOp::create(builder, loc, bits(16), word32);
}

SmallVector<Value> SplitFloatEmitter::split(Value value, int64_t splits) {
  Value huge = isHuge(value);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  Value hugeSplit = bf16OfBits(::nm::kHugeSplit);
  Value upper = select(isNaN, hugeSplit, bitcast(bf16(), half(value, true)));
  SmallVector<Value> ofHuge = {hugeSplit, upper};
  if (splits == ::nm::kMaxSplits)
    ofHuge.push_back(bitcast(bf16(), half(value, false)));
  // Of a huge value it may be anything.
  Value rest =
      arith::MulFOp::create(builder, loc, value, real(::nm::kSplitScale));
  SmallVector<Value> result;
  for (int64_t split = 0; split < splits; ++split) {
    Value rounded = arith::TruncFOp::create(builder, loc, bf16(), rest);
    result.push_back(select(huge, ofHuge[split], rounded));
    Value wide = arith::ExtFOp::create(builder, loc, f32(), rounded);
    rest = arith::SubFOp::create(builder, loc, rest, wide);
  }
  return result;
}

Value SplitFloatEmitter::join(ValueRange splits) {
  auto wide = [&](Value split) -> Value {
    return arith::ExtFOp::create(builder, loc, f32(), split);
  };
  Value sum = wide(splits.back());
  for (Value split : llvm::reverse(splits.drop_back()))
    sum = arith::AddFOp::create(builder, loc, sum, wide(split));
  sum = arith::MulFOp::create(builder, loc, sum, real(1 / ::nm::kSplitScale));
  auto toWord = [&](Value split) -> Value {
    return arith::ExtUIOp::create(builder, loc, bits(32),
                                  bitcast(bits(16), split));
  };
  Value huge =
      arith::ShLIOp::create(builder, loc, toWord(splits[1]), word(32, 16));
  if (splits.size() == ::nm::kMaxSplits)
    huge = arith::OrIOp::create(builder, loc, huge, toWord(splits[2]));
  Value first = wide(splits[0]);
  Value isHuge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                       first, first);
  return select(isHuge, bitcast(f32(), huge), sum);
}

SmallVector<Value> SplitFloatEmitter::filled(int64_t splits) {
  SmallVector<Value> result;
  for (int64_t split = 0; split < splits; ++split)
    result.push_back(bf16OfBits(split == 1 ? ::nm::kFilledSplit : 0));
  return result;
}

/// Both splits at once: the first in the lower half of a word.
Value SplitFloatEmitter::isFilled(ValueRange splits) {
  auto toWord = [&](Value split) -> Value {
    return arith::ExtUIOp::create(builder, loc, bits(32),
                                  bitcast(bits(16), split));
  };
  Value upper =
      arith::ShLIOp::create(builder, loc, toWord(splits[1]), word(32, 16));
  Value both = arith::OrIOp::create(builder, loc, upper, toWord(splits[0]));
  int64_t wanted = static_cast<int32_t>(uint32_t(::nm::kFilledSplit) << 16);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, both,
                               word(32, wanted));
}

SmallVector<Value> mlir::nm::emitSplitFloats(OpBuilder &builder, Location loc,
                                             Value value, int64_t splits) {
  return SplitFloatEmitter(builder, loc, value).split(value, splits);
}

Value mlir::nm::emitJoinFloats(OpBuilder &builder, Location loc,
                               ValueRange splits) {
  return SplitFloatEmitter(builder, loc, splits.front()).join(splits);
}

SmallVector<Value> mlir::nm::emitFilledSplits(OpBuilder &builder, Location loc,
                                              int64_t splits) {
  Value like =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return SplitFloatEmitter(builder, loc, like).filled(splits);
}

Value mlir::nm::emitIsFilled(OpBuilder &builder, Location loc,
                             ValueRange splits) {
  return SplitFloatEmitter(builder, loc, splits.front()).isFilled(splits);
}
