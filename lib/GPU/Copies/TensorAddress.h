//===- TensorAddress.h - A tile's place in its tensor -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_TENSORADDRESS_H
#define NM_LIB_GPU_COPIES_TENSORADDRESS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// Where a tile is in the tensor that it is of, whose boxes tensor copies take.
struct TensorAddress {
  /// Made outside of the blocks.
  Value tensor;
  /// The place of the tile's first element, for each dimension of the tensor.
  SmallVector<Value> at;
  /// The tensor's dimension that each of the tile's is.
  SmallVector<int64_t> dims;

  /// Whether `tile` is of a tensor outside of `blocks` by slices of step 1.
  static bool isFound(Value tile, scf::ForallOp blocks);
  /// None where it is not.
  static std::optional<TensorAddress> find(ThreadEmitter &emitter, Value tile,
                                           scf::ForallOp blocks);

private:
  bool moveBy(ThreadEmitter &emitter, memref::SubViewOp view);
};

/// Two dimensions in place of one: their sizes, and how many indices of the one
/// an index of each is. Of 12 rows, windows of 4 are {3, 4, 4, 1}, and whether
/// a row is odd, and its half, {2, 1, 6, 2}.
struct SplitDim {
  int64_t outerSize, outerStep, innerSize, innerStep;
};

/// A view of `tensor` that has two dimensions in place of dimension `dim`.
Value splitDim(ThreadEmitter &emitter, Value tensor, int64_t dim,
               const SplitDim &parts);

/// The address of the first element of `view`, as an index.
Value getElementAddress(ThreadEmitter &emitter, Value view);
/// The bytes from one index of the first dimension of `view` to the next.
Value getRowBytes(ThreadEmitter &emitter, Value view);
/// A pointer to `address` of an index or an integer.
Value toPointer(ThreadEmitter &emitter, Value address,
                NVVM::NVVMMemorySpace space);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_TENSORADDRESS_H
