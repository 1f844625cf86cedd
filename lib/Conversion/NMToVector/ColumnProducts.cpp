//===- ColumnProducts.cpp - Products by the weights of a column -----------===//
//
// Weights in the form of #nm.columns, whose zeros follow no pattern.
//
// Many rows: for each subtile of rows, and each tile of k, A's part is laid out
// m-major, one row of k being a few vectors along m, or read in place where A
// is m-major and L1 has its part as it is. A column's weights are multiplied
// with the rows that their indices name, the sums of all rows in registers, and
// added to a scratch tile until all of k is done.
//
// bf16 may be multiplied by pairs of a column's weights (PairsOfBF16.h), the
// last of an odd number with zero.
//
// Few rows: a vector has as many weights of a column, and what they are
// multiplied with is gathered of a row of A.
//
//===----------------------------------------------------------------------===//

#include "ImageTile.h"
#include "PairsOfBF16.h"
#include "ProductTile.h"
#include "SumsTile.h"
#include "TileOfA.h"

#include "nm/Schedule/CpuSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;
using ::nm::ColumnsForm;

/// Sums that are fewer than multiplications in flight.
static constexpr int64_t kFewVectors = 5;

namespace {
class ColumnProducts {
public:
  ColumnProducts(VectorEmitter &emitter, const ProductTile &tile,
                 ColumnsForm form, int64_t rows)
      : e(emitter), tile(tile), form(form), tiles(form.tiles(tile.k)),
        vectorsOfUnit(multipliesPairs(emitter, tile, rows) ? 2 : 1),
        maxVectors(llvm::alignTo(std::max<int64_t>(1, rows / emitter.lanes),
                                 vectorsOfUnit)) {}

  void expandMany();
  void expandFew();

private:
  struct Scratch {
    int64_t vectors;
    /// `a` is null where A is read in place, and `sums` where a column's go to
    /// C at once.
    Value a, sums;
    /// Of an image, rows of pixels of a tile.
    int64_t imageRows = 0;
    /// Whether A has all rows of each tile.
    bool isWhole = false;
  };
  struct Rows {
    Value first, end;
  };
  /// Where a tile of A begins.
  struct Corner {
    Value row, k;
  };
  /// A tile of k, and whether it is known to be the first one.
  struct KTile {
    Value number;
    bool isFirst;
  };

  Value loadFirst(Value column, Value kTile) {
    return loadNumber(column, kTile, 0);
  }
  Value loadEnd(Value column, Value kTile) {
    return loadNumber(column, kTile, ColumnsForm::kNumberBytes);
  }
  Value loadNumber(Value column, Value kTile, int64_t offset);
  Value loadIndex(Value place);
  VectorType indexVector() {
    return VectorType::get({e.lanes}, e.b.getI32Type());
  }
  Value loadIndices(Value place);

  Scratch allocate(int64_t vectors, bool isWhole, int64_t imageRows = 0);
  bool isReadInPlace(int64_t vectors) const;
  Value allocateA(int64_t kRows, int64_t vectors);
  void deallocate(const Scratch &scratch);
  void expandImage();
  void expandRows(Value firstRow, Value endRow, const Scratch &scratch);
  void expandTile(KTile kTile, const Scratch &scratch, const Rows &rows);
  void sumColumn(Value column, KTile kTile, Value first, Value end,
                 const Scratch &scratch, const Rows &rows);
  void storeSums(Value column, KTile kTile, const Scratch &scratch,
                 const Rows &rows, ArrayRef<Value> sums);
  /// Whether a column's sums are whole when a tile of k is done, and C has them
  /// side by side.
  bool sumsAtOnce() const { return tiles == 1 && tile.transposeC; }
  Value loadA(const Scratch &scratch, const Corner &corner, Value row,
              int64_t vector);
  SmallVector<Value> addWeight(Value place, const Corner &corner,
                               const Scratch &scratch, ArrayRef<Value> sums);
  bool isOfPairs() const { return vectorsOfUnit > 1; }
  Value loadPair(Value place);
  SmallVector<Value> addPair(Value place, Value end, const Scratch &scratch,
                             ArrayRef<Value> sums);
  SmallVector<Value> sumInTwoChains(
      Value first, Value end, int64_t step, int64_t vectors,
      llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> add);

