//===- BitmapPanelsLoops.cpp - Weights that vectors expand, as loops ------===//
//
// The values of a panel are stored behind those of the panels before it, so
// that these loops count weights as they go.
//
//===----------------------------------------------------------------------===//

#include "UnstructuredLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapPanels;

namespace {
/// The byte and the bit of a weight, of which `bit` is the number in its step.
struct BitOfStep {
  SmallVector<Value> byte;
  Value shift;

  BitOfStep(LoopEmitter &emitter, Value panel, Value step, Value bit) {
    auto [inStep, inByte] = emitter.split(bit, 8);
    byte = {panel, step, inStep};
    shift = inByte;
  }
};

class PanelsAccess : public WeightAccess {
public:
  PanelsAccess(LoopEmitter &emitter, BitmapPanels form, Value values,
               Value indices, Value lists)
      : emitter(emitter), form(form), values(values), indices(indices),
        lists(lists) {}

  Value rows() override {
    return emitter.mul(emitter.size(indices, 1), form.wordRows);
  }
  Value value(Value row, Value column) override;
  Value kOf(Value row, Value column) override;

private:
  int64_t bitsOfStep() const { return 8 * form.stepBytes(); }
  /// The panel of a column, and the number of a weight's bit in it.
  std::pair<Value, Value> findBit(Value row, Value column);
  Value loadBit(Value panel, Value bit);

  LoopEmitter &emitter;
  BitmapPanels form;
  Value values, indices, lists;
};
} // namespace

std::pair<Value, Value> PanelsAccess::findBit(Value row, Value column) {
  auto [panel, inPanel] = emitter.split(column, BitmapPanels::kColumns);
  auto [step, inWord] = emitter.split(row, form.wordRows);
  Value first = emitter.add(emitter.mul(step, bitsOfStep()),
                            emitter.mul(inPanel, form.wordRows));
  return {panel, emitter.add(first, inWord)};
}

Value PanelsAccess::loadBit(Value panel, Value bit) {
  auto [step, inStep] = emitter.split(bit, bitsOfStep());
  BitOfStep place(emitter, panel, step, inStep);
  Value byte = emitter.toIndex(emitter.load(indices, place.byte));
  return emitter.rem(emitter.builder.createOrFold<arith::ShRUIOp>(
                         emitter.loc, byte, place.shift),
                     2);
}

/// A pruned weight behind the last kept one has a place, too.
Value PanelsAccess::value(Value row, Value column) {
  auto [panel, bit] = findBit(row, column);
  Value zero = emitter.index(0);
  Value first =
      emitter.loadBytes(BitmapPanels::kListBytes, lists, {panel, zero, zero});
  Value place =
      emitter.reduce(bit, first, [&, panel = panel](Value before, Value count) {
        return emitter.add(count, loadBit(panel, before));
      });
  return emitter.load(values, {zero, zero, place});
}

Value PanelsAccess::kOf(Value row, Value column) {
  auto [panel, bit] = findBit(row, column);
  Value isKept = emitter.less(emitter.index(0), loadBit(panel, bit));
  return selectKeptRow(emitter, isKept, row);
}

std::unique_ptr<WeightAccess>
mlir::nm::getBitmapPanelsAccess(LoopEmitter &emitter, BitmapPanelsAttr form,
                                Value values, Value indices, Value lists) {
  return std::make_unique<PanelsAccess>(emitter, form.getForm(), values,
                                        indices, lists);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// Packs one weight.
class PanelsLoops {
public:
  PanelsLoops(LoopEmitter &emitter, PackOp op)
      : emitter(emitter), op(op),
        form(cast<BitmapPanelsAttr>(op.getPacking()).getForm()) {}

  void emit();

private:
  Value packPanel(Value panel, Value next);
  Value packByte(const SmallVector<Value> &byte, Value next);
  Value packWeight(const SmallVector<Value> &byte, Value bit, Value next);

  LoopEmitter &emitter;
  PackOp op;
  BitmapPanels form;
};
} // namespace

/// Stores a weight that is not zero in place `next`, and its bit.
Value PanelsLoops::packWeight(const SmallVector<Value> &byte, Value bit,
                              Value next) {
  Value zero = emitter.index(0);
  auto [lane, inWord] =
      emitter.split(emitter.add(emitter.mul(byte[2], 8), bit), form.wordRows);
  Value k = emitter.add(emitter.mul(byte[1], form.wordRows), inWord),
        column =
            emitter.add(emitter.mul(byte[0], BitmapPanels::kColumns), lane);
  Value element = emitter.loadOrZero(op.getValues(), {k, column});
  Value isKept = emitter.isNonZero(element);
  Value hasPlace = emitter.less(next, emitter.index(form.kept));
  emitter.onlyIf(emitter.both(isKept, hasPlace), [&] {
    emitter.store(element, op.getPackedValues(), {zero, zero, next});
    Value one = emitter.asByte(emitter.builder.createOrFold<arith::ShLIOp>(
        emitter.loc, emitter.index(1), bit));
    Value before = emitter.load(op.getPackedIndices(), byte);
    emitter.store(emitter.either(before, one), op.getPackedIndices(), byte);
  });
  return emitter.add(next, arith::IndexCastUIOp::create(
                               emitter.builder, emitter.loc,
                               emitter.builder.getIndexType(), isKept));
}

Value PanelsLoops::packByte(const SmallVector<Value> &byte, Value next) {
  Type type =
      cast<MemRefType>(op.getPackedIndices().getType()).getElementType();
  emitter.store(emitter.zero(type), op.getPackedIndices(), byte);
  return emitter.reduce(emitter.index(8), next, [&](Value bit, Value next) {
    return packWeight(byte, bit, next);
  });
}

Value PanelsLoops::packPanel(Value panel, Value next) {
  Value zero = emitter.index(0);
  emitter.storeBytes(next, BitmapPanels::kListBytes, op.getPackedLists(),
                     {panel, zero, zero});
  return emitter.reduce(emitter.size(op.getPackedIndices(), 1), next,
                        [&](Value step, Value next) {
                          return emitter.reduce(
                              emitter.index(form.stepBytes()), next,
                              [&](Value byte, Value next) {
                                return packByte({panel, step, byte}, next);
                              });
                        });
}

void PanelsLoops::emit() {
  clearPlaces(emitter, op.getPackedValues());
  Value count = emitter.reduce(
      emitter.size(op.getPackedIndices(), 0), emitter.index(0),
      [&](Value panel, Value next) { return packPanel(panel, next); });
  expectAtMost(emitter, count, emitter.index(form.kept), "nm.pack");
}

void mlir::nm::emitBitmapPanels(LoopEmitter &emitter, PackOp op) {
  PanelsLoops(emitter, op).emit();
}
