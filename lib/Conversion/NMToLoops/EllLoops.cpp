//===- EllLoops.cpp - Columns of weights, rows or gaps, as loops ----------===//
//
// The slices of 32 columns are packed each by itself, in two passes: the first
// counts what columns take, the second stores.
//
//===----------------------------------------------------------------------===//

#include "EllLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "nm/Dialect/NM/IR/EmittedIndex.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::EllForm;

namespace {
/// Where a weight of a column stands: of one of a slice, the step and the place
/// in it of its value, and the byte and the bit of its gap or row.
struct EllPlace {
  Value slice, step, value, byte, shift;

  static EllPlace get(LoopEmitter &emitter, const EllForm &form,
                      int64_t elementBytes, Value slice, Value lane,
                      Value number) {
    auto [step, weight] = emitter.split(number, EllForm::kWeights);
    auto placeOf = [&, weight = weight](int64_t bytes) {
      return EllForm::placeOf(EmittedIndex{&emitter, lane},
                              EmittedIndex{&emitter, weight}, bytes)
          .value;
    };
    Value value = placeOf(elementBytes);
    if (form.hasRows())
      return {slice, step, value,
              emitter.mul(placeOf(EllForm::kRowBytes), EllForm::kRowBytes),
              emitter.index(0)};
    Value bit = emitter.mul(weight, form.bits);
    return {slice, step, value,
            emitter.add(emitter.mul(lane, form.columnGapBytes()),
                        emitter.div(bit, 8)),
            emitter.rem(bit, 8)};
  }
};
} // namespace

static int64_t countBytes(Value values) {
  return cast<ShapedType>(values.getType()).getElementTypeBitWidth() / 8;
}

static Value equal(LoopEmitter &emitter, Value a, Value b) {
  return arith::CmpIOp::create(emitter.builder, emitter.loc,
                               arith::CmpIPredicate::eq, a, b);
}

/// The values that `body` gives for `carried` if `condition` holds, else
/// `carried`: a loop of one turn or none.
static SmallVector<Value>
carryIf(LoopEmitter &emitter, Value condition, ValueRange carried,
        function_ref<SmallVector<Value>(ValueRange)> body) {
  Value turns = arith::IndexCastUIOp::create(
      emitter.builder, emitter.loc, emitter.builder.getIndexType(), condition);
  return emitter.carry(
      turns, carried, [&](Value, ValueRange carried) { return body(carried); });
}

namespace {
/// Packs the weights of one nm.pack.
class EllPacker {
public:
  EllPacker(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op),
        form(cast<EllAttr>(op.getPacking()).getForm()),
        bytes(countBytes(op.getPackedValues())) {}

  void emit();

private:
  void clear(Value memref, Value slice);
  Value countColumn(Value column);
  void storeColumn(Value slice, Value lane, Value count);
  void storeRows(Value slice, Value lane, Value count);
  void storeFreeRows(Value slice, Value lane, Value places);
  SmallVector<Value>
  forEachPlace(Value slice, Value lane, ValueRange initial,
               function_ref<SmallVector<Value>(Value element, Value row,
                                               Value place, ValueRange carried)>
                   body);
  void storeRow(Value slice, Value lane, Value place, Value row);
  void store(Value slice, Value lane, Value number, Value value, Value gap);
  void storeStarts(Value slice, Value lane, Value count, Value row,
                   function_ref<Value(Value step)> condition);
  Value steps(Value weights) {
    return emitter.ceilDiv(weights, EllForm::kWeights);
  }

  LoopEmitter &emitter;
  PackOp op;
  EllForm form;
  int64_t bytes;
};
} // namespace

void EllPacker::clear(Value memref, Value slice) {
  Value zero =
      emitter.zero(cast<ShapedType>(memref.getType()).getElementType());
  emitter.forEach({emitter.size(memref, 1), emitter.size(memref, 2)},
                  [&](ValueRange at) {
                    emitter.store(zero, memref, {slice, at[0], at[1]});
                  });
}

