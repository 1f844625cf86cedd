//===- ProductRecord.h - What was chosen for a product, and why -*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H
#define NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H

#include "nm/Dialect/NM/IR/NM.h"

#include <optional>
#include <string>

namespace mlir::nm {

/// What the selection of a product's schedule went by. The schedule itself is
/// the op's. Times are estimates in microseconds; those that no model gives are
/// absent.
struct ProductRecord {
  /// All of it as text, which the remark is.
  std::string remark;
  /// Why dense weights were taken, or were not.
  std::string reason;
  /// Whether dense weights took the sparse ones' place.
  bool fallsBack = false;
  std::optional<double> estimate;
  /// Of the dense product: a BLAS on a CPU, cuBLAS on a GPU.
  std::optional<double> denseEstimate;
  /// The least that the chip's multipliers, and its memory, allow.
  std::optional<double> multiplyFloor, memoryFloor;
  /// Shared memory of a block, in bytes.
  std::optional<int64_t> sharedBytes;
};

/// Keeps `record` with the op, until its products are expanded.
void setRecord(SparseProductOpInterface op, const ProductRecord &record);
std::optional<ProductRecord> getRecord(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H
