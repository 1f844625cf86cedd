//===- RowGroup.h - Ops along rows that one kernel runs ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWGROUP_H
#define NM_LIB_GPU_ROWS_ROWGROUP_H

#include "GPU/Rows/RowOp.h"

namespace mlir::nm {

/// Ops of one block of a function that share a space, in their order. A kernel
/// in place of the last one runs all of them, row by row: each reads of the
/// others' elements only those of its own row.
struct RowGroup {
  RowSpace space;
  SmallVector<RowOp> ops;
  /// Whether a thread holds its elements of a row in registers; otherwise it
  /// reads them again for each pass over the row.
  bool keepsRows = false;

  bool hasReduction() const {
    return llvm::any_of(
        ops, [](const RowOp &row) { return row.kind == RowOp::Reduction; });
  }
  /// Whether nothing but the ops uses the memory of `memref`, which is not
  /// accessed then.
  bool isTemporary(Value memref) const;
  /// Whether memory needs what op `index` writes to `memref`: another op reads
  /// it, and no later one of the group writes it.
  bool isStored(size_t index, Value memref) const;
  /// The last op before `index` that writes `memref`.
  std::optional<size_t> findWriter(size_t index, Value memref) const;
};

/// The group of `seed`: as many neighbours as can share its kernel. `keepsRows`
/// says so of a space.
std::optional<RowGroup>
findRowGroup(linalg::LinalgOp seed,
             llvm::function_ref<bool(const RowSpace &)> keepsRows);

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWGROUP_H
