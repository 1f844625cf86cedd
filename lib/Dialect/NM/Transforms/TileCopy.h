//===- TileCopy.h - Copies that the threads of a block share ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_TILECOPY_H
#define NM_DIALECT_NM_TRANSFORMS_TILECOPY_H

#include "RowList.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace mlir::nm {

/// A tile of global memory that goes to shared memory. The source may be
/// smaller than `extents`, which the destination has; what it lacks is filled
/// with zeros.
struct TileCopy {
  Value source;
  Value destination;
  /// Of what is copied, one for each dimension of the source.
  SmallVector<int64_t> extents;
  /// Elements that one access takes along the last dimension. It divides all
  /// sizes, strides and offsets of the source, so that an access is wholly
  /// inside or outside, and aligned.
  int64_t width;
  /// Whether the destination's rows stand where RowInterleave says.
  bool interleaveRows = false;
  /// Whether the chunks of the destination's rows stand where ChunkSwizzle
  /// says.
  bool swizzleChunks = false;
  /// The rows that are copied, if not all. A width along them divides a unit's.
  std::optional<RowList> rows;
};

/// The threads that copy.
struct CopyThreads {
  Value id;
  int64_t count;
};

/// Emits `copy` as pairs of vector.transfer_read and vector.transfer_write, the
/// form that nm-pipeline-copies makes asynchronous; accesses too narrow for
/// that go through registers, all loads first, then all stores.
void emitCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
              const CopyThreads &threads);

/// Emits `copy` of a [rows x columns] source to a [columns x rows]
/// destination through registers: all loads, then all stores.
void emitTransposingCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                         const CopyThreads &threads);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_TILECOPY_H
