//===- GemvSums.cpp - The last step of strategy gemv ----------------------===//

#include "GPU/Strategies/Gemv/GemvSums.h"

#include "GPU/Expand/ElementWords.h"
#include "GPU/Sums/CompleteSums.h"
#include "GPU/Sums/TileStores.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

GemvOffset::GemvOffset(ThreadEmitter &emitter, Value thread,
                       const GpuTile &tile) {
  Value warp = emitter.div(thread, kWarpSize);
  Value lane = emitter.rem(thread, kWarpSize);
  column = emitter.mul(lane, tile.threadN);
  slice = warp;
  if (tile.warpsN() == 1)
    return;
  slice = emitter.div(warp, tile.warpsN());
  column = emitter.add(
      emitter.mul(emitter.rem(warp, tile.warpsN()), tile.warpN), column);
}

/// Stores what the epilogue makes of `sums`, at `at` in the tile of C.
void GemvSums::storeWithEpilogue(ThreadEmitter &body, ArrayRef<Value> at,
                                 ArrayRef<Value> sums) {
  Value c = epilogue->getC();
  SmallVector<bool> mayPassEnd(at.size(), false);
  Value result =
      epilogue->apply(body.builder, sums.front(), sums.back(), at, mayPassEnd);
  SmallVector<Value> indices(
      cast<MemRefType>(c.getType()).getRank() - at.size(), body.index(0));
  llvm::append_range(indices, at);
  memref::StoreOp::create(body.builder, body.loc, result, c, indices);
}

/// Adds the sum to C[row, column], where C has that, or stores what the
/// epilogue makes of it, or of two.
void GemvSums::store(ThreadEmitter &body, Value row, Value column,
                     ArrayRef<Value> sums) {
  OpBuilder &builder = body.builder;
  auto type = cast<MemRefType>(op.getC().getType());
  SmallVector<Value> at(type.getRank());
  Value inside;
  auto place = [&](int64_t dim, Value position, int64_t positions) {
    at[dim] = position;
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) >= positions)
      return;
    Value c = epilogue ? epilogue->getC() : op.getC();
    int64_t leading = cast<MemRefType>(c.getType()).getRank() - type.getRank();
    Value size =
        builder.createOrFold<memref::DimOp>(body.loc, c, leading + dim);
    inside = body.both(inside, body.less(position, size));
  };
  if (std::optional<int64_t> dim = op.getMDimOfC())
    place(*dim, row, tile.m);
  place(op.getNDimOfC(), column, tile.n);
  body.onlyIf(inside, [&] {
    if (epilogue)
      return storeWithEpilogue(body, at, sums);
    Value sum = sums.front();
    Value before =
        initial ? initial
                : memref::LoadOp::create(builder, body.loc, op.getC(), at)
                      .getResult();
    before = toAccumulator(body, before);
    Value after =
        isa<FloatType>(sum.getType())
            ? arith::AddFOp::create(builder, body.loc, before, sum).getResult()
            : arith::AddIOp::create(builder, body.loc, before, sum).getResult();
    memref::StoreOp::create(builder, body.loc,
                            fromAccumulator(body, after, type.getElementType()),
                            op.getC(), at);
  });
}

/// The sum at `place` in `buffer`, of what each slice has there.
Value GemvSums::addSlices(ThreadEmitter &body, Value buffer, Value place,
                          int64_t perSlice) const {
  Value total;
  for (int64_t i = 0; i < tile.sliceK; ++i) {
    Value sum = memref::LoadOp::create(body.builder, body.loc, buffer,
                                       body.add(place, i * perSlice));
    total = total ? addSums(body.builder, body.loc, total, sum) : sum;
  }
  return total;
}

/// The rows from `firstRow` on, one for each of `sums`.
void GemvSums::addRows(ArrayRef<Value> sums, int64_t firstRow, Value buffer) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t count = sums.size(), perSlice = count * tile.n;
  GemvOffset place(emitter, thread, tile);
  // Idle lanes are those of a single warp; see GpuTile.
  Value hasColumns = tile.lanesN() < kWarpSize
                         ? emitter.less(place.column, emitter.index(tile.n))
                         : Value();
  emitter.onlyIf(hasColumns, [&] {
    Value first = emitter.add(emitter.mul(place.slice, perSlice), place.column);
    for (auto [row, sum] : llvm::enumerate(sums))
      vector::StoreOp::create(
          builder, loc, sum, buffer, emitter.add(first, row * tile.n),
          /*nontemporal=*/false,
          llvm::MaybeAlign(llvm::MinAlign(tile.threadN * 4, tile.n * 4)));
  });
  gpu::BarrierOp::create(builder, loc);
  bool combinesHalves = epilogue && epilogue->combinesHalves();
  int64_t stored = combinesHalves ? tile.n / 2 : tile.n;
  scf::ForOp::create(
      builder, loc, thread, emitter.index(count * stored),
      emitter.index(tile.threads), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value element, ValueRange) {
        ThreadEmitter body{inner, loc};
        Value row = body.div(element, stored),
              column = body.rem(element, stored), place = element;
        if (combinesHalves)
          place = body.add(body.mul(row, tile.n), column);
        SmallVector<Value> sums = {addSlices(body, buffer, place, perSlice)};
        if (combinesHalves)
          sums.push_back(
              addSlices(body, buffer, body.add(place, stored), perSlice));
        store(body, body.add(row, firstRow), column, sums);
        scf::YieldOp::create(inner, loc);
      });
}

Value mlir::nm::multiplyAdd(ThreadEmitter &emitter, Value a, Value b,
                            Value sum) {
  OpBuilder &builder = emitter.builder;
  if (isa<FloatType>(getElementTypeOrSelf(sum)))
    return vector::FMAOp::create(builder, emitter.loc, a, b, sum);
  Value product = arith::MulIOp::create(builder, emitter.loc, a, b);
  return arith::AddIOp::create(builder, emitter.loc, product, sum);
}

void GemvSums::add(ArrayRef<Value> sums) {
  OpBuilder &builder = emitter.builder;
  int64_t rows = sums.size(),
          atOnce = ::nm::gemvRowsOfSums(rows, tile.sliceK * tile.n);
  Value buffer =
      allocShared(builder, emitter.loc, {tile.sliceK * atOnce * tile.n},
                  cast<VectorType>(sums.front().getType()).getElementType());
  SmallVector<Value> complete(sums);
  // Where a branch stores them, or others before them.
  if (tile.lanesN() < kWarpSize || atOnce < rows)
    complete = completeSums(builder, emitter.loc, sums);
  for (int64_t row = 0; row < rows; row += atOnce) {
    // The rows before these are still being read.
    if (row != 0)
      gpu::BarrierOp::create(builder, emitter.loc);
    addRows(ArrayRef(complete).slice(row, std::min(atOnce, rows - row)), row,
            buffer);
  }
}
