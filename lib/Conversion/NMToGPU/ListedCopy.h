//===- ListedCopy.h - Copies of what a list names, by a role ----*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_LISTEDCOPY_H
#define NM_CONVERSION_NMTOGPU_LISTEDCOPY_H

#include "RowList.h"
#include "ThreadEmitter.h"

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace mlir::nm {

/// A copy of a tile of A to a slot by the threads of a role, of all rows of k
/// or of those that a list names. What a thread can know of a tile before its
/// slot is free, it computes before it waits for that: behind the wait, all
/// warps would leave the load unit idle together.
class ListedCopy {
public:
  virtual ~ListedCopy() = default;

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
  int64_t bytes() const { return width * elementBytes; }
  /// Between rows of `source`.
  Value getRowBytes(ThreadEmitter &emitter, Value source);
  /// Where an access reads and writes, and how many bytes of it there are to
  /// read; null if all.
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

/// Copies whole rows of a k-major A.
std::unique_ptr<ListedCopy> createRowCopies(RewriterBase &rewriter, CopyOp op,
                                            WarpsOp role);
/// Copies units of each row of a row-major A.
std::unique_ptr<ListedCopy> createUnitCopies(RewriterBase &rewriter, CopyOp op,
                                             WarpsOp role);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_LISTEDCOPY_H
