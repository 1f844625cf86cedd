//===- TransposedTile.cpp - Rows of a block, stored transposed ------------===//
//
// Threads put words of 16 bytes along columns, and write such along rows. In
// shared memory, whose banks have eight of them, word w of a row is at w ^ x,
// where x depends on the row, so that what is read at once is in different
// banks.
//
// Elements of 16 bits are read by ldmatrix with .trans (PTX ISA, warp-level
// matrix load), of whose matrices of 8 x 8 any row may be anywhere: of matrix
// j, rows 2 p and 2 p + 1 are rows 2 j and 2 j + 1 of eight, and p says which
// eight, and of which eight columns. Lane 4 r + p then has all of these eight
// of column r, which it writes.
//
// What nm.split_floats makes splits of is kept as it is, in f32: a thread reads
// eight rows of a column, and writes each split of them, 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/TransposedTile.h"

#include "GPU/Strategies/Mma/MmaFragments.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

/// Words of 16 bytes in all banks.
static constexpr int64_t kBankWords = 8;
/// Lanes that have a row of a matrix, two elements each.
static constexpr int64_t kQuad = 4;
/// Turns of a thread, or a warp, that are unrolled.
static constexpr int64_t kMaxTurns = 8;

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}

int64_t TransposedTile::countWidest(Value output) {
  return kMaxAccessBytes * 8 / typeOf(output).getElementTypeBitWidth();
}

/// The type of a tile's elements: f32 where the output has splits, else
/// `output`.
static Type getTileElement(Type output, int64_t splits) {
  return splits > 1 ? Float32Type::get(output.getContext()) : output;
}

/// Elements of 16 bytes.
static int64_t countInWord(Type element) {
  return kMaxAccessBytes * 8 / element.getIntOrFloatBitWidth();
}

/// Elements of a tile that a row takes.
static int64_t getStride(MemRefType output, Type element) {
  return llvm::alignTo(output.getDimSize(0), kBankWords * countInWord(element));
}

int64_t TransposedTile::getBytes(const RowOperand &output, int64_t rows) {
  MemRefType type = typeOf(output.value);
  Type element = getTileElement(type.getElementType(), output.splits);
  return rows * getStride(type, element) * element.getIntOrFloatBitWidth() / 8;
}

int64_t TransposedTile::getRowMultiple(const RowOperand &output) {
  return output.splits > 1 ? ::nm::kSplitColumns : 1;
}

/// `output` with one dimension for all rows.
static Value joinRows(ThreadEmitter &e, Value output) {
  int64_t rank = typeOf(output).getRank();
  if (rank == 2)
    return output;
  ReassociationIndices rows;
  for (int64_t dim = 1; dim < rank; ++dim)
    rows.push_back(dim);
  return memref::CollapseShapeOp::create(
      e.builder, e.loc, output, ArrayRef<ReassociationIndices>{{0}, rows});
}

/// Elements of an access along rows: 1 if it is not known how they are aligned.
static int64_t chooseRun(Value matrix, int64_t rows) {
  int64_t widest = std::min(TransposedTile::countWidest(matrix), rows);
  auto [strides, offset] = typeOf(matrix).getStridesAndOffset();
  int64_t stride = getStrideFactors(matrix).front();
  bool isAligned = !ShapedType::isDynamic(offset) && offset % widest == 0 &&
                   stride % widest == 0;
  return isAligned ? widest : 1;
}

TransposedTile::TransposedTile(ThreadEmitter &emitter, const RowOperand &output,
                               int64_t rows)
    : e(emitter), matrix(joinRows(emitter, output.value)), type(typeOf(matrix)),
      splits(output.splits),
      element(getTileElement(type.getElementType(), splits)), rows(rows),
      // Where 64 rows start, all their splits do.
      run(hasSplits() ? countWidest(matrix) : chooseRun(matrix, rows)) {}

int64_t TransposedTile::countInWord() const { return ::countInWord(element); }

void TransposedTile::begin(int64_t offset) {
  Value memory = getLaunchMemory(e.builder, e.loc);
  tile = viewLaunchMemory(e.builder, e.loc, memory, offset,
                          {rows * getStride(type, element)}, element);
}

