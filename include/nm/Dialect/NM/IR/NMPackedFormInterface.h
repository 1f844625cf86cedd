//===- NMPackedFormInterface.h - What packed forms say ----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_H
#define NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace mlir::nm {

/// The shapes of the arrays that hold a weight; kDynamic where a size of the
/// weight is.
struct StorageShape {
  SmallVector<int64_t, 3> values;
  SmallVector<int64_t, 3> indices;
  /// Empty where there are no lists of rows.
  SmallVector<int64_t, 3> lists = {};

  bool hasLists() const { return !lists.empty(); }

  /// The condensed form of B[k×n].
  static StorageShape condensed(const ::nm::Pattern &pattern, int64_t k,
                                int64_t n);

  RankedTensorType valuesType(Type elementType) const;
  RankedTensorType indicesType(MLIRContext *context) const;
  /// Null where there are none.
  RankedTensorType listsType(MLIRContext *context) const;
};

/// A range of one dimension.
struct Range1D {
  OpFoldResult offset;
  OpFoldResult size;
};

/// A rectangle of a tensor or memref, with unit strides.
struct SliceRegion {
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes;

  void append(Range1D range) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
};

/// Where the weights of some rows and columns of B lie in their arrays.
struct StorageRegion {
  SliceRegion values;
  SliceRegion indices;
  std::optional<SliceRegion> lists = {};
};

} // namespace mlir::nm

#include "nm/Dialect/NM/IR/NMPackedFormInterface.h.inc"

namespace mlir::nm {

/// What weights can be cut at, in columns and in rows of B. `form` is null for
/// the condensed form: whole units and windows.
int64_t getColumnStep(const ::nm::Pattern &pattern,
                      PackedFormAttrInterface form);
int64_t getRowStep(const ::nm::Pattern &pattern, PackedFormAttrInterface form);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_H
