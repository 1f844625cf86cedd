//===- SumsTile.cpp - Sums that wait in memory for C ----------------------===//

#include "SumsTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

void mlir::nm::forEachTileOfK(
    VectorEmitter &e, int64_t all, int64_t ofTile,
    llvm::function_ref<void(Value, int64_t, Value)> body) {
  int64_t whole = all / ofTile * ofTile;
  e.loop(e.index(0), e.index(whole), ofTile, [&](Value first) {
    Value isFirst = e.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                    first, e.index(0));
    body(first, ofTile, isFirst);
  });
  if (whole < all)
    body(e.index(whole), all - whole,
         arith::ConstantIntOp::create(e.b, whole == 0, 1));
}

void mlir::nm::addToSums(VectorEmitter &e, Value sum, Value memref,
                         ArrayRef<Value> place, Value isFirst) {
  if (getConstantIntValue(isFirst).value_or(0) == 0)
    sum = e.addElements(
        sum, e.select(isFirst, e.zeroVector(), e.load(memref, place)));
  e.store(sum, memref, place);
}

static Value endOf(const ProductTile &tile, const SumsTile &sums) {
  return sums.endRow ? sums.endRow : tile.m;
}

/// Whether `row` is known not to be in front of `end`.
static bool isBehind(Value row, Value end) {
  std::optional<int64_t> first = getConstantIntValue(row),
                         second = getConstantIntValue(end);
  return first && second && *first >= *second;
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
        // Behind the end a store under a mask without lanes is a slow one.
        if (isBehind(row, endOf(tile, sums)))
          break;
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
