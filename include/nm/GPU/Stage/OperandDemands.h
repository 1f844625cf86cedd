//===- OperandDemands.h - What schedules demand of operands -----*- C++ -*-===//
//
// Selection counts a copy of an operand that lies otherwise, nm-align-operands
// makes it, and nm-stage-shared-memory refuses what is left.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STAGE_OPERANDDEMANDS_H
#define NM_GPU_STAGE_OPERANDDEMANDS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Bytes that contiguous rows of A start at multiples of for the copies of
/// `schedule`; 1 where A may lie in any way.
int64_t getLeastRowBytesOfA(ScheduleAttrInterface schedule, bool isMMajor);

/// Bytes that contiguous rows of C start at multiples of, where tiles in shared
/// memory are stored to them.
int64_t getLeastRowBytesOfC(ScheduleAttrInterface schedule);

/// Whether the views that `operand`, a tensor or a memref, is of say that its
/// rows are contiguous and start at multiples of `bytes`.
bool hasRowsAt(Value operand, int64_t bytes);

/// What stores C's tile: the operand of `op`, a tile of a block, or of its
/// epilogue where the sums are in memory of the block.
OpOperand *findStoredTile(SpMMOp op);

} // namespace mlir::nm

#endif // NM_GPU_STAGE_OPERANDDEMANDS_H
