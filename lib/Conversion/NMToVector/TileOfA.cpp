//===- TileOfA.cpp - A part of A with vectors along m ---------------------===//

#include "TileOfA.h"

#include "ImageTile.h"
#include "PairsOfBF16.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

/// Stores vector `vector` of row `row`, and of pairs the next one beside it.
static void storeVector(VectorEmitter &e, const TileOfA &tile, Value row,
                        int64_t vector, ArrayRef<Value> values) {
  if (!tile.isOfPairs)
    return e.store(values.front(), tile.scratch,
                   {row, e.index(vector * e.lanes)});
  e.store(packPair(e, values[0], values[1]), tile.scratch,
          {row, e.index(vector / 2 * e.lanes)});
}

/// Copies rows `row` to `row` + lanes of k of a row-major A: for each vector a
/// square block, transposed in registers.
static void layOutRowMajor(VectorEmitter &e, const ProductTile &product,
                           const TileOfA &tile, Value row) {
  Value k = e.add(tile.firstK, row);
  Value width = e.sub(e.index(product.k), k);
  Value lastRow = e.sub(product.m, e.index(1));
  auto layOut = [&](int64_t vector) {
    SmallVector<Value> block;
    for (int64_t lane = 0; lane < e.lanes; ++lane) {
      Value m = e.min(e.add(tile.firstRow, vector * e.lanes + lane), lastRow);
      block.push_back(e.maskedLoad(product.a, product.indicesOfA(m, k), width));
    }
    return e.transpose(block);
  };
  int64_t together = tile.isOfPairs ? 2 : 1;
  for (int64_t vector = 0; vector < tile.vectors; vector += together) {
    SmallVector<SmallVector<Value>> blocks;
    for (int64_t i = 0; i < together; ++i)
      blocks.push_back(layOut(vector + i));
    for (int64_t lane = 0; lane < e.lanes; ++lane) {
      SmallVector<Value> values;
      for (ArrayRef<Value> block : blocks)
        values.push_back(block[size_t(lane)]);
      storeVector(e, tile, e.add(row, lane), vector, values);
    }
  }
}

/// Copies the rows of k of an m-major A, each of which is contiguous along m,
/// and clears those past the end of k.
static void layOutColumnMajor(VectorEmitter &e, const ProductTile &product,
                              const TileOfA &tile) {
  Value end = e.min(tile.kRows, e.sub(e.index(product.k), tile.firstK));
  int64_t together = tile.isOfPairs ? 2 : 1;
  auto forEachVector = [&](Value row, llvm::function_ref<Value(Value)> make) {
    for (int64_t vector = 0; vector < tile.vectors; vector += together) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < together; ++i)
        values.push_back(make(e.index((vector + i) * e.lanes)));
      storeVector(e, tile, row, vector, values);
    }
  };
  e.loop(e.index(0), end, 1, [&](Value row) {
    Value k = e.add(tile.firstK, row);
    forEachVector(row, [&](Value offset) {
      Value m = e.add(tile.firstRow, offset);
      SmallVector<Value> indices = product.indicesOfA(m, k);
      return tile.isWhole
                 ? e.load(product.a, indices)
                 : e.maskedLoad(product.a, indices, e.sub(product.m, m));
    });
  });
  e.loop(end, tile.kRows, 1, [&](Value row) {
    forEachVector(row, [&](Value) { return e.zeroVector(); });
  });
}

void mlir::nm::layOutA(VectorEmitter &e, const ProductTile &product,
                       const TileOfA &tile) {
  if (product.image)
    return layOutImage(e, product, tile);
  if (product.transposeA)
    return layOutColumnMajor(e, product, tile);
  e.loop(e.index(0), tile.kRows, e.lanes,
         [&](Value row) { layOutRowMajor(e, product, tile, row); });
}

void mlir::nm::forEachRowRange(
    VectorEmitter &e, const ProductTile &product, const RowTiles &tiles,
    llvm::function_ref<void(Value, Value, int64_t, bool)> expandRange) {
  int64_t together = tiles.together, vectors = tiles.maxVectors;
  bool isKnown = !ShapedType::isDynamic(product.staticM);
  auto fitRows = [&](int64_t rows) {
    return llvm::divideCeil(rows, together * e.lanes) * together;
  };
  if (isKnown)
    vectors = std::clamp<int64_t>(fitRows(product.staticM), together, vectors);
  int64_t rows = vectors * e.lanes;
  Value whole = e.roundDown(product.m, rows);
  if (getConstantIntValue(whole).value_or(1) > 0)
    expandRange(e.index(0), whole, vectors, /*isWhole=*/true);
  if (isKnown) {
    if (int64_t rest = product.staticM % rows)
      expandRange(whole, product.m, fitRows(rest),
                  /*isWhole=*/rest % (together * e.lanes) == 0);
    return;
  }
  auto halve = [&](int64_t count) { return count / 2 / together * together; };
  for (int64_t count = halve(vectors); count >= tiles.leastWhole;
       count = halve(count)) {
    Value end =
        e.add(whole, e.roundDown(e.sub(product.m, whole), count * e.lanes));
    expandRange(whole, end, count, /*isWhole=*/true);
    whole = end;
  }
  expandRange(whole, product.m, together, /*isWhole=*/false);
}
