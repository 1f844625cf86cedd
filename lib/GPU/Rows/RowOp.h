//===- RowOp.h - What a linalg op does along rows ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_ROWS_ROWOP_H
#define NM_LIB_GPU_ROWS_ROWOP_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// The loops that ops of one kernel have in common: some over rows, and the
/// last one, over columns, along which rows are contiguous.
struct RowSpace {
  /// The static sizes, or ShapedType::kDynamic.
  SmallVector<int64_t> rows;
  int64_t columns = ShapedType::kDynamic;
  /// Has elements for all loops, in their order up to a permutation that `map`
  /// says; gives the sizes that are dynamic.
  Value memref;
  AffineMap map;

  unsigned getColumnLoop() const { return rows.size(); }
};

/// How an op accesses one of its operands.
struct RowOperand {
  /// A memref, or a scalar.
  Value value;
  /// From the loops of the space to the dimensions of a memref.
  AffineMap map;
  /// Whether neighbours along the columns are neighbours in memory; otherwise
  /// an element belongs to a whole row.
  bool hasColumns = false;
  /// Whether each row has elements of its own.
  bool isOfRows = false;
  bool isRead = false;
  /// Whether it is an output of columns whose neighbours in memory are
  /// neighbouring rows: [columns, rows], or with a dimension for each of
  /// several loops over rows, between which memory has no gap. An input that is
  /// transposed is read where an op of the same kernel has made it.
  bool isTransposed = false;
  /// Splits of an element, where the operand is the output of nm.split_floats,
  /// which is transposed.
  int64_t splits = 1;

  bool isMemref() const { return isa<MemRefType>(value.getType()); }
  /// The element type of an operand that is a memref.
  Type getElementType() const {
    return cast<MemRefType>(value.getType()).getElementType();
  }
};

/// Whether `op`, of the body of a linalg op, can be computed for several
/// elements at once.
bool isMappable(Operation &op);

/// The op of `body` that makes `result`: it combines `argument`, a running
/// result, with what the body makes of one element; null for none. Its kind is
/// such that parts can be combined in any order.
Operation *findCombiner(Block &body, BlockArgument argument, Value result);

/// A linalg op on memrefs, whose loops are those of a RowSpace; or
/// nm.split_floats, which has no body: its output has what it reads.
struct RowOp {
  Operation *op;
  enum Kind {
    /// Makes an element for each column of a row.
    Elementwise,
    /// Makes elements for a row of all its columns.
    Reduction,
    /// Makes elements for a row, without its columns.
    Scalar,
    /// Makes a few elements for a row, without its columns, in other columns.
    Short
  } kind;
  /// Inputs and outputs, as the op has them.
  SmallVector<RowOperand> inputs, outputs;
  /// Of a reduction, what combines each output with an element.
  SmallVector<Operation *> combiners;

  /// The space of `op`, a reduction of contiguous rows or else an elementwise
  /// op, if it has one by itself.
  static std::optional<RowSpace> findSpace(linalg::LinalgOp op);
  /// What `op` does in `space`, if all of its loops are of it.
  static std::optional<RowOp> get(Operation *op, const RowSpace &space);

  /// The elements that a Short op makes for a row.
  int64_t countShort() const {
    return cast<linalg::LinalgOp>(op).getStaticLoopRanges().back();
  }
  bool hasBody() const { return !isa<SplitFloatsOp>(op); }
  Block &getBody() const { return *cast<linalg::LinalgOp>(op).getBlock(); }
  bool transposes() const {
    return llvm::any_of(
        outputs, [](const RowOperand &output) { return output.isTransposed; });
  }
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ROWS_ROWOP_H
