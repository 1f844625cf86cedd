//===- QuantizedWeight.h - Weights that linalg dequantizes ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_QUANTIZEDWEIGHT_H
#define NM_DIALECT_NM_TRANSFORMS_QUANTIZEDWEIGHT_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// What a linalg.generic multiplies: an i8 matrix with an encoding, of which it
/// takes `bits`, and scales, one for `group` rows of k and a column.
struct QuantizedWeight {
  Value values, scales;
  int64_t bits, group;
  /// The dimensions of `scales` that groups and columns run over; none of
  /// groups where all of k has one scale.
  std::optional<int64_t> groupDim;
  int64_t columnDim;

  /// Matches an op that makes f16 or bf16 weights so, or gives the reason why
  /// it does not.
  static ::nm::Result<QuantizedWeight> match(linalg::GenericOp op);

  /// The scales as products take them, [groups × columns].
  Value createScales(OpBuilder &builder, Location loc) const;
};

/// The op that makes `value` of a quantized matrix with an encoding; null where
/// none does.
linalg::GenericOp getDequantization(Value value);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_QUANTIZEDWEIGHT_H
