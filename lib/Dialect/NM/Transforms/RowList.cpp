//===- RowList.cpp - The rows of a tile that its columns use --------------===//

#include "RowList.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Leaves `op` its indices, and gives the lists that stand behind them.
static RowList splitLists(SpMMOp op, const GpuTile &tile) {
  OpBuilder builder(op);
  ::nm::Pattern pattern = op.getPattern().getPattern();
  ::nm::PanelPacking packing = op.getPackingAttr().getPacking();
  Value both = op.getIndices();
  SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0)),
      strides(3, builder.getIndexAttr(1)),
      sizes = memref::getMixedSizes(builder, op.getLoc(), both);
  // Tiles are filled up, so that all have as many panels.
  sizes[0] = builder.getIndexAttr(packing.panelsOfTile());
  auto slice = [&] {
    return memref::SubViewOp::create(builder, op.getLoc(), both, offsets, sizes,
                                     strides);
  };
  Value indices = slice();
  offsets[0] = sizes[0];
  Value list = slice();
  op.getIndicesMutable().assign(indices);
  op.setPackingAttr(
      PackingAttr::get(builder.getContext(), packing.withoutColInfo()));
  return RowList(list, pattern, packing, tile.k / pattern.windowRows(),
                 /*dim=*/op.getTransposeA() ? 0 : 1);
}

FailureOr<std::optional<RowList>> RowList::takeFrom(SpMMOp op,
                                                    const GpuTile &tile) {
  PackingAttr packing = op.getPackingAttr();
  int64_t columns = packing ? packing.getColInfo() : 0;
  auto simt = dyn_cast<SimtScheduleAttr>(op.getScheduleAttr());
  if (columns == 0 && simt && simt.packsRows())
    return op.emitOpError() << "expected weights with col_info, as "
                               "nm-pack-weights makes them where the schedule "
                               "says pack = true";
  if (columns == 0)
    return std::optional<RowList>();
  if (columns != tile.n)
    return op.emitOpError() << "expected col_info of the block tile's "
                            << tile.n << " columns, but got " << packing;
  return std::optional<RowList>(splitLists(op, tile));
}

void RowList::order(int64_t count) {
  int64_t windowsAtOnce = count / std::gcd(count, rowsOfWindow());
  slots = windows % windowsAtOnce == 0 ? count : rowsOfWindow();
}

/// high * factor + low, where low < factor, and the sum is below `bound`.
static OffsetIndex join(IndexBuilder &index, const OffsetIndex &high,
                        int64_t factor, const OffsetIndex &low, int64_t bound) {
  if (high.bound == 1 && factor % low.bound == 0)
    return {low.base, low.bound, high.offset * factor + low.offset};
  return {index.materialize(index.add(index.scale(high, factor), low)), bound};
}

RowList::Place RowList::place(OpBuilder &builder, Location loc,
                              const OffsetIndex &number) const {
  IndexBuilder index(builder, loc);
  // Of the rows that are copied at once, as many are in one window as divide
  // its rows. The next ones are further on in the same windows, and then in
  // windows after those: neither moves a thread between panels of the list.
  int64_t ofWindow = rowsOfWindow(), inOne = std::gcd(slots, ofWindow);
  auto [round, slot] = index.split(number, slots);
  auto [windowRound, rowRound] = index.split(round, ofWindow / inOne);
  auto [slotWindow, slotRow] = index.split(slot, inOne);
  OffsetIndex window =
      join(index, windowRound, slots / inOne, slotWindow, windows);
  OffsetIndex row = join(index, rowRound, inOne, slotRow, ofWindow);
  auto [entry, inUnit] = index.split(row, pattern.bk);
  Value position = loadPosition(builder, loc, window, entry);
  OffsetIndex unitStart =
      index.add(index.scale(window, pattern.windowRows()), inUnit);
  return {
      index.materialize(index.add(index.scale(window, ofWindow), row)),
      index.add(index.mul(position, pattern.bk), index.materialize(unitStart))};
}

Value RowList::loadPosition(OpBuilder &builder, Location loc,
                            const OffsetIndex &window,
                            const OffsetIndex &entry) const {
  IndexBuilder index(builder, loc);
  auto [inPanel, panel] = index.split(entry, packing.panelsOfTile());
  auto [unit, group] = index.split(inPanel, packing.groups(pattern));
  Value unitRow =
      index.materialize(index.add(index.scale(window, pattern.n), unit));
  // A ragged tile lacks windows: the rows of A that an entry of its last names
  // there are past the end of A too. One without any has memory all the same.
  if (cast<MemRefType>(list.getType()).isDynamicDim(1)) {
    Value size = builder.createOrFold<memref::DimOp>(loc, list, 1);
    Value last =
        builder.createOrFold<arith::SubIOp>(loc, size, index.constant(1));
    last = builder.createOrFold<arith::MaxSIOp>(loc, last, index.constant(0));
    unitRow = arith::MinUIOp::create(builder, loc, unitRow, last);
  }
  Value position = memref::LoadOp::create(
      builder, loc, list,
      ValueRange{index.materialize(panel), unitRow, index.materialize(group)});
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      position);
}
