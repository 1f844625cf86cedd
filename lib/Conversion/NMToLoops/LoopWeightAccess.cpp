//===- LoopWeightAccess.cpp - Reads condensed and packed weights ----------===//

#include "LoopWeightAccess.h"

#include "BitmapStringsLoops.h"
#include "ColInfoLoops.h"
#include "EllLoops.h"
#include "QuantizedLoops.h"
#include "SparseOperandLoops.h"
#include "UnstructuredLoops.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/BitmapStrings.h"
#include "nm/Format/QuantizedSquares.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

/// The place in an index row of byte `byte` of a group's string, as
/// PanelPacking::byteOfGroup.
static Value offsetInWords(LoopEmitter &emitter, int64_t bytes, int64_t groups,
                           Value group, Value byte) {
  constexpr int64_t kWidest = 16;
  // Bytes of the widest words; each narrower one after them has its own case.
  int64_t wide = bytes / kWidest * kWidest;
  Value inWord = emitter.rem(byte, kWidest);
  Value place = emitter.add(emitter.mul(emitter.sub(byte, inWord), groups),
                            emitter.add(emitter.mul(group, kWidest), inWord));
  for (int64_t begin = wide; begin < bytes;) {
    int64_t word = ::nm::indexWordBytes(bytes, begin);
    Value here =
        emitter.add(emitter.add(emitter.mul(group, word), groups * begin),
                    emitter.sub(byte, emitter.index(begin)));
    place = arith::SelectOp::create(emitter.builder, emitter.loc,
                                    emitter.less(byte, emitter.index(begin)),
                                    place, here);
    begin += word;
  }
  return place;
}

IndexField IndexField::at(LoopEmitter &emitter,
                          const ::nm::PanelPacking &packing,
                          const ::nm::Pattern &pattern, Value unitRow,
                          Value group) {
  Value number =
      packing.indexRows > 1 ? emitter.rem(unitRow, packing.indexRows) : group;
  return atBit(emitter, packing, pattern, unitRow, group,
               emitter.mul(number, packing.indexBits));
}

IndexField IndexField::inBitmap(LoopEmitter &emitter,
                                const ::nm::PanelPacking &packing,
                                const ::nm::Pattern &pattern, Value unitRow,
                                Value group, Value index) {
  EmittedIndex bit = packing.bitOfBitmap(
      pattern, EmittedIndex{&emitter, unitRow}, EmittedIndex{&emitter, index});
  return atBit(emitter, packing, pattern, unitRow, group, bit.value);
}

IndexField IndexField::atBit(LoopEmitter &emitter,
                             const ::nm::PanelPacking &packing,
                             const ::nm::Pattern &pattern, Value unitRow,
                             Value group, Value bit) {
  Value stored = packing.storedRow(EmittedIndex{&emitter, unitRow}).value;
  Value byte = emitter.div(bit, 8), next = emitter.add(byte, 1);
  if (packing.indexRows > 1)
    for (Value *place : {&byte, &next})
      *place = offsetInWords(emitter, packing.bytesPerGroup(pattern),
                             packing.groups(pattern), group, *place);
  return {emitter.div(stored, packing.indexRows), byte, next,
          emitter.rem(bit, 8)};
}

bool mlir::nm::areBytes(Value values) {
  return cast<ShapedType>(values.getType()).getElementTypeBitWidth() == 8;
}

/// As PanelPacking::positionInTiles.
std::array<Value, 2> mlir::nm::placeInTiles(LoopEmitter &emitter,
                                            const ::nm::PanelPacking &packing,
                                            bool areBytes, Value keptRow,
                                            Value column) {
  constexpr int64_t kPanel = ::nm::PanelPacking::kTilePanel,
                    kChunk = ::nm::PanelPacking::kTileChunk;
  int64_t filled = packing.filledTileRows();
  Value row = packing.storedRow(EmittedIndex{&emitter, keptRow}).value;
  Value inTile = emitter.rem(row, packing.tileRows);
  Value in16 = emitter.rem(column, 2 * kChunk);
  Value inPanel = emitter.rem(column, kPanel);
  Value chunk = emitter.add(emitter.mul(emitter.div(inPanel, 2 * kChunk), 2),
                            emitter.rem(in16, 2));
  Value panel = emitter.mul(emitter.div(column, kPanel), filled), place;
  if (areBytes) {
    constexpr int64_t kRows = ::nm::PanelPacking::kByteChunk;
    Value inOrder =
        emitter.add(emitter.mul(chunk, kChunk), emitter.div(in16, 2));
    Value ofChunk =
        emitter.add(emitter.mul(emitter.div(inTile, kRows), kPanel), inOrder);
    place = emitter.add(
        emitter.mul(panel, kPanel),
        emitter.add(emitter.mul(ofChunk, kRows), emitter.rem(inTile, kRows)));
  } else {
    Value swizzled = arith::XOrIOp::create(emitter.builder, emitter.loc, chunk,
                                           emitter.rem(inTile, 8));
    place = emitter.add(
        emitter.mul(emitter.add(panel, inTile), kPanel),
        emitter.add(emitter.mul(swizzled, kChunk), emitter.div(in16, 2)));
  }
  Value tile =
      emitter.mul(emitter.div(row, packing.tileRows), packing.storedTileRows());
  return {emitter.add(tile, emitter.div(place, packing.panel)),
          emitter.rem(place, packing.panel)};
}