/// The weights that column `column` takes, zeros of long gaps included.
Value EllPacker::countColumn(Value column) {
  Value zero = emitter.index(0), rows = emitter.size(op.getValues(), 0);
  return emitter.carry(rows, {zero, zero}, [&](Value row, ValueRange carried) {
    Value isKept =
        emitter.isNonZero(emitter.loadOrZero(op.getValues(), {row, column}));
    Value gap = emitter.sub(row, carried[1]);
    // A weight in row 0 has a gap of 0, and takes one place.
    Value count = arith::MaxUIOp::create(
        emitter.builder, emitter.loc, emitter.ceilDiv(gap, form.largestGap()),
        emitter.index(1));
    auto select = [&](Value then, Value otherwise) -> Value {
      return arith::SelectOp::create(emitter.builder, emitter.loc, isKept, then,
                                     otherwise);
    };
    return SmallVector<Value>{
        select(emitter.add(carried[0], count), carried[0]),
        select(row, carried[1])};
  })[0];
}

void EllPacker::store(Value slice, Value lane, Value number, Value value,
                      Value gap) {
  EllPlace at = EllPlace::get(emitter, form, bytes, slice, lane, number);
  emitter.store(value, op.getPackedValues(), {slice, at.step, at.value});
  Value moved =
      emitter.builder.createOrFold<arith::ShLIOp>(emitter.loc, gap, at.shift);
  Value before = emitter.load(op.getPackedIndices(), {slice, at.step, at.byte});
  emitter.store(emitter.either(before, emitter.asByte(moved)),
                op.getPackedIndices(), {slice, at.step, at.byte});
}

/// Stores `row` as what the parts count from whose first step, of `count`,
/// fulfills `condition`.
void EllPacker::storeStarts(Value slice, Value lane, Value count, Value row,
                            function_ref<Value(Value step)> condition) {
  emitter.forEach({emitter.index(form.parts)}, [&](ValueRange part) {
    Value step = emitter.div(emitter.builder.createOrFold<arith::MulIOp>(
                                 emitter.loc, part[0], count),
                             form.parts);
    emitter.onlyIf(condition(step), [&] {
      emitter.storeBytes(row, EllForm::kRowBytes, op.getPackedLists(),
                         {slice, emitter.add(part[0], 1),
                          emitter.mul(lane, EllForm::kRowBytes)});
    });
  });
}

void EllPacker::storeColumn(Value slice, Value lane, Value count) {
  Value column = emitter.add(emitter.mul(slice, EllForm::kColumns), lane);
  Value zero = emitter.index(0), largest = emitter.index(form.largestGap()),
        none = emitter.zero(
            cast<ShapedType>(op.getPackedValues().getType()).getElementType());
  // Each weight, behind the zeros of its gap; carries how many are stored, and
  // the row of the last.
  auto add = [&](ValueRange carried, Value value, Value gap) {
    auto [step, weight] = emitter.split(carried[0], EllForm::kWeights);
    emitter.onlyIf(equal(emitter, weight, zero), [&, step = step] {
      storeStarts(slice, lane, count, carried[1],
                  [&](Value first) { return equal(emitter, first, step); });
    });
    store(slice, lane, carried[0], value, gap);
    return SmallVector<Value>{emitter.add(carried[0], 1),
                              emitter.add(carried[1], gap)};
  };
  SmallVector<Value> stored = emitter.carry(
      emitter.size(op.getValues(), 0), {zero, zero},
      [&](Value row, ValueRange carried) {
        Value element = emitter.loadOrZero(op.getValues(), {row, column});
        Value isKept = emitter.isNonZero(element);
        Value gap = emitter.sub(row, carried[1]);
        // Zeros before: of a gap of 0 or of the largest, none.
        Value before = emitter.sub(
            emitter.ceilDiv(arith::MaxUIOp::create(emitter.builder, emitter.loc,
                                                   gap, emitter.index(1)),
                            form.largestGap()),
            emitter.index(1));
        Value zeros = arith::SelectOp::create(emitter.builder, emitter.loc,
                                              isKept, before, zero);
        SmallVector<Value> behind =
            emitter.carry(zeros, carried, [&](Value, ValueRange carried) {
              return add(carried, none, largest);
            });
        return carryIf(emitter, isKept, behind, [&](ValueRange carried) {
          return add(carried, element, emitter.sub(row, carried[1]));
        });
      });
  // Parts that begin behind the last weight.
  storeStarts(slice, lane, count, stored[1], [&](Value first) {
    return emitter.less(stored[0],
                        emitter.add(emitter.mul(first, EllForm::kWeights), 1));
  });
}

