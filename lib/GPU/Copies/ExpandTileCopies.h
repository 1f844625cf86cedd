//===- ExpandTileCopies.h - Copies of tiles by threads ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_EXPANDTILECOPIES_H
#define NM_LIB_GPU_COPIES_EXPANDTILECOPIES_H

#include "GPU/Copies/TileCopy.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// What a warp does to a part of a staging buffer.
struct StagedPart {
  /// The wait for its copies.
  Operation *await = nullptr;
  SmallVector<Operation *> loads, stores;
  /// The barrier before it is refilled.
  Operation *release = nullptr;
  SmallVector<Operation *> copies;
  /// The end of their group.
  Operation *group = nullptr;
};

/// The accesses that copies in a block were expanded to.
struct CopyAccesses {
  /// Asynchronous ones before a product, with the end of their group.
  SmallVector<Operation *> copies;
  /// Stores, after it, of what was loaded to registers.
  SmallVector<Operation *> stores;
  /// What is done to a staging buffer after it.
  SmallVector<StagedPart> parts;
};

/// Expands nm.copy, nm.load_tile and nm.store_tile in `block` to what a thread
/// does, and returns what stands around the first of `places`, ops of the
/// product's expansion; nothing where there are none. Adds to `entries` the
/// loads from lists of rows that can be made ahead.
CopyAccesses expandCopies(RewriterBase &rewriter, Block &block,
                          const CopyThreads &threads,
                          ArrayRef<Operation *> places,
                          SmallVectorImpl<memref::LoadOp> &entries);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_EXPANDTILECOPIES_H
