//===- Transposition.h - What an op that transposes does --------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_TRANSPOSITION_H
#define NM_LIB_GPU_LAYOUTS_TRANSPOSITION_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// Makes the loops of `op`, an elementwise linalg.generic on memrefs, the
/// dimensions of its output; says why not, where it is none.
FailureOr<linalg::GenericOp> orderElementwise(RewriterBase &rewriter,
                                              linalg::GenericOp op);

/// The loop along which `operand` of such an op is contiguous.
std::optional<unsigned> getContiguousLoop(linalg::GenericOp op,
                                          OpOperand &operand);

/// An elementwise linalg.generic on memrefs whose loops are the dimensions of
/// its output. Along the last loop, the output is contiguous; some inputs are
/// contiguous along another, the row loop.
class Transposition {
public:
  /// Takes `op`, which orderElementwise has made, if it is one that transposes;
  /// otherwise says why not.
  static FailureOr<Transposition> create(RewriterBase &rewriter,
                                         linalg::GenericOp op);

  Location getLoc() const { return op.getLoc(); }
  linalg::GenericOp getOp() const { return op; }
  Value getOutput() const;
  /// Those that are contiguous along the row loop.
  ArrayRef<OpOperand *> getTransposed() const { return turned; }
  unsigned getRowLoop() const { return rowLoop; }
  unsigned getLastLoop() const;
  /// The size of loop `loop`; may be dynamic.
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

/// A launch of a thread block for each tile of an op's loops.
class TileLaunch {
public:
  /// Moves `builder` into the launch. A tile has so many iterations of each
  /// loop, which are the dimensions of `output`; neighbouring blocks go along
  /// the first loop of `order`.
  TileLaunch(OpBuilder &builder, Location loc, Value output,
             ArrayRef<int64_t> tiles, ArrayRef<unsigned> order, int64_t threads,
             int64_t sharedBytes);

  /// A tile has `rowTile` iterations of the row loop, `lastTile` of the last,
  /// and one of each other.
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

#endif // NM_LIB_GPU_LAYOUTS_TRANSPOSITION_H
