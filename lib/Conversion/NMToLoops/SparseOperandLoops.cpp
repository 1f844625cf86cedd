//===- SparseOperandLoops.cpp - Sparse operands as loops ------------------===//

#include "SparseOperandLoops.h"

#include "QuantizedLoops.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;
using Emitted = EmittedIndex;

static constexpr int64_t kStepValues = SparseOperand::kStepValues;
static constexpr int64_t kStepGroups = SparseOperand::kStepGroups;
static constexpr int64_t kGroup = SparseOperand::kGroupRows;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value SparseOperandAccess::rows() {
  return emitter.mul(emitter.size(values, 1), kStepValues);
}

SmallVector<Value> SparseOperandAccess::placeOf(Value row, Value column) {
  Emitted inBlock{&emitter, emitter.rem(column, operand.columns())};
  Emitted inStep{&emitter, emitter.rem(row, kStepValues)};
  Value position = operand.positionOf<Emitted>({inBlock, inStep}).value;
  return {emitter.div(column, operand.columns()), emitter.div(row, kStepValues),
          position};
}

SmallVector<Value> SparseOperandAccess::loadSplits(Value row, Value column) {
  SmallVector<Value> place = placeOf(row, column), loaded;
  Value first = place[2];
  for (int64_t split = 0; split < operand.splits; ++split) {
    place[2] = emitter.add(first, split * operand.valuesOfStep());
    loaded.push_back(emitter.load(values, place));
  }
  return loaded;
}

Value SparseOperandAccess::value(Value row, Value column) {
  if (operand.splits > 1)
    return emitJoinFloats(emitter.builder, emitter.loc,
                          loadSplits(row, column));
  SmallVector<Value> place = placeOf(row, column);
  if (!operand.isQuantized())
    return emitter.load(values, place);
  return loadQuantized(emitter, values, place, operand.storedBits);
}

