//===- SimtStrategy.cpp - Products on the CUDA cores ----------------------===//
//
// A thread makes a register tile of C, of 4 x 4 chunks that are as far apart as
// the lanes of a warp are many, so that the lanes read neighbouring 16-byte
// words of shared memory. For each kept row of weights it reads its rows of A
// from the k-row that the index names, and its columns of the weights.
//
//===----------------------------------------------------------------------===//

#include "TileExpansion.h"
#include "TileStores.h"
#include "WeightTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows or columns that a 16-byte access takes.
static constexpr int64_t kChunk = 4;
/// Kept rows that are unrolled: with a register tile of 8 x 8, 2048 FMAs, which
/// the instruction cache holds beside the copies.
static constexpr int64_t kMaxUnrolledRows = 32;

namespace {
class SimtExpansion : public TileExpansion {
public:
  SimtExpansion(SpMMOp op, const GpuTile &tile)
      : tile(tile), pattern(op.getPattern().getPattern()) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> expand(OpBuilder &builder, SpMMOp op,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SpMMOp op, ArrayRef<Value> sums,
           Value initial) override;

private:
  int64_t rowChunks() const { return tile.threadM / kChunk; }
  int64_t columnChunks() const { return tile.threadN / kChunk; }
  int64_t unrolledRows(const WeightTile &weights) const;
  int64_t groupKey(int64_t chunk) const;
  SmallVector<Value> expandRows(OpBuilder &builder, SpMMOp op,
                                WeightTile &weights, Value firstRow,
                                int64_t count, ArrayRef<Value> sums);
  SmallVector<SmallVector<Value>> loadPositions(OpBuilder &builder,
                                                WeightTile &weights,
                                                Value firstUnit, int64_t units);
  SmallVector<Value> loadRowOfA(OpBuilder &builder, SpMMOp op, Value unit,
                                Value position, Value rowInUnit);

  Value add(OpBuilder &builder, Location loc, Value lhs, int64_t rhs) {
    return builder.createOrFold<arith::AddIOp>(
        loc, lhs, arith::ConstantIndexOp::create(builder, loc, rhs));
  }
  /// The columns that read positions of their own: one of each chunk where a
  /// unit spans it, else all.
  bool hasUnitPerChunk() const { return pattern.bn % kChunk == 0; }

  GpuTile tile;
  ::nm::Pattern pattern;
  /// The first row, and column, of each chunk, within the block tile.
  SmallVector<Value> rows, columns;
};
} // namespace

//===----------------------------------------------------------------------===//
// Where a thread stands
//===----------------------------------------------------------------------===//

SmallVector<Value> SimtExpansion::begin(OpBuilder &builder, Location loc) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto split = [&](Value value, int64_t by) {
    return std::pair<Value, Value>(
        builder.createOrFold<arith::DivUIOp>(loc, value, constant(by)),
        builder.createOrFold<arith::RemUIOp>(loc, value, constant(by)));
  };
  Value thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  auto [warp, lane] = split(thread, kWarpSize);
  auto [warpN, warpM] = split(warp, tile.warpsM());
  auto [laneM, laneN] = split(lane, tile.lanesN());
  auto place = [&](Value warp, int64_t warpSize, Value lane) -> Value {
    return builder.createOrFold<arith::AddIOp>(
        loc, builder.createOrFold<arith::MulIOp>(loc, warp, constant(warpSize)),
        builder.createOrFold<arith::MulIOp>(loc, lane, constant(kChunk)));
  };
  Value row = place(warpM, tile.warpM, laneM);
  Value column = place(warpN, tile.warpN, laneN);
  for (int64_t i = 0; i < rowChunks(); ++i)
    rows.push_back(add(builder, loc, row, i * tile.lanesM() * kChunk));
  for (int64_t i = 0; i < columnChunks(); ++i)
    columns.push_back(add(builder, loc, column, i * tile.lanesN() * kChunk));
  auto type = VectorType::get(kChunk, builder.getF32Type());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return SmallVector<Value>(tile.threadM * columnChunks(), zero);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows unrolled at once: all, or a divisor of them that holds whole units or