  /// A row of A, as accumulators, in a scratch array of all rows.
  struct ScratchRow {
    Value memref, row;
  };
  void copyRow(const ScratchRow &to);
  Value sumFew(Value column, const ScratchRow &row);
  Value addVector(Value place, Value end, Value kTile, const ScratchRow &row,
                  Value sum);

  VectorEmitter &e;
  const ProductTile &tile;
  ColumnsForm form;
  int64_t tiles;
  /// Vectors that are laid out together.
  int64_t vectorsOfUnit;
  int64_t maxVectors;
};
} // namespace

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Value ColumnProducts::loadNumber(Value column, Value kTile, int64_t offset) {
  constexpr int64_t kBytes = ColumnsForm::kNumberBytes;
  auto bytes = VectorType::get({kBytes}, e.b.getI8Type());
  auto word = VectorType::get({1}, e.b.getI32Type());
  Value loaded = vector::LoadOp::create(
      e.b, bytes, tile.lists, ValueRange{column, kTile, e.index(offset)});
  Value number = vector::ExtractOp::create(
      e.b, vector::BitCastOp::create(e.b, word, loaded), ArrayRef<int64_t>{0});
  return arith::IndexCastUIOp::create(e.b, e.b.getIndexType(), number);
}

/// The row in its tile of the weight at `place`.
Value ColumnProducts::loadIndex(Value place) {
  Value zero = e.index(0);
  int64_t count = form.indexBytes();
  auto bytes = VectorType::get({count}, e.b.getI8Type());
  auto word = VectorType::get({1}, e.b.getIntegerType(8 * count));
  Value loaded = vector::LoadOp::create(
      e.b, bytes, tile.indices, ValueRange{zero, zero, e.mul(place, count)});
  Value number = vector::ExtractOp::create(
      e.b, vector::BitCastOp::create(e.b, word, loaded), ArrayRef<int64_t>{0});
  return arith::IndexCastUIOp::create(e.b, e.b.getIndexType(), number);
}

/// The indices of a vector of weights.
Value ColumnProducts::loadIndices(Value place) {
  Value zero = e.index(0);
  int64_t count = form.indexBytes();
  auto bytes = VectorType::get({count * e.lanes}, e.b.getI8Type());
  auto words = VectorType::get({e.lanes}, e.b.getIntegerType(8 * count));
  Value loaded = vector::LoadOp::create(
      e.b, bytes, tile.indices, ValueRange{zero, zero, e.mul(place, count)});
  return arith::ExtUIOp::create(e.b, indexVector(),
                                vector::BitCastOp::create(e.b, words, loaded));
}

//===----------------------------------------------------------------------===//
// Many rows
//===----------------------------------------------------------------------===//

/// Whether tiles of whole vectors of A are read where they are.
bool ColumnProducts::isReadInPlace(int64_t vectors) const {
  auto type = cast<MemRefType>(tile.a.getType());
  if (tile.image || !tile.transposeA || type.getElementType() != e.accumulator)
    return false;
  int64_t stride = type.getStridesAndOffset().first[size_t(type.getRank()) - 2];
  constexpr int64_t kElementBytes = 4;
  return !ShapedType::isDynamic(stride) &&
         ::nm::isInL1(std::min(form.tileRows, tile.k),
                      vectors * e.target.bits / 8, stride * kElementBytes);
}

/// Memory for a tile of A and, of pairs, a row of zeros behind it.
Value ColumnProducts::allocateA(int64_t kRows, int64_t vectors) {
  int64_t width = vectors / vectorsOfUnit * e.lanes;
  Value a =
      e.allocate({e.index(isOfPairs() ? kRows + 1 : kRows), e.index(width)});
  for (int64_t lane = 0; isOfPairs() && lane < width; lane += e.lanes)
    e.store(e.zeroVector(), a, {e.index(kRows), e.index(lane)});
  return a;
}

