//===- SquaresCopy.cpp - Transposition by squares in registers ------------===//

#include "GPU/Copies/CopyEmitter.h"

#include "nm/GPU/Strategies/Simt/SimtLayouts.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::kSquare;
using ::nm::kSquareRowsOfWarp;

/// Lanes whose 16-byte accesses are served together.
static constexpr int64_t kQuarterWarp = 8;
/// Columns of squares that a warp takes at once.
static constexpr int64_t kWarpColumns = 8;

namespace {
/// A square on its way through registers.
struct Square {
  Value id, row, column;
  /// The row of the destination that the first column goes to.
  Value place;
  SmallVector<CopyAccess> lines;
};

class SquaresCopy : public RoundsOfCopy<SquaresCopy, Square> {
public:
  SquaresCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
              const CopyThreads &threads)
      : RoundsOfCopy(builder, loc, copy, threads),
        interleaves(copy.layout.order[0] == getRowInterleave().order[0]) {
    count = copy.extents[0] * copy.extents[1] / (kSquare * kSquare);
  }

  Square loadAccess(int64_t round);
  void storeAccess(const Square &square);

private:
  /// The columns of a quarter of a warp. In shared memory, where rows are 4
  /// words apart modulo 32, what a quarter stores meets each bank once: 8
  /// neighbouring rows where they are interleaved, else 2 x 64 bytes.
  int64_t quarterColumns() const { return interleaves ? kWarpColumns : 2; }
  void placeByRows(OffsetIndex id, Square &square);
  void placeByWarps(OffsetIndex id, Square &square);

  bool interleaves;
};
} // namespace

/// Squares one below the other, where warps would not come out even.
void SquaresCopy::placeByRows(OffsetIndex id, Square &square) {
  auto [column, row] = index.split(id, copy.extents[0] / kSquare);
  square.row = index.materialize(index.scale(row, kSquare));
  square.column = index.materialize(index.scale(column, kSquare));
  square.place = square.column;
}

/// The columns of a warp are 128 bytes of each row.
void SquaresCopy::placeByWarps(OffsetIndex id, Square &square) {
  auto [group, lane] = index.split(id, kWarpSize);
  auto [columnGroup, rowGroup] =
      index.split(group, copy.extents[0] / kSquare / kSquareRowsOfWarp);
  auto [quarter, inQuarter] = index.split(lane, kQuarterWarp);
  auto [quarterRow, lowColumn] = index.split(inQuarter, quarterColumns());
  auto [highRow, highColumn] =
      index.split(quarter, kWarpColumns / quarterColumns());
  Value laneRow = index.add(
      index.materialize(quarterRow),
      index.materialize(index.scale(highRow, kQuarterWarp / quarterColumns())));
  Value laneColumn =
      index.add(index.materialize(lowColumn),
                index.materialize(index.scale(highColumn, quarterColumns())));
  Value firstColumn =
      index.materialize(index.scale(columnGroup, kWarpColumns * kSquare));
  square.row = index.add(
      index.materialize(index.scale(rowGroup, kSquareRowsOfWarp * kSquare)),
      index.mul(laneRow, kSquare));
  square.column = index.add(firstColumn, index.mul(laneColumn, kSquare));
  square.place =
      interleaves ? index.add(firstColumn, laneColumn) : square.column;
}

Square SquaresCopy::loadAccess(int64_t round) {
  OffsetIndex id = idInRound(round);
  Square square;
  square.id = index.materialize(id);
  id = clampId(id, square.id, count);
  bool isWholeWarps = copy.extents[0] % (kSquareRowsOfWarp * kSquare) == 0 &&
                      copy.extents[1] % (kWarpColumns * kSquare) == 0;
  isWholeWarps ? placeByWarps(id, square) : placeByRows(id, square);
  CopyAddress place(2);
  setPlace(place, 1, {square.column, copy.extents[1]});
  for (int64_t i = 0; i < kSquare; ++i) {
    CopyAccess line;
    line.place = place;
    line.place.tile[0] = line.place.source[0] = index.add(square.row, i);
    line.data = loadClamped(line.place.source);
    square.lines.push_back(std::move(line));
  }
  return square;
}

void SquaresCopy::storeAccess(const Square &square) {
  SmallVector<Value> lines;
  for (const CopyAccess &line : square.lines)
    lines.push_back(orZeros(line));
  auto type = cast<VectorType>(lines[0].getType());
  int64_t bytes = kSquare * type.getElementTypeBitWidth() / 8;
  int64_t apart = interleaves ? RowInterleave::kAhead : 1;
  for (int64_t i = 0; i < kSquare; ++i) {
    SmallVector<Value> elements;
    for (Value line : lines)
      elements.push_back(vector::ExtractOp::create(builder, loc, line, i));
    Value column = vector::FromElementsOp::create(builder, loc, type, elements);
    vector::StoreOp::create(
        builder, loc, column, copy.destination,
        ValueRange{index.add(square.place, i * apart), square.row},
        /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  }
}

std::unique_ptr<RegisterCopy>
mlir::nm::createSquaresCopy(OpBuilder &builder, Location loc,
                            const TileCopy &copy, const CopyThreads &threads) {
  return std::make_unique<SquaresCopy>(builder, loc, copy, threads);
}
