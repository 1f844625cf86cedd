//===- TermsOfC.cpp - Blocks that store the terms of C --------------------===//
//
//   %c = nm.spmm ...                        scf.forall ... shared_outs(%t) {
//   %t = nm.split_terms ins(%c)       ->      %c = nm.spmm ... of a tile
//   %d = nm.spmm ... ins(%t, ...)             %t = nm.split_terms ins(%c)
//                                           }
//                                           %d = nm.spmm ... ins(%t, ...)
//
// C is neither written nor read then: its terms are made of the sums that
// threads have in registers.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/TermsOfC.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Format/SplitTerms.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether warpgroups store sums from registers, which have 64 m of a column
/// side by side.
static bool hasSumsInRegisters(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  BlockTiling tiling = schedule.getTiling();
  return isa<WgmmaScheduleAttr, WgmmaSpScheduleAttr>(schedule) &&
         tiling.producerWarps != 0 && tiling.slotsOfC == 0 &&
         tiling.splitK == 1;
}

/// The only op that takes C's elements, if it splits them.
static SplitTermsOp findOnlyUser(SparseProductOpInterface op) {
  SplitTermsOp terms;
  for (Operation *user : op->getResult(0).getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (terms || !isa<SplitTermsOp>(user))
      return {};
    terms = cast<SplitTermsOp>(user);
  }
  return terms;
}

SplitTermsOp mlir::nm::findTermsOfC(SparseProductOpInterface op,
                                    const GpuTile &tile) {
  if (!isa<SpMMOp>(op) || op->getNumResults() != 1)
    return {};
  SplitTermsOp terms = findOnlyUser(op);
  bool isFilled = op.getC().getDefiningOp<linalg::FillOp>() != nullptr;
  if (!terms || terms.getWindows() || op.getNumBatchDims() != 0 ||
      (!op.hasEpilogue() && !isFilled) || tile.clusterK != 1 ||
      tile.m % ::nm::kTermColumns != 0 || !hasSumsInRegisters(op) ||
      !terms.getOutput().getDefiningOp<tensor::EmptyOp>())
    return {};
  // Where m is the last dimension of C, what splits it reads it as it is.
  return terms.getTranspose() != cast<SpMMOp>(*op).getTransposeC() ? terms
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

SparseProductOpInterface mlir::nm::turnForTerms(RewriterBase &rewriter,
                                                SparseProductOpInterface op,
                                                SplitTermsOp &terms) {
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
  rewriter.setInsertionPoint(terms);
  auto straight = SplitTermsOp::create(
      rewriter, terms.getLoc(), TypeRange{terms.getOutput().getType()},
      terms.getTermsAttr(), /*transpose=*/UnitAttr(), terms.getWindowsAttr(),
      turned->getResult(0), terms.getOutput());
  rewriter.replaceOp(terms, straight);
  rewriter.eraseOp(op);
  terms = straight;
  return cast<SparseProductOpInterface>(turned.getOperation());
}

/// The tiles of `c`, which stands for `whole` in the blocks, are memory of
/// their own.
static void makeTilesOwn(RewriterBase &rewriter, BlockArgument c, Value whole) {
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

void mlir::nm::splitInBlocks(RewriterBase &rewriter, scf::ForallOp blocks,
                             SplitTermsOp terms) {
  Location loc = terms.getLoc();
  makeTilesOwn(rewriter, blocks.getRegionIterArgs()[0], blocks.getOutputs()[0]);
  auto insert = cast<tensor::ParallelInsertSliceOp>(
      *blocks.getTerminator().getYieldingOps().begin());
  Value tile = insert.getSource();
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets(),
                            sizes = insert.getMixedSizes(),
                            strides = insert.getMixedStrides();
  rewriter.eraseOp(insert);
  rewriter.setInsertionPoint(terms);
  auto fused =
      scf::ForallOp::create(rewriter, loc, blocks.getMixedLowerBound(),
                            blocks.getMixedUpperBound(), blocks.getMixedStep(),
                            ValueRange{terms.getOutput()}, blocks.getMapping());
  Value output = fused.getRegionIterArgs()[0];
  // The tile's place, where it is an induction variable.
  for (OpFoldResult &place : offsets) {
    auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(place));
    if (argument && argument.getOwner() == blocks.getBody())
      place = fused.getBody()->getArgument(argument.getArgNumber());
  }
  rewriter.eraseOp(blocks.getTerminator());
  rewriter.inlineBlockBefore(blocks.getBody(), fused.getTerminator(),
                             fused.getBody()->getArguments());
  rewriter.setInsertionPoint(fused.getTerminator());
  int64_t each = terms.getTerms() * ::nm::kTermColumns;
  AffineExpr m = rewriter.getAffineSymbolExpr(0);
  auto compute = [&](AffineExpr expr, OpFoldResult of) {
    return affine::makeComposedFoldedAffineApply(rewriter, loc, expr, of);
  };
  offsets[1] = compute(m.floorDiv(::nm::kTermColumns) * each, offsets[1]);
  sizes[1] = compute(m.ceilDiv(::nm::kTermColumns) * each, sizes[1]);
  Value slice = tensor::ExtractSliceOp::create(rewriter, loc, output, offsets,
                                               sizes, strides);
  Value split =
      SplitTermsOp::create(rewriter, loc, TypeRange{slice.getType()},
                           terms.getTermsAttr(), /*transpose=*/UnitAttr(),
                           terms.getWindowsAttr(), tile, slice)
          ->getResult(0);
  rewriter.setInsertionPointToEnd(fused.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(rewriter, loc, split, output, offsets,
                                        sizes, strides);
  rewriter.replaceOp(terms, fused.getResults());
  rewriter.eraseOp(blocks);
}
