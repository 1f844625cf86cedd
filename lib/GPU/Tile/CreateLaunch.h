//===- CreateLaunch.h - An empty gpu.launch ---------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_CREATELAUNCH_H
#define NM_LIB_GPU_TILE_CREATELAUNCH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::nm {

/// A launch of `blocks` along x, of which `cluster` are a cluster, with
/// `threads` threads and `sharedBytes` of dynamic shared memory each. Moves the
/// builder into the body, before the terminator.
inline gpu::LaunchOp createLaunch(OpBuilder &builder, Location loc,
                                  Value blocks, int64_t threads,
                                  int64_t sharedBytes = 0,
                                  int64_t cluster = 1) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1),
        size = arith::ConstantIndexOp::create(builder, loc, threads), shared,
        width, other;
  if (sharedBytes != 0)
    shared = arith::ConstantIntOp::create(builder, loc, sharedBytes, 32);
  if (cluster > 1) {
    width = arith::ConstantIndexOp::create(builder, loc, cluster);
    other = one;
  }
  auto launch = gpu::LaunchOp::create(
      builder, loc, blocks, one, one, size, one, one, shared,
      /*asyncTokenType=*/nullptr, /*asyncDependencies=*/ValueRange(),
      /*workgroupAttributions=*/{}, /*privateAttributions=*/{}, width, other,
      other);
  // The builder leaves out the cluster's ids and sizes.
  if (width)
    for (int64_t i = 0; i < 6; ++i)
      launch.getBody().addArgument(builder.getIndexType(), loc);
  builder.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_CREATELAUNCH_H
