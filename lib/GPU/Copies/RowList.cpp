//===- RowList.cpp - The rows of a tile that its columns use --------------===//

#include "GPU/Copies/RowList.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

void RowList::order(int64_t count) {
  int64_t windowsAtOnce = count / std::gcd(count, rowsOfWindow());
  slots = windows % windowsAtOnce == 0 ? count : rowsOfWindow();
}

/// high * factor + low, where low < factor, and the sum is below `bound`.
static OffsetIndex join(OffsetEmitter &index, const OffsetIndex &high,
                        int64_t factor, const OffsetIndex &low, int64_t bound) {
  if (high.bound == 1 && factor % low.bound == 0)
    return {low.base, low.bound, high.offset * factor + low.offset};
  return {index.materialize(index.add(index.scale(high, factor), low)), bound};
}

RowList::Place RowList::place(OpBuilder &builder, Location loc,
                              const OffsetIndex &number) const {
  OffsetEmitter index{builder, loc};
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
  Value unit = index.mul(position, pattern.bk);
  OffsetIndex firstRow = index.scale(window, pattern.windowRows()),
              unitStart = index.add(firstRow, inUnit);
  return {index.materialize(index.add(index.scale(window, ofWindow), row)),
          index.add(unit, index.materialize(unitStart)),
          index.materialize(firstRow),
          index.add(unit, index.materialize(inUnit))};
}

Value RowList::loadPosition(OpBuilder &builder, Location loc,
                            const OffsetIndex &window,
                            const OffsetIndex &entry) const {
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      loadByte(builder, loc, window, entry));
}

Value RowList::loadEntry(OpBuilder &builder, Location loc, Value number) const {
  OffsetEmitter index{builder, loc};
  auto [window, row] = index.split(index.toIndex(number), rowsOfWindow());
  Value byte =
      loadByte(builder, loc, {window, windows},
               {index.div(row, pattern.bk), packing.unitsOfList(pattern)});
  return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), byte);
}

Value RowList::getSourceRow(OpBuilder &builder, Location loc, Value number,
                            Value entry) const {
  IndexEmitter index{builder, loc};
  auto [window, row] = index.split(number, rowsOfWindow());
  Value unit = index.add(index.mul(window, pattern.windowRows()),
                         index.mul(entry, pattern.bk));
  return pattern.bk == 1 ? unit : index.add(unit, index.rem(row, pattern.bk));
}

Value RowList::loadByte(OpBuilder &builder, Location loc,
                        const OffsetIndex &window,
                        const OffsetIndex &entry) const {
  OffsetEmitter index{builder, loc};
  auto [inPanel, panel] = index.split(entry, packing.panelsOfTile());
  auto [unit, group] = index.split(inPanel, packing.groups(pattern));
  Value unitRow =
      index.materialize(index.add(index.scale(window, pattern.n), unit));
  // A partial tile lacks windows: the rows of A that an entry of its last names
  // there are past the end of A too. One without any has memory all the same.
  int64_t unitRows = cast<MemRefType>(list.getType()).getDimSize(1);
  if (ShapedType::isDynamic(unitRows) || unitRows < windows * pattern.n) {
    Value size = builder.createOrFold<memref::DimOp>(loc, list, 1);
    Value last = builder.createOrFold<arith::SubIOp>(loc, size, index.index(1));
    last = builder.createOrFold<arith::MaxSIOp>(loc, last, index.index(0));
    unitRow = arith::MinUIOp::create(builder, loc, unitRow, last);
  }
  return memref::LoadOp::create(
      builder, loc, list,
      ValueRange{index.materialize(panel), unitRow, index.materialize(group)});
}
