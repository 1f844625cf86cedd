//===- StridedCopies.h - Copies between strided views -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_STRIDEDCOPIES_H
#define NM_LIB_GPU_TILE_STRIDEDCOPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {

/// The copy that `op` is where it copies elements from places that are sums of
/// multiples of its loops, as the patches of a convolution are: a memref.copy
/// between two views of its operands, whose last dimension is contiguous in
/// both and as long as can be. Null where `op` is no such copy, or sizes or
/// strides are dynamic. `builder` is where `op` is, which stays.
memref::CopyOp createStridedCopy(OpBuilder &builder, linalg::GenericOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_STRIDEDCOPIES_H
