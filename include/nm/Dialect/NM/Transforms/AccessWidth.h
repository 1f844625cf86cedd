//===- AccessWidth.h - How wide accesses of memory can be -------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_ACCESSWIDTH_H
#define NM_DIALECT_NM_TRANSFORMS_ACCESSWIDTH_H

#include "mlir/IR/Value.h"

namespace mlir::nm {

/// Bytes of the widest access of a thread.
inline constexpr int64_t kMaxAccessBytes = 16;

/// The widest access, in elements and up to those bytes, to tiles of `memref`
/// that start at multiples of `extents`; 1 if its rows are not contiguous.
int64_t getAccessWidth(Value memref, ArrayRef<int64_t> extents);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_ACCESSWIDTH_H
