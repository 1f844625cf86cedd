//===- CallConvolution.h - Convolutions to calls of cuDNN -------*- C++ -*-===//

#ifndef NM_LIB_GPU_LIBRARY_CALLCONVOLUTION_H
#define NM_LIB_GPU_LIBRARY_CALLCONVOLUTION_H

#include "GPU/Library/CallContraction.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

namespace mlir::nm {

/// Calls cuDNN before `op`, on memrefs, whose A is `patches`. Returns whether
/// that took it, as an index; null where the call has no such convolution.
Value callConvolution(SpMMOp op, PatchesOp patches, DeclareFunction declare);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LIBRARY_CALLCONVOLUTION_H
