//===- UnitCopies.cpp - Units of rows of a row-major A, by a role ---------===//
//
// The lanes of a warp stand along rows of the tile, and its warps take rows one
// after the other. 128 threads that copy rows of 128 bytes by 16 have eight
// accesses a row, so that a thread copies the same columns of every 16th row:
// it needs one entry of the list, and addresses that differ by constants.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Copies/ListedCopy.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/GPU/Tile/GpuTile.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class UnitCopies : public ListedCopy {
public:
  UnitCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role)
      : ListedCopy(rewriter, op, role), threads(role.countWarps() * kWarpSize) {
  }

  LogicalResult verify() override;

protected:
  void placeThread() override;
  SmallVector<Value> getListed(ThreadEmitter &emitter) override;
  SmallVector<Value> computeOffsets(Value source,
                                    ArrayRef<Value> entries) override;
  void issue() override;

private:
  int64_t rowsAtOnce() const { return threads / lanesPerRow(); }
  /// Columns of the source, of which a tile has those that it lists.
  int64_t columnsOfSource() const {
    return list ? list->sourceRows() : columns();
  }
  /// The thread's column of an access.
  Value getColumn(ThreadEmitter &emitter, int64_t access) {
    return emitter.add(firstColumn, access * lanesPerRow() * width);
  }
  void copyRows(ThreadEmitter &emitter, bool mayEnd);

  int64_t threads;
  /// The thread's first row and column of the tile.
  Value firstRow, firstColumn;
};
} // namespace

LogicalResult UnitCopies::verify() {
  int64_t unit = list ? list->pattern.bk : width;
  if (destinationType().getRank() == 2 && unit % width == 0 &&
      rows() % rowsAtOnce() == 0)
    return success();
  return op.emitOpError() << "expected rows that " << role.countWarps()
                          << " warps can share, of units of a multiple of "
                          << width << " elements, but got "
                          << destinationType();
}

void UnitCopies::placeThread() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role.getBody().front());
  ThreadEmitter emitter{rewriter, loc};
  Value thread = emitter.toI32(getThreadOfRole(rewriter, role));
  auto [row, lane] = emitter.split(thread, lanesPerRow());
  firstRow = row;
  firstColumn = emitter.mul(lane, width);
}

SmallVector<Value> UnitCopies::getListed(ThreadEmitter &emitter) {
  SmallVector<Value> result;
  for (int64_t access = 0; access < accessesPerLane(); ++access)
    result.push_back(getColumn(emitter, access));
  return result;
}

SmallVector<Value> UnitCopies::computeOffsets(Value, ArrayRef<Value> entries) {
  ThreadEmitter emitter{rewriter, loc};
  SmallVector<Value> result;
  for (auto [access, column] : llvm::enumerate(getListed(emitter))) {
    Value ofSource =
        list ? list->getSourceRow(rewriter, loc, column, entries[access])
             : column;
    result.push_back(emitter.mul(ofSource, elementBytes));
  }
  return result;
}

void UnitCopies::issue() {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, loc};
  branchOnWhole(emitter, {rows(), columnsOfSource()},
                [&](bool mayEnd) { copyRows(emitter, mayEnd); });
}

void UnitCopies::copyRows(ThreadEmitter &emitter, bool mayEnd) {
  Value slot = addressOfSlot(emitter),
        rowBytes = getRowBytes(emitter, op.getSource());
  Value source = emitter.add(getElementAddress(emitter, op.getSource()),
                             rewriter.createOrFold<arith::MulIOp>(
                                 loc, emitter.toIndex(firstRow), rowBytes));
  Value countOfRows, bytesOfRow;
  if (mayEnd) {
    countOfRows = emitter.toI32(sizeOfSource(0));
    bytesOfRow = emitter.mul(emitter.toI32(sizeOfSource(1)), elementBytes);
  }
  for (int64_t access = 0; access < accessesPerLane(); ++access) {
    Value column = getColumn(emitter, access), offset = offsets[access];
    Value from = emitter.add(source, emitter.toIndex(offset)), left;
    if (mayEnd) {
      Value end = emitter.least(emitter.add(offset, bytes()), bytesOfRow);
      left = rewriter.createOrFold<arith::SubIOp>(
          loc, end, emitter.least(offset, bytesOfRow));
    }
    for (int64_t row = 0; row < rows(); row += rowsAtOnce()) {
      Value rowOfTile = emitter.add(firstRow, row), count;
      if (mayEnd)
        count = emitter.orZero(left, emitter.less(rowOfTile, countOfRows));
      copyAccess(emitter, emitter.add(from, emitter.mul(rowBytes, row)),
                 addressInSlot(emitter, slot, rowOfTile, column), count);
    }
  }
}

std::unique_ptr<ListedCopy>
mlir::nm::createUnitCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role) {
  return std::make_unique<UnitCopies>(rewriter, op, role);
}
