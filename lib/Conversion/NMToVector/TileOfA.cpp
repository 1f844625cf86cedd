//===- TileOfA.cpp - A part of A with vectors along m ---------------------===//

#include "TileOfA.h"

#include "ImageTile.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Copies rows `row` to `row` + lanes of k of a row-major A: for each vector a
/// square block, transposed in registers.
static void layOutRowMajor(VectorEmitter &e, const ProductTile &product,
                           const TileOfA &tile, Value row) {
  Value k = e.add(tile.firstK, row);
  Value width = e.sub(e.index(product.k), k);
  Value lastRow = e.sub(product.m, e.index(1));
  for (int64_t vector = 0; vector < tile.vectors; ++vector) {
    SmallVector<Value> block;
    for (int64_t lane = 0; lane < e.lanes; ++lane) {
      Value m = e.min(e.add(tile.firstRow, vector * e.lanes + lane), lastRow);
      block.push_back(e.maskedLoad(product.a, product.indicesOfA(m, k), width));
    }
    for (auto [lane, column] : llvm::enumerate(e.transpose(block)))
      e.store(column, tile.scratch,
              {e.add(row, lane), e.index(vector * e.lanes)});
  }
}

/// Copies rows `row` to `row` + lanes of k of an m-major A, each of which is
/// contiguous along m.
static void layOutColumnMajor(VectorEmitter &e, const ProductTile &product,
                              const TileOfA &tile, Value row) {
  Value k = e.add(tile.firstK, row);
  e.loop(e.index(0), e.index(e.lanes), 1, [&](Value offset) {
    Value kRow = e.add(k, offset);
    Value inK = e.less(kRow, e.index(product.k));
    for (int64_t vector = 0; vector < tile.vectors; ++vector) {
      Value m = e.add(tile.firstRow, vector * e.lanes);
      Value width = e.select(inK, e.sub(product.m, m), e.index(0));
      Value column =
          e.maskedLoad(product.a, product.indicesOfA(m, kRow), width);
      e.store(column, tile.scratch,
              {e.add(row, offset), e.index(vector * e.lanes)});
    }
  });
}

void mlir::nm::layOutA(VectorEmitter &e, const ProductTile &product,
                       const TileOfA &tile) {
  if (product.image)
    return layOutImage(e, product, tile);
  e.loop(e.index(0), tile.kRows, e.lanes, [&](Value row) {
    if (product.transposeA)
      layOutColumnMajor(e, product, tile, row);
    else
      layOutRowMajor(e, product, tile, row);
  });
}
