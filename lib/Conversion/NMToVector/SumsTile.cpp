//===- SumsTile.cpp - Sums that wait in memory for C ----------------------===//

#include "SumsTile.h"

using namespace mlir;
using namespace mlir::nm;

static Value endOf(const ProductTile &tile, const SumsTile &sums) {
  return sums.endRow ? sums.endRow : tile.m;
}

static void writeRowMajor(VectorEmitter &e, const ProductTile &tile,
                          const SumsTile &sums) {
  e.loop(e.index(0), tile.n, e.lanes, [&](Value column) {
    Value width = e.sub(tile.n, column);
    for (int64_t vector = 0; vector < sums.vectors; ++vector) {
      Value place = e.add(sums.offset, vector * e.lanes);
      SmallVector<Value> block;
      for (int64_t lane = 0; lane < e.lanes; ++lane)
        block.push_back(e.load(sums.memref, {e.add(column, lane), place}));
      for (auto [lane, rowSums] : llvm::enumerate(e.transpose(block))) {
        Value row = e.add(sums.firstRow, vector * e.lanes + lane);
        Value used =
            e.select(e.less(row, endOf(tile, sums)), width, e.index(0));
        tile.write(e, rowSums, row, column, /*alongM=*/false, used);
      }
    }
  });
}

static void writeColumnMajor(VectorEmitter &e, const ProductTile &tile,
                             const SumsTile &sums) {
  e.loop(e.index(0), tile.n, 1, [&](Value column) {
    for (int64_t vector = 0; vector < sums.vectors; ++vector) {
      Value row = e.add(sums.firstRow, vector * e.lanes);
      Value place = e.add(sums.offset, vector * e.lanes);
      tile.write(e, e.load(sums.memref, {column, place}), row, column,
                 /*alongM=*/true, e.sub(endOf(tile, sums), row));
    }
  });
}

void mlir::nm::writeSums(VectorEmitter &emitter, const ProductTile &tile,
                         const SumsTile &sums) {
  if (tile.transposeC)
    writeColumnMajor(emitter, tile, sums);
  else
    writeRowMajor(emitter, tile, sums);
}
