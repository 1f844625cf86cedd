//===- OverlappingWeights.cpp - Weights in tiles of windows ---------------===//
//
// The weights of a product whose A is nm.repeated_rows: kept rows of M - 2 of M
// in the order of nm/Format/WindowTiles.h, with positions in groups of four,
// and then, as if they were dense, those of the rows that tiles have twice.
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::OverlappingGroups;
using ::nm::WindowTiles;

static RankedTensorType typeOf(Value weights) {
  return cast<RankedTensorType>(weights.getType());
}

/// The weights of a row of k are in at most three kept rows of its window.
static constexpr int64_t kCandidates =
    OverlappingGroups::kRows - OverlappingGroups::kKept + 1;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// Moves constant weights.
class ConstantMove {
public:
  ConstantMove(const WindowTiles &tiles, const ConstantArray &values,
               const ConstantArray &indices)
      : tiles(tiles), values(values), indices(indices),
        rowBytes(getRowBytes(values)), columns(getRowBytes(indices)),
        unitBytes(rowBytes / columns) {}

  TypedAttr moveValues() const;
  TypedAttr moveIndices() const;

private:
  static size_t getRowBytes(const ConstantArray &array) {
    return array.getBytes().size() / size_t(array.getType().getDimSize(0));
  }
  RankedTensorType getType(const ConstantArray &array) const {
    return RankedTensorType::get({tiles.kept(), array.getType().getDimSize(1)},
                                 array.getType().getElementType());
  }
  /// Copies the weights of row `row` of k to a row of zeros.
  void copyDense(int64_t row, char *to) const;

  const WindowTiles &tiles;
  const ConstantArray &values, &indices;
  /// The bytes of a row of values, indices of a row, and bytes of the values of
  /// an index.
  size_t rowBytes, columns, unitBytes;
};
} // namespace

void ConstantMove::copyDense(int64_t row, char *to) const {
  const OverlappingGroups &groups = tiles.groups;
  int64_t position = row % groups.windowRows,
          first = row / groups.windowRows * groups.keptRows();
  for (int64_t back = 0; back < kCandidates; ++back) {
    int64_t kept = position - back;
    if (row >= tiles.k || kept < 0 || kept >= groups.keptRows())
      continue;
    auto from = size_t(first + kept);
    for (size_t column = 0; column < columns; ++column)
      if (indices.getBytes()[from * columns + column] == position)
        std::copy_n(values.getBytes().data() + from * rowBytes +
                        column * unitBytes,
                    unitBytes, to + column * unitBytes);
  }
}

TypedAttr ConstantMove::moveValues() const {
  std::vector<char> moved(size_t(tiles.kept()) * rowBytes);
  for (int64_t kept = 0; kept < tiles.kept(); ++kept) {
    char *to = moved.data() + size_t(kept) * rowBytes;
    if (kept < tiles.keptOfWindows())
      std::copy_n(values.getBytes().data() +
                      size_t(tiles.keptRow(kept)) * rowBytes,
                  rowBytes, to);
    else
      copyDense(tiles.rowOfTwice(kept - tiles.keptOfWindows()), to);
  }
  return getConstant(getType(values), moved);
}

TypedAttr ConstantMove::moveIndices() const {
  std::vector<char> moved(size_t(tiles.kept()) * columns);
  for (int64_t kept = 0; kept < tiles.kept(); ++kept)
    for (size_t column = 0; column < columns; ++column) {
      char &to = moved[size_t(kept) * columns + column];
      if (kept < tiles.keptOfWindows())
        to = char(
            indices.getBytes()[size_t(tiles.keptRow(kept)) * columns + column] -
            tiles.firstRow(kept / WindowTiles::kKept));
      else
        to = char(tiles.positionOfTwice(kept - tiles.keptOfWindows()));
    }
  return getConstant(getType(indices), moved);
}

//===----------------------------------------------------------------------===//
// Weights that are loaded
//===----------------------------------------------------------------------===//

namespace {
/// Emits ops that move weights.
class EmittedMove {
public:
  EmittedMove(OpBuilder &builder, Location loc, const WindowTiles &tiles,
              Value values, Value indices)
      : builder(builder), loc(loc), tiles(tiles), values(values),
        indices(indices) {}

  Value moveValues();
  Value moveIndices();

private:
  /// What is in a row of the result and column `column`.
  using Emit =
      function_ref<Value(IndexEmitter &, EmittedIndex row, Value column)>;
  /// `ofWindows` where `kept`, a kept row, is of tiles of windows, and else
  /// `ofTwice`, which gets its number among the others.
  Value create(Value from, Emit ofWindows, Emit ofTwice);
  Value emitDense(IndexEmitter &emitter, Value row, Value column);

  OpBuilder &builder;
  Location loc;
  const WindowTiles &tiles;
  Value values, indices;
};
} // namespace

Value EmittedMove::create(Value from, Emit ofWindows, Emit ofTwice) {
  RankedTensorType type = typeOf(from);
  SmallVector<int64_t> shape = {tiles.kept(), type.getDimSize(1)};
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  int64_t windows = tiles.keptOfWindows();
  auto emit = [&](OpBuilder &body, Location loc, ValueRange) {
    IndexEmitter emitter{body, loc};
    Value row = linalg::IndexOp::create(body, loc, 0),
          column = linalg::IndexOp::create(body, loc, 1), ofWindow, twice;
    if (windows != 0)
      ofWindow = ofWindows(
          emitter, {&emitter, emitter.least(row, emitter.index(windows - 1))},
          column);
    if (windows != tiles.kept()) {
      Value first = emitter.index(windows);
      twice = ofTwice(
          emitter, {&emitter, emitter.sub(emitter.larger(row, first), first)},
          column);
    }
    Value element = ofWindow ? ofWindow : twice;
    if (ofWindow && twice)
      element = arith::SelectOp::create(
          body, loc, emitter.less(row, emitter.index(windows)), ofWindow,
          twice);
    linalg::YieldOp::create(body, loc, element);
  };
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), ValueRange(), empty,
             builder.getMultiDimIdentityMap(2),
             SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
             emit)
      .getResult(0);
}

