//===- CopyIndices.h - Index arithmetic of copies ---------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_COPYINDICES_H
#define NM_CONVERSION_NMTOGPU_COPYINDICES_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::nm {

/// base + offset, where 0 <= base < bound and the offset is a multiple of the
/// bound. A thread's accesses differ in the offset only, so that keeping it
/// apart leaves one address in registers, and constants in the instructions.
struct OffsetIndex {
  Value base;
  int64_t bound;
  int64_t offset = 0;
};

/// Builds index arithmetic on one location; operations on constants fold.
class IndexBuilder {
public:
  IndexBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value materialize(const OffsetIndex &index) {
    return add(index.base, index.offset);
  }
  /// a + b, which is not to be split.
  OffsetIndex add(const OffsetIndex &a, const OffsetIndex &b) {
    return {add(a.base, b.base), a.bound + b.bound - 1, a.offset + b.offset};
  }
  OffsetIndex scale(const OffsetIndex &index, int64_t factor) {
    return {mul(index.base, factor), index.bound * factor,
            index.offset * factor};
  }
  /// Quotient and remainder.
  std::pair<OffsetIndex, OffsetIndex> split(const OffsetIndex &index,
                                            int64_t by) {
    if (by % index.bound == 0)
      return {{constant(0), 1, index.offset / by},
              {index.base, index.bound, index.offset % by}};
    if (index.bound % by == 0)
      return {{div(index.base, by), index.bound / by, index.offset / by},
              {rem(index.base, by), by}};
    Value sum = materialize(index);
    return {{div(sum, by), (index.bound + index.offset - 1) / by + 1},
            {rem(sum, by), by}};
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value lhs, int64_t rhs) {
    return rhs == 0
               ? lhs
               : builder.createOrFold<arith::AddIOp>(loc, lhs, constant(rhs));
  }
  Value add(Value lhs, Value rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  Value mul(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : builder.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
  }
  Value div(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : builder.createOrFold<arith::DivUIOp>(loc, lhs, constant(rhs));
  }
  Value rem(Value lhs, int64_t rhs) {
    return rhs == 1
               ? constant(0)
               : builder.createOrFold<arith::RemUIOp>(loc, lhs, constant(rhs));
  }
  Value isLess(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                 rhs);
  }
  /// Null stands for true.
  Value both(Value lhs, Value rhs) {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  }

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_COPYINDICES_H
