//===- TileCopy.h - Copies that the threads of a block share ----*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_TILECOPY_H
#define NM_LIB_GPU_COPIES_TILECOPY_H

#include "GPU/Copies/RowList.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <optional>

namespace mlir::nm {

/// A tile that goes to shared memory. The source may be smaller than `extents`,
/// which the destination has; what it lacks is filled with zeros.
struct TileCopy {
  Value source;
  Value destination;
  /// Sizes of what is copied, one for each dimension of the source.
  SmallVector<int64_t> extents;
  /// Elements that one access takes along the last dimension. It divides all
  /// sizes, strides and offsets of the source, so that an access is wholly
  /// inside or outside, and aligned. A source that is copied to panels may have
  /// any number of columns: the last access takes those that there are.
  int64_t width;
  /// Where the destination has its elements.
  ::nm::TileLayout layout;
  /// The rows that are copied, if not all. A width along them divides a unit's.
  std::optional<RowList> rows;
  /// Where this is given and false, zeros are copied.
  Value condition;
};

/// The threads that copy.
struct CopyThreads {
  Value id;
  int64_t count;
};

/// A copy on its way through registers: all loads come first, then all stores.
class RegisterCopy {
public:
  virtual ~RegisterCopy() = default;
  virtual void load() = 0;
  virtual void store(Value destination) = 0;
};

/// Copies tiles as they are, by asynchronous copies.
void emitDirectCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                    const CopyThreads &threads);

/// Stores element by element what is loaded `copy.width` at a time, to a
/// [columns x rows] destination if `transpose`.
std::unique_ptr<RegisterCopy>
createElementsCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                   const CopyThreads &threads, bool transpose);

/// Copies rows of patches, which are in no memory, from their image; null where
/// the source is something else.
std::unique_ptr<RegisterCopy> createPixelsCopy(OpBuilder &builder, Location loc,
                                               const TileCopy &copy,
                                               const CopyThreads &threads);

/// Transposes by squares of 4 x 4 elements.
std::unique_ptr<RegisterCopy> createSquaresCopy(OpBuilder &builder,
                                                Location loc,
                                                const TileCopy &copy,
                                                const CopyThreads &threads);

/// Copies part `part` of a row-major f32 tile as it is to a staging buffer.
void emitCopyToStagingBuffer(OpBuilder &builder, Location loc,
                             const TileCopy &copy, const CopyThreads &threads,
                             int64_t part);

/// Moves it on from there, transposed.
void emitMoveFromStagingBuffer(OpBuilder &builder, Location loc,
                               const TileCopy &copy, const CopyThreads &threads,
                               int64_t part);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_TILECOPY_H
