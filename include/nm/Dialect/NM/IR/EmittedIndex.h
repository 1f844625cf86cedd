//===- EmittedIndex.h - Formulas whose arithmetic is emitted ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_EMITTEDINDEX_H
#define NM_DIALECT_NM_IR_EMITTEDINDEX_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

#include <algorithm>

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
  EmittedIndex operator-(const EmittedIndex &other) const {
    return {emitter, emitter->sub(value, other.value)};
  }
  EmittedIndex operator*(const EmittedIndex &other) const {
    return {emitter, emitter->mul(value, other.value)};
  }
  EmittedIndex operator/(const EmittedIndex &other) const {
    return {emitter, emitter->div(value, other.value)};
  }
};

// Overloads that formulas call with integers or with emitted indices.

/// `number`, of the type of `like`.
inline int64_t numberLike(int64_t /*like*/, int64_t number) { return number; }
inline EmittedIndex numberLike(const EmittedIndex &like, int64_t number) {
  return {like.emitter, like.emitter->constant(like.value, number)};
}
inline int64_t least(int64_t a, int64_t b) { return std::min(a, b); }
inline EmittedIndex least(const EmittedIndex &a, const EmittedIndex &b) {
  return {a.emitter, a.emitter->least(a.value, b.value)};
}
inline int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
inline EmittedIndex larger(const EmittedIndex &a, const EmittedIndex &b) {
  return {a.emitter, a.emitter->larger(a.value, b.value)};
}
/// `chosen` where `a` is less than `b`, else `otherwise`.
inline int64_t chooseIfLess(int64_t a, int64_t b, int64_t chosen,
                            int64_t otherwise) {
  return a < b ? chosen : otherwise;
}
inline EmittedIndex chooseIfLess(const EmittedIndex &a, const EmittedIndex &b,
                                 const EmittedIndex &chosen,
                                 const EmittedIndex &otherwise) {
  IndexEmitter &e = *a.emitter;
  return {a.emitter,
          e.builder.createOrFold<arith::SelectOp>(
              e.loc, e.less(a.value, b.value), chosen.value, otherwise.value)};
}

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_EMITTEDINDEX_H
