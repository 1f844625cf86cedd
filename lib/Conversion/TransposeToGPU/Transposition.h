//===- Transposition.h - What an op that transposes does --------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_TRANSPOSETOGPU_TRANSPOSITION_H
#define NM_LIB_CONVERSION_TRANSPOSETOGPU_TRANSPOSITION_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// An elementwise linalg.generic on memrefs whose loops are the dimensions of
/// its output. Along the last loop, the output is contiguous; some inputs are
/// contiguous along another, the row loop.
class Transposition {
public:
  /// Makes `op` such a linalg.generic, if it is one that transposes; otherwise
  /// says why not, and may have interchanged its loops.
  static FailureOr<Transposition> create(RewriterBase &rewriter,
                                         linalg::GenericOp op);

  Location getLoc() const { return op.getLoc(); }
  linalg::GenericOp getOp() const { return op; }
  Value getOutput() const;
  /// Those that are contiguous along the row loop.
  ArrayRef<OpOperand *> getTurned() const { return turned; }
  unsigned getRowLoop() const { return rowLoop; }
  unsigned getLastLoop() const;
  /// Of loop `loop`; may be dynamic.
  int64_t getStaticSize(unsigned loop) const;
  /// `indices` of the loops as those of `operand`'s dimensions.
  SmallVector<Value> getIndices(OpOperand &operand,
                                ArrayRef<Value> indices) const;

  /// Whether it is one of 16 bits of its only turned input, of 8 bits, and of
  /// constants: it may then be applied before it is transposed.
  bool widens() const;

  /// What the op makes of `elements` of its turned inputs, one each, at
  /// `indices`; or of vectors of neighbours along the last loop.
  Value apply(OpBuilder &builder, ArrayRef<Value> elements,
              ArrayRef<Value> indices) const;

private:
  Transposition(linalg::GenericOp op, unsigned rowLoop,
                SmallVector<OpOperand *> turned)
      : op(op), rowLoop(rowLoop), turned(std::move(turned)) {}

  mutable linalg::GenericOp op;
  unsigned rowLoop;
  SmallVector<OpOperand *> turned;
};

/// A launch of a thread block for each tile of the row and the last loop, and
/// each iteration of the others.
class TileLaunch {
public:
  /// Moves `builder` into the launch. A tile has `rowTile` iterations of the
  /// row loop and `lastTile` of the last.
  TileLaunch(OpBuilder &builder, const Transposition &op, int64_t rowTile,
             int64_t lastTile, int64_t threads, int64_t sharedBytes);

  /// The first iteration of each loop, and how many each has.
  ArrayRef<Value> getFirst() const { return first; }
  ArrayRef<Value> getSizes() const { return sizes; }
  Value getThread() const { return thread; }

private:
  SmallVector<Value> first, sizes;
  Value thread;
};

/// The two kernels; see the pass. `builder` is where the op is.
void launchRegisterTiles(OpBuilder &builder, const Transposition &op);
void launchSharedTiles(OpBuilder &builder, const Transposition &op);

/// Whether `op` has a kernel: elements of which types, and how much memory.
bool hasRegisterTiles(const Transposition &op);
LogicalResult checkSharedTiles(RewriterBase &rewriter, const Transposition &op);

/// Whether rows of all that the register kernel reads and writes by 16 bytes
/// start at such multiples: an i1, or a constant.
OpFoldResult areRowsAligned(OpBuilder &builder, const Transposition &op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_TRANSPOSETOGPU_TRANSPOSITION_H
