//===- GatherUnits.cpp - Tiles of single kept units -----------------------===//

#include "GatherUnits.h"

#include "nm/Schedule/GpuSchedule.h"
#include "nm/Schedule/WgmmaModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Whether a tile may have several units of a window, of strategy wgmma.
static bool hasBytes(SparseProductOpInterface op) {
  return isa<WgmmaScheduleAttr>(op.getScheduleAttr()) &&
         op.getAType().getElementTypeBitWidth() == 8;
}

/// The rows of a tile: a unit, or a part of one if the schedule asks for less;
/// of bytes also several units.
static int64_t rowsOfTile(SparseProductOpInterface op) {
  int64_t rows = op.getScheduleAttr().getTiling().block[2];
  if (hasBytes(op) && rows % op.getPattern().bk == 0)
    return rows;
  return std::gcd(op.getPattern().bk, rows);
}

bool mlir::nm::gathersUnits(SparseProductOpInterface op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern();
  PackingAttr packing = op.getPanelPacking();
  if (hasBytes(op)) {
    int64_t rows = op.getScheduleAttr().getTiling().block[2];
    return ::nm::gathersByteUnits(pattern, rows) && rows < pattern.windowRows();
  }
  if (isa<WgmmaScheduleAttr>(op.getScheduleAttr()))
    return ::nm::gathersWgmmaUnits(pattern, op.countTerms()) &&
           op.getScheduleAttr().getTiling().block[2] < pattern.windowRows();
  return isa<SimtScheduleAttr>(op.getScheduleAttr()) && packing &&
         packing.getIndexBits() == 8 && packing.getPanel() == pattern.bn &&
         packing.getColInfo() == 0 && tile.n == pattern.bn &&
         ::nm::canGatherUnits(pattern) &&
         op.getScheduleAttr().getTiling().block[2] < pattern.windowRows() &&
         ::nm::canGatherUnits({1, 2, rowsOfTile(op), pattern.bn});
}

namespace {
/// The rows of A that a tile takes of a kept unit: `count` from `first` on.
struct UnitRows {
  OpFoldResult first, count;
};
} // namespace

static UnitRows findRows(OpBuilder &builder, SparseProductOpInterface op,
                         Value unit, Value rowInUnit) {
  Location loc = op.getLoc();
  ::nm::Pattern pattern = op.getPattern();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value zero = constant(0);
  Value index = tensor::ExtractOp::create(builder, loc, op.getIndices(),
                                          ValueRange{zero, unit, zero});
  Value position =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), index);
  Value window =
      arith::DivUIOp::create(builder, loc, unit, constant(pattern.n));
  Value first = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, window,
                            constant(pattern.windowRows())),
      arith::MulIOp::create(builder, loc, position, constant(pattern.bk)));
  first = arith::AddIOp::create(builder, loc, first, rowInUnit);
  int64_t rows = rowsOfTile(op);
  int64_t k = op.getStaticK();
  if (k % pattern.windowRows() == 0)
    return {first, builder.getIndexAttr(rows)};
  // The last window is ragged. A unit past its end has no rows, from the first
  // on, where there are some to load in their place.
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, first, constant(k));
  first = arith::SelectOp::create(builder, loc, isInside, first, zero);
  Value rest = arith::SubIOp::create(builder, loc, constant(k), first);
  Value count = arith::MinUIOp::create(builder, loc, rest, constant(rows));
  count = arith::SelectOp::create(builder, loc, isInside, count, zero);
  return {first, count};
}

/// Where `source` is whole but for `dims`.
static Value
slice(OpBuilder &builder, Location loc, Value source,
      ArrayRef<std::tuple<int64_t, OpFoldResult, OpFoldResult>> dims) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  for (auto [dim, offset, size] : dims) {
    offsets[dim] = offset;
    sizes[dim] = size;
  }
  return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                        strides);
}

