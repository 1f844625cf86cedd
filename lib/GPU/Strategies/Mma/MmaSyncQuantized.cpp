//===- MmaSyncQuantized.cpp - Quantized weights for mma.sync --------------===//
//
// A lane loads its values of a square of weights as they are, for they are
// packed in the order of the instruction's fragments (QuantizedSquares.h), and
// converts them before they are multiplied. The 16 rows of a square may be of
// several windows, and these of several groups of k, so that each of the four
// k that a lane has may have a scale of its own.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaSyncExpansion.h"

#include "nm/Format/QuantizedSquares.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// The number in the slice of the group that all rows of a square share; none
/// where they do not, or where slices end inside of groups.
std::optional<int64_t> MmaSyncExpansion::numberOfGroup(int64_t square) const {
  int64_t group = groupOfTile(), rows = pattern.windowRows(),
          ofSlice = tile.k / tile.sliceK, kept = pattern.keptRows();
  int64_t first = square * kSquareSide / kept,
          last = ((square + 1) * kSquareSide - 1) / kept;
  if (order.isSpread()) {
    first = square / order.squaresOfWindows() * KeptOrder::kWindows;
    last = first + KeptOrder::kWindows - 1;
  }
  bool areWhole = ofSlice % group == 0 || group % ofSlice == 0;
  int64_t number = first * rows / group;
  if (areWhole && number == ((last + 1) * rows - 1) / group)
    return number;
  return std::nullopt;
}

/// The scales of the lane's registers of a square and of 16 columns of the
/// warp, from `column` on.
RegisterScales MmaSyncExpansion::loadScales(ThreadEmitter &emitter,
                                            Value scales, int64_t square,
                                            int64_t column) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t group = groupOfTile();
  std::optional<int64_t> number = numberOfGroup(square);
  // The group of the lane's k number `place`: 2 pair, the next, and the two
  // that are eight behind.
  auto rowOf = [&](int64_t place) {
    if (number)
      return emitter.add(
          emitter.div(emitter.mul(slice, tile.k / tile.sliceK), group),
          *number);
    Value k = emitter.add(emitter.mul(lane->pair, 2),
                          place % 2 + place / 2 * kMatrixSide);
    Value window = order.findRow(emitter, k, square).window;
    return emitter.div(emitter.mul(window, pattern.windowRows()), group);
  };
  auto load = [&](int64_t place, int64_t half) -> Value {
    Value at = emitter.add(emitter.add(firstColumn, lane->row),
                           column + half * kMatrixSide);
    return memref::LoadOp::create(
        builder, loc, scales,
        ValueRange{emitter.toIndex(rowOf(place)), emitter.toIndex(at)});
  };
  // Windows of even numbers of rows have both rows of a register.
  bool areApart = !number && order.isSpread();
  auto loadPair = [&](int64_t place, int64_t half) -> Value {
    auto type = VectorType::get(2, this->type);
    Value first = load(place, half);
    if (!areApart)
      return vector::BroadcastOp::create(builder, loc, type, first);
    return vector::FromElementsOp::create(
        builder, loc, type, ValueRange{first, load(place + 1, half)});
  };
  RegisterScales result;
  for (int64_t half : {0, 1}) {
    result[half] = loadPair(/*place=*/0, half);
    // Spread squares have two rows of each window.
    bool areAlike = number || order.isSpread();
    result[2 + half] = areAlike ? result[half] : loadPair(/*place=*/2, half);
  }
  return result;
}

/// What loadScales loads, which squares that share scales load once a tile.
const RegisterScales &MmaSyncExpansion::getScales(ThreadEmitter &emitter,
                                                  Value scales, int64_t square,
                                                  int64_t column) {
  std::optional<int64_t> number = numberOfGroup(square);
  int64_t shared = number             ? *number
                   : order.isSpread() ? -1 - square / order.squaresOfWindows()
                                      : -1 - square;
  auto [place, isNew] = takenScales.try_emplace({shared, column});
  if (isNew)
    place->second = loadScales(emitter, scales, square, column);
  return place->second;
}

/// The squares of weights of a step, of a panel's columns.
SmallVector<SquareWords> MmaSyncExpansion::loadQuantized(ThreadEmitter &emitter,
                                                         SpMMOp op,
                                                         const MmaStep &step) {
  ::nm::QuantizedSquares squares(packing, pattern);
  int64_t bits = quantization.getBits(), first = step.unit * unitColumns,
          bytes = squares.valuesOfPiece() * bits / 8;
  Value column = emitter.add(firstColumn, first);
  SmallVector<Value> at = {
      emitter.toIndex(emitter.div(column, panel)),
      emitter.toIndex(
          emitter.add(emitter.mul(slice, order.squares()), step.square))};
  SmallVector<Value> words;
  for (int64_t piece = 0; piece < squares.pieces(); ++piece) {
    Value byte = emitter.add(emitter.mul(lane->lane, bytes),
                             piece * ::nm::QuantizedSquares::kLanes * bytes);
    Value loaded = vector::LoadOp::create(
        emitter.builder, emitter.loc,
        VectorType::get(bytes, emitter.builder.getI8Type()), op.getValues(),
        ValueRange{at[0], at[1], emitter.toIndex(byte)},
        /*nontemporal=*/false, llvm::MaybeAlign(bytes));
    llvm::append_range(words, emitter.words(loaded));
  }
  int64_t ofSquare = ::nm::QuantizedSquares::kValues * bits / 32;
  SmallVector<SquareWords> result;
  for (int64_t n = 0; n < panel; n += kSquareSide) {
    SquareWords weights = dequantizeWords(
        emitter, type, bits,
        ArrayRef<Value>(words).slice(n / kSquareSide * ofSquare, ofSquare),
        getScales(emitter, op.getScales(), step.square, first + n));
    // Two fragments of 8 columns each have their words side by side.
    if (!areWeightsRows)
      std::swap(weights[1], weights[2]);
    result.push_back(weights);
  }
  return result;
}
