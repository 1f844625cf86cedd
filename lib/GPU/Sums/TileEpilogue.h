//===- TileEpilogue.h - What a block does with its sums ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_TILEEPILOGUE_H
#define NM_LIB_GPU_SUMS_TILEEPILOGUE_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// The elements of an operand of an elementwise op at `indices` of its loops,
/// of which `map` gives the operand's dimensions: one, or where `type` is a
/// vector, neighbours along the last loop. `clamp`, if given, brings an index
/// of a loop into bounds. `aligned` is how many elements the address of a
/// vector is a multiple of.
Value loadOperand(OpBuilder &builder, Location loc, Value operand,
                  AffineMap map, ArrayRef<Value> indices, VectorType type,
                  int64_t aligned = 1,
                  function_ref<Value(unsigned, Value)> clamp = nullptr);

/// The linalg.generic after the products of a block, or after nm.combine, which
/// takes their sums one by one, as nm-tile-to-gpu-blocks makes it of an
/// epilogue. A thread runs it on the sums that it has in registers.
class TileEpilogue {
public:
  /// The epilogue in `block`, which makes a tile of C of the sums in `sums`, if
  /// there is one.
  static FailureOr<std::optional<TileEpilogue>> find(Block &block, Value sums);

  linalg::GenericOp getOp() const { return op; }

  /// The operand whose elements are the sums; null if none is used.
  OpOperand *getSums() const;

  /// Whether it makes one element of two sums: of one in the first half of the
  /// tile's columns, and of one so many columns further on.
  bool combinesHalves() const {
    return getSecondSums() != nullptr && !combinesNeighbours();
  }
  /// Whether it makes one element of the sums of an even column and of the one
  /// after it.
  bool combinesNeighbours() const;

  /// The tile of C that it writes.
  Value getC() const { return op.getDpsInits()[0]; }

  /// What the op reads beside the sum at `position` in the last dimensions of
  /// C, or beside a vector of sums of `type` from there on along the last one;
  /// null for each operand that it does not read. Where C may end before the
  /// position does, as `mayPassEnd` says of each dimension, what is read lies
  /// inside of it.
  SmallVector<Value> read(OpBuilder &builder, ArrayRef<Value> position,
                          VectorType type, ArrayRef<bool> mayPassEnd) const;
  /// What becomes of `sum`, or of that and `second`, one of the second half of
  /// columns or of odd ones, with what `read` gave for it.
  Value apply(OpBuilder &builder, Value sum, Value second,
              ArrayRef<Value> operands) const;
  /// The same, with what the op reads beside it at `position`.
  Value apply(OpBuilder &builder, Value sum, Value second,
              ArrayRef<Value> position, ArrayRef<bool> mayPassEnd) const {
    return apply(builder, sum, second,
                 read(builder, position, dyn_cast<VectorType>(sum.getType()),
                      mayPassEnd));
  }

  /// Removes the op, and the memory of sums that threads have in registers.
  void erase(RewriterBase &rewriter) const;

private:
  TileEpilogue(linalg::GenericOp op, memref::AllocOp memory)
      : op(op), memory(memory) {}

  /// The operands that are in the memory of the sums: none, the sums, or those
  /// of the first and the second half of the tile's columns, or of even and odd
  /// ones.
  SmallVector<OpOperand *> listSums() const;
  /// The second of these; null where an element is made of one sum.
  OpOperand *getSecondSums() const;

  mutable linalg::GenericOp op;
  /// The memory of the block's own that the sums are in; null where C is.
  mutable memref::AllocOp memory;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_TILEEPILOGUE_H
