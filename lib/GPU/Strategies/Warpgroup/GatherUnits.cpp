//===- GatherUnits.cpp - Tiles of kept units ------------------------------===//

#include "GPU/Strategies/Warpgroup/GatherUnits.h"

#include "nm/Dialect/NM/IR/IndexEmitter.h"
#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Whether strategy wgmma multiplies operands of 8 bits, whose tiles may have
/// several units of a window.
static bool hasBytes(SparseProductOpInterface op) {
  return op.getScheduleAttr().getSource() == SourceKind::Gathered &&
         op.getAType().getElementTypeBitWidth() == 8;
}

/// k of the schedule's tile.
static int64_t getBlockK(SparseProductOpInterface op) {
  return op.getScheduleAttr().getTiling().blockK;
}

/// Whether a tile of bytes has whole units, one or several.
static bool hasWholeUnits(SparseProductOpInterface op) {
  return hasBytes(op) && getBlockK(op) % op.getPattern().bk == 0;
}

/// The rows of a tile: those units, or a unit or a part of one.
static int64_t rowsOfTile(SparseProductOpInterface op) {
  return hasWholeUnits(op) ? getBlockK(op)
                           : std::gcd(op.getPattern().bk, getBlockK(op));
}

bool mlir::nm::gathersUnits(SparseProductOpInterface op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern();
  PackingAttr packing = op.getPanelPacking();
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  bool isWgmma = schedule.getSource() == SourceKind::Gathered;
  if (!isWgmma && !isa<SimtScheduleAttr>(schedule))
    return false;
  if (getBlockK(op) >= pattern.windowRows())
    return false;
  if (hasBytes(op))
    return ::nm::gathersByteUnits(pattern, getBlockK(op));
  if (isWgmma)
    return ::nm::gathersWgmmaUnits(pattern, op.countSplits());
  return packing && packing.getIndexBits() == 8 &&
         packing.getPanel() == pattern.bn && packing.getColInfo() == 0 &&
         tile.n == pattern.bn && ::nm::canGatherUnits(pattern) &&
         ::nm::canGatherUnits({1, 2, rowsOfTile(op), pattern.bn});
}

namespace {
/// `size` places of a dimension from `first` on.
struct Part {
  OpFoldResult first, size;
};
/// What a tile is a product of: rows of k of A, rows of the values and of the
/// indices, and their pattern.
struct TileOperands {
  Part ofA, values, indices;
  ::nm::Pattern pattern;
};
} // namespace

/// The rows of A that a tile takes of a kept unit, from `rowInUnit` on.
static Part findRows(IndexEmitter &emitter, SparseProductOpInterface op,
                     Value unit, Value rowInUnit) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  ::nm::Pattern pattern = op.getPattern();
  Value zero = emitter.index(0);
  Value position = emitter.toIndex(tensor::ExtractOp::create(
      builder, loc, op.getIndices(), ValueRange{zero, unit, zero}));
  Value window = emitter.div(unit, pattern.n);
  Value first = emitter.add(emitter.mul(window, pattern.windowRows()),
                            emitter.mul(position, pattern.bk));
  first = emitter.add(first, rowInUnit);
  int64_t rows = rowsOfTile(op);
  int64_t k = op.getStaticK();
  if (k % pattern.windowRows() == 0)
    return {first, builder.getIndexAttr(rows)};
  // The last window is ragged. A unit past its end has no rows, from the first
  // on, where there are some to load in their place.
  Value isInside = emitter.less(first, emitter.index(k));
  first = arith::SelectOp::create(builder, loc, isInside, first, zero);
  Value count =
      emitter.least(emitter.sub(emitter.index(k), first), emitter.index(rows));
  count = arith::SelectOp::create(builder, loc, isInside, count, zero);
  return {first, count};
}