ColumnProducts::Scratch ColumnProducts::allocate(int64_t vectors, bool isWhole,
                                                 int64_t imageRows) {
  // C is taken out by square blocks, which may pass the end.
  Value columns = e.mul(e.ceilDiv(tile.n, e.lanes), e.lanes);
  int64_t kRows = llvm::alignTo(std::min(form.tileRows, tile.k), e.lanes);
  Value width = e.index(vectors * e.lanes);
  bool inPlace = isWhole && isReadInPlace(vectors);
  return {vectors, inPlace ? Value() : allocateA(kRows, vectors),
          sumsAtOnce() ? Value() : e.allocate({columns, width}), imageRows,
          isWhole};
}

void ColumnProducts::deallocate(const Scratch &scratch) {
  if (scratch.a)
    e.deallocate(scratch.a);
  if (scratch.sums)
    e.deallocate(scratch.sums);
}

void ColumnProducts::expandImage() {
  forEachImageRange(
      e, tile, maxVectors,
      [&](Value begin, Value end, int64_t step, ::nm::ImageRows rows) {
        Scratch scratch = allocate(rows.vectors, /*isWhole=*/false, rows.rows);
        e.loop(begin, end, step, [&](Value row) {
          expandRows(row, e.min(e.add(row, step), end), scratch);
        });
        deallocate(scratch);
      });
}

void ColumnProducts::expandMany() {
  if (tile.image)
    return expandImage();
  // A may be read in place where all rows are there, by single vectors, too.
  RowTiles tiles = {maxVectors, vectorsOfUnit, /*leastWhole=*/vectorsOfUnit};
  forEachRowRange(e, tile, tiles,
                  [&](Value begin, Value end, int64_t vectors, bool isWhole) {
                    Scratch scratch = allocate(vectors, isWhole);
                    e.loop(begin, end, vectors * e.lanes, [&](Value row) {
                      expandRows(row, tile.m, scratch);
                    });
                    deallocate(scratch);
                  });
}

void ColumnProducts::expandRows(Value firstRow, Value endRow,
                                const Scratch &scratch) {
  Rows rows = {firstRow, endRow};
  expandTile({e.index(0), /*isFirst=*/true}, scratch, rows);
  if (tiles > 1)
    e.loop(e.index(1), e.index(tiles), 1, [&](Value kTile) {
      expandTile({kTile, /*isFirst=*/false}, scratch, rows);
    });
  if (!sumsAtOnce())
    writeSums(e, tile,
              {scratch.sums, firstRow, e.index(0), scratch.vectors, endRow});
}

void ColumnProducts::expandTile(KTile kTile, const Scratch &scratch,
                                const Rows &rows) {
  Value firstK = e.mul(kTile.number, form.tileRows);
  Value kRows = e.min(e.sub(e.index(tile.k), firstK), form.tileRows);
  if (scratch.a)
    layOutA(e, tile,
            {rows.first, firstK, kRows, scratch.vectors, scratch.a,
             scratch.imageRows, scratch.isWhole, isOfPairs()});
  // A column's weights begin where those of the column before end.
  e.loop(e.index(0), tile.n, 1, {loadFirst(e.index(0), kTile.number)},
         [&](Value column, ArrayRef<Value> begin) -> SmallVector<Value> {
           Value first = begin.front(), end = loadEnd(column, kTile.number);
           auto sum = [&] {
             sumColumn(column, kTile, first, end, scratch, rows);
           };
           // A column of a convolution in groups has weights in few tiles.
           if (kTile.isFirst)
             sum();
           else
             e.ifThenElse(e.less(first, end), sum, [] {});
           return {end};
         });
}

/// A vector of row `row` of the tile of A that begins at `corner`.
Value ColumnProducts::loadA(const Scratch &scratch, const Corner &corner,
                            Value row, int64_t vector) {
  Value offset = e.index(vector * e.lanes);
  if (scratch.a)
    return e.load(scratch.a, {row, offset});
  return e.load(
      tile.a, tile.indicesOfA(e.add(corner.row, offset), e.add(corner.k, row)));
}

SmallVector<Value> ColumnProducts::addWeight(Value place, const Corner &corner,
                                             const Scratch &scratch,
                                             ArrayRef<Value> sums) {
  Value zero = e.index(0), row = loadIndex(place);
  Value weight = e.broadcast(e.loadScalar(tile.values, {zero, zero, place}));
  SmallVector<Value> results;
  for (auto [vector, sum] : llvm::enumerate(sums))
    results.push_back(e.multiplyAdd(
        loadA(scratch, corner, row, int64_t(vector)), weight, sum));
  return results;
}

