//===- RowWidth.h - How wide rows can be accessed ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_ROWWIDTH_H
#define NM_LIB_GPU_TILE_ROWWIDTH_H

#include "GPU/Expand/ThreadEmitter.h"

namespace mlir::nm {

/// Accesses are of `elements`, if all of `unknown` (strides, offsets and sizes)
/// are multiples of the numbers beside them at run time.
struct RowWidth {
  int64_t elements;
  SmallVector<std::pair<Value, int64_t>> unknown;
};

/// Runs `launch` for accesses of `width`, and where these may be too wide at
/// run time, for single elements.
inline void launchForWidth(OpBuilder &builder, Location loc,
                           const RowWidth &width,
                           function_ref<void(int64_t elements)> launch) {
  if (width.unknown.empty() || width.elements == 1)
    return launch(width.elements);
  ThreadEmitter e{builder, loc};
  Value rest = e.index(0);
  for (auto [value, factor] : width.unknown)
    rest = e.either(rest, e.rem(value, factor));
  Value isWide = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       rest, e.index(0));
  auto branch =
      scf::IfOp::create(builder, loc, isWide, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  launch(width.elements);
  builder.setInsertionPointToStart(branch.elseBlock());
  launch(1);
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_ROWWIDTH_H
