//===- MmaSyncWeights.cpp - Weights and positions for mma.sync ------------===//
//
// What a lane loads of the weights: the positions of the units that it names
// rows of, and its part of the values.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/EmittedOps.h"
#include "GPU/Strategies/Mma/MmaSyncExpansion.h"

#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The panel of `column` in weights' values or indices.
Value MmaSyncExpansion::findPanel(ThreadEmitter &emitter, Value weights,
                                  Value column) const {
  return clampToDim(emitter, weights, 0,
                    emitter.toIndex(emitter.div(column, panel)),
                    llvm::divideCeil(tile.n, panel));
}

/// What takes a tile's time to arrive: the positions, in their windows, of the
/// units that the lane names rows of, and the first of its weights.
SmallVector<Value>
MmaSyncExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface product,
                           llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, product.getLoc()};
  SmallVector<Value> loaded;
  std::optional<EmittedOps> emitted(std::in_place, builder);
  if (pattern.m > 1) {
    Value indices = viewOf(product.getIndices());
    loaded = packing.indexRows > 1 ? loadIndexRows(emitter, indices)
                                   : loadPositions(emitter, indices);
  }
  if (isInPlace) {
    Value values = viewOf(product.getValues());
    // Index rows are few registers, and stay in front.
    emitted.emplace(builder);
    llvm::append_range(loaded, loadChunks(emitter, values, /*group=*/0));
  }
  loadsAhead = llvm::to_vector(emitted->get());
  return loaded;
}

/// Puts off the loads of the next tile's single positions or first chunks to
/// here: they hold registers from then on.
void MmaSyncExpansion::placeLoadsAhead(OpBuilder &builder) {
  for (Operation *op : loadsAhead)
    op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  loadsAhead.clear();
}

/// One by one.
SmallVector<Value> MmaSyncExpansion::loadPositions(ThreadEmitter &emitter,
                                                   Value indices) const {
  MatrixAddress address = lane->addressFor(emitter, roleOfActivations());
  int64_t units = keptRowsOfTile() / pattern.bk;
  SmallVector<Value> positions;
  for (const MmaStep &step : getSteps()) {
    Value column = emitter.add(firstColumn, step.unit * unitColumns);
    KeptOrder::Row row = order.findRow(emitter, address.k, step.square);
    Value unit = emitter.add(emitter.mul(row.window, pattern.n),
                             emitter.div(row.number, pattern.bk));
    // A partial tile lacks windows, of which A's rows are zeros.
    unit = clampToDim(emitter, indices, 1, emitter.toIndex(unit), units);
    Value ofPanel = emitter.index(0);
    if (panel > pattern.bn)
      ofPanel =
          emitter.toIndex(emitter.div(emitter.rem(column, panel), pattern.bn));
    positions.push_back(memref::LoadOp::create(
        emitter.builder, emitter.loc, indices,
        ValueRange{findPanel(emitter, indices, column), unit, ofPanel}));
  }
  return positions;
}

/// The positions of a window of each eight, which are the lane's in all of its
/// squares, in words of which the lowest byte is the first that the lane wants.
SmallVector<Value> MmaSyncExpansion::loadIndexRows(ThreadEmitter &emitter,
                                                   Value indices) const {
  OpBuilder &builder = emitter.builder;
  MatrixAddress address = lane->addressFor(emitter, roleOfActivations());
  int64_t perWindow = pattern.n / packing.indexRows;
  auto type =
      VectorType::get(packing.indexRows / bytesOfWord(),
                      builder.getIntegerType(8 * unsigned(bytesOfWord())));
  SmallVector<Value> words;
  for (int64_t square = 0; square < order.squares();
       square += order.squaresOfWindows())
    for (int64_t unit = 0; unit < units(); ++unit) {
      Value column = emitter.add(firstColumn, unit * unitColumns);
      KeptOrder::Row row = order.findRow(emitter, address.k, square);
      for (int64_t i = 0; i < perWindow; ++i) {
        Value number = emitter.add(emitter.mul(row.window, perWindow), i);
        number = clampToDim(emitter, indices, 1, emitter.toIndex(number),
                            keptRowsOfTile() / packing.indexRows);
        Value loaded = vector::LoadOp::create(
            builder, emitter.loc,
            VectorType::get(packing.indexRows, builder.getI8Type()), indices,
            ValueRange{findPanel(emitter, indices, column), number,
                       emitter.index(0)},
            /*nontemporal=*/false, llvm::MaybeAlign(packing.indexRows));
        Value together =
            vector::BitCastOp::create(builder, emitter.loc, type, loaded);
        for (int64_t word = 0; word < type.getNumElements(); ++word)
          words.push_back(emitter.extract(together, word));
      }
    }
  return words;
}