/// The operands of tile `part`, which has a unit or a part of one: dense rows.
static TileOperands findPartOfUnit(IndexEmitter &emitter,
                                   SparseProductOpInterface op, Value part) {
  OpBuilder &builder = emitter.builder;
  ::nm::Pattern pattern = op.getPattern();
  int64_t rows = rowsOfTile(op), splits = op.countSplits();
  Value unit = emitter.div(part, pattern.bk / rows);
  Value row = emitter.mul(part, rows);
  // The values have a row for each split.
  Part values = {emitter.mul(row, splits), builder.getIndexAttr(rows * splits)},
       indices = {unit, builder.getIndexAttr(1)};
  Value rowInUnit = emitter.rem(row, pattern.bk);
  return {findRows(emitter, op, unit, rowInUnit), values, indices,
          ::nm::Pattern{1, 1, rows, pattern.bn}};
}

/// The operands of tile `part`, which has several units of a window: all of its
/// rows of A, and weights that keep just these units.
static TileOperands findUnits(IndexEmitter &emitter,
                              SparseProductOpInterface op, Value part) {
  OpBuilder &builder = emitter.builder;
  ::nm::Pattern pattern = op.getPattern();
  int64_t rows = rowsOfTile(op), units = rows / pattern.bk,
          windowRows = pattern.windowRows(), k = op.getStaticK();
  Value window = emitter.div(part, pattern.n / units);
  Value first = emitter.mul(window, windowRows);
  OpFoldResult count = builder.getIndexAttr(windowRows);
  if (k % windowRows != 0)
    count = emitter.least(emitter.sub(emitter.index(k), first),
                          emitter.index(windowRows));
  auto sizedPart = [&](int64_t size) -> Part {
    return {emitter.mul(part, size), builder.getIndexAttr(size)};
  };
  pattern.n = units;
  return {{first, count}, sizedPart(rows), sizedPart(units), pattern};
}

/// `rows` of k in A's dimension of it: where A is in panels, whole ones.
static Part countPanels(IndexEmitter &emitter, SparseProductOpInterface op,
                        const Part &rows) {
  int64_t columns = op.getColumnsOfPanels();
  if (columns == 1)
    return rows;
  auto count = [&](OpFoldResult size) -> OpFoldResult {
    if (std::optional<int64_t> known = getConstantIntValue(size))
      return emitter.builder.getIndexAttr(llvm::divideCeil(*known, columns));
    return emitter.ceilDiv(cast<Value>(size), columns);
  };
  return {count(rows.first), count(rows.size)};
}

/// `source` with a part of dimension `dim`.
static Value slice(OpBuilder &builder, Location loc, Value source, int64_t dim,
                   const Part &part) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  offsets[dim] = part.first;
  sizes[dim] = part.size;
  return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                        strides);
}

/// The product of tile `part`, which adds to `sums`.
static Value multiplyTile(OpBuilder &builder, SparseProductOpInterface op,
                          Value part, Value sums) {
  Location loc = op.getLoc();
  IndexEmitter emitter{builder, loc};
  TileOperands operands = hasWholeUnits(op) ? findUnits(emitter, op, part)
                                            : findPartOfUnit(emitter, op, part);
  Part ofA = countPanels(emitter, op, operands.ofA);
  IRMapping mapping;
  mapping.map(op.getA(), slice(builder, loc, op.getA(), op.getKDimOfA(), ofA));
  mapping.map(op.getValues(),
              slice(builder, loc, op.getValues(), /*dim=*/1, operands.values));
  mapping.map(op.getIndices(), slice(builder, loc, op.getIndices(), /*dim=*/1,
                                     operands.indices));
  mapping.map(op.getC(), sums);
  auto product = cast<SparseProductOpInterface>(builder.clone(*op, mapping));
  product.setPatternAttr(
      PatternAttr::get(builder.getContext(), operands.pattern));
  return product->getResult(0);
}

void mlir::nm::gatherUnits(RewriterBase &rewriter,
                           SparseProductOpInterface op) {
  rewriter.setInsertionPoint(op);
  IndexEmitter emitter{rewriter, op.getLoc()};
  int64_t parts =
      op.getPattern().condensedRows(op.getStaticK()) / rowsOfTile(op);
  auto loop = scf::ForOp::create(
      rewriter, op.getLoc(), emitter.index(0), emitter.index(parts),
      emitter.index(1), op.getC(),
      [&](OpBuilder &builder, Location loc, Value part, ValueRange sums) {
        scf::YieldOp::create(builder, loc,
                             multiplyTile(builder, op, part, sums[0]));
      });
  rewriter.replaceOp(op, loop.getResults());
}
