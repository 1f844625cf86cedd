//===- PruneLoops.cpp - nm.prune as loops ---------------------------------===//

#include "DenseAccess.h"
#include "Patterns.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits the pruning of one matrix, window by window.
class PruneLoops {
public:
  PruneLoops(LoopEmitter &emitter, PruneOp op)
      : emitter(emitter), op(op), pattern(op.getPattern().getPattern()),
        dense(emitter, pattern, op.getDense(), op.getDim()) {}

  void emit() {
    // f64 holds the square of an f32 exactly.
    auto type = MemRefType::get({pattern.m}, emitter.builder.getF64Type());
    energies = memref::AllocOp::create(emitter.builder, emitter.loc, type);
    emitter.forEach(
        {dense.windows(), dense.blockColumns()},
        [&](ValueRange position) { emitWindow(position[0], position[1]); });
    memref::DeallocOp::create(emitter.builder, emitter.loc, energies);
  }

private:
  /// All energies of a window are known before anything is written, so input
  /// and output may be the same memory.
  void emitWindow(Value window, Value block) {
    Value units = emitter.index(pattern.m);
    emitter.forEach(units, [&](ValueRange unit) {
      emitter.store(energyOf(window, unit[0], block), energies, unit);
    });
    emitter.forEach(units, [&](ValueRange unit) {
      Value keep = emitter.less(rankOf(unit[0]), emitter.index(pattern.n));
      copyUnit(window, unit[0], block, keep);
    });
  }

  Value energyOf(Value window, Value unit, Value block) {
    Type f64 = emitter.builder.getF64Type();
    return dense.reduceUnit(window, unit, block, emitter.zero(f64),
                            [&](Value sum, Value element) -> Value {
                              Value number = asF64(element);
                              Value square = arith::MulFOp::create(
                                  emitter.builder, emitter.loc, number, number);
                              return arith::AddFOp::create(
                                  emitter.builder, emitter.loc, sum, square);
                            });
  }

  Value asF64(Value element) {
    Type f64 = emitter.builder.getF64Type();
    Value number = emitter.toAccumulator(element);
    if (number.getType().isInteger())
      return arith::SIToFPOp::create(emitter.builder, emitter.loc, f64, number);
    return arith::ExtFOp::create(emitter.builder, emitter.loc, f64, number);
  }

  /// How many units of the window are to be kept rather than `unit`.
  Value rankOf(Value unit) {
    Value energy = emitter.load(energies, unit);
    return emitter.reduce(
        emitter.index(pattern.m), emitter.index(0),
        [&](Value other, Value rank) {
          Value ahead =
              isAhead(other, emitter.load(energies, other), unit, energy);
          return emitter.add(rank, arith::IndexCastUIOp::create(
                                       emitter.builder, emitter.loc,
                                       emitter.builder.getIndexType(), ahead));
        });
  }

  /// Whether unit `a` is kept rather than unit `b`: the larger one, or the
  /// lower one of equals. NaN is larger than any number, so it is not hidden.
  Value isAhead(Value a, Value energyA, Value b, Value energyB) {
    using Predicate = arith::CmpFPredicate;
    auto compare = [&](Predicate predicate, Value x, Value y) -> Value {
      return arith::CmpFOp::create(emitter.builder, emitter.loc, predicate, x,
                                   y);
    };
    Value aIsNaN = compare(Predicate::UNO, energyA, energyA);
    Value bIsNaN = compare(Predicate::UNO, energyB, energyB);
    Value bIsNumber = compare(Predicate::ORD, energyB, energyB);
    Value larger = emitter.either(compare(Predicate::OGT, energyA, energyB),
                                  emitter.both(aIsNaN, bIsNumber));
    Value equal = emitter.either(compare(Predicate::OEQ, energyA, energyB),
                                 emitter.both(aIsNaN, bIsNaN));
    return emitter.either(larger, emitter.both(equal, emitter.less(a, b)));
  }

  void copyUnit(Value window, Value unit, Value block, Value keep) {
    emitter.forEach({emitter.index(pattern.bk), emitter.index(pattern.bn)},
                    [&](ValueRange position) {
                      Value k = dense.kOf(window, unit, position[0]);
                      Value n = dense.nOf(block, position[1]);
                      Value inside = emitter.both(emitter.less(k, dense.k()),
                                                  emitter.less(n, dense.n()));
                      emitter.onlyIf(inside, [&] {
                        SmallVector<Value> at = dense.at(k, n);
                        Value element = emitter.load(op.getDense(), at);
                        Value kept = arith::SelectOp::create(
                            emitter.builder, emitter.loc, keep, element,
                            emitter.zero(element.getType()));
                        emitter.store(kept, op.getPruned(), at);
                      });
                    });
  }

  LoopEmitter &emitter;
  PruneOp op;
  ::nm::Pattern pattern;
  DenseAccess dense;
  Value energies;
};

} // namespace

void mlir::nm::populatePruneLoops(RewritePatternSet &patterns, bool parallel) {
  patterns.add<OpToLoops<PruneOp, PruneLoops>>(patterns.getContext(), parallel);
}