namespace {
/// Weights that are condensed, or packed in panels.
class PanelAccess : public WeightAccess {
public:
  PanelAccess(LoopEmitter &emitter, const ::nm::Pattern &pattern,
              PackingAttr packing, Value values, Value indices, Value lists)
      : emitter(emitter), pattern(pattern), packing(packing), values(values),
        indices(indices), lists(lists) {}

  Value rows() override;
  Value value(Value row, Value column) override;
  Value kOf(Value row, Value column) override;

private:
  /// The position in its window of the unit that holds (row, column).
  Value unitPosition(Value row, Value column);
  Value loadField(Value panel, Value unitRow, Value group);
  Value loadFromBitmap(Value panel, Value unitRow, Value group);

  LoopEmitter &emitter;
  ::nm::Pattern pattern;
  /// Null for condensed weights.
  PackingAttr packing;
  Value values, indices;
  /// Null where there are none.
  Value lists;
};
} // namespace

Value mlir::nm::selectKeptRow(LoopEmitter &emitter, Value isKept, Value row) {
  return arith::SelectOp::create(emitter.builder, emitter.loc, isKept, row,
                                 emitter.index(::nm::kMaxSize));
}

std::unique_ptr<WeightAccess> WeightAccess::get(LoopEmitter &emitter,
                                                const ::nm::Pattern &pattern,
                                                PackedFormAttrInterface form,
                                                Value values, Value indices,
                                                Value lists) {
  if (auto operand = dyn_cast_if_present<SparseOperandAttr>(form))
    return std::make_unique<SparseOperandAccess>(emitter, operand, values,
                                                 indices);
  if (isa_and_present<BitmapAttr>(form))
    return ::nm::BitmapStrings::isOf(pattern)
               ? getBitmapStringsAccess(emitter, values, indices)
               : getBitmapAccess(emitter, pattern, values, indices);
  if (auto columns = dyn_cast_if_present<ColumnsAttr>(form))
    return getColumnsAccess(emitter, columns, values, indices, lists);
  if (auto panels = dyn_cast_if_present<BitmapPanelsAttr>(form))
    return getBitmapPanelsAccess(emitter, panels, values, indices, lists);
  if (auto ell = dyn_cast_if_present<EllAttr>(form))
    return getEllAccess(emitter, ell, values, indices);
  return std::make_unique<PanelAccess>(emitter, pattern,
                                       cast_if_present<PackingAttr>(form),
                                       values, indices, lists);
}

Value PanelAccess::rows() {
  if (!packing)
    return emitter.size(values, 0);
  Value stored = emitter.size(values, 1);
  ::nm::PanelPacking panel = packing.getPacking();
  if (panel.isQuantized())
    return emitter.mul(emitter.size(indices, 1), pattern.bk);
  if (panel.tileRows != 0)
    return emitter.mul(emitter.div(stored, panel.storedTileRows()),
                       panel.tileRows);
  return emitter.mul(stored, packing.getChunkRows());
}

