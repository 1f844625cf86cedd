//===- BitmapStringsLoops.cpp - Weights kept anywhere, as bits ------------===//

#include "BitmapStringsLoops.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/BitmapStrings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using ::nm::BitmapStrings;
using Emitted = EmittedIndex;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A row of k that is not kept stands for one past all.
class StringsAccess : public WeightAccess {
public:
  StringsAccess(LoopEmitter &emitter, Value values, Value indices)
      : emitter(emitter), values(values), indices(indices) {}

  Value rows() override {
    return emitter.mul(emitter.size(values, 1), BitmapStrings::kStepRows);
  }
  Value value(Value row, Value column) override;
  Value kOf(Value row, Value column) override;

private:
  /// The slice and the step of a weight, its column there, its run, and its
  /// number in that.
  struct Place {
    Value slice, step;
    Emitted column, run, number;
  };
  Place placeOf(Value row, Value column);
  Value loadBit(const Place &place, Value column, Value number);
  Value countBits(const Place &place, Value column, Value numbers,
                  Value before);

  LoopEmitter &emitter;
  Value values, indices;
};
} // namespace

StringsAccess::Place StringsAccess::placeOf(Value row, Value column) {
  auto [slice, inSlice] = emitter.split(column, BitmapStrings::kColumns);
  auto [step, inStep] = emitter.split(row, BitmapStrings::kStepRows);
  Emitted rowOfStep{&emitter, inStep};
  return {slice,
          step,
          {&emitter, inSlice},
          BitmapStrings::runOfRow(rowOfStep),
          BitmapStrings::numberOf(rowOfStep)};
}

/// The bit of a row of the place's run of column `column` of its slice.
Value StringsAccess::loadBit(const Place &place, Value column, Value number) {
  auto [byte, shift] = BitmapStrings::bitOf(
      Emitted{&emitter, column}, place.run, Emitted{&emitter, number});
  Value loaded = emitter.toIndex(
      emitter.load(indices, {place.slice, place.step, byte.value}));
  return emitter.rem(emitter.builder.createOrFold<arith::ShRUIOp>(
                         emitter.loc, loaded, shift.value),
                     2);
}

/// `before`, and the bits of the first `numbers` rows of a run.
Value StringsAccess::countBits(const Place &place, Value column, Value numbers,
                               Value before) {
  return emitter.reduce(numbers, before, [&](Value number, Value count) {
    return emitter.add(count, loadBit(place, column, number));
  });
}

/// The values in front of a weight are those of the kept rows of lesser numbers
/// and, in the second block, those of all kept rows of the column that has the
/// string in the first block.
Value StringsAccess::value(Value row, Value column) {
  Place place = placeOf(row, column);
  auto [block, inBlock] =
      emitter.split(place.column.value, BitmapForm::kColumns);
  Value before =
      countBits(place, inBlock, emitter.mul(block, BitmapStrings::kRunRows),
                emitter.index(0));
  Value slot = countBits(place, place.column.value, place.number.value, before);
  // A pruned weight behind the last kept one has no slot.
  slot = emitter.least(slot, emitter.index(BitmapStrings::kSlots - 1));
  Value position = BitmapStrings::positionOf(place.column, place.run,
                                             Emitted{&emitter, slot})
                       .value;
  return emitter.load(values, {place.slice, place.step, position});
}

Value StringsAccess::kOf(Value row, Value column) {
  Place place = placeOf(row, column);
  Value isKept = emitter.less(
      emitter.index(0), loadBit(place, place.column.value, place.number.value));
  return selectKeptRow(emitter, isKept, row);
}

