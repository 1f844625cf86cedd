//===- SparseOperands.h - What mma.sp and wgmma.sp multiply -----*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H
#define NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H

#include "MmaFragments.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The lane's word of metadata that begins at byte `byte` of `step` of block
/// `block` of packed indices, which may end before: it is of the last then,
/// for words without order are no metadata, and what it stands for is no part
/// of C, or zero.
Value loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                   Value step, Value byte);

/// A buffer in workgroup memory, in one dimension, in the order of its places.
Value flattenBuffer(ThreadEmitter &emitter, Value buffer);

/// Loads four matrices of 8 x 8 elements of 16 bits, whose rows lanes 8 i to
/// 8 i + 7 name by `place`: their words of matrix i.
SquareWords loadMatrices(ThreadEmitter &emitter, Value elements, Value place,
                         bool transpose);

/// Words of `type` as mma.sp takes them.
SmallVector<Value> toFragment(ThreadEmitter &emitter, Type type,
                              ArrayRef<Value> words);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H
