//===- Epilogue.h - What a product does with its sums -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_EPILOGUE_H
#define NM_DIALECT_NM_IR_EPILOGUE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// The map of epilogue operand `operand` from (batch..., m, n).
AffineMap getEpilogueMap(SparseProductOpInterface op, size_t operand);

/// The map of epilogue operand `operand` from the dimensions of C, in C's
/// order.
AffineMap getEpilogueMapOfC(SparseProductOpInterface op, size_t operand);

/// Whether `op` may stand in an epilogue: a constant, or an elementwise scalar
/// op without side effects.
bool isEpilogueOp(Operation *op);

/// Whether `op` reads one matrix, and for each element that it makes of another
/// that in the same place.
bool readsOneInPlace(linalg::GenericOp op);

/// Whether `op` is such a one, by ops that isEpilogueOp has.
bool mapsElements(linalg::GenericOp op);

/// Emits the ops of `body`, which isEpilogueOp has, for `arguments`: scalars,
/// or vectors of one shape. Returns what its terminator gives. A body that has
/// linalg.index gets indices of loops, scalars or vectors, from `getIndex`.
Value inlineElementwise(OpBuilder &builder, Location loc, Block &body,
                        ValueRange arguments,
                        llvm::function_ref<Value(unsigned)> getIndex = {});

/// `op` without its epilogue, which adds to `c`.
SparseProductOpInterface
cloneWithoutEpilogue(OpBuilder &builder, SparseProductOpInterface op, Value c);

/// `op` without its epilogue and with other operands: A, values, indices, the
/// lists and scales where `op` has them, and C.
SparseProductOpInterface cloneWithoutEpilogue(OpBuilder &builder,
                                              SparseProductOpInterface op,
                                              ArrayRef<Value> operands);

/// What a product like `op` is made of: A and the weights that `op` has, what
/// its epilogue takes, and C, whose type is the result's on tensors. It has no
/// region yet, and `op`'s maps.
OperationState createProductState(SparseProductOpInterface op,
                                  ValueRange epilogueOperands, Value c);

/// Zeros of `type`, on tensors, that sums for `op`'s epilogue are added to: in
/// C's memory where that has the type.
Value createZeroSums(OpBuilder &builder, SparseProductOpInterface op,
                     Type type);

/// A linalg.generic that does on `sums`, whole ones on tensors, what the
/// epilogue of `op` does: in place where C has their type.
Value applyEpilogue(OpBuilder &builder, SparseProductOpInterface op,
                    Value sums);

/// `before`, an element of C, plus `sum`, added in the sum's type and rounded
/// once to C's.
Value emitRoundedSum(OpBuilder &builder, Location loc, Value before, Value sum);

/// What `op`, which has no epilogue, stores for `sum`: C plus the sum, rounded
/// once. `takeC` gives C's element, unless C is filled with a constant.
Value emitSumWithC(OpBuilder &builder, Location loc,
                   SparseProductOpInterface op, Value sum,
                   function_ref<Value()> takeC);

/// The type that an epilogue rounds each sum to before it does anything else;
/// null where it does not.
Type getFirstRounding(SparseProductOpInterface op);

/// The type that getFirstRounding gives where it is that of A's elements, else
/// the accumulator's.
Type getRoundedSumType(SparseProductOpInterface op);

/// Replaces `op`, on tensors and with an epilogue, by a product that adds to
/// zeros of `sumType`, which is returned, and a linalg.generic that does what
/// the epilogue did. `sumType` is the accumulator's or getRoundedSumType's.
SparseProductOpInterface splitEpilogue(RewriterBase &rewriter,
                                       SparseProductOpInterface op,
                                       Type sumType);

/// (E1) to (E3) of nm.spmm; what its region has is checked by
/// verifyEpilogueRegion, once the ops in it are valid.
LogicalResult verifyEpilogue(SparseProductOpInterface op);
LogicalResult verifyEpilogueRegion(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_EPILOGUE_H
