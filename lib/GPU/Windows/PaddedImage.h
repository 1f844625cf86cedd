//===- PaddedImage.h - Images with a border of one value --------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_PADDEDIMAGE_H
#define NM_LIB_GPU_WINDOWS_PADDEDIMAGE_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::nm {

/// An op that writes one value to all elements of a memref.
struct MemoryFill {
  Operation *op;
  Value value, memref;

  /// Null if `op` does another thing.
  static std::optional<MemoryFill> get(Operation *op);
};

/// What a temporary holds that was filled with one value, and then partly
/// overwritten by an image, for an op that reads it.
struct PaddedImage {
  /// What was copied, or where in the temporary an op has made it.
  Value image;
  /// What elements outside of the image are.
  Value border;
  /// The index in the temporary of the image's first element, by dimension.
  SmallVector<int64_t> first;
  /// Whether the temporary has elements outside of the image along a dimension.
  SmallVector<bool> hasBorder;
  /// What frees the image, before the op that reads the temporary.
  SmallVector<Operation *> deallocs;
};

/// The image that `padded` holds when `reader` runs, which may read the image
/// itself as well: nothing else writes the temporary, and nothing writes the
/// image between its copy and `reader`.
std::optional<PaddedImage> findPaddedImage(Value padded, Operation *reader);

/// Whether `op` may write memory that is of `root`.
bool mayWrite(Operation *op, Value root);

/// The ops that use the memory of `memref` or of views of it, but for those
/// that make views and that free it.
void collectUsers(Value memref, SmallVector<Operation *> &users);

/// Whether nothing from behind `first` until `last` writes memory of `root`,
/// but to free it, by ops that are added to `deallocs`.
bool isKept(Value root, Operation *first, Operation *last,
            SmallVector<Operation *> &deallocs);

/// Erases `root`, an allocation, with its views and what fills it or copies to
/// it, if nothing reads it; or what fills it, if nothing reads more than
/// another op writes.
void eraseUnread(Value root);

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_PADDEDIMAGE_H
