//===- StorageShape.h - Shapes of condensed and packed weights --*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_STORAGESHAPE_H
#define NM_DIALECT_NM_IR_STORAGESHAPE_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The shapes of the two arrays that hold a weight; kDynamic where a size of
/// the weight is.
struct StorageShape {
  SmallVector<int64_t, 3> values;
  SmallVector<int64_t, 3> indices;

  /// The condensed form of B[k×n].
  static StorageShape condensed(const ::nm::Pattern &pattern, int64_t k,
                                int64_t n);
  /// The packed form of weights whose condensed values are [rows × columns].
  static StorageShape packed(const ::nm::Pattern &pattern, PackingAttr packing,
                             int64_t rows, int64_t columns);

  RankedTensorType valuesType(Type elementType) const;
  RankedTensorType indicesType(MLIRContext *context) const;
};

/// What weights can be cut at, in columns and in rows of B: whole units and
/// panels, and whole windows and index rows. `packing` is null for the
/// condensed form.
int64_t getColumnStep(const ::nm::Pattern &pattern, PackingAttr packing);
int64_t getRowStep(const ::nm::Pattern &pattern, PackingAttr packing);

/// The condensed form of a tensor type with an #nm.encoding.
StorageShape condensedShapeOf(RankedTensorType encodedType);

/// The encoding of `type`, null if it has none of ours.
EncodingAttr getEncoding(Type type);

/// `type` without its encoding.
RankedTensorType withoutEncoding(RankedTensorType type);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_STORAGESHAPE_H