void EllPacker::storeRow(Value slice, Value lane, Value place, Value row) {
  EllPlace at = EllPlace::get(emitter, form, bytes, slice, lane, place);
  emitter.storeBytes(row, EllForm::kRowBytes, op.getPackedIndices(),
                     {slice, at.step, at.byte});
}

/// The row of each place as long as the place is free.
void EllPacker::storeFreeRows(Value slice, Value lane, Value places) {
  emitter.forEach({places}, [&](ValueRange place) {
    Value row = emitter.rem(emitter.add(place[0], lane), EllForm::kBanks);
    Value isThere = emitter.less(row, emitter.size(op.getValues(), 0));
    storeRow(slice, lane, place[0],
             arith::SelectOp::create(emitter.builder, emitter.loc, isThere, row,
                                     emitter.index(0)));
  });
}

/// Calls `body` for each weight of the column that is kept, remainder by
/// remainder, with the place that the weight is to have.
SmallVector<Value> EllPacker::forEachPlace(
    Value slice, Value lane, ValueRange initial,
    function_ref<SmallVector<Value>(Value, Value, Value, ValueRange)> body) {
  Value column = emitter.add(emitter.mul(slice, EllForm::kColumns), lane),
        turns =
            emitter.ceilDiv(emitter.size(op.getValues(), 0), EllForm::kBanks);
  return emitter.carry(
      emitter.index(EllForm::kBanks), initial,
      [&](Value remainder, ValueRange carried) {
        SmallVector<Value> state{emitter.index(0)};
        llvm::append_range(state, carried);
        state =
            emitter.carry(turns, state, [&](Value turn, ValueRange carried) {
              Value row =
                  emitter.add(emitter.mul(turn, EllForm::kBanks), remainder);
              Value element = emitter.loadOrZero(op.getValues(), {row, column});
              return carryIf(
                  emitter, emitter.isNonZero(element), carried,
                  [&](ValueRange carried) {
                    Value place = EllForm::placeOfRemainder(
                                      EmittedIndex{&emitter, lane},
                                      EmittedIndex{&emitter, remainder},
                                      EmittedIndex{&emitter, carried.front()})
                                      .value;
                    SmallVector<Value> next{emitter.add(carried.front(), 1)};
                    llvm::append_range(
                        next, body(element, row, place, carried.drop_front()));
                    return next;
                  });
            });
        return SmallVector<Value>(ArrayRef(state).drop_front());
      });
}

/// Stores the column's weights with their rows in places of their remainders,
/// and then those that found none in what is free.
void EllPacker::storeRows(Value slice, Value lane, Value count) {
  Value places = emitter.mul(count, EllForm::kWeights);
  storeFreeRows(slice, lane, places);
  auto store = [&](Value place, Value element, Value row) {
    EllPlace at = EllPlace::get(emitter, form, bytes, slice, lane, place);
    emitter.store(element, op.getPackedValues(), {slice, at.step, at.value});
    storeRow(slice, lane, place, row);
  };
  forEachPlace(slice, lane, {},
               [&](Value element, Value row, Value place, ValueRange) {
                 emitter.onlyIf(emitter.less(place, places),
                                [&] { store(place, element, row); });
                 return SmallVector<Value>();
               });
  forEachPlace(
      slice, lane, emitter.index(0),
      [&](Value element, Value row, Value place, ValueRange carried) {
        Value isTaken = emitter.less(places, emitter.add(place, 1));
        return carryIf(emitter, isTaken, carried, [&](ValueRange carried) {
          Value free = emitter.skipWhile(carried.front(), [&](Value number) {
            EllPlace at =
                EllPlace::get(emitter, form, bytes, slice, lane, number);
            return emitter.isNonZero(
                emitter.load(op.getPackedValues(), {slice, at.step, at.value}));
          });
          store(free, element, row);
          return SmallVector<Value>{emitter.add(free, 1)};
        });
      });
}

