//===- TileCopy.cpp - Copies that the threads of a block share ------------===//

#include "TileCopy.h"

#include "CopyIndices.h"

#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Dialect/NM/Transforms/SimtOperands.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

static int64_t countAccesses(const TileCopy &copy) {
  int64_t elements = 1;
  for (int64_t extent : copy.extents)
    elements *= extent;
  return elements / copy.width;
}

namespace {
/// Where an access is in the tile that is copied to, and in the source.
struct AccessPlace {
  SmallVector<Value> tile, source;

  explicit AccessPlace(size_t rank = 0) : tile(rank), source(rank) {}

  void set(OpBuilder &builder, Location loc, const TileCopy &copy, size_t dim,
           const OffsetIndex &index) {
    if (!copy.rows || copy.rows->dim != dim) {
      tile[dim] = source[dim] = IndexBuilder(builder, loc).materialize(index);
      return;
    }
    RowList::Place row = copy.rows->place(builder, loc, index);
    tile[dim] = row.packed;
    source[dim] = row.source;
  }
};
} // namespace

/// The place of access `id` in a row-major tile.
static AccessPlace delinearize(OpBuilder &builder, Location loc, OffsetIndex id,
                               const TileCopy &copy) {
  IndexBuilder index(builder, loc);
  AccessPlace place(copy.extents.size());
  for (size_t dim = copy.extents.size(); dim-- > 0;) {
    bool isLast = dim + 1 == copy.extents.size();
    int64_t width = isLast ? copy.width : 1;
    OffsetIndex within = id;
    if (dim > 0)
      std::tie(id, within) = index.split(id, copy.extents[dim] / width);
    place.set(builder, loc, copy, dim, index.scale(within, width));
  }
  return place;
}

/// The extent of the tile in the source.
static int64_t getSourceExtent(const TileCopy &copy, size_t dim) {
  return copy.rows && copy.rows->dim == dim ? copy.rows->sourceRows()
                                            : copy.extents[dim];
}

/// Whether the source has an element at `indices`; null if it always does.
static Value isInSource(OpBuilder &builder, Location loc, const TileCopy &copy,
                        ValueRange indices) {
  IndexBuilder index(builder, loc);
  ArrayRef<int64_t> shape = cast<MemRefType>(copy.source.getType()).getShape();
  Value inside;
  for (size_t dim = 0; dim < copy.extents.size(); ++dim) {
    if (shape[dim] >= getSourceExtent(copy, dim))
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    inside = index.both(inside, index.isLess(indices[dim], size));
  }
  return inside;
}

/// Opens `scf.if (id < count)` where a round of `threads` has ids past the
/// last access, and moves the builder into it.
static void skipPastEnd(OpBuilder &builder, Location loc, Value id,
                        int64_t round, int64_t count, int64_t threads) {
  if ((round + 1) * threads <= count)
    return;
  IndexBuilder index(builder, loc);
  auto guard =
      scf::IfOp::create(builder, loc, index.isLess(id, index.constant(count)));
  builder.setInsertionPointToStart(guard.thenBlock());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void emitDirectCopy(OpBuilder &builder, Location loc, TileCopy copy,
                           const CopyThreads &threads) {
  IndexBuilder index(builder, loc);
  int64_t accessesPerRow = copy.extents.back() / copy.width;
  if (copy.rows && threads.count % accessesPerRow == 0)
    copy.rows->order(threads.count / accessesPerRow);
  Type element = cast<MemRefType>(copy.source.getType()).getElementType();
  auto vectorType = VectorType::get(copy.width, element);
  auto maskType = VectorType::get(copy.width, builder.getI1Type());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  int64_t count = countAccesses(copy);
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OpBuilder::InsertionGuard guard(builder);
    OffsetIndex id{threads.id, threads.count, round * threads.count};
    skipPastEnd(builder, loc, index.materialize(id), round, count,
                threads.count);
    AccessPlace place = delinearize(builder, loc, id, copy);
    Value mask;
    if (Value inside = isInSource(builder, loc, copy, place.source)) {
      Value elements = arith::SelectOp::create(
          builder, loc, inside, index.constant(copy.width), index.constant(0));
      mask = vector::CreateMaskOp::create(builder, loc, maskType, elements);
    }
    auto identity = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        copy.extents.size(), 1, builder.getContext()));
    ArrayAttr inBounds = builder.getBoolArrayAttr({true});
    Value read = vector::TransferReadOp::create(builder, loc, vectorType,
                                                copy.source, place.source,
                                                identity, zero, mask, inBounds);
    vector::TransferWriteOp::create(builder, loc, Type(), read,
                                    copy.destination, place.tile, identity,
                                    /*mask=*/Value(), inBounds);
  }
}

