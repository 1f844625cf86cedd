//===- CopyIndices.h - Index arithmetic of copies ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_COPYINDICES_H
#define NM_LIB_GPU_COPIES_COPYINDICES_H

#include "nm/Dialect/NM/IR/IndexEmitter.h"

namespace mlir::nm {

/// base + offset, where 0 <= base < bound and the offset is a multiple of the
/// bound. A thread's accesses differ in the offset only, so that keeping it
/// apart leaves one address in registers, and constants in the instructions.
struct OffsetIndex {
  Value base;
  int64_t bound;
  int64_t offset = 0;
};

/// Index arithmetic that keeps offsets apart.
struct OffsetEmitter : IndexEmitter {
  using IndexEmitter::add;
  using IndexEmitter::split;

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
      return {{IndexEmitter::index(0), 1, index.offset / by},
              {index.base, index.bound, index.offset % by}};
    if (index.bound % by == 0)
      return {{div(index.base, by), index.bound / by, index.offset / by},
              {rem(index.base, by), by}};
    Value sum = materialize(index);
    return {{div(sum, by), (index.bound + index.offset - 1) / by + 1},
            {rem(sum, by), by}};
  }
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_COPYINDICES_H
