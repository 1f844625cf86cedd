//===- EmittedIndex.h - Formulas whose arithmetic is emitted ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_EMITTEDINDEX_H
#define NM_DIALECT_NM_IR_EMITTEDINDEX_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

namespace mlir::nm {

/// A value with the arithmetic of an integer, which is emitted: for formulas
/// that are templates of their integer type, as those of
/// nm/Format/SparseOperand.h.
struct EmittedIndex {
  IndexEmitter *emitter;
  Value value;

  EmittedIndex operator*(int64_t by) const {
    return {emitter, emitter->mul(value, by)};
  }
  EmittedIndex operator/(int64_t by) const {
    return {emitter, emitter->div(value, by)};
  }
  EmittedIndex operator%(int64_t by) const {
    return {emitter, emitter->rem(value, by)};
  }
  EmittedIndex operator+(int64_t by) const {
    return {emitter, emitter->add(value, by)};
  }
  EmittedIndex operator+(const EmittedIndex &other) const {
    return {emitter, emitter->add(value, other.value)};
  }
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_EMITTEDINDEX_H