/// Lanes of a warp that read accesses of one row of a source that is
/// transposed. Stores of one element from each lane then go to few rows of the
/// destination and spread over the banks.
static int64_t getLanesPerRow(const TileCopy &copy) {
  // Rows of shared memory are 4 words apart modulo 32: eight neighbouring ones
  // and four columns meet each bank once. Four lanes with 16-byte accesses
  // have 64 contiguous bytes.
  bool isSingle = copy.rows && copy.width == 1;
  return std::gcd<int64_t>(isSingle ? 8 : 4, copy.extents[1] / copy.width);
}

/// Where an access of a copy that transposes stands.
static AccessPlace getTransposedAccess(OpBuilder &builder, Location loc,
                                       OffsetIndex id, const TileCopy &copy) {
  int64_t accessesPerRow = copy.extents[1] / copy.width;
  int64_t lanesPerRow = getLanesPerRow(copy);
  int64_t rowsPerWarp = kWarpSize / lanesPerRow;
  if (copy.extents[0] % rowsPerWarp != 0)
    return delinearize(builder, loc, id, copy);
  IndexBuilder index(builder, loc);
  auto [group, lane] = index.split(id, kWarpSize);
  auto [accessGroup, rowGroup] =
      index.split(group, copy.extents[0] / rowsPerWarp);
  auto [laneRow, laneAccess] = index.split(lane, lanesPerRow);
  Value row = index.add(index.materialize(index.scale(rowGroup, rowsPerWarp)),
                        index.materialize(laneRow));
  AccessPlace place(2);
  place.tile[0] = place.source[0] = row;
  // Groups of lanes follow one another as rounds of threads do, mostly.
  OffsetIndex access = laneAccess;
  access.offset = accessGroup.offset * lanesPerRow;
  if (accessGroup.bound != 1)
    access = {index.materialize(
                  index.add(index.scale(accessGroup, lanesPerRow), laneAccess)),
              accessesPerRow};
  place.set(builder, loc, copy, 1, index.scale(access, copy.width));
  return place;
}

/// Loads one access, from the last that the source has where `indices` are
/// outside: a branch around each load would keep them from overlapping.
static Value loadClamped(OpBuilder &builder, Location loc, const TileCopy &copy,
                         ArrayRef<Value> indices) {
  IndexBuilder index(builder, loc);
  auto source = cast<MemRefType>(copy.source.getType());
  SmallVector<Value> clamped(indices);
  for (size_t dim = 0; dim < copy.extents.size(); ++dim) {
    if (source.getShape()[dim] >= getSourceExtent(copy, dim))
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    bool isLast = dim + 1 == copy.extents.size();
    Value last = builder.createOrFold<arith::SubIOp>(
        loc, size, index.constant(isLast ? copy.width : 1));
    // A tile past the end of a part of k has no elements.
    last = builder.createOrFold<arith::MaxSIOp>(loc, last, index.constant(0));
    clamped[dim] = arith::MinUIOp::create(builder, loc, indices[dim], last);
  }
  int64_t bytes = copy.width * source.getElementTypeBitWidth() / 8;
  return vector::LoadOp::create(
      builder, loc, VectorType::get(copy.width, source.getElementType()),
      copy.source, clamped, /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

namespace {
/// One access on its way through registers.
struct RegisterAccess {
  Value id, data;
  AccessPlace place;
};
} // namespace

/// What was loaded, if the source has it, else zeros.
static Value orZeros(OpBuilder &builder, Location loc, const TileCopy &copy,
                     const RegisterAccess &access) {
  Value inside = isInSource(builder, loc, copy, access.place.source);
  if (!inside)
    return access.data;
  Value zeros = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(access.data.getType()));
  return arith::SelectOp::create(builder, loc, inside, access.data, zeros);
}

/// Stores what the source has at the access's indices, else zeros.
static void storeAccess(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const RegisterAccess &access, bool transpose) {
  IndexBuilder index(builder, loc);
  Value data = orZeros(builder, loc, copy, access);
  for (int64_t i = 0; i < copy.width; ++i) {
    SmallVector<Value> target(access.place.tile);
    target.back() = index.add(target.back(), i);
    if (transpose)
      std::swap(target[target.size() - 2], target.back());
    if (copy.interleaveRows)
      target[0] = RowInterleave::place(builder, loc, target[0]);
    Value element = vector::ExtractOp::create(builder, loc, data, i);
    memref::StoreOp::create(builder, loc, element, copy.destination, target);
  }
}

/// Copies element by element.
static void emitRegisterCopy(OpBuilder &builder, Location loc,
                             const TileCopy &copy, const CopyThreads &threads,
                             bool transpose) {
  IndexBuilder index(builder, loc);
  SmallVector<RegisterAccess> accesses;
  int64_t count = countAccesses(copy);
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OffsetIndex id{threads.id, threads.count, round * threads.count};
    RegisterAccess access;
    access.id = index.materialize(id);
    // Threads past the end of the tile load its last access again.
    if ((round + 1) * threads.count > count)
      id = {arith::MinUIOp::create(builder, loc, access.id,
                                   index.constant(count - 1)),
            count};
    access.place = transpose ? getTransposedAccess(builder, loc, id, copy)
                             : delinearize(builder, loc, id, copy);
    access.data = loadClamped(builder, loc, copy, access.place.source);
    accesses.push_back(std::move(access));
  }
  for (auto [round, access] : llvm::enumerate(accesses)) {
    OpBuilder::InsertionGuard guard(builder);
    skipPastEnd(builder, loc, access.id, round, count, threads.count);
    storeAccess(builder, loc, copy, access, transpose);
  }
}

