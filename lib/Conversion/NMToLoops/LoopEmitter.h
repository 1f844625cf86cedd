//===- LoopEmitter.h - The words of reference loops -------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_LOOPEMITTER_H
#define NM_LIB_CONVERSION_NMTOLOOPS_LOOPEMITTER_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

namespace mlir::nm {

/// Emits scalar code and loops at a builder's insertion point. Bodies are
/// emitted by callbacks, which use the same emitter.
class LoopEmitter : public IndexEmitter {
public:
  LoopEmitter(OpBuilder &builder, Location loc, bool parallel = false)
      : IndexEmitter{builder, loc}, parallel(parallel) {}

  // Memory.
  Value size(Value memref, int64_t dim);
  SmallVector<Value> sizes(Value memref);
  Value load(Value memref, ValueRange indices);
  void store(Value value, Value memref, ValueRange indices);
  /// The element at `indices` of `memref`, or zero outside of it.
  Value loadOrZero(Value memref, ValueRange indices);
  /// Stores the low `bytes` bytes of `number`, least first, in the bytes of
  /// `memref` from `at` on in its last dimension.
  void storeBytes(Value number, int64_t bytes, Value memref,
                  ArrayRef<Value> at);
  /// The number that storeBytes stored.
  Value loadBytes(int64_t bytes, Value memref, ArrayRef<Value> at);

  // Elements.
  Value zero(Type type);
  /// The low byte of `number`.
  Value asByte(Value number);
  /// `element` as f32, or sign-extended to i32.
  Value toAccumulator(Value element);
  /// `sum` (f32 or i32) rounded to `type`.
  Value fromAccumulator(Value sum, Type type);
  /// Whether `element` is other than zero; -0.0 is a zero and NaN is not.
  Value isNonZero(Value element);

  // Control flow.
  /// Loops over 0 .. size-1 of every size, the last one innermost.
  void forEach(ValueRange sizes, function_ref<void(ValueRange)> body);
  /// Loops over 0 .. size-1 of every size in turns that are independent of each
  /// other: one scf.parallel where that was asked for.
  void forEachInParallel(ValueRange sizes, function_ref<void(ValueRange)> body);
  /// Loops over 0 .. size-1 of every size for much work at once: on a host the
  /// turns of the first size are tasks for its threads, one scf.forall.
  void forEachTask(ValueRange sizes, function_ref<void(ValueRange)> body);
  /// Loops over 0 .. size-1 with values carried from turn to turn.
  SmallVector<Value>
  carry(Value size, ValueRange initial,
        function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// The first number from `first` on for which `condition` does not hold.
  Value skipWhile(Value first, function_ref<Value(Value)> condition);
  /// Loops over 0 .. size-1 with one value carried from turn to turn.
  Value reduce(Value size, Value initial,
               function_ref<Value(Value, Value)> body);
  /// A sum of f32 or i32 of the terms 0 .. size-1, each added by `body`. A long
  /// one of f32 is made of short chains: see SumChains.h.
  Value sum(Value size, Type type, function_ref<Value(Value, Value)> body);
  /// a + b, of f32 or i32.
  Value addElements(Value a, Value b);
  /// Emits `body` to run where `condition` holds.
  void onlyIf(Value condition, function_ref<void()> body);
  /// The value of one of two bodies.
  Value choose(Value condition, function_ref<Value()> then,
               function_ref<Value()> otherwise);

private:
  bool parallel;
  Value sumRange(Value first, Value end, int64_t most, Type type,
                 function_ref<Value(Value, Value)> body);
  Value decodeF8E4M3FN(Value element);
  Value decodeF8E5M2(Value element);
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_LOOPEMITTER_H