/// The weight at `place` in the low half of 32 bits, and the next one in the
/// high half.
Value ColumnProducts::loadPair(Value place) {
  Value zero = e.index(0);
  Value loaded =
      vector::LoadOp::create(e.b, VectorType::get({2}, e.b.getBF16Type()),
                             tile.values, ValueRange{zero, zero, place});
  Value word = vector::BitCastOp::create(
      e.b, VectorType::get({1}, e.b.getI32Type()), loaded);
  return vector::ExtractOp::create(e.b, word, ArrayRef<int64_t>{0});
}

/// Adds the products of the weights at `place` and behind it, in place of which
/// there is zero from `end` on, and the row of A that is zero: what would be
/// read is another column's, and may be infinite.
SmallVector<Value> ColumnProducts::addPair(Value place, Value end,
                                           const Scratch &scratch,
                                           ArrayRef<Value> sums) {
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(e.b, value, /*width=*/32);
  };
  Value next = e.add(place, 1), hasFirst = e.less(place, end),
        hasNext = e.less(next, end);
  Value pair = loadPair(place);
  Value low = arith::AndIOp::create(e.b, pair, word(0xffff));
  pair = e.select(hasNext, pair, e.select(hasFirst, low, word(0)));
  Value weights = vector::BroadcastOp::create(
      e.b, VectorType::get({e.lanes}, e.b.getI32Type()), pair);
  Value zeroRow = e.sub(e.dim(scratch.a, 0), e.index(1));
  Value left = e.select(hasFirst, loadIndex(place), zeroRow),
        right = e.select(hasNext, loadIndex(next), zeroRow);
  SmallVector<Value> results;
  for (int64_t unit = 0; unit < scratch.vectors / vectorsOfUnit; ++unit) {
    auto load = [&](Value row) {
      return e.load(scratch.a, {row, e.index(unit * e.lanes)});
    };
    for (Value a : interleavePairs(e, load(left), load(right)))
      results.push_back(multiplyPairs(e, a, weights, sums[results.size()]));
  }
  return results;
}

/// Sums what `add` adds to the sums of a place, for every `step`-th place from
/// `first` to `end`: two places at a time, whose sums do not wait for each
/// other.
SmallVector<Value> ColumnProducts::sumInTwoChains(
    Value first, Value end, int64_t step, int64_t vectors,
    llvm::function_ref<SmallVector<Value>(Value, ArrayRef<Value>)> add) {
  auto count = static_cast<size_t>(vectors);
  SmallVector<Value> sums(2 * count, e.zeroVector());
  sums = e.loop(
      first, end, 2 * step, sums, [&](Value place, ArrayRef<Value> before) {
        SmallVector<Value> next = add(place, before.take_front(count));
        next.append(add(e.add(place, step), before.drop_front(count)));
        return next;
      });
  ArrayRef<Value> both(sums);
  return e.addAll(both.take_front(count), both.drop_front(count));
}

/// Adds the sums of a tile of k to those before, or writes them to C.
void ColumnProducts::storeSums(Value column, KTile kTile,
                               const Scratch &scratch, const Rows &rows,
                               ArrayRef<Value> sums) {
  for (auto [vector, each] : llvm::enumerate(sums)) {
    Value offset = e.index(vector * e.lanes), sum = each;
    if (sumsAtOnce()) {
      Value row = e.add(rows.first, offset);
      tile.write(e, sum, row, column, /*alongM=*/true, e.sub(rows.end, row));
      continue;
    }
    SmallVector<Value> place = {column, offset};
    if (!kTile.isFirst)
      sum = e.addElements(e.load(scratch.sums, place), sum);
    e.store(sum, scratch.sums, place);
  }
}

