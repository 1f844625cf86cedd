//===- WarpExpansion.cpp - Tiles that warps multiply ----------------------===//

#include "WarpExpansion.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

SmallVector<Value> WarpExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  lane.emplace(emitter,
               gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  int64_t warpsM = tile.m / warpM;
  firstRow = emitter.mul(emitter.rem(lane->warp, warpsM), warpM);
  firstColumn = emitter.mul(emitter.div(lane->warp, warpsM), warpN);
  return SmallVector<Value>(countSums(), emitter.zero(builder.getF32Type()));
}

void WarpExpansion::end(OpBuilder &builder, SparseProductOpInterface product,
                        ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  TileStores stores(builder, op, op.getC(), initial, epilogue);
  bool isRowsOfN = areRowsOfN();
  FragmentSums fragments{isRowsOfN, isRowsOfN ? firstColumn : firstRow,
                         isRowsOfN ? firstRow : firstColumn, rowSquares(),
                         columnFragments()};
  stores.store(fragments.getLines(emitter, *lane, op.getTransposeC(),
                                  stores.completeSums(sums)),
               tile);
}
