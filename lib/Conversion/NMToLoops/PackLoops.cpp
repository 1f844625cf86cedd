//===- PackLoops.cpp - nm.pack as loops -----------------------------------===//

#include "BitmapStringsLoops.h"
#include "ColInfoLoops.h"
#include "EllLoops.h"
#include "LoopWeightAccess.h"
#include "Patterns.h"
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

namespace {
/// Emits the packing of one weight to panels.
class PanelLoops {
public:
  PanelLoops(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        packing(cast<PackingAttr>(op.getPacking()).getPacking()) {}

  void emit() {
    if (packing.isQuantized())
      packQuantized();
    else
      packing.tileRows != 0 ? packTiles() : packValues();
    if (packing.hasLists())
      emitIndicesAndLists(emitter, op);
    else
      packIndices();
  }

private:
  void packValues() {
    emitter.forEachTask(
        emitter.sizes(op.getPackedValues()), [&](ValueRange position) {
          int64_t columns = packing.chunkColumns,
                  size = columns * packing.chunkRows;
          Value inChunk = emitter.rem(position[2], size);
          Value row = emitter.add(emitter.mul(position[1], packing.chunkRows),
                                  emitter.div(inChunk, columns));
          Value inPanel =
              emitter.add(emitter.mul(emitter.div(position[2], size), columns),
                          emitter.rem(inChunk, columns));
          Value column =
              emitter.add(emitter.mul(position[0], packing.panel), inPanel);
          Value element = emitter.loadOrZero(op.getValues(), {row, column});
          emitter.store(element, op.getPackedValues(), position);
        });
  }

  /// Bytes, of each of which the values are packed, or the zeros that fill up.
  void packQuantized() {
    ::nm::QuantizedSquares squares(packing, pattern);
    int64_t perByte = squares.valuesOfByte();
    emitter.forEachTask(
        emitter.sizes(op.getPackedValues()), [&](ValueRange position) {
          SmallVector<Value> values;
          for (int64_t i = 0; i < perByte; ++i) {
            Value value = emitter.add(emitter.mul(position[2], perByte), i);
            auto [row, inPanel] = squares.elementOf<EmittedIndex>(
                {{&emitter, position[1]}, {&emitter, value}});
            Value column = emitter.add(emitter.mul(position[0], packing.panel),
                                       inPanel.value);
            values.push_back(
                emitter.loadOrZero(op.getValues(), {row.value, column}));
          }
          emitter.store(emitQuantizedByte(emitter, values, packing.bits),
                        op.getPackedValues(), position);
        });
  }

  /// Zeros, which fill tiles up, and then the values.
  void packTiles() {
    Value packed = op.getPackedValues();
    SmallVector<Value> sizes = emitter.sizes(packed);
    Value zero =
        emitter.zero(cast<ShapedType>(packed.getType()).getElementType());
    emitter.forEachTask(sizes, [&](ValueRange position) {
      emitter.store(zero, packed, position);
    });
    Value rows = emitter.size(op.getValues(), 0);
    emitter.forEachTask(
        {sizes[0], rows, emitter.index(packing.panel)},
        [&](ValueRange position) {
          auto [line, place] = placeInTiles(emitter, packing, areBytes(packed),
                                            position[1], position[2]);
          Value column =
              emitter.add(emitter.mul(position[0], packing.panel), position[2]);
          Value element =
              emitter.loadOrZero(op.getValues(), {position[1], column});
          SmallVector<Value> splits = {element};
          if (packing.splits > 1)
            splits = emitSplitFloats(emitter.builder, emitter.loc, element,
                                     packing.splits);
          for (auto [split, value] : llvm::enumerate(splits))
            emitter.store(
                value, packed,
                {position[0],
                 emitter.add(line, int64_t(split) * packing.filledTileRows()),
                 place});
        });
  }

  /// Fields of one index row share bytes, so those are what runs in parallel.
  void packIndices() {
    SmallVector<Value> sizes = emitter.sizes(op.getPackedIndices());
    Value zero = emitter.zero(emitter.builder.getI8Type());
    Value units = emitter.size(op.getIndices(), 0);
    Value blocks = emitter.size(op.getIndices(), 1);
    Value groups = emitter.index(packing.groups(pattern));
    Value unitsOfRow = emitter.index(packing.indexRows);
    emitter.forEachTask({sizes[0], sizes[1]}, [&](ValueRange row) {
      emitter.forEach(sizes[2], [&](ValueRange byte) {
        emitter.store(zero, op.getPackedIndices(), {row[0], row[1], byte[0]});
      });
      Value firstBlock =
          emitter.div(emitter.mul(row[0], packing.panel), pattern.bn);
      Value firstUnit = emitter.mul(row[1], packing.indexRows);
      emitter.forEach({unitsOfRow, groups}, [&](ValueRange position) {
        Value stored = emitter.add(firstUnit, position[0]);
        Value unit = packing.rowOfStored(EmittedIndex{&emitter, stored}).value;
        Value block = emitter.add(firstBlock, position[1]);
        Value inside = emitter.both(emitter.less(unit, units),
                                    emitter.less(block, blocks));
        emitter.onlyIf(inside, [&] {
          Value index = emitter.load(op.getIndices(), {unit, block});
          storeField(row[0], unit, position[1], emitter.toIndex(index));
        });
      });
    });
  }

  /// Sets the bits of one index in bytes that are zero there.
  void storeField(Value panelNumber, Value unitRow, Value group, Value index) {
    OpBuilder &builder = emitter.builder;
    IndexField field =
        packing.hasBitmaps()
            ? IndexField::inBitmap(emitter, packing, pattern, unitRow, group,
                                   index)
            : IndexField::at(emitter, packing, pattern, unitRow, group);
    Value bits = packing.hasBitmaps() ? emitter.index(1) : index;
    Value word =
        builder.createOrFold<arith::ShLIOp>(emitter.loc, bits, field.shift);
    setBits({panelNumber, field.row, field.byte}, word);
    if (!fieldsStraddleBytes(packing.indexBits))
      return;
    Value straddles =
        emitter.less(emitter.index(8 - packing.indexBits), field.shift);
    emitter.onlyIf(straddles, [&] {
      setBits({panelNumber, field.row, field.nextByte}, emitter.div(word, 256));
    });
  }

  void setBits(ArrayRef<Value> at, Value word) {
    OpBuilder &builder = emitter.builder;
    Value low = arith::IndexCastUIOp::create(builder, emitter.loc,
                                             builder.getI8Type(), word);
    Value before = emitter.load(op.getPackedIndices(), at);
    emitter.store(emitter.either(before, low), op.getPackedIndices(), at);
  }

  LoopEmitter &emitter;
  PackOp op;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
};

/// Emits the packing of one weight.
class PackLoops {
public:
  PackLoops(LoopEmitter &emitter, PackOp op) : emitter(emitter), op(op) {}

  void emit() {
    if (isa<SparseOperandAttr>(op.getPacking()))
      emitSparseOperand(emitter, op);
    else if (isa<BitmapAttr>(op.getPacking()))
      ::nm::BitmapStrings::isOf(op.getPattern().getPattern())
          ? emitBitmapStrings(emitter, op)
          : emitBitmap(emitter, op);
    else if (isa<ColumnsAttr>(op.getPacking()))
      emitColumns(emitter, op);
    else if (isa<BitmapPanelsAttr>(op.getPacking()))
      emitBitmapPanels(emitter, op);
    else if (isa<EllAttr>(op.getPacking()))
      emitEll(emitter, op);
    else
      PanelLoops(emitter, op).emit();
  }

private:
  LoopEmitter &emitter;
  PackOp op;
};
} // namespace

void mlir::nm::populatePackLoops(RewritePatternSet &patterns, bool parallel) {
  patterns.add<OpToLoops<PackOp, PackLoops>>(patterns.getContext(), parallel);
}