//===----------------------------------------------------------------------===//
// Transposition by squares
//===----------------------------------------------------------------------===//

/// The side of the squares that a thread transposes in its registers: a row is
/// one 16-byte load, a column one 16-byte store.
static constexpr int64_t kSquare = 4;
/// Lanes whose 16-byte accesses are served together.
static constexpr int64_t kQuarterWarp = 8;
namespace {
/// A square on its way through registers.
struct SquareAccess {
  Value id, row, column;
  /// The row of the destination that the first column goes to.
  Value place;
  SmallVector<RegisterAccess> lines;
};
} // namespace

/// Rows and columns of squares that a warp takes at once, and the columns of a
/// quarter of it. In shared memory, where rows are 4 words apart modulo 32,
/// what a quarter stores meets each bank once: 8 neighbouring rows where they
/// are interleaved, else 2 x 64 bytes.
static constexpr int64_t kWarpRows = 4, kWarpColumns = 8;
static int64_t quarterColumns(const TileCopy &copy) {
  return copy.interleaveRows ? kWarpColumns : 2;
}

/// Sets where square `id` stands.
static void placeSquare(IndexBuilder &index, OffsetIndex id,
                        const TileCopy &copy, SquareAccess &square) {
  int64_t rows = copy.extents[0] / kSquare, columns = copy.extents[1] / kSquare;
  OffsetIndex row, column;
  if (rows % kWarpRows != 0 || columns % kWarpColumns != 0) {
    std::tie(column, row) = index.split(id, rows);
    square.row = index.materialize(index.scale(row, kSquare));
    square.column = index.materialize(index.scale(column, kSquare));
    square.place = square.column;
    return;
  }
  // The columns of a warp are 128 bytes of each row.
  auto [group, lane] = index.split(id, kWarpSize);
  auto [columnGroup, rowGroup] = index.split(group, rows / kWarpRows);
  auto [quarter, inQuarter] = index.split(lane, kQuarterWarp);
  auto [quarterRow, lowColumn] = index.split(inQuarter, quarterColumns(copy));
  auto [highRow, highColumn] =
      index.split(quarter, kWarpColumns / quarterColumns(copy));
  Value laneRow = index.add(index.materialize(quarterRow),
                            index.materialize(index.scale(
                                highRow, kQuarterWarp / quarterColumns(copy))));
  Value laneColumn = index.add(
      index.materialize(lowColumn),
      index.materialize(index.scale(highColumn, quarterColumns(copy))));
  Value firstColumn =
      index.materialize(index.scale(columnGroup, kWarpColumns * kSquare));
  square.row =
      index.add(index.materialize(index.scale(rowGroup, kWarpRows * kSquare)),
                index.mul(laneRow, kSquare));
  square.column = index.add(firstColumn, index.mul(laneColumn, kSquare));
  square.place =
      copy.interleaveRows ? index.add(firstColumn, laneColumn) : square.column;
}

