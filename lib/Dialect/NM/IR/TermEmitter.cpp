//===- TermEmitter.cpp - f32 to bf16 terms and back -----------------------===//

#include "nm/Dialect/NM/IR/TermEmitter.h"

#include "nm/Format/SplitTerms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Arithmetic on scalars or vectors of the shape of `like`.
class TermEmitter {
public:
  TermEmitter(OpBuilder &builder, Location loc, Value like)
      : builder(builder), loc(loc), like(like.getType()) {}

  SmallVector<Value> split(Value value, int64_t terms);
  Value join(ValueRange terms);
  SmallVector<Value> filled(int64_t terms);
  Value isFilled(ValueRange terms);

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
Value TermEmitter::isHuge(Value value) {
  Value magnitude = arith::AndIOp::create(
      builder, loc, bitcast(bits(32), value), word(32, 0x7fffffff));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                               magnitude,
                               word(32, ::nm::detail::toBits(::nm::kHuge)));
}

Value TermEmitter::half(Value value, bool isUpper) {
  Value word32 = bitcast(bits(32), value);
  if (isUpper)
    word32 = arith::ShRUIOp::create(builder, loc, word32, word(32, 16));
  return arith::TruncIOp::create(builder, loc, bits(16), word32);
}

SmallVector<Value> TermEmitter::split(Value value, int64_t terms) {
  Value huge = isHuge(value);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  Value hugeTerm = bf16OfBits(::nm::kHugeTerm);
  Value upper = select(isNaN, hugeTerm, bitcast(bf16(), half(value, true)));
  SmallVector<Value> ofHuge = {hugeTerm, upper};
  if (terms == ::nm::kMaxTerms)
    ofHuge.push_back(bitcast(bf16(), half(value, false)));
  // Of a huge value it may be anything.
  Value rest =
      arith::MulFOp::create(builder, loc, value, real(::nm::kTermScale));
  SmallVector<Value> result;
  for (int64_t term = 0; term < terms; ++term) {
    Value rounded = arith::TruncFOp::create(builder, loc, bf16(), rest);
    result.push_back(select(huge, ofHuge[term], rounded));
    Value wide = arith::ExtFOp::create(builder, loc, f32(), rounded);
    rest = arith::SubFOp::create(builder, loc, rest, wide);
  }
  return result;
}

Value TermEmitter::join(ValueRange terms) {
  auto wide = [&](Value term) -> Value {
    return arith::ExtFOp::create(builder, loc, f32(), term);
  };
  Value sum = wide(terms.back());
  for (Value term : llvm::reverse(terms.drop_back()))
    sum = arith::AddFOp::create(builder, loc, sum, wide(term));
  sum = arith::MulFOp::create(builder, loc, sum, real(1 / ::nm::kTermScale));
  auto toWord = [&](Value term) -> Value {
    return arith::ExtUIOp::create(builder, loc, bits(32),
                                  bitcast(bits(16), term));
  };
  Value huge =
      arith::ShLIOp::create(builder, loc, toWord(terms[1]), word(32, 16));
  if (terms.size() == ::nm::kMaxTerms)
    huge = arith::OrIOp::create(builder, loc, huge, toWord(terms[2]));
  Value first = wide(terms[0]);
  Value isHuge = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                       first, first);
  return select(isHuge, bitcast(f32(), huge), sum);
}

SmallVector<Value> TermEmitter::filled(int64_t terms) {
  SmallVector<Value> result;
  for (int64_t term = 0; term < terms; ++term)
    result.push_back(bf16OfBits(term == 1 ? ::nm::kFilledTerm : 0));
  return result;
}

/// Both terms at once: the first in the lower half of a word.
Value TermEmitter::isFilled(ValueRange terms) {
  auto toWord = [&](Value term) -> Value {
    return arith::ExtUIOp::create(builder, loc, bits(32),
                                  bitcast(bits(16), term));
  };
  Value upper =
      arith::ShLIOp::create(builder, loc, toWord(terms[1]), word(32, 16));
  Value both = arith::OrIOp::create(builder, loc, upper, toWord(terms[0]));
  int64_t wanted = static_cast<int32_t>(uint32_t(::nm::kFilledTerm) << 16);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, both,
                               word(32, wanted));
}

SmallVector<Value> mlir::nm::emitSplitTerms(OpBuilder &builder, Location loc,
                                            Value value, int64_t terms) {
  return TermEmitter(builder, loc, value).split(value, terms);
}

Value mlir::nm::emitJoinTerms(OpBuilder &builder, Location loc,
                              ValueRange terms) {
  return TermEmitter(builder, loc, terms.front()).join(terms);
}

SmallVector<Value> mlir::nm::emitFilledTerms(OpBuilder &builder, Location loc,
                                             int64_t terms) {
  Value like =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return TermEmitter(builder, loc, like).filled(terms);
}

Value mlir::nm::emitIsFilled(OpBuilder &builder, Location loc,
                             ValueRange terms) {
  return TermEmitter(builder, loc, terms.front()).isFilled(terms);
}