Value SparseOperandAccess::kOf(Value row, Value column) {
  Emitted inBlock{&emitter, emitter.rem(column, operand.columns())};
  Value group = emitter.div(row, 2);
  Emitted inStep{&emitter, emitter.rem(group, kStepGroups)};
  auto bits = operand.bitsOf<Emitted>({inBlock, inStep});
  Value byte = emitter.toIndex(
      emitter.load(indices, {emitter.div(column, operand.columns()),
                             emitter.div(row, kStepValues), bits.byte.value}));
  // Two bits for the first of a group, the next two for the second.
  Value shift =
      emitter.add(bits.shift.value, emitter.mul(emitter.rem(row, 2), 2));
  Value position = emitter.rem(
      emitter.builder.createOrFold<arith::ShRUIOp>(emitter.loc, byte, shift),
      kGroup);
  Value k = emitter.add(emitter.mul(group, kGroup), position);
  if (operand.splits == 1)
    return k;
  // A zero that fills a group up is multiplied with no row.
  Value isFilled =
      emitIsFilled(emitter.builder, emitter.loc,
                   ArrayRef(loadSplits(row, column)).take_front(2));
  return arith::SelectOp::create(emitter.builder, emitter.loc, isFilled,
                                 emitter.index(::nm::kMaxSize), k);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// What a column keeps of a group, as emitted: at most two condensed rows,
/// which a pattern that fits the form has at known places.
struct Kept {
  /// In the group; of 0 to 3 where `isKept`.
  Value position;
  /// Condensed.
  Value row;
  Value isKept;
};

class SparseOperandLoops {
public:
  SparseOperandLoops(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        operand(cast<SparseOperandAttr>(op.getPacking())
                    .getOperand(cast<ShapedType>(op.getValues().getType())
                                    .getElementType())) {}

  void packValues();
  void packMetadata();

private:
  Value choose(Value condition, Value then, Value otherwise) {
    return arith::SelectOp::create(emitter.builder, emitter.loc, condition,
                                   then, otherwise);
  }
  Value isEqual(Value a, Value b) {
    return arith::CmpIOp::create(emitter.builder, emitter.loc,
                                 arith::CmpIPredicate::eq, a, b);
  }
  Value packValue(ValueRange at, Value position);
  Value packByte(ValueRange at);
  void packSplits(ValueRange at);
  Value isKeptAt(ValueRange at, Value position, Value &row, Value &column);
  Value endsBehindWindows(Value group);
  Kept findKept(Value column, Value group, int64_t number);
  std::pair<Kept, Kept> findBoth(Value column, Value group);
  Value pairOf(Value column, Value group);

  LoopEmitter &emitter;
  PackOp op;
  ::nm::Pattern pattern;
  SparseOperand operand;
};
} // namespace

/// The first or second of the two rows that a group may keep: of one window
/// where it keeps two units, of one unit where that has two rows, and else of
/// the windows that the group begins and ends in.
Kept SparseOperandLoops::findKept(Value column, Value group, int64_t number) {
  Value first = emitter.mul(group, kGroup);
  bool isOfNextWindow = number == 1 && pattern.n == 1 && pattern.bk == 1;
  Value window =
      emitter.div(isOfNextWindow ? emitter.add(first, kGroup - 1) : first,
                  pattern.windowRows());
  Value unitRow =
      emitter.add(emitter.mul(window, pattern.n), pattern.n == 2 ? number : 0);
  int64_t rowInUnit = pattern.bk == 2 ? number : 0;
  Value exists =
      emitter.both(emitter.less(unitRow, emitter.size(op.getIndices(), 0)),
                   emitter.less(column, emitter.size(op.getValues(), 1)));
  if (isOfNextWindow) {
    Value isNext =
        emitter.less(emitter.div(first, pattern.windowRows()), window);
    exists = emitter.both(exists, isNext);
  }
  // Past the window where there is none.
  Value index = emitter.choose(
      exists,
      [&] {
        return emitter.toIndex(emitter.load(
            op.getIndices(), {unitRow, emitter.div(column, pattern.bn)}));
      },
      [&] { return emitter.index(pattern.m); });
  Value k = emitter.add(emitter.add(emitter.mul(window, pattern.windowRows()),
                                    emitter.mul(index, pattern.bk)),
                        rowInUnit);
  // Of rows before the group, the difference wraps to a large number.
  Value position = emitter.sub(k, first);
  Kept kept;
  kept.position = position;
  kept.row = emitter.add(emitter.mul(unitRow, pattern.bk), rowInUnit);
  kept.isKept =
      emitter.both(exists, emitter.less(position, emitter.index(kGroup)));
  return kept;
}

/// Whether the last window ends within `group`.
Value SparseOperandLoops::endsBehindWindows(Value group) {
  if (pattern.windowRows() % kGroup == 0)
    return arith::ConstantIntOp::create(emitter.builder, emitter.loc, 0, 1);
  Value windows = emitter.div(emitter.size(op.getIndices(), 0), pattern.n);
  return emitter.less(emitter.mul(windows, pattern.windowRows()),
                      emitter.mul(emitter.add(group, 1), kGroup));
}

/// The two that are stored. One that is kept alone is the first or second of
/// its pair, 0 and 1 or 2 and 3, and nothing is kept at the other. Where the
/// last window ends within the group, nothing is kept at 3: activations there
/// are zero, and one of a pruned weight may be infinite or NaN.
std::pair<Kept, Kept> SparseOperandLoops::findBoth(Value column, Value group) {
  Kept a = findKept(column, group, 0), b = findKept(column, group, 1);
  Value areBoth = emitter.both(a.isKept, b.isKept);
  Value isAny = emitter.either(a.isKept, b.isKept);
  Value position = choose(a.isKept, a.position,
                          choose(b.isKept, b.position, emitter.index(0)));
  Value row = choose(a.isKept, a.row, b.row);
  Value isLast = emitter.both(isAny, endsBehindWindows(group));
  Value inPair = emitter.rem(position, 2);
  Value pair = emitter.sub(position, inPair);
  Value place = choose(isLast, emitter.index(0), inPair);
  auto pick = [&](const Kept &ofTwo, int64_t number, Value ofLast) -> Kept {
    Value alone = choose(isLast, ofLast, emitter.add(pair, number));
    Value isHere = emitter.both(isAny, isEqual(place, emitter.index(number)));
    return {choose(areBoth, ofTwo.position, alone),
            choose(areBoth, ofTwo.row, row), emitter.either(areBoth, isHere)};
  };
  return {pick(a, 0, position), pick(b, 1, emitter.index(kGroup - 1))};
}

/// Whether a weight stands at `position` of the block and step that `at` begins
/// with; sets `row` and `column` to its place in the condensed values, to any
/// where there is none.
Value SparseOperandLoops::isKeptAt(ValueRange at, Value position, Value &row,
                                   Value &column) {
  auto place = operand.placeOf(Emitted{&emitter, position});
  column =
      emitter.add(emitter.mul(at[0], operand.columns()), place.column.value);
  Value group = emitter.add(emitter.mul(at[1], kStepGroups),
                            emitter.div(place.value.value, 2));
  auto [first, second] = findBoth(column, group);
  Value isFirst = isEqual(emitter.rem(place.value.value, 2), emitter.index(0));
  row = choose(isFirst, first.row, second.row);
  return choose(isFirst, first.isKept, second.isKept);
}

/// The condensed value, or zero, that stands at `position`.
Value SparseOperandLoops::packValue(ValueRange at, Value position) {
  Value row, column, isKept = isKeptAt(at, position, row, column);
  Type element = cast<ShapedType>(op.getValues().getType()).getElementType();
  return emitter.choose(
      isKept, [&] { return emitter.load(op.getValues(), {row, column}); },
      [&] { return emitter.zero(element); });
}

/// Stores the splits of the weight at `at`, or of a zero that fills a group up.
void SparseOperandLoops::packSplits(ValueRange at) {
  Value row, column, isKept = isKeptAt(at, at[2], row, column);
  Value value = emitter.choose(
      isKept, [&] { return emitter.load(op.getValues(), {row, column}); },
      [&] { return emitter.zero(emitter.builder.getF32Type()); });
  SmallVector<Value> splits = emitSplitFloats(emitter.builder, emitter.loc,
                                              value, operand.splits),
                     filled = emitFilledSplits(emitter.builder, emitter.loc,
                                               operand.splits);
  for (int64_t split = 0; split < operand.splits; ++split)
    emitter.store(
        choose(isKept, splits[split], filled[split]), op.getPackedValues(),
        {at[0], at[1], emitter.add(at[2], split * operand.valuesOfStep())});
}

/// The quantized values of the byte at `at`.
Value SparseOperandLoops::packByte(ValueRange at) {
  int64_t perByte = operand.valuesOfByte();
  SmallVector<Value> values;
  for (int64_t i = 0; i < perByte; ++i)
    values.push_back(
        packValue(at, emitter.add(emitter.mul(at[2], perByte), i)));
  return emitQuantizedByte(emitter, values, operand.storedBits);
}

void SparseOperandLoops::packValues() {
  if (operand.splits > 1) {
    SmallVector<Value> sizes = emitter.sizes(op.getPackedValues());
    sizes[2] = emitter.index(operand.valuesOfStep());
    return emitter.forEachInParallel(sizes,
                                     [&](ValueRange at) { packSplits(at); });
  }
  emitter.forEachInParallel(
      emitter.sizes(op.getPackedValues()), [&](ValueRange at) {
        emitter.store(operand.isQuantized() ? packByte(at)
                                            : packValue(at, at[2]),
                      op.getPackedValues(), at);
      });
}

/// The four bits of a group.
Value SparseOperandLoops::pairOf(Value column, Value group) {
  auto [first, second] = findBoth(column, group);
  return emitter.add(first.position, emitter.mul(second.position, kGroup));
}

void SparseOperandLoops::packMetadata() {
  emitter.forEachInParallel(
      emitter.sizes(op.getPackedIndices()), [&](ValueRange at) {
        Value byte;
        for (int64_t half : {0, 1}) {
          auto place = operand.groupOf(Emitted{&emitter, at[2]}, half);
          Value pair = pairOf(
              emitter.add(emitter.mul(at[0], operand.columns()),
                          place.column.value),
              emitter.add(emitter.mul(at[1], kStepGroups), place.group.value));
          byte = half == 0 ? pair : emitter.add(byte, emitter.mul(pair, 16));
        }
        Value bits = arith::IndexCastUIOp::create(
            emitter.builder, emitter.loc, emitter.builder.getI8Type(), byte);
        emitter.store(bits, op.getPackedIndices(), at);
      });
}

void mlir::nm::emitSparseOperand(LoopEmitter &emitter, PackOp op) {
  SparseOperandLoops loops(emitter, op);
  loops.packValues();
  loops.packMetadata();
}
