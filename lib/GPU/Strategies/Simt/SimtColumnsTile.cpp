//===- SimtColumnsTile.cpp - What warps of simt_columns share -------------===//

#include "GPU/Strategies/Simt/SimtColumnsTile.h"

#include "GPU/Sums/TileStores.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Transforms/EarlyStarts.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

SmallVector<Value> SimtColumnsTile::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  auto number = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  number->setAttr(kShortKernel, builder.getUnitAttr());
  thread = number;
  lane = emitter.rem(thread, kWarpSize);
  warp = emitter.div(thread, kWarpSize);
  row = emitter.mul(emitter.rem(warp, tile.warpsM()), tile.warpM);
  Value rest = emitter.div(warp, tile.warpsM());
  column = emitter.mul(emitter.rem(rest, tile.warpsN()), tile.warpN);
  slice = emitter.div(rest, tile.warpsN());
  return SmallVector<Value>(tile.threadM * tile.threadN,
                            emitter.zero(builder.getF32Type()));
}

static Value asVector(ThreadEmitter &emitter, ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(int64_t(elements.size()), elements[0].getType()),
      elements);
}

/// Of an m-major C, lanes store their sums side by side.
void SimtColumnsTile::storeOwn(ThreadEmitter &emitter, SpMMOp op,
                               ArrayRef<Value> sums, Value initial) {
  int64_t perLine = rows->areNeighbours() ? tile.threadM : 1;
  TileStores stores(emitter.builder, op, op.getC(), initial, epilogue, perLine);
  SmallVector<Value> complete = stores.completeSums(sums);
  SmallVector<TileLine> lines;
  for (int64_t i = 0; i < int64_t(complete.size()); i += perLine)
    lines.push_back({emitter.add(column, i / tile.threadM),
                     rows->getRow(emitter, i % tile.threadM),
                     asVector(emitter, ArrayRef(complete).slice(i, perLine))});
  stores.store(lines, tile);
}

/// Sums of several parts are added up, and those of a row-major C transposed,
/// in shared memory.
void SimtColumnsTile::storeShared(ThreadEmitter &emitter, SpMMOp op,
                                  ArrayRef<Value> sums, Value initial) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Columns an odd number of words apart are in banks of their own.
  int64_t pitch = tile.m + 1, part = tile.n * pitch;
  Value shared = allocShared(builder, emitter.loc, {tile.sliceK * part},
                             builder.getF32Type());
  Value own = emitter.add(emitter.mul(slice, part), emitter.mul(column, pitch));
  for (auto [number, sum] : llvm::enumerate(sums)) {
    auto i = int64_t(number);
    memref::StoreOp::create(
        builder, loc, sum, shared,
        emitter.add(emitter.add(own, rows->getRow(emitter, i % tile.threadM)),
                    i / tile.threadM * pitch));
  }
  gpu::BarrierOp::create(builder, loc);
  bool alongM = op.getTransposeC();
  scf::ForOp::create(
      builder, loc, thread, emitter.index(tile.n * tile.m),
      emitter.index(tile.threads), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value element, ValueRange) {
        ThreadEmitter body{inner, loc};
        auto [first, along] = body.split(element, alongM ? tile.m : tile.n);
        Value at = body.add(body.mul(alongM ? first : along, pitch),
                            alongM ? along : first);
        Value total;
        for (int64_t i = 0; i < tile.sliceK; ++i) {
          Value sum = memref::LoadOp::create(inner, loc, shared,
                                             body.add(at, i * part));
          total = total ? arith::AddFOp::create(inner, loc, total, sum) : sum;
        }
        TileStores stores(inner, op, op.getC(), initial, epilogue,
                          /*perLine=*/1);
        stores.storeLine({first, along, asVector(body, total)});
        scf::YieldOp::create(inner, loc);
      });
}

void SimtColumnsTile::end(OpBuilder &builder, SparseProductOpInterface op,
                          ArrayRef<Value> sums, Value initial) {
  ThreadEmitter emitter{builder, op.getLoc()};
  auto spmm = cast<SpMMOp>(*op);
  if (tile.sliceK == 1 && spmm.getTransposeC())
    storeOwn(emitter, spmm, sums, initial);
  else
    storeShared(emitter, spmm, sums, initial);
}
