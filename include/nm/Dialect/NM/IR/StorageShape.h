//===- StorageShape.h - Encoded types and their parts -----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_STORAGESHAPE_H
#define NM_DIALECT_NM_IR_STORAGESHAPE_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The condensed form of a tensor type with an #nm.encoding.
StorageShape condensedShapeOf(RankedTensorType encodedType);

/// The encoding of `type`, null if it has none of ours.
EncodingAttr getEncoding(Type type);

/// `type` without its encoding.
RankedTensorType withoutEncoding(RankedTensorType type);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_STORAGESHAPE_H
