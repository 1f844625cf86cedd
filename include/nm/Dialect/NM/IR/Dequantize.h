//===- Dequantize.h - Weights of quantized values ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_DEQUANTIZE_H
#define NM_DIALECT_NM_IR_DEQUANTIZE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// The weight that the low `bits` of `value`, an i8, stand for: `scale` times
/// them, in its type.
Value emitDequantized(OpBuilder &builder, Location loc, Value value,
                      int64_t bits, Value scale);

/// The form in which nm-pack-weights packs the quantized weights of `op`, to
/// dequantize them behind it, at each call, to the form that the schedule
/// wants. Null where the schedule wants none, or quantized ones, or where there
/// is no such form: a packed value's place does not tell which scale it has, or
/// bytes cannot have its order.
PackedFormAttrInterface getQuantizedForm(SparseProductOpInterface op);

/// Makes `op`, a product on tensors of condensed weights that are quantized,
/// one of the weights themselves, which a linalg.generic before it makes of
/// them. Its loops have `atOnce` weights of a row in their last one, which a
/// thread of a GPU stores at once, where that divides the row.
void dequantizeWeights(RewriterBase &rewriter, SparseProductOpInterface op,
                       int64_t atOnce = 1);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_DEQUANTIZE_H
