//===- WarpExpansion.cpp - Tiles that warps multiply ----------------------===//

#include "GPU/Expand/WarpExpansion.h"

#include "GPU/Sums/SharedSums.h"

#include "nm/Schedule/SharedBytes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

SmallVector<Value> WarpExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  lane.emplace(emitter,
               gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  int64_t warpsM = tile.m / warpM, warpsOfSlice = warpsM * (tile.n / warpN);
  slice = emitter.i32(0);
  Value warp = lane->warp;
  if (tile.sliceK > 1) {
    slice = emitter.div(warp, warpsOfSlice);
    warp = emitter.rem(warp, warpsOfSlice);
  }
  firstRow = emitter.mul(emitter.rem(warp, warpsM), warpM);
  firstColumn = emitter.mul(emitter.div(warp, warpsM), warpN);
  return SmallVector<Value>(countSums(), emitter.zero(sum));
}

/// Adds up what the slices of the block, and the blocks of its cluster, have of
/// the tile of C, where threads find sums of others, too.
void WarpExpansion::storeParts(ThreadEmitter &emitter, TileStores &stores,
                               ArrayRef<TileLine> lines, bool isTransposed) {
  SharedSums shared(emitter, isTransposed ? tile.n : tile.m,
                    isTransposed ? tile.m : tile.n, ::nm::kSumPadding, sum,
                    tile.clusterK, tile.sliceK);
  for (const TileLine &line : lines)
    shared.put(line.first, line.along, line.sums, slice);
  shared.meet();
  Value thread =
      gpu::ThreadIdOp::create(emitter.builder, emitter.loc, gpu::Dimension::x);
  shared.storeTo(stores, tile, thread, ::nm::kAccessWords);
}

void WarpExpansion::end(OpBuilder &builder, SparseProductOpInterface product,
                        ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  TileStores stores(builder, op, sharedC ? sharedC : op.getC(), initial,
                    epilogue);
  bool isRowsOfN = areRowsOfN();
  FragmentSums fragments{isRowsOfN, isRowsOfN ? firstColumn : firstRow,
                         isRowsOfN ? firstRow : firstColumn, rowSquares(),
                         columnFragments()};
  bool isTransposed = op.getTransposeC();
  SmallVector<TileLine> lines = fragments.getLines(emitter, *lane, isTransposed,
                                                   stores.completeSums(sums));
  if (tile.clusterK * tile.sliceK > 1 || stores.combinesHalves())
    return storeParts(emitter, stores, lines, isTransposed);
  stores.store(lines, tile);
}
