//===- SplitFloatsOfC.cpp - Blocks that store the splits of C -------------===//
//
//   %c = nm.spmm ...                        scf.forall ... shared_outs(%t) {
//   %t = nm.split_floats ins(%c)       ->      %c = nm.spmm ... of a tile
//   %d = nm.spmm ... ins(%t, ...)             %t = nm.split_floats ins(%c)
//                                           }
//                                           %d = nm.spmm ... ins(%t, ...)
//
// C is neither written nor read then: its splits are made of the sums that
// threads have in registers.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/SplitFloatsOfC.h"

#include "GPU/Select/GpuStrategy.h"
#include "GPU/Tile/BlockOutputs.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether warpgroups of `op` can store splits of C from registers, which have
/// 64 m of a column side by side.
static bool canStoreSplits(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  const GpuStrategy *strategy = schedule ? findGpuStrategy(schedule) : nullptr;
  if (!strategy || !strategy->storesSplitsOfC() || !isa<SpMMOp>(op) ||
      op->getNumResults() != 1 || op.getNumBatchDims() != 0)
    return false;
  BlockTiling tiling = schedule.getTiling();
  bool isFilled = op.getC().getDefiningOp<linalg::FillOp>() != nullptr;
  return (op.hasEpilogue() || isFilled) && tiling.clusterK == 1 &&
         tiling.blockM % ::nm::kSplitColumns == 0 &&
         tiling.storesFromRegisters();
}

/// The only op that takes C's elements; null where there are several.
static Operation *findOnlyUser(SparseProductOpInterface op) {
  Operation *only = nullptr;
  for (Operation *user : op->getResult(0).getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (only)
      return nullptr;
    only = user;
  }
  return only;
}

SparseProductOpInterface
mlir::nm::findSplitterOfA(SparseProductOpInterface op) {
  auto before = op.getA().getDefiningOp<SparseProductOpInterface>();
  if (!before || !isa<SpMMOp>(op) || !op.getAType().getElementType().isF32() ||
      !canStoreSplits(before) || findOnlyUser(before) != op)
    return {};
  // Where m is the last dimension of C, what splits it reads it as it is.
  bool isAsItIs = cast<SpMMOp>(*op).getTransposeA() ==
                  cast<SpMMOp>(*before).getTransposeC();
  return isAsItIs ? before : SparseProductOpInterface();
}

SplitFloatsOp mlir::nm::findSplitFloatsOfC(SparseProductOpInterface op) {
  if (!op.getScheduleAttr().getTiling().splitC || !canStoreSplits(op))
    return {};
  auto splits = dyn_cast_if_present<SplitFloatsOp>(findOnlyUser(op));
  if (!splits || splits.getWindows() ||
      !splits.getOutput().getDefiningOp<tensor::EmptyOp>())
    return {};
  return splits.getTranspose() != cast<SpMMOp>(*op).getTransposeC() ? splits
                                                                    : nullptr;
}

/// Who asks for C's sizes gets those of the tensor that it is written to.
static void keepSizes(RewriterBase &rewriter, SparseProductOpInterface op) {
  for (Operation *user :
       llvm::make_early_inc_range(op->getResult(0).getUsers()))
    if (auto size = dyn_cast<tensor::DimOp>(user))
      rewriter.modifyOpInPlace(
          size, [&] { size.getSourceMutable().assign(op.getC()); });
}

SparseProductOpInterface mlir::nm::orderSplits(RewriterBase &rewriter,
                                               SparseProductOpInterface op,
                                               SplitFloatsOp &splits) {
  keepSizes(rewriter, op);
  auto product = cast<SpMMOp>(*op);
  if (product.getTransposeC())
    return op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getC());
  std::swap(sizes[0], sizes[1]);
  Value c = tensor::EmptyOp::create(rewriter, loc, sizes,
                                    op.getCType().getElementType());
  if (auto fill = op.getC().getDefiningOp<linalg::FillOp>();
      fill && !op.hasEpilogue())
    c = linalg::FillOp::create(rewriter, loc, fill.value(), c).getResult(0);
  auto turned = cast<SpMMOp>(rewriter.clone(*op));
  turned.getCMutable().assign(c);
  turned.setTransposeC(true);
  turned->getResult(0).setType(cast<RankedTensorType>(c.getType()));
  rewriter.setInsertionPoint(splits);
  auto straight = SplitFloatsOp::create(
      rewriter, splits.getLoc(), TypeRange{splits.getOutput().getType()},
      splits.getSplitsAttr(), /*transpose=*/UnitAttr(), splits.getWindowsAttr(),
      turned->getResult(0), splits.getOutput());
  rewriter.replaceOp(splits, straight);
  rewriter.eraseOp(op);
  splits = straight;
  return cast<SparseProductOpInterface>(turned.getOperation());
}

void mlir::nm::splitInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                             SplitFloatsOp splits) {
  Location loc = splits.getLoc();
  rewriter.setInsertionPoint(splits);
  auto [fused, tile, offsets, sizes, strides] =
      moveToOutput(rewriter, loc, blocks, splits.getOutput());
  Value output = fused.getRegionIterArgs()[0];
  int64_t each = splits.getSplits() * ::nm::kSplitColumns;
  AffineExpr m = rewriter.getAffineSymbolExpr(0);
  auto compute = [&](AffineExpr expr, OpFoldResult of) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, of);
  };
  offsets[1] = compute(m.floorDiv(::nm::kSplitColumns) * each, offsets[1]);
  sizes[1] = compute(m.ceilDiv(::nm::kSplitColumns) * each, sizes[1]);
  Value slice = tensor::ExtractSliceOp::create(rewriter, loc, output, offsets,
                                               sizes, strides);
  Value split =
      SplitFloatsOp::create(rewriter, loc, TypeRange{slice.getType()},
                            splits.getSplitsAttr(), /*transpose=*/UnitAttr(),
                            splits.getWindowsAttr(), tile, slice)
          ->getResult(0);
  rewriter.setInsertionPointToEnd(fused.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, split, output, offsets,
                                        sizes, strides);
  rewriter.replaceOp(splits, fused.getResults());
  rewriter.eraseOp(blocks);
}
