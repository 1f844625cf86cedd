//===- BlockRowCopies.cpp - Rows of an m-major A, by a role ---------------===//
//
// Of a tile each warp takes as many rows as the others, one after the other,
// and its lanes stand along them.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Copies/ListedCopy.h"
#include "GPU/Sums/CompleteSums.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/GPU/Tile/GpuTile.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

namespace {
class RowCopies : public ListedCopy {
public:
  RowCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role)
      : ListedCopy(rewriter, op, role), warps(role.countWarps()) {}

  LogicalResult verify() override;

protected:
  void placeThread() override;
  SmallVector<Value> getListed(ThreadEmitter &emitter) override;
  SmallVector<Value> computeOffsets(Value source,
                                    ArrayRef<Value> entries) override;
  void issue() override;

private:
  Value getRow(ThreadEmitter &emitter, int64_t round) {
    return emitter.add(firstRow, round * rowsAtOnce());
  }
  Value getListedRow(ThreadEmitter &emitter, Value first, int64_t round);
  Value getOffset(ThreadEmitter &emitter, Value sourceRow, Value rowBytes);
  Value isInSource(ThreadEmitter &emitter, int64_t round, Value end);
  void copyRows(ThreadEmitter &emitter, Value end);

  /// Rows that a warp copies at once.
  int64_t rowsAtOnce() const { return kWarpSize / lanesPerRow(); }
  int64_t rounds() const { return rows() / (warps * rowsAtOnce()); }
  /// Rows of which a tile has those that it lists.
  int64_t rowsOfSource() const { return list ? list->sourceRows() : rows(); }
  /// Whether each warp starts with a window, or the rows of all are in one.
  bool isAligned() const {
    int64_t ofWarp = rows() / warps, ofWindow = list->rowsOfWindow();
    return ofWarp % ofWindow == 0 || ofWindow % ofWarp == 0;
  }
  /// Whether the list has the rows that all threads copy in `round`: those of
  /// the last warp's last lanes are furthest behind.
  bool isListed(int64_t round) const {
    int64_t last =
        (warps - 1) * (rows() / warps) + (round + 1) * rowsAtOnce() - 1;
    return !list || last < list->rows();
  }

  int64_t warps;
  /// The thread's first row, and its first element of a row.
  Value firstRow, firstColumn;
};
} // namespace

LogicalResult RowCopies::verify() {
  if (destinationType().getRank() == 2 && rows() % (warps * rowsAtOnce()) == 0)
    return success();
  return op.emitOpError() << "expected rows that " << warps
                          << " warps can share, but got "
                          << op.getDestination().getType();
}

void RowCopies::placeThread() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role.getBody().front());
  ThreadEmitter emitter{rewriter, loc};
  Value thread = emitter.toI32(getThreadOfRole(rewriter, role));
  auto [warp, lane] = emitter.split(thread, kWarpSize);
  auto [row, column] = emitter.split(lane, lanesPerRow());
  firstRow = emitter.add(emitter.mul(warp, rows() / warps), row);
  firstColumn = emitter.mul(column, width);
}

/// The row of `round` of a thread whose first row is `first`; the last of the
/// list where a row only fills an instruction up.
Value RowCopies::getListedRow(ThreadEmitter &emitter, Value first,
                              int64_t round) {
  Value row = emitter.add(first, round * rowsAtOnce());
  return isListed(round) ? row
                         : emitter.least(row, emitter.i32(list->rows() - 1));
}

SmallVector<Value> RowCopies::getListed(ThreadEmitter &emitter) {
  SmallVector<Value> result;
  for (int64_t round = 0; round < rounds(); ++round)
    result.push_back(getListedRow(emitter, firstRow, round));
  return result;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// In bytes. Where 32 bits hold it, it stays in front of the wait, behind which
/// the compiler would save registers by computing it.
Value RowCopies::getOffset(ThreadEmitter &emitter, Value sourceRow,
                           Value rowBytes) {
  std::optional<int64_t> known = getConstantIntValue(rowBytes);
  if (known && *known * rowsOfSource() <= std::numeric_limits<int32_t>::max())
    return completeSums(rewriter, loc, emitter.mul(sourceRow, *known)).front();
  return rewriter.createOrFold<arith::MulIOp>(loc, emitter.toIndex(sourceRow),
                                              rowBytes);
}

SmallVector<Value> RowCopies::computeOffsets(Value source,
                                             ArrayRef<Value> entries) {
  ThreadEmitter emitter{rewriter, loc};
  Value rowBytes = getRowBytes(emitter, source);
  // Windows of rows are found anew for each tile: kept from one to the next,
  // they take a register each, of which a producer has few.
  Value first = firstRow;
  if (list && !isAligned())
    first = completeSums(rewriter, loc, firstRow).front();
  SmallVector<Value> result;
  for (int64_t round = 0; round < rounds(); ++round) {
    Value row = getListedRow(emitter, first, round);
    if (list)
      row = list->getSourceRow(rewriter, loc, row, entries[round]);
    result.push_back(getOffset(emitter, row, rowBytes));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether the thread's row of `round` is listed and, unless `end` is null, in
/// front of that many bytes of the source; null if it always is.
Value RowCopies::isInSource(ThreadEmitter &emitter, int64_t round, Value end) {
  Value isListedRow, isBeforeEnd;
  if (!isListed(round))
    isListedRow =
        emitter.less(getRow(emitter, round), emitter.i32(list->rows()));
  if (end)
    isBeforeEnd = emitter.less(emitter.toIndex(offsets[round]), end);
  return emitter.both(isListedRow, isBeforeEnd);
}

void RowCopies::issue() {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, loc};
  branchOnWhole(emitter, {rowsOfSource()}, [&](bool mayEnd) {
    Value end;
    if (mayEnd)
      end = rewriter.createOrFold<arith::MulIOp>(
          loc, sizeOfSource(0), getRowBytes(emitter, op.getSource()));
    copyRows(emitter, end);
  });
}

void RowCopies::copyRows(ThreadEmitter &emitter, Value end) {
  Value slot = addressOfSlot(emitter);
  Value source =
      emitter.add(getElementAddress(emitter, op.getSource()),
                  emitter.mul(emitter.toIndex(firstColumn), elementBytes));
  int64_t sourceColumns = sourceType().getDimSize(1);
  bool mayEnd =
      ShapedType::isDynamic(sourceColumns) || sourceColumns < columns();
  Value size = mayEnd ? emitter.toI32(sizeOfSource(1)) : Value();
  for (int64_t round = 0; round < rounds(); ++round) {
    Value isInside = isInSource(emitter, round, end);
    for (int64_t access = 0; access < accessesPerLane(); ++access) {
      int64_t along = access * lanesPerRow() * width;
      Value column = emitter.add(firstColumn, along);
      Value destination =
          addressInSlot(emitter, slot, getRow(emitter, round), column);
      Value count;
      if (mayEnd) {
        Value left = rewriter.createOrFold<arith::SubIOp>(
            loc, emitter.least(emitter.add(column, width), size),
            emitter.least(column, size));
        count = emitter.mul(left, elementBytes);
      }
      if (isInside)
        count = emitter.orZero(count ? count : emitter.i32(bytes()), isInside);
      Value from =
          emitter.add(emitter.add(source, emitter.toIndex(offsets[round])),
                      along * elementBytes);
      copyAccess(emitter, from, destination, count);
    }
  }
}

std::unique_ptr<ListedCopy> mlir::nm::createRowCopies(RewriterBase &rewriter,
                                                      CopyOp op, WarpsOp role) {
  return std::make_unique<RowCopies>(rewriter, op, role);
}