/// The number of values loaded ahead that are positions.
int64_t MmaSyncExpansion::countPositions() const {
  if (pattern.m == 1)
    return 0;
  if (packing.indexRows == 1)
    return int64_t(getSteps().size());
  return order.squares() / order.squaresOfWindows() * units() *
         (pattern.n / bytesOfWord());
}

/// The position, an i32, of the unit that the lane names a row of.
Value MmaSyncExpansion::getPosition(ThreadEmitter &emitter,
                                    const MmaStep &step) const {
  auto widen = [&](Value value) -> Value {
    return value.getType().isInteger(32)
               ? value
               : arith::ExtUIOp::create(emitter.builder, emitter.loc,
                                        emitter.builder.getI32Type(), value);
  };
  if (packing.indexRows == 1)
    return widen(prefetched[step.square * units() + step.unit]);
  // The lane has every second row of its window.
  constexpr int64_t kByte = 8;
  int64_t ofWindow = order.squaresOfWindows();
  int64_t first = 2 * (step.square % ofWindow);
  int64_t window = step.square / ofWindow * units() + step.unit;
  Value word = widen(
      prefetched[window * (pattern.n / bytesOfWord()) + first / bytesOfWord()]);
  MatrixAddress address = lane->addressFor(emitter, roleOfActivations());
  Value shift =
      emitter.add(emitter.mul(emitter.div(address.k, kMatrixSide), kByte),
                  first % bytesOfWord() * kByte);
  return emitter.mask(
      emitter.builder.createOrFold<arith::ShRUIOp>(emitter.loc, word, shift),
      0xff);
}

/// The row of A's tile that the lane names, whose window starts at `window`.
Value MmaSyncExpansion::rowOfA(ThreadEmitter &emitter, Value window,
                               const KeptOrder::Row &row,
                               const MmaStep &step) const {
  Value result = window;
  if (pattern.bk > 1)
    result = emitter.add(result, emitter.rem(row.number, pattern.bk));
  if (pattern.m == 1)
    return result;
  return emitter.add(result,
                     emitter.mul(getPosition(emitter, step), pattern.bk));
}

//===----------------------------------------------------------------------===//
// Weights in registers
//===----------------------------------------------------------------------===//

/// The lane's chunks of weights of group `group`, as words: for each matrix of
/// the warp's columns those of its column and of two windows of eight, which
/// are the even and the odd k that the lane has.
SmallVector<Value> MmaSyncExpansion::loadChunks(ThreadEmitter &emitter,
                                                Value values,
                                                int64_t group) const {
  OpBuilder &builder = emitter.builder;
  int64_t rows = packing.chunkRows, perWindow = pattern.n / rows;
  Value window =
      order.inTile(emitter, emitter.add(lane->pair, group / perWindow *
                                                        KeptOrder::kWindows));
  SmallVector<Value> words;
  for (int64_t n = 0; n < tile.warpN; n += kMatrixSide)
    for (int64_t half : {0, 1}) {
      Value column = emitter.add(emitter.add(firstColumn, lane->row), n);
      Value chunk = emitter.add(
          emitter.mul(emitter.add(window, half * KeptOrder::kWindows / 2),
                      perWindow),
          group % perWindow);
      Value wanted = emitter.toIndex(chunk);
      Value row =
          clampToDim(emitter, values, 1, wanted, keptRowsOfTile() / rows);
      Value place =
          emitter.toIndex(emitter.mul(emitter.rem(column, panel), rows));
      Value loaded = vector::LoadOp::create(
          builder, emitter.loc, VectorType::get(rows, type), values,
          ValueRange{findPanel(emitter, values, column), row, place},
          /*nontemporal=*/false, llvm::MaybeAlign(rows * 2));
      // Past the last row of B weights are zeros.
      Value isInside;
      if (row != wanted)
        isInside = emitter.less(wanted, builder.createOrFold<memref::DimOp>(
                                            emitter.loc, values, 1));
      for (Value word : emitter.words(loaded))
        words.push_back(emitter.orZero(word, isInside));
    }
  return words;
}