/// In the tile.
Value TransposedTile::placeOf(Value slot, Value column) const {
  int64_t widest = countInWord();
  // Neighbouring threads read neighbouring runs.
  Value odd = e.rem(slot, 2), next = e.rem(e.div(slot, countWidest(matrix)), 2);
  Value ofRow =
      hasMatrices() ? e.add(e.mul(odd, 4), e.mul(next, 2)) : e.mul(next, 4);
  Value word =
      arith::XOrIOp::create(e.builder, e.loc, e.div(column, widest), ofRow);
  return e.add(e.mul(slot, getStride(type, element)),
               e.add(e.mul(word, widest), e.rem(column, widest)));
}

void TransposedTile::put(Value elements, Value slot, Value column,
                         Value exists) {
  if (hasSplits())
    elements = e.orZero(elements, exists);
  Value at = placeOf(slot, column);
  auto vector = dyn_cast<VectorType>(elements.getType());
  if (!vector) {
    memref::StoreOp::create(e.builder, e.loc, elements, tile, at);
    return;
  }
  // Of narrower elements beside, one access may be of several words.
  int64_t widest = countInWord(), count = vector.getNumElements();
  for (int64_t first = 0; first < count; first += widest) {
    int64_t width = std::min(widest, count - first);
    Value part = elements;
    if (width != count)
      part = vector::ExtractStridedSliceOp::create(
          e.builder, e.loc, elements, ArrayRef(first), ArrayRef(width),
          ArrayRef<int64_t>{1});
    Value to = first == 0 ? at : placeOf(slot, e.add(column, first));
    vector::StoreOp::create(
        e.builder, e.loc, part, tile, to, /*nontemporal=*/false,
        llvm::MaybeAlign(width * element.getIntOrFloatBitWidth() / 8));
  }
}

/// The elements of a run that the output has.
void TransposedTile::writeOneByOne(Value elements, Value column, Value row,
                                   Value count) {
  for (int64_t i = 0; i < run; ++i) {
    Value at = e.add(row, i);
    e.onlyIf(e.less(at, count), [&] {
      memref::StoreOp::create(e.builder, e.loc, e.extract(elements, i), matrix,
                              ValueRange{column, at});
    });
  }
}

/// The elements of `column` from the block's row `slot` on, one by one.
Value TransposedTile::readRun(Value column, Value slot) {
  return vector::FromElementsOp::create(
      e.builder, e.loc, VectorType::get(run, element),
      llvm::map_to_vector(llvm::seq(run), [&](int64_t i) -> Value {
        return memref::LoadOp::create(e.builder, e.loc, tile,
                                      placeOf(e.add(slot, i), column));
      }));
}

/// Writes the splits of `elements`, which are of `column` from `row` on.
void TransposedTile::writeSplits(Value elements, Value column, Value row) {
  auto [group, inGroup] = e.split(row, ::nm::kSplitColumns);
  Value first = e.add(e.mul(group, splits * ::nm::kSplitColumns), inGroup);
  for (auto [split, value] :
       llvm::enumerate(emitSplitFloats(e.builder, e.loc, elements, splits)))
    vector::StoreOp::create(
        e.builder, e.loc, value, matrix,
        ValueRange{column, e.add(first, int64_t(split) * ::nm::kSplitColumns)},
        /*nontemporal=*/false, llvm::MaybeAlign(kMaxAccessBytes));
}

