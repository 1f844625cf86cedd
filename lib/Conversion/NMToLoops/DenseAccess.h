//===- DenseAccess.h - Dense weights by k and n -----------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_DENSEACCESS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_DENSEACCESS_H

#include "LoopEmitter.h"

#include "nm/Format/Pattern.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::nm {

/// A dense weight matrix B[k×n], or W[n×k], seen unit by unit.
class DenseAccess {
public:
  DenseAccess(LoopEmitter &emitter, const ::nm::Pattern &pattern, Value dense,
              int64_t kDim)
      : emitter(emitter), pattern(pattern), dense(dense), kDim(kDim) {}

  Value k() { return emitter.size(dense, kDim); }
  Value n() { return emitter.size(dense, 1 - kDim); }
  Value windows() { return emitter.ceilDiv(k(), pattern.windowRows()); }
  Value blockColumns() { return emitter.ceilDiv(n(), pattern.bn); }
  Type elementType() {
    return cast<MemRefType>(dense.getType()).getElementType();
  }

  /// The index list of B[k, n].
  SmallVector<Value> at(Value k, Value n) {
    if (kDim == 0)
      return {k, n};
    return {n, k};
  }
  /// B[k, n], or zero in the padding.
  Value loadOrZero(Value k, Value n) {
    return emitter.loadOrZero(dense, at(k, n));
  }
  /// Row `row` of unit `unit` of window `window`.
  Value kOf(Value window, Value unit, Value row) {
    Value first = emitter.add(emitter.mul(window, pattern.windowRows()),
                              emitter.mul(unit, pattern.bk));
    return emitter.add(first, row);
  }
  /// Column `column` of block column `block`.
  Value nOf(Value block, Value column) {
    return emitter.add(emitter.mul(block, pattern.bn), column);
  }
  /// Combines all elements of one unit, padding as zeros.
  Value reduceUnit(Value window, Value unit, Value block, Value initial,
                   function_ref<Value(Value partial, Value element)> combine) {
    return emitter.reduce(
        emitter.index(pattern.bk), initial, [&](Value row, Value partial) {
          return emitter.reduce(
              emitter.index(pattern.bn), partial,
              [&](Value column, Value partial) {
                return combine(partial, loadOrZero(kOf(window, unit, row),
                                                   nOf(block, column)));
              });
        });
  }

private:
  LoopEmitter &emitter;
  ::nm::Pattern pattern;
  Value dense;
  int64_t kDim;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_DENSEACCESS_H