void EllPacker::emit() {
  emitter.forEachTask(
      {emitter.size(op.getPackedValues(), 0)}, [&](ValueRange position) {
        Value slice = position[0], zero = emitter.index(0),
              lanes = emitter.index(EllForm::kColumns);
        for (Value part :
             {op.getPackedValues(), op.getPackedIndices(), op.getPackedLists()})
          clear(part, slice);
        auto columnOf = [&](Value lane) {
          return emitter.add(emitter.mul(slice, EllForm::kColumns), lane);
        };
        Value most = emitter.reduce(lanes, zero, [&](Value lane, Value most) {
          return arith::MaxUIOp::create(emitter.builder, emitter.loc, most,
                                        countColumn(columnOf(lane)))
              .getResult();
        });
        Value count = steps(most);
        cf::AssertOp::create(emitter.builder, emitter.loc,
                             emitter.less(count, emitter.index(form.steps + 1)),
                             "nm.pack: expected columns of at most " +
                                 std::to_string(form.steps) +
                                 " steps of weights");
        emitter.storeBytes(count, EllForm::kCountBytes, op.getPackedLists(),
                           {slice, zero, zero});
        emitter.forEach({lanes}, [&](ValueRange lane) {
          if (form.hasRows())
            storeRows(slice, lane[0], count);
          else
            storeColumn(slice, lane[0], count);
        });
      });
}

void mlir::nm::emitEll(LoopEmitter &emitter, PackOp op) {
  EllPacker(emitter, op).emit();
}

namespace {
/// Rows are the places of weights, of all steps that there is room for.
class EllAccess : public WeightAccess {
public:
  EllAccess(LoopEmitter &emitter, EllForm form, Value values, Value indices)
      : emitter(emitter), form(form), values(values), indices(indices) {}

  Value rows() override {
    return emitter.index(form.steps * EllForm::kWeights);
  }
  Value value(Value row, Value column) override {
    EllPlace at = placeOf(row, column);
    return emitter.load(values, {at.slice, at.step, at.value});
  }
  Value kOf(Value row, Value column) override {
    if (form.hasRows()) {
      EllPlace at = placeOf(row, column);
      return emitter.loadBytes(EllForm::kRowBytes, indices,
                               {at.slice, at.step, at.byte});
    }
    return emitter.reduce(
        emitter.add(row, 1), emitter.index(0), [&](Value number, Value k) {
          EllPlace at = placeOf(number, column);
          Value byte = emitter.toIndex(
              emitter.load(indices, {at.slice, at.step, at.byte}));
          Value gap = emitter.rem(emitter.builder.createOrFold<arith::ShRUIOp>(
                                      emitter.loc, byte, at.shift),
                                  form.largestGap() + 1);
          return emitter.add(k, gap);
        });
  }

private:
  EllPlace placeOf(Value row, Value column) {
    auto [slice, lane] = emitter.split(column, EllForm::kColumns);
    return EllPlace::get(emitter, form, countBytes(values), slice, lane, row);
  }

  LoopEmitter &emitter;
  EllForm form;
  Value values, indices;
};
} // namespace

std::unique_ptr<WeightAccess> mlir::nm::getEllAccess(LoopEmitter &emitter,
                                                     EllAttr form, Value values,
                                                     Value indices) {
  return std::make_unique<EllAccess>(emitter, form.getForm(), values, indices);
}