static SquareAccess loadSquare(OpBuilder &builder, Location loc,
                               const TileCopy &copy, OffsetIndex id,
                               int64_t count) {
  IndexBuilder index(builder, loc);
  SquareAccess square;
  square.id = index.materialize(id);
  // Threads past the end of the tile load its last square again.
  if (id.bound + id.offset > count)
    id = {arith::MinUIOp::create(builder, loc, square.id,
                                 index.constant(count - 1)),
          count};
  placeSquare(index, id, copy, square);
  AccessPlace place(2);
  place.set(builder, loc, copy, 1, {square.column, copy.extents[1]});
  for (int64_t i = 0; i < kSquare; ++i) {
    RegisterAccess line;
    line.place = place;
    line.place.tile[0] = line.place.source[0] = index.add(square.row, i);
    line.data = loadClamped(builder, loc, copy, line.place.source);
    square.lines.push_back(std::move(line));
  }
  return square;
}

static void storeSquare(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const SquareAccess &square) {
  IndexBuilder index(builder, loc);
  SmallVector<Value> lines;
  for (const RegisterAccess &line : square.lines)
    lines.push_back(orZeros(builder, loc, copy, line));
  auto type = cast<VectorType>(lines[0].getType());
  int64_t bytes = kSquare * type.getElementTypeBitWidth() / 8;
  int64_t apart = copy.interleaveRows ? RowInterleave::kAhead : 1;
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

static constexpr int64_t kMaxThreadsWithSquares = 256;

/// Whether whole squares make up the tile, and the destination's rows start at
/// multiples of one.
static bool hasSquares(const TileCopy &copy) {
  auto [strides, offset] =
      cast<MemRefType>(copy.destination.getType()).getStridesAndOffset();
  if (copy.interleaveRows && copy.extents[0] % (kWarpRows * kSquare) != 0)
    return false;
  return copy.width == kSquare && copy.extents[0] % kSquare == 0 &&
         strides[0] % kSquare == 0;
}

static void emitSquaresCopy(OpBuilder &builder, Location loc,
                            const TileCopy &copy, const CopyThreads &threads) {
  SmallVector<SquareAccess> squares;
  int64_t count = copy.extents[0] * copy.extents[1] / (kSquare * kSquare);
  for (int64_t round = 0; round * threads.count < count; ++round)
    squares.push_back(loadSquare(
        builder, loc, copy,
        OffsetIndex{threads.id, threads.count, round * threads.count}, count));
  for (auto [round, square] : llvm::enumerate(squares)) {
    OpBuilder::InsertionGuard guard(builder);
    skipPastEnd(builder, loc, square.id, round, count, threads.count);
    storeSquare(builder, loc, copy, square);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The smallest copy that cp.async makes.
static constexpr int64_t kMinAsyncBytes = 4;

void mlir::nm::emitCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const CopyThreads &threads) {
  auto type = cast<MemRefType>(copy.source.getType());
  if (copy.width * type.getElementTypeBitWidth() / 8 < kMinAsyncBytes)
    return emitRegisterCopy(builder, loc, copy, threads, /*transpose=*/false);
  emitDirectCopy(builder, loc, copy, threads);
}

void mlir::nm::emitTransposingCopy(OpBuilder &builder, Location loc,
                                   const TileCopy &copy,
                                   const CopyThreads &threads) {
  // Threads of a large block have 128 registers at most: a square would hold 16
  // of them at once, and take those that operands are read ahead to.
  bool hasRegisters =
      copy.interleaveRows || threads.count <= kMaxThreadsWithSquares;
  if (hasRegisters && hasSquares(copy))
    return emitSquaresCopy(builder, loc, copy, threads);
  TileCopy ordered = copy;
  if (copy.rows)
    ordered.rows->order(getLanesPerRow(copy) * copy.width);
  emitRegisterCopy(builder, loc, ordered, threads, /*transpose=*/true);
}
