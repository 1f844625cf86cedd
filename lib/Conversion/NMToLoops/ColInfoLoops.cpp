//===- ColInfoLoops.cpp - Lists of the rows that columns use --------------===//

#include "ColInfoLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

SmallVector<Value> ColInfo::place(Value tile, Value window, Value number) {
  int64_t panels = packing.panelsOfTile(), groups = packing.groups(pattern);
  Value panel =
      emitter.add(emitter.mul(tile, panels), emitter.rem(number, panels));
  Value inPanel = emitter.div(number, panels);
  Value row =
      emitter.add(emitter.mul(window, pattern.n), emitter.div(inPanel, groups));
  return {panel, row, emitter.rem(inPanel, groups)};
}

Value ColInfo::loadPosition(Value indices, Value lists, Value unitRow,
                            Value column) {
  int64_t groups = packing.groups(pattern), panels = packing.panelsOfTile();
  Value panel = emitter.div(column, packing.panel);
  Value group = emitter.div(emitter.rem(column, packing.panel), pattern.bn);
  Value tile = emitter.div(panel, panels);
  Value window = emitter.div(unitRow, pattern.n);
  Value inPanel =
      emitter.add(emitter.mul(emitter.rem(unitRow, pattern.n), groups), group);
  Value number =
      emitter.add(emitter.mul(inPanel, panels), emitter.rem(panel, panels));
  Value entry =
      emitter.toIndex(emitter.load(indices, place(tile, window, number)));
  return emitter.toIndex(emitter.load(lists, place(tile, window, entry)));
}

namespace {
/// Emits the packing of one window of a tile.
class WindowLists {
public:
  WindowLists(LoopEmitter &emitter, PackOp op, Value tile, Value window)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        packing(cast<PackingAttr>(op.getPacking()).getPacking()),
        lists(emitter, pattern, packing), tile(tile), window(window) {}

  void emit();

private:
  Value useOf(Value position, Value entry);
  Value indexOf(Value number);
  Value toByte(Value index) {
    return arith::IndexCastUIOp::create(emitter.builder, emitter.loc,
                                        emitter.builder.getI8Type(), index);
  }
  Value choose(Value condition, Value then, Value otherwise) {
    return arith::SelectOp::create(emitter.builder, emitter.loc, condition,
                                   then, otherwise);
  }

  LoopEmitter &emitter;
  PackOp op;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  ColInfo lists;
  Value tile, window;
};
} // namespace

/// The condensed index `number` of the window, M where there is none.
Value WindowLists::indexOf(Value number) {
  int64_t groups = packing.groups(pattern), panels = packing.panelsOfTile();
  Value panel =
      emitter.add(emitter.mul(tile, panels), emitter.rem(number, panels));
  Value inPanel = emitter.div(number, panels);
  Value block =
      emitter.add(emitter.div(emitter.mul(panel, packing.panel), pattern.bn),
                  emitter.rem(inPanel, groups));
  Value unit =
      emitter.add(emitter.mul(window, pattern.n), emitter.div(inPanel, groups));
  return emitter.choose(
      emitter.less(block, emitter.size(op.getIndices(), 1)),
      [&] {
        return emitter.toIndex(emitter.load(op.getIndices(), {unit, block}));
      },
      [&] { return emitter.index(pattern.m); });
}

/// Whether units stand at `position`, which are numbered `entry`.
Value WindowLists::useOf(Value position, Value entry) {
  Value none = emitter.zero(emitter.builder.getI1Type());
  return emitter.reduce(
      emitter.index(lists.entries()), none, [&](Value number, Value used) {
        Value stands = arith::CmpIOp::create(emitter.builder, emitter.loc,
                                             arith::CmpIPredicate::eq,
                                             indexOf(number), position);
        emitter.onlyIf(stands, [&] {
          emitter.store(toByte(entry), op.getPackedIndices(),
                        lists.place(tile, window, number));
        });
        return emitter.either(used, stands);
      });
}

void WindowLists::emit() {
  Value entries = emitter.index(lists.entries());
  Value zero = emitter.index(0);
  emitter.forEach(entries, [&](ValueRange number) {
    emitter.store(toByte(zero), op.getPackedIndices(),
                  lists.place(tile, window, number[0]));
  });
  // The entries so far, and the position that is the last of them.
  SmallVector<Value> found = emitter.carry(
      emitter.index(pattern.m), {zero, zero},
      [&](Value position, ValueRange carried) -> SmallVector<Value> {
        Value used = useOf(position, carried[0]);
        emitter.onlyIf(used, [&] {
          emitter.store(toByte(position), op.getPackedLists(),
                        lists.place(tile, window, carried[0]));
        });
        return {choose(used, emitter.add(carried[0], 1), carried[0]),
                choose(used, position, carried[1])};
      });
  // Entries that no index names are read all the same.
  emitter.forEach(emitter.sub(entries, found[0]), [&](ValueRange number) {
    emitter.store(toByte(found[1]), op.getPackedLists(),
                  lists.place(tile, window, emitter.add(found[0], number[0])));
  });
}

void mlir::nm::emitIndicesAndLists(LoopEmitter &emitter, PackOp op) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  ::nm::PanelPacking packing = cast<PackingAttr>(op.getPacking()).getPacking();
  SmallVector<Value> sizes = emitter.sizes(op.getPackedIndices());
  Value tiles = emitter.div(sizes[0], packing.panelsOfTile());
  Value windows = emitter.div(sizes[1], pattern.n);
  emitter.forEachInParallel({tiles, windows}, [&](ValueRange at) {
    WindowLists(emitter, op, at[0], at[1]).emit();
  });
}
