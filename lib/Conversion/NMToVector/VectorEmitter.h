//===- VectorEmitter.h - Emits vectors, masks and loops ---------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_VECTOREMITTER_H
#define NM_LIB_CONVERSION_NMTOVECTOR_VECTOREMITTER_H

#include "nm/Conversion/NMToVector/NMToVector.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::nm {

/// Emits the vector code of one product. Vectors have `lanes` elements, which
/// are `accumulator`s (f32 or i32) in registers, whatever they are in memory.
class VectorEmitter {
public:
  VectorEmitter(OpBuilder &builder, Location loc, Type accumulator,
                const VectorTarget &target)
      : b(loc, builder), target(target), lanes(target.lanes()),
        accumulator(accumulator),
        vectorType(VectorType::get({lanes}, accumulator)) {}

  ImplicitLocOpBuilder b;
  const VectorTarget target;
  const int64_t lanes;
  const Type accumulator;
  const VectorType vectorType;

  //===--- Index arithmetic, folded where constant ------------------------===//

  Value index(int64_t value);
  Value add(Value lhs, Value rhs);
  Value add(Value lhs, int64_t rhs) { return add(lhs, index(rhs)); }
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, int64_t rhs);
  Value min(Value lhs, Value rhs);
  Value min(Value lhs, int64_t rhs) { return min(lhs, index(rhs)); }
  Value floorDiv(Value lhs, int64_t rhs);
  Value ceilDiv(Value lhs, int64_t rhs);
  /// lhs rounded down to a multiple of rhs.
  Value roundDown(Value lhs, int64_t rhs) {
    return mul(floorDiv(lhs, rhs), rhs);
  }
  Value less(Value lhs, Value rhs);
  Value select(Value condition, Value ifTrue, Value ifFalse);
  /// The size of a dimension, a constant where it is static.
  Value dim(Value memref, int64_t dimension);

  //===--- Elements and vectors -------------------------------------------===//

  Value zeroVector();
  Value broadcast(Value scalar);
  /// Each of a quarter of `lanes` elements of 32 bits in all lanes.
  SmallVector<Value> broadcastEach(Value quarter);
  Value loadScalar(Value memref, ArrayRef<Value> indices);
  /// Whether a lane is one of the first `width`.
  Value mask(Value width);
  /// `lanes` elements, extended to accumulators.
  Value load(Value memref, ArrayRef<Value> indices);
  /// The first `width` of `lanes` elements, extended to accumulators, and zero
  /// in the other lanes; memory behind the others is not read. Any width is
  /// fine, negative ones are none.
  Value maskedLoad(Value memref, ArrayRef<Value> indices, Value width);
  /// The elements whose lanes `mask` has, extended to accumulators, and zero in
  /// the other lanes, whose memory is not read.
  Value loadWhere(Value memref, ArrayRef<Value> indices, Value mask);
  void store(Value vector, Value memref, ArrayRef<Value> indices);
  /// Stores the first `width` lanes.
  void maskedStore(Value vector, Value memref, ArrayRef<Value> indices,
                   Value width);
  /// `width` elements as they are along dimension `dim`, or in all lanes the
  /// one at `indices` where there is none.
  Value loadAlong(Value memref, ArrayRef<Value> indices,
                  std::optional<int64_t> dim, Value width);
  /// memref[indices…] += vector in the first `width` lanes, summed as
  /// accumulators and rounded once.
  void accumulate(Value vector, Value memref, ArrayRef<Value> indices,
                  Value width);
  /// memref[indices…] += scalar, summed as an accumulator and rounded once.
  void accumulateScalar(Value scalar, Value memref, ArrayRef<Value> indices);
  /// Scalar or vector to accumulators.
  Value extend(Value value);
  /// lhs * rhs + sum.
  Value multiplyAdd(Value lhs, Value rhs, Value sum);
  /// lhs + rhs, of vectors or scalars of accumulators.
  Value addElements(Value lhs, Value rhs);
  /// The sums of lhs[i] and rhs[i].
  SmallVector<Value> addAll(ArrayRef<Value> lhs, ArrayRef<Value> rhs);
  /// Whether a sum of accumulators depends on the order of its terms.
  bool sumsRound() const { return isa<FloatType>(accumulator); }
  /// Transposes `lanes` vectors.
  SmallVector<Value> transpose(ArrayRef<Value> rows);
  /// Uninitialised memory of accumulators, aligned for vectors.
  Value allocate(ArrayRef<Value> sizes);
  void deallocate(Value memref);

  //===--- Addresses, i64, in memory that allocate() made -----------------===//

  /// The address of the element at `indices`.
  Value address(Value memref, ArrayRef<Value> indices);
  /// The address `elements` behind another.
  Value advance(Value address, Value elements);
  /// A value that is in a register of its own where it is used: an address, or
  /// what LLVM would load again for each of its elements.
  Value keepInRegister(Value value);
  /// The vector that begins `element` elements behind an address.
  Value loadAt(Value address, int64_t element);

  //===--- Control flow ---------------------------------------------------===//

  using Body = llvm::function_ref<void(Value)>;
  using CarryingBody =
      llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)>;

  /// A loop, or its body alone where it runs exactly once.
  void loop(Value lower, Value upper, int64_t step, Body body);
  SmallVector<Value> loop(Value lower, Value upper, int64_t step,
                          ArrayRef<Value> carried, CarryingBody body);
  /// A loop over `count` items from `first` on with `factor` of them in its
  /// body.
  SmallVector<Value> unrolledLoop(Value first, int64_t count, int64_t factor,
                                  ArrayRef<Value> carried, CarryingBody body);
  /// A loop as unrolledLoop makes it, where `body` adds the products of an
  /// item, `rowsPerItem` kept rows, to `sums`. Long sums are made of short
  /// chains: see SumChains.h.
  SmallVector<Value> sumItems(Value first, int64_t count, int64_t rowsPerItem,
                              int64_t factor, ArrayRef<Value> sums,
                              CarryingBody body);
  void ifThenElse(Value condition, llvm::function_ref<void()> thenBody,
                  llvm::function_ref<void()> elseBody);

private:
  Value round(Value value, Type element);
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_VECTOREMITTER_H