/// parts of one.
int64_t SimtExpansion::unrolledRows(const WeightTile &weights) const {
  int64_t count = std::min(weights.rows(), kMaxUnrolledRows);
  while (weights.rows() % count != 0 ||
         (count % pattern.bk != 0 && pattern.bk % count != 0))
    --count;
  return count;
}

/// Chunks of equal key lie in the same unit, for every lane.
int64_t SimtExpansion::groupKey(int64_t chunk) const {
  int64_t apart = tile.lanesN() * kChunk;
  bool aligned =
      (tile.warpN % pattern.bn == 0 || pattern.bn % tile.warpN == 0) &&
      (pattern.bn % apart == 0 || apart % pattern.bn == 0);
  return aligned ? chunk * apart / pattern.bn : chunk;
}

/// The positions [unit][column], one column for each chunk, or for each column
/// of each chunk.
SmallVector<SmallVector<Value>>
SimtExpansion::loadPositions(OpBuilder &builder, WeightTile &weights,
                             Value firstUnit, int64_t units) {
  SmallVector<SmallVector<Value>> positions(units);
  llvm::SmallDenseMap<int64_t, SmallVector<Value>> loaded;
  auto append = [&](ArrayRef<Value> column) {
    for (auto [unit, position] : llvm::enumerate(column))
      positions[unit].push_back(position);
  };
  for (auto [chunk, column] : llvm::enumerate(columns)) {
    if (hasUnitPerChunk()) {
      SmallVector<Value> &group = loaded[groupKey(chunk)];
      if (group.empty())
        group = weights.loadPositions(builder, firstUnit, units, column);
      append(group);
      continue;
    }
    for (int64_t i = 0; i < kChunk; ++i)
      append(weights.loadPositions(builder, firstUnit, units,
                                   add(builder, column.getLoc(), column, i)));
  }
  return positions;
}

/// The thread's chunks of the row of A that a kept unit names.
SmallVector<Value> SimtExpansion::loadRowOfA(OpBuilder &builder, SpMMOp op,
                                             Value unit, Value position,
                                             Value rowInUnit) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value window =
      builder.createOrFold<arith::DivUIOp>(loc, unit, constant(pattern.n));
  Value first = builder.createOrFold<arith::MulIOp>(
      loc, window, constant(pattern.windowRows()));
  Value offset = arith::IndexCastUIOp::create(builder, loc,
                                              builder.getIndexType(), position);
  if (pattern.bk != 1)
    offset = arith::MulIOp::create(builder, loc, offset, constant(pattern.bk));
  Value k = builder.createOrFold<arith::AddIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, first, rowInUnit), offset);
  auto type = VectorType::get(kChunk, builder.getF32Type());
  SmallVector<Value> chunks;
  for (Value row : rows)
    chunks.push_back(vector::LoadOp::create(
        builder, loc, type, op.getA(), ValueRange{k, row},
        /*nontemporal=*/false, llvm::MaybeAlign(16)));
  return chunks;
}

