//===- SimtTile.cpp - A thread's tile in strategy simt --------------------===//

#include "GPU/Strategies/Simt/SimtTile.h"

#include "GPU/Expand/WeightTile.h"
#include "GPU/Sums/PartSums.h"
#include "GPU/Sums/TileStores.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// The quotient and the remainder of an index.
static std::pair<Value, Value> split(OpBuilder &builder, Location loc,
                                     Value value, int64_t by) {
  Value divisor = arith::ConstantIndexOp::create(builder, loc, by);
  return {builder.createOrFold<arith::DivUIOp>(loc, value, divisor),
          builder.createOrFold<arith::RemUIOp>(loc, value, divisor)};
}

SimtTileExpansion::SimtTileExpansion(SpMMOp op, const GpuTile &tile)
    : tile(tile), pattern(cast<SparseProductOpInterface>(*op).getPatternInA()) {
  if (!getFields(op.getScheduleAttr()).promote)
    return;
  std::optional<int64_t> tiles;
  if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
    if (std::optional<APInt> count = loop.getStaticTripCount())
      tiles = count->getSExtValue();
  promoted.emplace(countSums(), tile.threads,
                   WeightTile(op).rows() / tile.sliceK, tiles);
}

SmallVector<Value> SimtTileExpansion::begin(OpBuilder &builder, Location loc) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  slice = constant(0);
  if (tile.sliceK > 1)
    std::tie(slice, thread) =
        split(builder, loc, thread, tile.threads / tile.sliceK);
  auto [warp, lane] = split(builder, loc, thread, kWarpSize);
  auto [warpN, warpM] = split(builder, loc, warp, tile.warpsM());
  // Lanes run along m first: the eight of a quarter-warp then read one word of
  // the weights, which shared memory delivers in half the time of eight words,
  // and eight neighbouring words of A.
  auto [laneN, laneM] = split(builder, loc, lane, tile.lanesM);
  auto append = [&](SmallVector<Value> &firsts, Value warp, int64_t warpSize,
                    Value lane, int64_t lanes, int64_t chunks, bool adjacent) {
    int64_t lanesApart = adjacent ? chunks * kChunk : kChunk;
    int64_t chunksApart = adjacent ? kChunk : lanes * kChunk;
    Value first = builder.createOrFold<arith::AddIOp>(
        loc, builder.createOrFold<arith::MulIOp>(loc, warp, constant(warpSize)),
        builder.createOrFold<arith::MulIOp>(loc, lane, constant(lanesApart)));
    for (int64_t i = 0; i < chunks; ++i)
      firsts.push_back(builder.createOrFold<arith::AddIOp>(
          loc, first, constant(i * chunksApart)));
  };
  append(rows, warpM, tile.warpM, laneM, tile.lanesM, tile.threadM / kChunk,
         /*adjacent=*/false);
  append(columns, warpN, tile.warpN, laneN, tile.lanesN(),
         tile.threadN / kChunk, hasAdjacentColumns());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(builder.getF32Type()));
  SmallVector<Value> carried(countSums() + countDeferred(), zero);
  if (promoted)
    carried.push_back(promoted->begin(builder, loc));
  return carried;
}

/// The first of the `count` kept rows of a tile that the thread's slice
/// multiplies.
Value SimtTileExpansion::getFirstRow(OpBuilder &builder, Location loc,
                                     int64_t count) {
  return builder.createOrFold<arith::MulIOp>(
      loc, slice, arith::ConstantIndexOp::create(builder, loc, count));
}

SmallVector<Value> SimtTileExpansion::expand(OpBuilder &builder,
                                             SparseProductOpInterface product,
                                             ArrayRef<Value> carried) {
  auto op = cast<SpMMOp>(*product);
  if (!promoted)
    return addTile(builder, op, carried);
  SmallVector<Value> result = addTile(builder, op, carried.drop_back());
  result.push_back(promoted->endTile(
      builder, op.getLoc(), MutableArrayRef(result).take_front(countSums()),
      carried.back()));
  return result;
}

