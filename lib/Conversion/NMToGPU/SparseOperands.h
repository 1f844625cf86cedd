//===- SparseOperands.h - What mma.sp and wgmma.sp multiply -----*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H
#define NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H

#include "ThreadEmitter.h"

namespace mlir::nm {

/// The lane's word of metadata that begins at byte `byte` of `step` of block
/// `block` of packed indices, which may end before: it is of the last then,
/// for words without order are no metadata, and what it stands for is no part
/// of C, or zero.
Value loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                   Value step, Value byte);

/// The word that begins at `place`, which `indices` have.
Value loadMetadataWord(ThreadEmitter &emitter, Value indices, ValueRange place);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_SPARSEOPERANDS_H