/// `count` kept rows from `firstRow` on.
SmallVector<Value> SimtExpansion::expandRows(OpBuilder &builder, SpMMOp op,
                                             WeightTile &weights,
                                             Value firstRow, int64_t count,
                                             ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  auto bk = arith::ConstantIndexOp::create(builder, loc, pattern.bk);
  Value firstUnit = builder.createOrFold<arith::DivUIOp>(loc, firstRow, bk);
  Value firstInUnit = builder.createOrFold<arith::RemUIOp>(loc, firstRow, bk);
  SmallVector<SmallVector<Value>> positions = loadPositions(
      builder, weights, firstUnit, llvm::divideCeil(count, pattern.bk));
  auto type = VectorType::get(kChunk, builder.getF32Type());
  SmallVector<Value> result(sums);
  int64_t perChunk = hasUnitPerChunk() ? 1 : kChunk;
  for (int64_t i = 0; i < count; ++i) {
    Value unit = add(builder, loc, firstUnit, i / pattern.bk);
    Value inUnit = add(builder, loc, firstInUnit, i % pattern.bk);
    Value row = add(builder, loc, firstRow, i);
    // Rows of A already read for this row of weights, by position.
    llvm::SmallDenseMap<Value, SmallVector<Value>> rowsOfA;
    for (auto [chunk, column] : llvm::enumerate(columns)) {
      SmallVector<SmallVector<Value>> a;
      for (int64_t j = 0; j < perChunk; ++j) {
        Value position = positions[i / pattern.bk][chunk * perChunk + j];
        SmallVector<Value> &rowOfA = rowsOfA[position];
        if (rowOfA.empty())
          rowOfA = loadRowOfA(builder, op, unit, position, inUnit);
        a.push_back(rowOfA);
      }
      Value b = weights.loadValues(builder, row, column);
      for (int64_t m = 0; m < tile.threadM; ++m) {
        SmallVector<Value> scalars;
        for (int64_t j = 0; j < perChunk; ++j)
          scalars.push_back(vector::ExtractOp::create(
              builder, loc, a[j][m / kChunk], m % kChunk));
        Value x =
            perChunk == 1
                ? vector::BroadcastOp::create(builder, loc, type, scalars[0])
                      .getResult()
                : vector::FromElementsOp::create(builder, loc, type, scalars)
                      .getResult();
        Value &sum = result[m * columnChunks() + chunk];
        sum = vector::FMAOp::create(builder, loc, x, b, sum);
      }
    }
  }
  return result;
}

SmallVector<Value> SimtExpansion::expand(OpBuilder &builder, SpMMOp op,
                                         ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  WeightTile weights(op);
  int64_t count = unrolledRows(weights);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (count == weights.rows())
    return expandRows(builder, op, weights, constant(0), count, sums);
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), constant(weights.rows()), constant(count),
      sums, [&](OpBuilder &builder, Location loc, Value row, ValueRange sums) {
        SmallVector<Value> result = expandRows(builder, op, weights, row, count,
                                               SmallVector<Value>(sums));
        scf::YieldOp::create(builder, loc, result);
      });
  return SmallVector<Value>(loop.getResults());
}

void SimtExpansion::end(OpBuilder &builder, SpMMOp op, ArrayRef<Value> sums,
                        Value initial) {
  SmallVector<TileChunk> chunks;
  for (auto [i, row] : llvm::enumerate(rows))
    for (auto [j, column] : llvm::enumerate(columns)) {
      TileChunk chunk{row, column, {}};
      for (int64_t m = 0; m < kChunk; ++m)
        chunk.lines.push_back(sums[(i * kChunk + m) * columnChunks() + j]);
      chunks.push_back(std::move(chunk));
    }
  TileStores(builder, op, initial).store(chunks, tile);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createSimtExpansion(SpMMOp op, const GpuTile &tile) {
  auto product = cast<SparseProductOpInterface>(*op);
  if (!product.getAType().getElementType().isF32() ||
      !product.getCType().getElementType().isF32())
    return op.emitOpError() << "expected f32 operands for strategy simt, but "
                               "got "
                            << product.getAType().getElementType() << " and "
                            << product.getCType().getElementType();
  if (tile.threadM % kChunk != 0 || tile.threadN % kChunk != 0)
    return op.emitOpError() << "expected a thread tile of multiples of "
                            << kChunk << " for strategy simt, but got "
                            << tile.threadM << " x " << tile.threadN;
  if (!op.getTransposeA() || !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
                                 cast<MemRefType>(op.getA().getType())))
    return op.emitOpError() << "expected operands in workgroup memory, with A "
                               "k-major, as nm-stage-shared-memory makes them";
  if (failed(WeightTile::verify(op)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<SimtExpansion>(op, tile));
}
