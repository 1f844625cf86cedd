//===- TermEmitter.h - f32 to bf16 terms and back ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_TERMEMITTER_H
#define NM_DIALECT_NM_IR_TERMEMITTER_H

#include "mlir/IR/Builders.h"

namespace mlir::nm {

/// The terms of `value`, an f32 or a vector of some, in bf16: as splitTerms of
/// nm/Format/SplitTerms.h.
SmallVector<Value> emitSplitTerms(OpBuilder &builder, Location loc, Value value,
                                  int64_t terms);

/// The f32 that `terms`, each a bf16, are of: as joinTerms.
Value emitJoinTerms(OpBuilder &builder, Location loc, ValueRange terms);

/// The terms of a zero that fills a group of a sparse operand up, of type bf16;
/// and whether `terms`, the first two, are those.
SmallVector<Value> emitFilledTerms(OpBuilder &builder, Location loc,
                                   int64_t terms);
Value emitIsFilled(OpBuilder &builder, Location loc, ValueRange terms);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_TERMEMITTER_H
