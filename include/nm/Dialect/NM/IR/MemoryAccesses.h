//===- MemoryAccesses.h - What ops read and write ---------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_MEMORYACCESSES_H
#define NM_DIALECT_NM_IR_MEMORYACCESSES_H

#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// A read or a write of memory.
struct Access {
  /// The memory that `memref` is a view of; null if it may be any.
  Value root;
  bool writes;
  Value memref;
};

/// The memory that `memref` is of, if that is known to be none but its own: an
/// allocation, a global, or an argument of a function.
Value findRoot(Value memref);

/// Whether both may be of the same memory. Bufferization makes arguments of a
/// function, and results, memory of their own.
bool mayAlias(const Access &a, const Access &b);

/// Whether both may be of the same memory, which one of them writes.
bool conflict(const Access &a, const Access &b);

/// The reads and writes of memory by `op` and by all ops in its regions; none
/// where one of these ops does not say what it accesses. To free memory is to
/// write it.
std::optional<SmallVector<Access>> findAccesses(Operation *op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_MEMORYACCESSES_H