Value PanelAccess::value(Value row, Value column) {
  if (!packing)
    return emitter.load(values, {row, column});
  int64_t panel = packing.getPanel(), rows = packing.getChunkRows(),
          columns = packing.getChunkColumns();
  Value inPanel = emitter.rem(column, panel);
  if (packing.getBits() != 0) {
    ::nm::QuantizedSquares squares(packing.getPacking(), pattern);
    auto [square, value] =
        squares.offsetOf<EmittedIndex>({{&emitter, row}, {&emitter, inPanel}});
    return loadQuantized(
        emitter, values,
        {emitter.div(column, panel), square.value, value.value},
        packing.getBits());
  }
  if (packing.getTileRows() != 0) {
    auto [line, place] = placeInTiles(emitter, packing.getPacking(),
                                      areBytes(values), row, inPanel);
    int64_t splits = packing.getSplits(),
            filled = packing.getPacking().filledTileRows();
    SmallVector<Value> loaded;
    for (int64_t split = 0; split < splits; ++split)
      loaded.push_back(
          emitter.load(values, {emitter.div(column, panel),
                                emitter.add(line, split * filled), place}));
    return splits == 1 ? loaded.front()
                       : emitJoinFloats(emitter.builder, emitter.loc, loaded);
  }
  Value chunk = emitter.mul(emitter.div(inPanel, columns), rows * columns);
  Value inChunk = emitter.add(emitter.mul(emitter.rem(row, rows), columns),
                              emitter.rem(inPanel, columns));
  return emitter.load(values,
                      {emitter.div(column, panel), emitter.div(row, rows),
                       emitter.add(chunk, inChunk)});
}

Value PanelAccess::kOf(Value row, Value column) {
  Value position = unitPosition(row, column);
  Value window = emitter.div(row, pattern.keptRows());
  Value unit = emitter.add(emitter.mul(window, pattern.windowRows()),
                           emitter.mul(position, pattern.bk));
  return emitter.add(unit, emitter.rem(row, pattern.bk));
}

Value PanelAccess::unitPosition(Value row, Value column) {
  Value unitRow = emitter.div(row, pattern.bk);
  if (!packing)
    return emitter.toIndex(
        emitter.load(indices, {unitRow, emitter.div(column, pattern.bn)}));
  if (lists)
    return ColInfo(emitter, pattern, packing.getPacking())
        .loadPosition(indices, lists, unitRow, column);
  int64_t panel = packing.getPanel();
  return loadField(emitter.div(column, panel), unitRow,
                   emitter.div(emitter.rem(column, panel), pattern.bn));
}

Value PanelAccess::loadField(Value panel, Value unitRow, Value group) {
  int64_t bits = packing.getIndexBits();
  if (bits == 0)
    return loadFromBitmap(panel, unitRow, group);
  IndexField field =
      IndexField::at(emitter, packing.getPacking(), pattern, unitRow, group);
  auto loadByte = [&](Value byte) {
    return emitter.toIndex(emitter.load(indices, {panel, field.row, byte}));
  };
  Value word = loadByte(field.byte);
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  if (fieldsStraddleBytes(bits)) {
    // The next byte may not exist where the field ends in this one.
    Value straddles = emitter.less(emitter.index(8 - bits), field.shift);
    Value high = emitter.choose(
        straddles, [&] { return emitter.mul(loadByte(field.nextByte), 256); },
        [&] { return emitter.index(0); });
    word = emitter.add(word, high);
  }
  Value shifted = builder.createOrFold<arith::ShRUIOp>(loc, word, field.shift);
  return emitter.rem(shifted, int64_t(1) << bits);
}

/// The position of the kept unit that as many of the window stand before as
/// unit rows before this one: so many positions are those up to which no more
/// are kept.
Value PanelAccess::loadFromBitmap(Value panel, Value unitRow, Value group) {
  constexpr int64_t kCounts = 2 * ::nm::PanelPacking::kMaxBits;
  Value before = emitter.rem(unitRow, pattern.n);
  // Kept units so far, and kCounts times the positions.
  Value both = emitter.reduce(
      emitter.index(pattern.m), emitter.index(0),
      [&](Value index, Value carried) {
        IndexField field = IndexField::inBitmap(emitter, packing.getPacking(),
                                                pattern, unitRow, group, index);
        Value byte = emitter.toIndex(
            emitter.load(indices, {panel, field.row, field.byte}));
        Value bit = emitter.rem(emitter.builder.createOrFold<arith::ShRUIOp>(
                                    emitter.loc, byte, field.shift),
                                2);
        Value next = emitter.add(carried, bit);
        Value isPast = emitter.less(before, emitter.rem(next, kCounts));
        return emitter.add(next, arith::SelectOp::create(
                                     emitter.builder, emitter.loc, isPast,
                                     emitter.index(0), emitter.index(kCounts)));
      });
  // Of a window that is padding, which has no bits, the last.
  return emitter.least(emitter.div(both, kCounts),
                       emitter.index(pattern.m - 1));
}
