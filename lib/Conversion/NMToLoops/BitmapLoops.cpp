//===- BitmapLoops.cpp - Weights as bits and kept ones as loops -----------===//

#include "LoopWeightAccess.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/Bitmap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using Emitted = EmittedIndex;
using Run = BitmapForm::Run<EmittedIndex>;

/// The form of weights of `pattern` with packed values `values`.
static BitmapForm getForm(const ::nm::Pattern &pattern, Value values) {
  Type type = cast<ShapedType>(values.getType()).getElementType();
  return BitmapForm::of(pattern, type.getIntOrFloatBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A row of k that is not kept stands for one past all.
class BitmapAccess : public WeightAccess {
public:
  BitmapAccess(LoopEmitter &emitter, const ::nm::Pattern &pattern, Value values,
               Value indices)
      : emitter(emitter), form(getForm(pattern, values)), values(values),
        indices(indices) {}

  Value rows() override {
    return emitter.mul(emitter.size(values, 1), form.stepRows());
  }
  Value value(Value row, Value column) override;
  Value kOf(Value row, Value column) override;

private:
  /// The block and the step of a weight, its run, and its number there.
  struct Place {
    Value block, step;
    Run run;
    Emitted number;
  };
  Place placeOf(Value row, Value column);
  /// The bit of the row of number `number`, 0 or 1.
  Value loadBit(const Place &place, Value number);

  LoopEmitter &emitter;
  BitmapForm form;
  Value values, indices;
};
} // namespace

BitmapAccess::Place BitmapAccess::placeOf(Value row, Value column) {
  Emitted inBlock{&emitter, emitter.rem(column, BitmapForm::kColumns)},
      inStep{&emitter, emitter.rem(row, form.stepRows())};
  return {emitter.div(column, BitmapForm::kColumns),
          emitter.div(row, form.stepRows()),
          {inBlock, inStep / form.runRows},
          form.numberOf(inStep)};
}

Value BitmapAccess::loadBit(const Place &place, Value number) {
  auto [byte, shift] = form.bitOf(place.run, Emitted{&emitter, number});
  Value loaded = emitter.toIndex(
      emitter.load(indices, {place.block, place.step, byte.value}));
  return emitter.rem(emitter.builder.createOrFold<arith::ShRUIOp>(
                         emitter.loc, loaded, shift.value),
                     2);
}

/// As many values stand before it as rows of lesser numbers are kept.
Value BitmapAccess::value(Value row, Value column) {
  Place place = placeOf(row, column);
  Value slot = emitter.reduce(
      place.number.value, emitter.index(0), [&](Value number, Value before) {
        return emitter.add(before, loadBit(place, number));
      });
  // A pruned weight behind the last kept one has no slot.
  slot = emitter.least(slot, emitter.index(form.slots - 1));
  Value position = form.positionOf(place.run, Emitted{&emitter, slot}).value;
  return emitter.load(values, {place.block, place.step, position});
}

Value BitmapAccess::kOf(Value row, Value column) {
  Place place = placeOf(row, column);
  Value isKept =
      emitter.less(emitter.index(0), loadBit(place, place.number.value));
  return selectKeptRow(emitter, isKept, row);
}

std::unique_ptr<WeightAccess>
mlir::nm::getBitmapAccess(LoopEmitter &emitter, const ::nm::Pattern &pattern,
                          Value values, Value indices) {
  return std::make_unique<BitmapAccess>(emitter, pattern, values, indices);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
class BitmapLoops {
public:
  BitmapLoops(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        form(getForm(pattern, op.getPackedValues())) {}

  void emit();

private:
  Value findRow(Value k, Value column);
  void clear(ValueRange at, const Run &run);
  Value packRow(ValueRange at, const Run &run, Value number, Value slot);

  LoopEmitter &emitter;
  PackOp op;
  ::nm::Pattern pattern;
  BitmapForm form;
};
} // namespace

/// The condensed row that column `column` has of row `k`, or one past all.
Value BitmapLoops::findRow(Value k, Value column) {
  auto [window, inWindow] = emitter.split(k, pattern.windowRows());
  auto [position, inUnit] = emitter.split(inWindow, pattern.bk);
  Value first = emitter.mul(window, pattern.n);
  Value all = emitter.size(op.getValues(), 0);
  Value exists =
      emitter.both(emitter.less(first, emitter.size(op.getIndices(), 0)),
                   emitter.less(column, emitter.size(op.getValues(), 1)));
  return emitter.choose(
      exists,
      [&, position = position, inUnit = inUnit] {
        return emitter.reduce(
            emitter.index(pattern.n), all, [&](Value unit, Value found) {
              Value unitRow = emitter.add(first, unit);
              Value index = emitter.toIndex(emitter.load(
                  op.getIndices(), {unitRow, emitter.div(column, pattern.bn)}));
              Value isHere = arith::CmpIOp::create(emitter.builder, emitter.loc,
                                                   arith::CmpIPredicate::eq,
                                                   index, position);
              Value row = emitter.add(emitter.mul(unitRow, pattern.bk), inUnit);
              return arith::SelectOp::create(emitter.builder, emitter.loc,
                                             isHere, row, found)
                  .getResult();
            });
      },
      [&] { return all; });
}

/// Zero bits and values of a run.
void BitmapLoops::clear(ValueRange at, const Run &run) {
  Value byte = emitter.zero(emitter.builder.getI8Type());
  Value zero = emitter.zero(
      cast<ShapedType>(op.getPackedValues().getType()).getElementType());
  emitter.forEach(emitter.index(form.runRows), [&](ValueRange i) {
    Value place = form.bitOf(run, Emitted{&emitter, i[0]}).byte.value;
    emitter.store(byte, op.getPackedIndices(), {at[0], at[1], place});
  });
  emitter.forEach(emitter.index(form.slots), [&](ValueRange i) {
    Value place = form.positionOf(run, Emitted{&emitter, i[0]}).value;
    emitter.store(zero, op.getPackedValues(), {at[0], at[1], place});
  });
}

/// Stores the row of number `number` to slot `slot`, and gives the next slot.
Value BitmapLoops::packRow(ValueRange at, const Run &run, Value number,
                           Value slot) {
  Emitted counted{&emitter, number};
  Value k = emitter.add(emitter.mul(at[1], form.stepRows()),
                        form.rowOf(run.number, counted).value);
  Value column =
      emitter.add(emitter.mul(at[0], BitmapForm::kColumns), run.column.value);
  Value row = findRow(k, column);
  Value isKept = emitter.less(row, emitter.size(op.getValues(), 0));
  emitter.onlyIf(isKept, [&] {
    Value value = emitter.load(op.getValues(), {row, column});
    Value place = form.positionOf(run, Emitted{&emitter, slot}).value;
    emitter.store(value, op.getPackedValues(), {at[0], at[1], place});
    auto [byte, shift] = form.bitOf(run, counted);
    SmallVector<Value> byteAt = {at[0], at[1], byte.value};
    Value bit = emitter.builder.createOrFold<arith::ShLIOp>(
        emitter.loc, emitter.index(1), shift.value);
    Value low = arith::IndexCastUIOp::create(emitter.builder, emitter.loc,
                                             emitter.builder.getI8Type(), bit);
    emitter.store(
        emitter.either(emitter.load(op.getPackedIndices(), byteAt), low),
        op.getPackedIndices(), byteAt);
  });
  return emitter.add(slot, arith::SelectOp::create(emitter.builder, emitter.loc,
                                                   isKept, emitter.index(1),
                                                   emitter.index(0)));
}

void BitmapLoops::emit() {
  SmallVector<Value> sizes = emitter.sizes(op.getPackedValues());
  emitter.forEachTask(
      {sizes[0], sizes[1],
       emitter.index(BitmapForm::kColumns * BitmapForm::kRuns)},
      [&](ValueRange at) {
        auto [column, number] = emitter.split(at[2], BitmapForm::kRuns);
        Run run{{&emitter, column}, {&emitter, number}};
        clear(at, run);
        emitter.reduce(emitter.index(form.runRows), emitter.index(0),
                       [&](Value number, Value slot) {
                         return packRow(at, run, number, slot);
                       });
      });
}

void mlir::nm::emitBitmap(LoopEmitter &emitter, PackOp op) {
  BitmapLoops(emitter, op).emit();
}
