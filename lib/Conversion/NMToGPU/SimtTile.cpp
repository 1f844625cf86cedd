//===- SimtTile.cpp - A thread's tile in strategy simt --------------------===//

#include "SimtTile.h"
#include "TileStores.h"
#include "WeightTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

SmallVector<Value> SimtTileExpansion::begin(OpBuilder &builder, Location loc) {
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
  // Lanes run along m first: the eight of a quarter-warp then read one word of
  // the weights, which shared memory delivers in half the time of eight words,
  // and eight neighbouring words of A.
  auto [laneN, laneM] = split(lane, tile.lanesM());
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
  append(rows, warpM, tile.warpM, laneM, tile.lanesM(), tile.threadM / kChunk,
         /*adjacent=*/false);
  append(columns, warpN, tile.warpN, laneN, tile.lanesN(),
         tile.threadN / kChunk, hasAdjacentColumns());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(builder.getF32Type()));
  return SmallVector<Value>(tile.threadM * tile.threadN, zero);
}

SmallVector<Value> SimtTileExpansion::expand(OpBuilder &builder,
                                             SparseProductOpInterface product,
                                             ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  int64_t rowCount = WeightTile(op).rows(), count = unrolledRows(rowCount);
  copyPlaces.clear();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  if (count == rowCount)
    return expandRows(builder, op, constant(0), count, sums);
  auto loop = scf::ForOp::create(
      builder, loc, constant(0), constant(rowCount), constant(count), sums,
      [&](OpBuilder &builder, Location loc, Value row, ValueRange sums) {
        scf::YieldOp::create(
            builder, loc,
            expandRows(builder, op, row, count, SmallVector<Value>(sums)));
      });
  // Copies are issued once, not in each round.
  copyPlaces.clear();
  return SmallVector<Value>(loop.getResults());
}

void SimtTileExpansion::end(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  auto type = VectorType::get(kChunk, builder.getF32Type());
  TileStores stores(builder, op, initial);
  SmallVector<Value> complete = stores.completeSums(sums);
  SmallVector<TileChunk> chunks;
  for (auto [i, row] : llvm::enumerate(rows))
    for (auto [j, column] : llvm::enumerate(columns)) {
      TileChunk chunk{row, column, {}};
      for (int64_t m = 0; m < kChunk; ++m)
        chunk.lines.push_back(vector::FromElementsOp::create(
            builder, op.getLoc(), type,
            ArrayRef(complete).slice(
                (i * kChunk + m) * tile.threadN + j * kChunk, kChunk)));
      chunks.push_back(std::move(chunk));
    }
  stores.store(chunks, tile);
}