/// The product of tile `part`, which adds to `sums`.
static Value multiplyPart(OpBuilder &builder, SparseProductOpInterface op,
                          Value part, Value sums) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  ::nm::Pattern pattern = op.getPattern();
  int64_t rowsHere = rowsOfTile(op), parts = pattern.bk / rowsHere;
  Value unit = builder.createOrFold<arith::DivUIOp>(loc, part, constant(parts));
  Value row = arith::MulIOp::create(builder, loc, part, constant(rowsHere));
  Value rowInUnit =
      arith::RemUIOp::create(builder, loc, row, constant(pattern.bk));
  UnitRows rows = findRows(builder, op, unit, rowInUnit);
  // Rows stand once for each term of their weights.
  Value storedRow = row;
  if (op.countTerms() > 1)
    storedRow =
        arith::MulIOp::create(builder, loc, row, constant(op.countTerms()));
  IRMapping mapping;
  mapping.map(op.getA(), slice(builder, loc, op.getA(),
                               {{op.getKDimOfA(), rows.first, rows.count}}));
  mapping.map(op.getValues(),
              slice(builder, loc, op.getValues(),
                    {{1, storedRow,
                      builder.getIndexAttr(rowsHere * op.countTerms())}}));
  mapping.map(op.getIndices(), slice(builder, loc, op.getIndices(),
                                     {{1, unit, builder.getIndexAttr(1)}}));
  mapping.map(op.getC(), sums);
  Operation *product = builder.clone(*op, mapping);
  pattern.n = pattern.m = 1;
  pattern.bk = rowsHere;
  product->setAttr("pattern", PatternAttr::get(builder.getContext(), pattern));
  return product->getResult(0);
}

/// The product of tile `part`, which has several units of a window: one of
/// weights that keep just these of it.
static Value multiplyUnits(OpBuilder &builder, SparseProductOpInterface op,
                           Value part, Value sums) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  ::nm::Pattern pattern = op.getPattern();
  int64_t rows = rowsOfTile(op), units = rows / pattern.bk, k = op.getStaticK();
  Value window = builder.createOrFold<arith::DivUIOp>(
      loc, part, constant(pattern.n / units));
  Value first = arith::MulIOp::create(builder, loc, window,
                                      constant(pattern.windowRows()));
  OpFoldResult count = builder.getIndexAttr(pattern.windowRows());
  if (k % pattern.windowRows() != 0) {
    Value rest = arith::SubIOp::create(builder, loc, constant(k), first);
    count = Value(arith::MinUIOp::create(builder, loc, rest,
                                         constant(pattern.windowRows())));
  }
  auto sliceRows = [&](Value source, int64_t size) {
    Value from = arith::MulIOp::create(builder, loc, part, constant(size));
    return slice(builder, loc, source, {{1, from, builder.getIndexAttr(size)}});
  };
  IRMapping mapping;
  mapping.map(op.getA(), slice(builder, loc, op.getA(),
                               {{op.getKDimOfA(), first, count}}));
  mapping.map(op.getValues(), sliceRows(op.getValues(), rows));
  mapping.map(op.getIndices(), sliceRows(op.getIndices(), units));
  mapping.map(op.getC(), sums);
  Operation *product = builder.clone(*op, mapping);
  pattern.n = units;
  product->setAttr("pattern", PatternAttr::get(builder.getContext(), pattern));
  return product->getResult(0);
}

void mlir::nm::gatherUnits(RewriterBase &rewriter,
                           SparseProductOpInterface op) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  rewriter.setInsertionPoint(op);
  int64_t parts =
      op.getPattern().condensedRows(op.getStaticK()) / rowsOfTile(op);
  auto loop = scf::ForOp::create(
      rewriter, loc, constant(0), constant(parts), constant(1), op.getC(),
      [&](OpBuilder &builder, Location loc, Value part, ValueRange sums) {
        bool isOfUnits =
            hasBytes(op) && rowsOfTile(op) % op.getPattern().bk == 0;
        Value product = isOfUnits ? multiplyUnits(builder, op, part, sums[0])
                                  : multiplyPart(builder, op, part, sums[0]);
        scf::YieldOp::create(builder, loc, product);
      });
  rewriter.replaceOp(op, loop.getResults());
}