/// Adds the products of a column's weights in a tile of k, from `first` to
/// `end`.
void ColumnProducts::sumColumn(Value column, KTile kTile, Value first,
                               Value end, const Scratch &scratch,
                               const Rows &rows) {
  Corner corner = {rows.first, e.mul(kTile.number, form.tileRows)};
  if (isOfPairs()) {
    auto addTwo = [&](Value place, ArrayRef<Value> before) {
      return addPair(place, end, scratch, before);
    };
    // The last weights are no loop of their own, whose end would not be
    // foreseen.
    storeSums(column, kTile, scratch, rows,
              sumInTwoChains(first, end, 2, scratch.vectors, addTwo));
    return;
  }
  auto addOne = [&](Value place, ArrayRef<Value> before) {
    return addWeight(place, corner, scratch, before);
  };
  SmallVector<Value> sums(size_t(scratch.vectors), e.zeroVector());
  if (scratch.vectors <= kFewVectors) {
    Value even = e.add(first, e.roundDown(e.sub(end, first), 2));
    sums = sumInTwoChains(first, even, 1, scratch.vectors, addOne);
    first = even;
  }
  storeSums(column, kTile, scratch, rows, e.loop(first, end, 1, sums, addOne));
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

void ColumnProducts::copyRow(const ScratchRow &to) {
  if (tile.transposeA) {
    e.loop(e.index(0), e.index(tile.k), 1, [&](Value k) {
      Value element = e.loadScalar(tile.a, tile.indicesOfA(to.row, k));
      memref::StoreOp::create(e.b, element, to.memref, ValueRange{to.row, k});
    });
    return;
  }
  e.loop(e.index(0), e.index(tile.k), e.lanes, [&](Value k) {
    Value width = e.sub(e.index(tile.k), k);
    e.store(e.maskedLoad(tile.a, tile.indicesOfA(to.row, k), width), to.memref,
            {to.row, k});
  });
}

/// Adds the products of the weights from `place` on, before `end`.
Value ColumnProducts::addVector(Value place, Value end, Value kTile,
                                const ScratchRow &row, Value sum) {
  Value zero = e.index(0);
  Value mask = e.mask(e.sub(end, place));
  // A weight behind the column's last is another column's, and may be infinite.
  Value loaded = e.load(tile.values, {zero, zero, place});
  Value weights = arith::SelectOp::create(e.b, mask, loaded, e.zeroVector());
  Value a =
      vector::GatherOp::create(e.b, e.vectorType, row.memref,
                               ValueRange{row.row, e.mul(kTile, form.tileRows)},
                               loadIndices(place), mask, e.zeroVector());
  return e.multiplyAdd(a, weights, sum);
}

Value ColumnProducts::sumFew(Value column, const ScratchRow &row) {
  SmallVector<Value> sums = {e.zeroVector()};
  sums = e.loop(e.index(0), e.index(tiles), 1, sums,
                [&](Value kTile, ArrayRef<Value> sums) {
                  Value end = loadEnd(column, kTile);
                  return e.loop(loadFirst(column, kTile), end, e.lanes, sums,
                                [&](Value place, ArrayRef<Value> sums) {
                                  return SmallVector<Value>{addVector(
                                      place, end, kTile, row, sums.front())};
                                });
                });
  if (!e.sumsRound())
    return vector::ReductionOp::create(e.b, vector::CombiningKind::ADD,
                                       sums.front());
  return vector::ReductionOp::create(e.b, vector::CombiningKind::ADD,
                                     sums.front(),
                                     arith::FastMathFlags::reassoc);
}

void ColumnProducts::expandFew() {
  Value rows = e.allocate({tile.m, e.index(llvm::alignTo(tile.k, e.lanes))});
  e.loop(e.index(0), tile.m, 1, [&](Value m) { copyRow({rows, m}); });
  // A column's weights stay in L1 for the next row.
  e.loop(e.index(0), tile.n, 1, [&](Value column) {
    e.loop(e.index(0), tile.m, 1, [&](Value m) {
      tile.writeScalar(e, sumFew(column, {rows, m}), m, column);
    });
  });
  e.deallocate(rows);
}

void mlir::nm::expandColumns(VectorEmitter &emitter, const ProductTile &tile,
                             const ColumnsForm &form, int64_t rows) {
  ColumnProducts products(emitter, tile, form, rows);
  if (tile.image)
    return products.expandMany();
  if (ShapedType::isDynamic(tile.staticM))
    return emitter.ifThenElse(
        emitter.less(tile.m, emitter.index(emitter.lanes)),
        [&] { products.expandFew(); }, [&] { products.expandMany(); });
  if (rows < emitter.lanes || tile.isVector)
    products.expandFew();
  else
    products.expandMany();
}
