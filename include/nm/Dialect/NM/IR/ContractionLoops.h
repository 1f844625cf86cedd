//===- ContractionLoops.h - What the loops of nm.contract are ---*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CONTRACTIONLOOPS_H
#define NM_DIALECT_NM_IR_CONTRACTIONLOOPS_H

#include "nm/Dialect/NM/IR/Contractions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>

namespace mlir::nm {

/// Loops of nm.contract by what they are to the product, the batches, m and n
/// in the order of C's dimensions and k in that of A's.
struct LoopRoles {
  SmallVector<unsigned> batches, m, n, k;
};

/// The roles of the loops of `maps`, those of A, B and C; none where a loop has
/// none of them, or where no loop belongs to k.
std::optional<LoopRoles> getLoopRoles(ArrayRef<AffineMap> maps);

/// The loop behind each dimension of an operand; `map` is a projected
/// permutation.
SmallVector<unsigned> getLoopsOf(AffineMap map);

/// How the elements of an operand lie in memory, by dimension.
struct OperandLayout {
  SmallVector<unsigned> loops;
  /// In elements, or ShapedType::kDynamic.
  SmallVector<int64_t> strides;
  /// Whether all elements stand one after the other, in row-major order.
  bool isContiguous = false;

  /// The layout of contiguous elements; `sizes` are those of the loops.
  static OperandLayout getContiguous(ArrayRef<unsigned> loops,
                                     ArrayRef<int64_t> sizes);
  /// The layout of a memref of `type` whose dimensions run along `loops`.
  static OperandLayout get(MemRefType type, ArrayRef<unsigned> loops);
};

/// A contraction as batches of products of matrices, [m x k] · [k x n]. Each of
/// these is a group of loops that are one loop in memory, the last one the
/// fastest; none where the size is one. There are at most two of batches. A
/// loop of m or n that is not one with the others is a batch too.
struct MatrixProducts {
  SmallVector<SmallVector<unsigned>, 2> batches;
  SmallVector<unsigned> m, n, k;
};

/// The operands of a contraction, as many as matrices have.
using OperandLayouts = std::array<OperandLayout, 3>;

/// The contraction of operands with such layouts as products of matrices; none
/// where a matrix has neither rows nor columns of contiguous elements, or where
/// more than two loops of batches are left. `sizes` are those of the loops,
/// ShapedType::kDynamic where they are not known.
std::optional<MatrixProducts> findMatrixProducts(const LoopRoles &roles,
                                                 ArrayRef<int64_t> sizes,
                                                 const OperandLayouts &layouts);

/// Whether `products` are one call of a library that has batches of one stride.
inline bool isOneCall(const std::optional<MatrixProducts> &products) {
  return products && products->batches.size() <= 1;
}

/// The sizes of the loops, ShapedType::kDynamic where they are not known.
SmallVector<int64_t> getLoopSizes(ContractOp op);

/// The loops that define `op`, which has a C of f32.
linalg::GenericOp createLoopsOf(OpBuilder &builder, ContractOp op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_CONTRACTIONLOOPS_H
