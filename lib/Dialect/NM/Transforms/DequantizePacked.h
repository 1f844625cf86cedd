//===- DequantizePacked.h - Packed weights that were quantized --*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_DEQUANTIZEPACKED_H
#define NM_DIALECT_NM_TRANSFORMS_DEQUANTIZEPACKED_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Makes values of `form`, of the type of A, of the scales of `op` and the
/// `packed` values of its form `quantized`: one elementwise op.
Value dequantizePacked(OpBuilder &builder, SparseProductOpInterface op,
                       Value packed, PackedFormAttrInterface quantized,
                       PackedFormAttrInterface form);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_DEQUANTIZEPACKED_H
