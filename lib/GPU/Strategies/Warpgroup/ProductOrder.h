//===- ProductOrder.h - Products that warpgroups wait for -------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_PRODUCTORDER_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_PRODUCTORDER_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Starts and awaits groups of products of a warpgroup. In a role whose
/// warpgroups are in turn, each waits for the start of those of the one before
/// it, at a barrier that is its own:
///
///     bar.sync   of its own barrier
///     wgmma.fence, wgmma, ..., wgmma.commit_group
///     bar.arrive at the next one's barrier
///     wgmma.wait_group
///
/// All warpgroups have as many groups of products, and the barriers outlive the
/// tiles of C.
class ProductOrder {
public:
  ProductOrder() = default;
  /// Those of warpgroup `group`, an index, where code is now inserted. The
  /// first one's first turn begins with its role.
  ProductOrder(OpBuilder &builder, Location loc, Value group);

  void start(OpBuilder &builder, Location loc) const;
  void await(OpBuilder &builder, Location loc) const;

private:
  /// The warpgroup's barrier and the next one's, i32; null where warpgroups are
  /// not in turn.
  Value own, next;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_PRODUCTORDER_H
