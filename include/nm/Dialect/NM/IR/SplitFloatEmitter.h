//===- SplitFloatEmitter.h - f32 to bf16 splits and back --------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_SPLITFLOATEMITTER_H
#define NM_DIALECT_NM_IR_SPLITFLOATEMITTER_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// The splits of `value`, an f32 or a vector of some, in bf16: as splitFloat of
/// nm/Format/SplitFloats.h.
SmallVector<Value> emitSplitFloats(OpBuilder &builder, Location loc,
                                   Value value, int64_t splits);

/// The f32 that `splits`, each a bf16, are of: as joinFloat.
Value emitJoinFloats(OpBuilder &builder, Location loc, ValueRange splits);

/// The splits of a zero that fills a group of a sparse operand up, of type
/// bf16; and whether `splits`, the first two, are those.
SmallVector<Value> emitFilledSplits(OpBuilder &builder, Location loc,
                                    int64_t splits);
Value emitIsFilled(OpBuilder &builder, Location loc, ValueRange splits);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_SPLITFLOATEMITTER_H
