//===- ScheduleChecks.h - What several schedules check ----------*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H
#define NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H

#include "nm/Dialect/NM/IR/NM.h"

#include <optional>

namespace mlir::nm {

using EmitError = function_ref<InFlightDiagnostic()>;

/// The longest side of a warp's or a thread's tile, which is unrolled; no chip
/// has the registers for more.
inline constexpr int64_t kMaxTile = 1024;
/// The most buffers of a pipeline, and the most parts of k.
inline constexpr int64_t kMaxParts = 1 << 16;
/// The most warps of a block.
inline constexpr int64_t kMaxWarps = 32;
/// The most blocks of a cluster that every chip with clusters has.
inline constexpr int64_t kMaxCluster = 8;

/// `rank` sizes or none, each in 1..most.
LogicalResult verifySizes(EmitError emitError, StringRef name,
                          ArrayRef<int64_t> sizes, size_t rank, int64_t most);

LogicalResult verifyTiles(EmitError emitError, ArrayRef<int64_t> block,
                          ArrayRef<int64_t> warp, ArrayRef<int64_t> thread);

/// None, or in 1..most.
LogicalResult verifyCount(EmitError emitError, StringRef name,
                          std::optional<int64_t> count, int64_t most);

LogicalResult verifyCounts(EmitError emitError, std::optional<int64_t> stages,
                           std::optional<int64_t> splitK,
                           std::optional<int64_t> sliceK);

/// Elements that rows of a temporary A start at multiples of.
LogicalResult verifyPadding(EmitError emitError, std::optional<int64_t> padA);

/// Blocks of clusters that have all parts of k.
LogicalResult verifyCluster(EmitError emitError, std::optional<int64_t> splitK,
                            std::optional<int64_t> clusterK);

/// `part`, the tile [m, n] that some warps have of `block`, is whole steps of
/// their instruction and divides it.
LogicalResult verifyPart(EmitError emitError, StringRef name,
                         ArrayRef<int64_t> block, ArrayRef<int64_t> part,
                         ArrayRef<int64_t> steps);

/// A block's k is whole steps of `rows` rows of packed weights.
LogicalResult verifySteps(EmitError emitError, ArrayRef<int64_t> block,
                          int64_t rows = ::nm::SparseOperand::kStepRows);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H
