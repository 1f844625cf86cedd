//===- BlockOutputs.cpp - Blocks that write something else ----------------===//

#include "GPU/Tile/BlockOutputs.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

/// The tiles of `c`, which stands for `whole` in the blocks, are memory of
/// their own.
static void makeTilesOwn(RewriterBase &rewriter, BlockArgument c, Value whole) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation *user : llvm::make_early_inc_range(c.getUsers())) {
    if (auto size = dyn_cast<tensor::DimOp>(user))
      rewriter.modifyOpInPlace(size,
                               [&] { size.getSourceMutable().assign(whole); });
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      continue;
    rewriter.setInsertionPoint(slice);
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(
        slice, slice.getMixedSizes(), slice.getType().getElementType());
  }
}

MovedBlocks mlir::nm::moveToOutput(RewriterBase &rewriter, Location loc,
                                   scf::ForallOp blocks, Value output) {
  makeTilesOwn(rewriter, blocks.getRegionIterArgs()[0], blocks.getOutputs()[0]);
  auto insert = cast<tensor::ParallelInsertSliceOp>(
      *blocks.getTerminator().getYieldingOps().begin());
  MovedBlocks moved{{},
                    insert.getSource(),
                    insert.getMixedOffsets(),
                    insert.getMixedSizes(),
                    insert.getMixedStrides()};
  rewriter.eraseOp(insert);
  moved.loop = scf::ForallOp::create(
      rewriter, loc, blocks.getMixedLowerBound(), blocks.getMixedUpperBound(),
      blocks.getMixedStep(), ValueRange{output}, blocks.getMapping());
  // The tile's place, where it is an induction variable.
  for (OpFoldResult &place : moved.offsets) {
    auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(place));
    if (argument && argument.getOwner() == blocks.getBody())
      place = moved.loop.getBody()->getArgument(argument.getArgNumber());
  }
  rewriter.eraseOp(blocks.getTerminator());
  rewriter.inlineBlockBefore(blocks.getBody(), moved.loop.getTerminator(),
                             moved.loop.getBody()->getArguments());
  rewriter.setInsertionPoint(moved.loop.getTerminator());
  return moved;
}
