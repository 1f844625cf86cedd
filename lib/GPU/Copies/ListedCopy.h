//===- ListedCopy.h - Copies of what a list names, by a role ----*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_LISTEDCOPY_H
#define NM_LIB_GPU_COPIES_LISTEDCOPY_H

#include "GPU/Copies/RowList.h"
#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Support/Warp.h"

#include "mlir/IR/PatternMatch.h"

#include <numeric>
#include <optional>

namespace mlir::nm {

/// A copy of a tile of A to a slot by the threads of a role: of all of the
/// tile's k, or of what a list names. The slot is [k x m] of an m-major A, and
/// [m x k] of a row-major one. What a thread can know of a tile before its slot
/// is free, it computes before it waits for that: behind the wait, all warps
/// would leave the load unit idle together.
class ListedCopy {
public:
  virtual ~ListedCopy() = default;

  /// Emits an error where the role's threads cannot share the copy evenly.
  virtual LogicalResult verify() = 0;
  void expand();

protected:
  ListedCopy(RewriterBase &rewriter, CopyOp op, WarpsOp role);

  /// At the start of the role: the same for all tiles.
  virtual void placeThread() = 0;
  /// What the thread copies, as numbers in the order of the list.
  virtual SmallVector<Value> getListed(ThreadEmitter &emitter) = 0;
  /// How far that is from the first of the tile `source`, in bytes, by its
  /// entries of the list, of which there are none without a list.
  virtual SmallVector<Value> computeOffsets(Value source,
                                            ArrayRef<Value> entries) = 0;
  /// Starts the copies, at `offsets`.
  virtual void issue() = 0;

  MemRefType sourceType() const {
    return cast<MemRefType>(op.getSource().getType());
  }
  MemRefType destinationType() const {
    return cast<MemRefType>(op.getDestination().getType());
  }
  /// Rows and columns of the slot, which has two dimensions.
  int64_t rows() const { return destinationType().getDimSize(0); }
  int64_t columns() const { return destinationType().getDimSize(1); }
  /// Lanes of a warp that stand along a row of the slot, and how often.
  int64_t lanesPerRow() const {
    return std::gcd<int64_t>(::nm::kWarpSize, columns() / width);
  }
  int64_t accessesPerLane() const { return columns() / width / lanesPerRow(); }
  int64_t bytes() const { return width * elementBytes; }
  /// Where the source has all that a tile may have of it, `sizes`, runs `copy`
  /// without an end, else with one. Nearly all tiles are whole: copies that
  /// need not look whether the source has theirs take fewer instructions.
  void branchOnWhole(ThreadEmitter &emitter, ArrayRef<int64_t> sizes,
                     function_ref<void(bool mayEnd)> copy);
  /// Address of the slot in shared memory, and of its element at (row, column).
  Value addressOfSlot(ThreadEmitter &emitter);
  Value addressInSlot(ThreadEmitter &emitter, Value slot, Value row,
                      Value column);
  /// A size of the source.
  Value sizeOfSource(int64_t dim);
  /// Copies an access from the address `from` to `destination` in shared
  /// memory: `count` bytes of it, and zeros behind them; all if null.
  void copyAccess(ThreadEmitter &emitter, Value from, Value destination,
                  Value count);

  RewriterBase &rewriter;
  Location loc;
  mutable CopyOp op;
  WarpsOp role;
  /// Elements of an access, and bytes of one.
  int64_t width, elementBytes;
  std::optional<RowList> list;
  SmallVector<Value> offsets;

private:
  SmallVector<Value> loadEntries(Value listed);
  void carryOffsets(scf::ForOp loop);
};

/// Copies whole rows of an m-major A.
std::unique_ptr<ListedCopy> createRowCopies(RewriterBase &rewriter, CopyOp op,
                                            WarpsOp role);
/// Copies units of each row of a row-major A.
std::unique_ptr<ListedCopy> createUnitCopies(RewriterBase &rewriter, CopyOp op,
                                             WarpsOp role);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_LISTEDCOPY_H