/// The low halves of two words as one, or their high halves: as a shuffle,
/// which ptxas makes one instruction of.
static Value joinHalves(ThreadEmitter &emitter, Value low, Value high,
                        bool isHigh) {
  OpBuilder &builder = emitter.builder;
  auto halves = VectorType::get(2, builder.getI16Type());
  auto split = [&](Value word) {
    return LLVM::BitcastOp::create(builder, emitter.loc, halves, word);
  };
  int64_t half = isHigh ? 1 : 0;
  Value joined =
      vector::ShuffleOp::create(builder, emitter.loc, split(low), split(high),
                                ArrayRef<int64_t>{half, 2 + half});
  return LLVM::BitcastOp::create(builder, emitter.loc, builder.getI32Type(),
                                 joined);
}

/// The squares of weights of a step, of which the lane has the chunks.
SmallVector<SquareWords>
MmaSyncExpansion::takeWeights(ThreadEmitter &emitter, ArrayRef<Value> chunks,
                              const MmaStep &step) const {
  int64_t wordsOfChunk = packing.chunkRows / 2;
  // A word of each chunk has the rows of one square.
  int64_t inGroup = step.square % order.squaresOfWindows() % wordsOfChunk;
  auto take = [&](int64_t matrix) -> std::array<Value, 2> {
    Value even = chunks[matrix * 2 * wordsOfChunk + inGroup],
          odd = chunks[(matrix * 2 + 1) * wordsOfChunk + inGroup];
    return {joinHalves(emitter, even, odd, /*isHigh=*/false),
            joinHalves(emitter, even, odd, /*isHigh=*/true)};
  };
  SmallVector<SquareWords> squares;
  int64_t first = step.unit * unitColumns / kMatrixSide,
          matrices = std::max(unitColumns, kSquareSide) / kMatrixSide;
  for (int64_t matrix = first; matrix < first + matrices; matrix += 2) {
    std::array<Value, 2> left = take(matrix), right = take(matrix + 1);
    squares.push_back(areWeightsRows
                          ? SquareWords{left[0], right[0], left[1], right[1]}
                          : SquareWords{left[0], left[1], right[0], right[1]});
  }
  return squares;
}

/// A unit of 8 columns shares its squares with the next one.
SmallVector<SquareWords> MmaSyncExpansion::loadWeights(ThreadEmitter &emitter,
                                                       Value elements,
                                                       const MmaStep &step) {
  MatrixRows rows(emitter, panel, orderOfValues.xors, orderOfValues.order[1]);
  MatrixAddress address = lane->addressFor(emitter, roleOfWeights());
  KeptOrder::Row kept = order.findRow(emitter, address.k, step.square);
  Value window = emitter.mul(kept.window, pattern.keptRows());
  MatrixRows::RowOffset row =
      rows.areWindowsApart(pattern.keptRows())
          ? rows.placeRow(window, kept.number)
          : rows.placeRow(emitter.add(window, kept.number));
  SmallVector<SquareWords> squares;
  int64_t columns = std::max(unitColumns, kSquareSide);
  for (int64_t n = 0; n < columns; n += kSquareSide) {
    Value column = emitter.add(
        emitter.add(firstColumn, emitter.mul(address.half, kMatrixSide)),
        step.unit * unitColumns + n);
    MatrixRows::RowOffset inPanel = row;
    inPanel.start =
        emitter.add(row.start, emitter.mul(emitter.div(column, panel),
                                           keptRowsOfTile() * panel));
    squares.push_back(
        loadMatrices(emitter, elements,
                     rows.placeWord(inPanel, emitter.rem(column, panel), 0),
                     /*transpose=*/true));
  }
  return squares;
}
