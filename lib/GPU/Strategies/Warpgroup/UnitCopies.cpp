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

#include "mlir/Dialect/MemRef/IR/MemRef.h"

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
  Value isWhole(ThreadEmitter &emitter);
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

/// Whether the source has all of the tile; null if it always does.
Value UnitCopies::isWhole(ThreadEmitter &emitter) {
  Value result;
  int64_t sizes[2] = {rows(), columnsOfSource()};
  for (int64_t dim : {0, 1}) {
    int64_t known = sourceType().getDimSize(dim);
    if (!ShapedType::isDynamic(known) && known >= sizes[dim])
      continue;
    Value size = rewriter.createOrFold<memref::DimOp>(loc, op.getSource(), dim);
    Value has = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                                      size, emitter.index(sizes[dim]));
    result = emitter.both(result, has);
  }
  return result;
}

/// Nearly all tiles are whole: copies that need not look whether the source has
/// theirs take fewer instructions.
void UnitCopies::issue() {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, loc};
  Value whole = isWhole(emitter);
  if (!whole)
    return copyRows(emitter, /*mayEnd=*/false);
  auto branch =
      scf::IfOp::create(rewriter, loc, whole, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  copyRows(emitter, /*mayEnd=*/false);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  copyRows(emitter, /*mayEnd=*/true);
}

void UnitCopies::copyRows(ThreadEmitter &emitter, bool mayEnd) {
  MemRefType type = destinationType();
  ::nm::TileLayout layout = getTileLayout(type);
  int64_t stride = getBufferStrides(type)[0];
  Value slot = emitter.toI32(getElementAddress(
      emitter, flattenBuffer(rewriter, loc, op.getDestination())));
  Value rowBytes = getRowBytes(emitter, op.getSource());
  Value source = emitter.add(getElementAddress(emitter, op.getSource()),
                             rewriter.createOrFold<arith::MulIOp>(
                                 loc, emitter.toIndex(firstRow), rowBytes));
  Value countOfRows, bytesOfRow;
  if (mayEnd) {
    auto sizeOf = [&](int64_t dim) {
      return emitter.toI32(
          rewriter.createOrFold<memref::DimOp>(loc, op.getSource(), dim));
    };
    countOfRows = sizeOf(0);
    bytesOfRow = emitter.mul(sizeOf(1), elementBytes);
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
      Value rowOfTile = emitter.add(firstRow, row);
      SmallVector<Value> place =
          placeElement(rewriter, loc, layout, {rowOfTile, column});
      Value inSlot = emitter.add(emitter.mul(place[0], stride), place[1]);
      Value count;
      if (mayEnd)
        count = arith::SelectOp::create(rewriter, loc,
                                        emitter.less(rowOfTile, countOfRows),
                                        left, emitter.i32(0));
      copyAccess(emitter, emitter.add(from, emitter.mul(rowBytes, row)),
                 emitter.add(slot, emitter.mul(inSlot, elementBytes)), count);
    }
  }
}

std::unique_ptr<ListedCopy>
mlir::nm::createUnitCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role) {
  return std::make_unique<UnitCopies>(rewriter, op, role);
}
