//===- Dequantize.h - Weights of quantized values ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_DEQUANTIZE_H
#define NM_DIALECT_NM_IR_DEQUANTIZE_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// The weight that the low `bits` of `value`, an i8, stand for: `scale` times
/// them, in its type.
Value emitDequantized(OpBuilder &builder, Location loc, Value value,
                      int64_t bits, Value scale);

/// Weights of 16 bits that a thread of a GPU makes and stores at once.
inline constexpr int64_t kWeightsAtOnce = 8;

/// A tensor of `shape`, of elements that `emit` makes of their positions alone,
/// in loops of which the last one has `atOnce` elements of a row, which they
/// divide: a position is that of the row, then of so many elements in it, and
/// of one of these.
Value createInPieces(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                     Type element, int64_t atOnce,
                     function_ref<Value(IndexEmitter &, ValueRange)> emit);

/// The form in which nm-pack-weights packs the quantized weights of `op`, to
/// dequantize them behind it, at each call, to the form that the schedule
/// wants. Null where the schedule wants none, or quantized ones, or where there
/// is no such form: a packed value's place does not tell which scale it has, or
/// bytes cannot have its order.
PackedFormAttrInterface getQuantizedForm(SparseProductOpInterface op);
/// The form in which nm-pack-weights would pack the quantized weights of `op`
/// if `op` had `schedule`; null as above.
PackedFormAttrInterface getQuantizedForm(SparseProductOpInterface op,
                                         ScheduleAttrInterface schedule);

/// Makes `op`, a product on tensors of condensed weights that are quantized,
/// one of the weights themselves, which a linalg.generic before it makes of
/// them; with `atOnce`, by createInPieces where that many divide a row.
void dequantizeWeights(RewriterBase &rewriter, SparseProductOpInterface op,
                       int64_t atOnce = 1);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_DEQUANTIZE_H