/// Adds the products of a tile to the sums, with what else is carried.
SmallVector<Value> SimtTileExpansion::addTile(OpBuilder &builder, SpMMOp op,
                                              ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  int64_t rowCount = WeightTile(op).rows() / tile.sliceK,
          count = unrolledRows(rowCount);
  copyAddresses.clear();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value firstRow = getFirstRow(builder, loc, rowCount);
  if (count == rowCount)
    return expandRows(builder, op, firstRow, count, sums);
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), constant(rowCount), constant(count), sums,
      [&](OpBuilder &builder, Location loc, Value row, ValueRange sums) {
        Value first = builder.createOrFold<arith::AddIOp>(loc, firstRow, row);
        scf::YieldOp::create(
            builder, loc,
            expandRows(builder, op, first, count, SmallVector<Value>(sums)));
      });
  // Copies are issued once, not in each round.
  copyAddresses.clear();
  return SmallVector<Value>(loop.getResults());
}

/// The sums of the 4 x 4 chunk at `row` and `column` of a thread's tile, as
/// lines along C's last dimension.
SmallVector<Value> SimtTileExpansion::getLines(OpBuilder &builder, SpMMOp op,
                                               ArrayRef<Value> sums,
                                               int64_t row, int64_t column) {
  auto type = VectorType::get(kChunk, builder.getF32Type());
  SmallVector<Value> lines;
  for (int64_t i = 0; i < kChunk; ++i) {
    SmallVector<Value> elements;
    for (int64_t j = 0; j < kChunk; ++j) {
      int64_t m = op.getTransposeC() ? j : i, n = op.getTransposeC() ? i : j;
      elements.push_back(
          sums[(row * kChunk + m) * tile.threadN + column * kChunk + n]);
    }
    lines.push_back(
        vector::FromElementsOp::create(builder, op.getLoc(), type, elements));
  }
  return lines;
}

/// Where the line with `number` of a thread's tile stands, in C's dimensions.
std::pair<Value, Value> SimtTileExpansion::placeLine(OpBuilder &builder,
                                                     SpMMOp op, Value number) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto advance = [&](Value first, Value chunk, int64_t apart) {
    return builder.createOrFold<arith::AddIOp>(
        loc, first,
        builder.createOrFold<arith::MulIOp>(loc, chunk, constant(apart)));
  };
  auto [chunk, line] = split(builder, loc, number, kChunk);
  auto [rowChunk, columnChunk] =
      split(builder, loc, chunk, int64_t(columns.size()));
  Value row = advance(rows[0], rowChunk, tile.lanesM * kChunk),
        column =
            advance(columns[0], columnChunk,
                    hasAdjacentColumns() ? kChunk : tile.lanesN() * kChunk);
  if (op.getTransposeC())
    return {builder.createOrFold<arith::AddIOp>(loc, column, line), row};
  return {builder.createOrFold<arith::AddIOp>(loc, row, line), column};
}

/// Stores what all slices and blocks have of the tile together.
void SimtTileExpansion::storePartSums(OpBuilder &builder, SpMMOp op,
                                      ArrayRef<Value> lines,
                                      TileStores &stores) {
  PartSums parts(builder, op.getLoc(), tile, slice, thread);
  parts.share(lines);
  parts.forEachSum([&](Value number, Value sum) {
    auto [first, along] = placeLine(builder, op, number);
    stores.storeLine({first, along, sum});
  });
  parts.leave();
}

void SimtTileExpansion::end(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> carried, Value initial) {
  auto op = cast<SpMMOp>(*product);
  SmallVector<Value> sums =
      addDeferred(builder, op.getLoc(), carried.drop_back(promoted ? 1 : 0));
  if (promoted)
    sums = promoted->finish(builder, op.getLoc(), sums);
  TileStores stores(builder, op, sharedC ? sharedC : Value(op.getC()), initial,
                    epilogue);
  bool isPart = PartSums::areNeeded(tile);
  SmallVector<Value> complete = isPart ? sums : stores.completeSums(sums);
  SmallVector<Value> lines;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      llvm::append_range(
          lines, getLines(builder, op, complete, int64_t(i), int64_t(j)));
  if (isPart)
    return storePartSums(builder, op, lines, stores);
  SmallVector<TileLine> placed;
  for (auto [number, line] : llvm::enumerate(lines)) {
    auto [first, along] = placeLine(
        builder, op,
        arith::ConstantIndexOp::create(builder, op.getLoc(), int64_t(number)));
    placed.push_back({first, along, line});
  }
  stores.store(placed, tile);
}
