//===- BlockOutputs.h - Blocks that write something else --------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_BLOCKOUTPUTS_H
#define NM_LIB_GPU_TILE_BLOCKOUTPUTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// A loop over blocks that writes nothing yet, and the tile of its own that it
/// wrote to another output before: where that was.
struct MovedBlocks {
  scf::ForallOp loop;
  Value tile;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// Makes the tiles of `blocks`, which have one output, memory of their own, and
/// moves their body to a loop at the rewriter's place that has `output`. The
/// old loop is left without a body; who moved it replaces its results and
/// erases it.
MovedBlocks moveToOutput(RewriterBase &rewriter, Location loc,
                         scf::ForallOp blocks, Value output);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_BLOCKOUTPUTS_H
