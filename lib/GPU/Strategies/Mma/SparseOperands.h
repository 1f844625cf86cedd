//===- SparseOperands.h - What mma.sp and wgmma.sp multiply -----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDS_H
#define NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// The lane's word of metadata that begins at byte `byte` of `step` of block
/// `block` of packed indices, which may end before: it is of the last then,
/// for words without order are no metadata, and what it stands for is no part
/// of C, or zero.
Value loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                   Value step, Value byte);

/// The word that begins at `place`, which `indices` have.
Value loadMetadataWord(ThreadEmitter &emitter, Value indices, ValueRange place);

/// The same of indices that copies have brought to workgroup memory: what these
/// filled up with zeros has the metadata of a group's first two rows.
Value loadStagedMetadata(ThreadEmitter &emitter, Value indices,
                         ValueRange place);

/// What an instruction multiplies, and the type of its sums.
struct SparseTypes {
  Type element;
  Type sum;

  SparseTypes(Type element, Type sum) : element(element), sum(sum) {}
  explicit SparseTypes(SpMMOp op)
      : element(op.getAType().getElementType()),
        sum(detail::getProductAccumulatorType(element)) {}

  int64_t bits() const { return element.getIntOrFloatBitWidth(); }
  /// PTX's name of `element`.
  StringRef name() const;
};

/// The form of the weights of `op`, which are packed as #nm.sparse_operand.
::nm::SparseOperand getSparseForm(SpMMOp op);

/// `product`, where mma_sp or mma_bitmap expands it: nm.spmm of packed weights
/// and a staged A.
FailureOr<SpMMOp> getSparseProduct(SparseProductOpInterface product,
                                   const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDS_H