/// The weight of row `row` of k, zero past its end.
Value EmittedMove::emitDense(IndexEmitter &emitter, Value row, Value column) {
  OpBuilder &body = emitter.builder;
  const OverlappingGroups &groups = tiles.groups;
  Type byte = typeOf(indices).getElementType();
  int64_t unit = typeOf(values).getDimSize(1) / typeOf(indices).getDimSize(1);
  Value exists = emitter.less(row, emitter.index(tiles.k));
  row = emitter.least(row, emitter.index(tiles.k - 1));
  auto [window, position] = emitter.split(row, groups.windowRows);
  Value first = emitter.mul(window, groups.keptRows());
  Value narrow = arith::IndexCastUIOp::create(body, loc, byte, position);
  Value weight = arith::ConstantOp::create(
      body, loc, builder.getZeroAttr(typeOf(values).getElementType()));
  for (int64_t back = 0; back < kCandidates; ++back) {
    // One that is in front of the window or behind is the first or the last,
    // which may be of another row.
    Value kept = emitter.sub(emitter.larger(position, emitter.index(back)),
                             emitter.index(back));
    kept = emitter.add(
        first, emitter.least(kept, emitter.index(groups.keptRows() - 1)));
    Value index = tensor::ExtractOp::create(
        body, loc, indices, ValueRange{kept, emitter.div(column, unit)});
    Value value =
        tensor::ExtractOp::create(body, loc, values, ValueRange{kept, column});
    Value isOfRow = emitter.both(
        exists, arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq,
                                      index, narrow));
    weight = arith::SelectOp::create(body, loc, isOfRow, value, weight);
  }
  return weight;
}

Value EmittedMove::moveValues() {
  return create(
      values,
      [&](IndexEmitter &emitter, EmittedIndex kept, Value column) -> Value {
        return tensor::ExtractOp::create(
            emitter.builder, loc, values,
            ValueRange{tiles.keptRow(kept).value, column});
      },
      [&](IndexEmitter &emitter, EmittedIndex kept, Value column) -> Value {
        return emitDense(emitter, tiles.rowOfTwice(kept).value, column);
      });
}

Value EmittedMove::moveIndices() {
  Type byte = typeOf(indices).getElementType();
  auto narrow = [&](IndexEmitter &emitter, Value index) -> Value {
    return arith::IndexCastUIOp::create(emitter.builder, loc, byte, index);
  };
  return create(
      indices,
      [&](IndexEmitter &emitter, EmittedIndex kept, Value column) -> Value {
        Value index = tensor::ExtractOp::create(
            emitter.builder, loc, indices,
            ValueRange{tiles.keptRow(kept).value, column});
        return emitter.sub(
            index,
            narrow(emitter, tiles.firstRow(kept / WindowTiles::kKept).value));
      },
      [&](IndexEmitter &emitter, EmittedIndex kept, Value) -> Value {
        return narrow(emitter, tiles.positionOfTwice(kept).value);
      });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

static std::pair<Value, Value> moveWeights(OpBuilder &builder, Location loc,
                                           const WindowTiles &tiles,
                                           Value values, Value indices) {
  std::optional<ConstantArray> constantValues = ConstantArray::get(values),
                               constantIndices = ConstantArray::get(indices);
  if (constantValues && constantIndices) {
    ConstantMove move(tiles, *constantValues, *constantIndices);
    return {arith::ConstantOp::create(builder, loc, move.moveValues()),
            arith::ConstantOp::create(builder, loc, move.moveIndices())};
  }
  EmittedMove move(builder, loc, tiles, values, indices);
  Value moved = move.moveValues();
  return {moved, move.moveIndices()};
}

void mlir::nm::repeatByCopies(RewriterBase &rewriter,
                              SparseProductOpInterface op,
                              const ::nm::Pattern &kept) {
  if (op.getPattern() != kept)
    makeDense(op, kept);
  rewriter.setInsertionPoint(op);
  auto product = cast<SpMMOp>(*op);
  WindowTiles tiles{{kept.m}, op.getStaticK()};
  auto type = cast<RankedTensorType>(op.getA().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] = tiles.rows();
  Value a = RepeatedRowsOp::create(
      rewriter, op.getLoc(),
      RankedTensorType::get(shape, type.getElementType()), op.getA(),
      uint64_t(kept.m));
  auto [values, indices] = moveWeights(rewriter, op.getLoc(), tiles,
                                       op.getValues(), op.getIndices());
  rewriter.modifyOpInPlace(product, [&, values = values, indices = indices] {
    product.getAMutable().assign(a);
    product.getValuesMutable().assign(values);
    product.getIndicesMutable().assign(indices);
    op.setPatternAttr(PatternAttr::get(
        op->getContext(), {OverlappingGroups::kKept, OverlappingGroups::kRows,
                           /*bk=*/1, kept.bn}));
  });
}