std::unique_ptr<WeightAccess>
mlir::nm::getBitmapStringsAccess(LoopEmitter &emitter, Value values,
                                 Value indices) {
  return std::make_unique<StringsAccess>(emitter, values, indices);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// Packs one step of a slice.
class StepLoops {
public:
  StepLoops(LoopEmitter &emitter, PackOp op, ValueRange at)
      : emitter(emitter), op(op), slice(at[0]), step(at[1]) {}

  void emit();

private:
  void clear(Value memref);
  Value packString(Value column, Value run);
  Value packRow(Emitted column, Emitted run, Value number, Value slot);
  void storeBit(Emitted column, Emitted run, Emitted number);

  LoopEmitter &emitter;
  PackOp op;
  Value slice, step;
};
} // namespace

void StepLoops::clear(Value memref) {
  Value zero =
      emitter.zero(cast<ShapedType>(memref.getType()).getElementType());
  emitter.forEach({emitter.size(memref, 2)}, [&](ValueRange at) {
    emitter.store(zero, memref, {slice, step, at[0]});
  });
}

void StepLoops::storeBit(Emitted column, Emitted run, Emitted number) {
  auto [byte, shift] = BitmapStrings::bitOf(column, run, number);
  Value bit = emitter.builder.createOrFold<arith::ShLIOp>(
      emitter.loc, emitter.index(1), shift.value);
  SmallVector<Value> at = {slice, step, byte.value};
  emitter.store(emitter.either(emitter.load(op.getPackedIndices(), at),
                               emitter.asByte(bit)),
                op.getPackedIndices(), at);
}

/// Stores a row's value to slot `slot`, if it is not zero, and gives the next
/// slot.
Value StepLoops::packRow(Emitted column, Emitted run, Value number,
                         Value slot) {
  Emitted counted{&emitter, number};
  Value k = emitter.add(emitter.mul(step, BitmapStrings::kStepRows),
                        BitmapStrings::rowOf(run, counted).value),
        n = emitter.add(emitter.mul(slice, BitmapStrings::kColumns),
                        column.value);
  Value value = emitter.loadOrZero(op.getValues(), {k, n});
  Value isKept = emitter.isNonZero(value);
  emitter.onlyIf(isKept, [&] {
    Value place =
        BitmapStrings::positionOf(column, run, Emitted{&emitter, slot}).value;
    emitter.store(value, op.getPackedValues(), {slice, step, place});
    storeBit(column, run, counted);
  });
  return emitter.add(slot, arith::IndexCastUIOp::create(
                               emitter.builder, emitter.loc,
                               emitter.builder.getIndexType(), isKept));
}

/// Packs the string of run `run` of column `column` of the first block, and of
/// that of the second, and gives its length.
Value StepLoops::packString(Value column, Value run) {
  return emitter.reduce(
      emitter.index(BitmapStrings::kBlocks), emitter.index(0),
      [&](Value block, Value slot) {
        Value ofSlice =
            emitter.add(emitter.mul(block, BitmapForm::kColumns), column);
        return emitter.reduce(emitter.index(BitmapStrings::kRunRows), slot,
                              [&](Value number, Value slot) {
                                return packRow({&emitter, ofSlice},
                                               {&emitter, run}, number, slot);
                              });
      });
}

void StepLoops::emit() {
  clear(op.getPackedValues());
  clear(op.getPackedIndices());
  Value most = emitter.reduce(
      emitter.index(BitmapForm::kColumns * BitmapForm::kRuns), emitter.index(0),
      [&](Value string, Value most) {
        auto [column, run] = emitter.split(string, BitmapForm::kRuns);
        return arith::MaxUIOp::create(emitter.builder, emitter.loc, most,
                                      packString(column, run))
            .getResult();
      });
  emitter.store(emitter.asByte(most), op.getPackedIndices(),
                {slice, step, emitter.index(BitmapStrings::kCountByte)});
}

void mlir::nm::emitBitmapStrings(LoopEmitter &emitter, PackOp op) {
  Value values = op.getPackedValues();
  emitter.forEachTask(
      {emitter.size(values, 0), emitter.size(values, 1)},
      [&](ValueRange at) { StepLoops(emitter, op, at).emit(); });
}
