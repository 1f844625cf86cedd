//===- CondensedLoops.cpp - nm.compress and nm.decompress as loops --------===//

#include "DenseAccess.h"
#include "LoopWeightAccess.h"
#include "Patterns.h"
#include "UnstructuredLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// nm.compress
//===----------------------------------------------------------------------===//

/// What the program says before it stops at a window that is too full.
static std::string tooManyUnits(const ::nm::Pattern &pattern) {
  return "nm.compress: expected at most " + std::to_string(pattern.n) +
         " non-zero units in every " + std::to_string(pattern.m) +
         " along k (pattern " + pattern.str() + ")";
}

namespace {
/// Emits the condensation of one matrix, window by window.
class CompressLoops {
public:
  CompressLoops(LoopEmitter &emitter, CompressOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        dense(emitter, pattern, op.getDense(), op.getDim()) {}

  void emit() {
    if (pattern.isUnstructured())
      return emitUnstructuredCompress(emitter, op);
    emitter.forEach(
        {dense.windows(), dense.blockColumns()},
        [&](ValueRange position) { emitWindow(position[0], position[1]); });
  }

private:
  void emitWindow(Value window, Value block) {
    Value count = countOccupied(window, block);
    Value kept = emitter.index(pattern.n);
    Value holds = emitter.less(count, emitter.add(kept, 1));
    cf::AssertOp::create(emitter.builder, emitter.loc, holds,
                         tooManyUnits(pattern));
    // The occupied units are kept, and the lowest others fill up.
    Value fillers = emitter.sub(kept, count), slot = emitter.index(0);
    emitter.carry(emitter.index(pattern.m), {slot, fillers},
                  [&](Value unit, ValueRange carried) {
                    return emitUnit(window, unit, block, carried[0],
                                    carried[1]);
                  });
  }

  Value countOccupied(Value window, Value block) {
    return emitter.reduce(
        emitter.index(pattern.m), emitter.index(0),
        [&](Value unit, Value count) {
          return emitter.add(count, asIndex(isOccupied(window, unit, block)));
        });
  }

  Value isOccupied(Value window, Value unit, Value block) {
    Value no = arith::ConstantIntOp::create(emitter.builder, emitter.loc,
                                            /*value=*/0, /*width=*/1);
    return dense.reduceUnit(
        window, unit, block, no, [&](Value any, Value element) {
          return emitter.either(any, emitter.isNonZero(element));
        });
  }

  /// Returns the slot and the fillers left for the unit after this one.
  SmallVector<Value> emitUnit(Value window, Value unit, Value block, Value slot,
                              Value fillers) {
    Value occupied = isOccupied(window, unit, block);
    Value mayFill = emitter.less(emitter.index(0), fillers);
    Value keep = emitter.either(occupied, mayFill);
    emitter.onlyIf(keep, [&] { copyUnit(window, unit, block, slot); });
    Value fills =
        arith::SelectOp::create(emitter.builder, emitter.loc, occupied,
                                emitter.index(0), asIndex(mayFill));
    return {emitter.add(slot, asIndex(keep)), emitter.sub(fillers, fills)};
  }

  void copyUnit(Value window, Value unit, Value block, Value slot) {
    Value unitRow = emitter.add(emitter.mul(window, pattern.n), slot);
    Value byte = arith::IndexCastUIOp::create(
        emitter.builder, emitter.loc, emitter.builder.getI8Type(), unit);
    emitter.store(byte, op.getIndices(), {unitRow, block});
    emitter.forEach({emitter.index(pattern.bk), emitter.index(pattern.bn)},
                    [&](ValueRange position) {
                      Value column = dense.nOf(block, position[1]);
                      Value element = dense.loadOrZero(
                          dense.kOf(window, unit, position[0]), column);
                      Value row = emitter.add(emitter.mul(unitRow, pattern.bk),
                                              position[0]);
                      emitter.store(withoutNegativeZero(element),
                                    op.getValues(), {row, column});
                    });
  }

  Value withoutNegativeZero(Value element) {
    return arith::SelectOp::create(emitter.builder, emitter.loc,
                                   emitter.isNonZero(element), element,
                                   emitter.zero(element.getType()));
  }

  Value asIndex(Value condition) {
    return arith::IndexCastUIOp::create(emitter.builder, emitter.loc,
                                        emitter.builder.getIndexType(),
                                        condition);
  }

  LoopEmitter &emitter;
  CompressOp op;
  ::nm::Pattern pattern;
  DenseAccess dense;
};

//===----------------------------------------------------------------------===//
// nm.decompress
//===----------------------------------------------------------------------===//

/// Emits the dense matrix of condensed weights: zeros, then what is kept.
class DecompressLoops {
public:
  DecompressLoops(LoopEmitter &emitter, DecompressOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        dense(emitter, pattern, op.getDense(), op.getDim()),
        weights(WeightAccess::get(emitter, pattern, /*form=*/{}, op.getValues(),
                                  op.getIndices())) {}

  void emit() {
    if (pattern.isUnstructured())
      return emitUnstructuredDecompress(emitter, op);
    Value zero = emitter.zero(dense.elementType());
    emitter.forEach({dense.k(), dense.n()}, [&](ValueRange position) {
      emitter.store(zero, op.getDense(), dense.at(position[0], position[1]));
    });
    emitter.forEach({weights->rows(), dense.n()}, [&](ValueRange position) {
      Value k = weights->kOf(position[0], position[1]);
      emitter.onlyIf(emitter.less(k, dense.k()), [&] {
        emitter.store(weights->value(position[0], position[1]), op.getDense(),
                      dense.at(k, position[1]));
      });
    });
  }

private:
  LoopEmitter &emitter;
  DecompressOp op;
  ::nm::Pattern pattern;
  DenseAccess dense;
  std::unique_ptr<WeightAccess> weights;
};
} // namespace

void mlir::nm::populateCondensedLoops(RewritePatternSet &patterns,
                                      bool parallel) {
  patterns.add<OpToLoops<CompressOp, CompressLoops>,
               OpToLoops<DecompressOp, DecompressLoops>>(patterns.getContext(),
                                                         parallel);
}