/// Writes `elements` to `column` from the output's `row` on.
void TransposedTile::writeRun(Value elements, Value column, Value row,
                              Value count) {
  if (hasSplits())
    return writeSplits(elements, column, row);
  if (run == 1)
    return writeOneByOne(elements, column, row, count);
  auto writeAll = [&] {
    vector::StoreOp::create(e.builder, e.loc, elements, matrix,
                            ValueRange{column, row}, /*nontemporal=*/false,
                            llvm::MaybeAlign(kMaxAccessBytes));
  };
  int64_t known = type.getDimSize(1);
  if (!ShapedType::isDynamic(known) && known % run == 0)
    return e.onlyIf(e.less(row, count), writeAll);
  auto isWhole =
      scf::IfOp::create(e.builder, e.loc, e.less(e.add(row, run - 1), count),
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(isWhole.thenBlock());
  writeAll();
  e.builder.setInsertionPointToStart(isWhole.elseBlock());
  writeOneByOne(elements, column, row, count);
}

/// Writes a warp's columns from `from` on.
void TransposedTile::writeMatrices(Value from, Value lane, int64_t runs,
                                   Value first, Value count) {
  int64_t columns = type.getDimSize(0);
  std::pair<Value, Value> at = placeOfQuad(e.rem(lane, kQuad), runs);
  Value row = e.add(first, at.first);
  Value column = e.add(e.add(from, at.second), e.div(lane, kQuad));
  Value elements = readMatrices(from, lane, runs);
  Value exists = columns % (kQuad / runs * run) == 0
                     ? Value()
                     : e.less(column, e.index(columns));
  e.onlyIf(exists, [&] { writeRun(elements, column, row, count); });
}

void TransposedTile::write(Value thread, int64_t threads, Value first,
                           Value count) {
  int64_t runs = rows / run, columns = type.getDimSize(0);
  if (!hasMatrices())
    return inTurns(thread, threads, columns * runs, [&](Value item) {
      Value column = e.div(item, runs), slot = e.mul(e.rem(item, runs), run);
      writeRun(readRun(column, slot), column, e.add(first, slot), count);
    });
  // A warp has several times eight columns.
  int64_t warpColumns = kQuad / runs * run;
  auto [warp, lane] = e.split(thread, kWarpSize);
  inTurns(warp, threads / kWarpSize, llvm::divideCeil(columns, warpColumns),
          [&, lane = lane](Value item) {
            writeMatrices(e.mul(item, warpColumns), lane, runs, first, count);
          });
}

/// Has `workers` of which one is `worker` do `items` items, in turns.
void TransposedTile::inTurns(Value worker, int64_t workers, int64_t items,
                             llvm::function_ref<void(Value)> run) {
  if (items > kMaxTurns * workers) {
    auto loop = scf::ForOp::create(e.builder, e.loc, worker, e.index(items),
                                   e.index(workers));
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(loop.getBody());
    return run(loop.getInductionVar());
  }
  for (int64_t begin = 0; begin < items; begin += workers) {
    Value item = e.add(worker, begin);
    e.onlyIf(begin + workers > items ? e.less(item, e.index(items)) : Value(),
             [&] { run(item); });
  }
}

/// Whether a warp reads elements as matrices.
bool TransposedTile::hasMatrices() const {
  return !hasSplits() && type.getElementTypeBitWidth() == 16 &&
         run == kMatrixSide && rows <= kQuad * run &&
         type.getDimSize(0) % kMatrixSide == 0;
}

/// The first row and column of pair `pair` of rows of the matrices, of which
/// there are `runs` runs of rows.
std::pair<Value, Value> TransposedTile::placeOfQuad(Value pair, int64_t runs) {
  return {e.mul(e.rem(pair, runs), run), e.mul(e.div(pair, runs), run)};
}

/// What the lane writes of the warp's columns from `from` on.
Value TransposedTile::readMatrices(Value from, Value lane, int64_t runs) {
  auto [matrix, row] = e.split(lane, kMatrixSide);
  auto [slot, column] = placeOfQuad(e.div(row, 2), runs);
  slot = e.add(e.add(slot, e.mul(matrix, 2)), e.rem(row, 2));
  // What is read behind the last column, no lane writes.
  column = e.least(e.add(from, column), e.index(type.getDimSize(0) - run));
  SquareWords words =
      loadMatrices(e, tile, placeOf(slot, column), /*transpose=*/true);
  Value all = vector::FromElementsOp::create(
      e.builder, e.loc,
      VectorType::get(int64_t(words.size()), e.builder.getI32Type()), words);
  return vector::BitCastOp::create(
      e.builder, e.loc, VectorType::get(run, type.getElementType()), all);
}
