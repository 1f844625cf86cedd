//===- ClusterSums.cpp - Sums that the blocks of a cluster share ----------===//

#include "GPU/Sums/ClusterSums.h"

#include "GPU/Tile/BlockMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

/// A loop over a constant number of blocks, from 0 on.
LogicalResult ClusterSums::verifyLoop() {
  ArrayAttr mapping = loop.getMapping().value_or(ArrayAttr());
  if (!mapping || mapping.size() != 1 || !isa<ClusterBlockAttr>(mapping[0])) {
    InFlightDiagnostic diagnostic =
        loop.emitOpError()
        << "expected a loop inside blocks to be mapped to #nm.cluster_block, "
           "but ";
    return mapping ? diagnostic << "got " << mapping
                   : diagnostic << "it is mapped to nothing";
  }
  std::optional<int64_t> count =
      getConstantIntValue(loop.getMixedUpperBound().front());
  if (loop->getNumResults() != 0 || !loop.isNormalized() || !count ||
      *count < 1)
    return loop.emitOpError() << "expected a loop from 0 to a constant number "
                                 "of blocks, without results";
  blocks = *count;
  return success();
}

/// The nm.combine of memory that holds a part for each block.
LogicalResult ClusterSums::findCombine() {
  SmallVector<CombineOp> combines(clusters.getBody()->getOps<CombineOp>());
  if (combines.size() != 1 || !loop->isBeforeInBlock(combines.front()))
    return loop.emitOpError() << "expected one nm.combine behind it, which "
                                 "adds up what its blocks sum";
  combine = combines.front();
  partials = combine.getPartials().getDefiningOp<memref::AllocOp>();
  if (!partials || partials->getBlock() != clusters.getBody() ||
      partials.getType().getDimSize(0) != blocks)
    return combine.emitOpError()
           << "expected partial sums in memory of the cluster's own, one for "
              "each of its "
           << blocks << " blocks";
  return success();
}

/// Whether `view` of `partials` is all of the part `block`.
static bool isWholePart(memref::SubViewOp view, memref::AllocOp partials,
                        Value block) {
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets(),
                            sizes = view.getMixedSizes();
  if (offsets.front() != OpFoldResult(block) || !isOneInteger(sizes.front()))
    return false;
  for (int64_t dim = 1; dim < partials.getType().getRank(); ++dim) {
    int64_t size =
        getConstantIntValue(sizes[dim]).value_or(ShapedType::kDynamic);
    if (!isZeroInteger(offsets[dim]) ||
        size != partials.getType().getDimSize(dim))
      return false;
  }
  return true;
}

/// Whether `view` is the slice of `partials` that the iteration `block` has.
static bool isPartOfBlock(Value view, memref::AllocOp partials, Value block) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      view = cast.getSource();
      continue;
    }
    auto subview = dyn_cast<memref::SubViewOp>(op);
    if (!subview || !subview.hasUnitStride())
      return false;
    if (subview.getSource() == partials)
      return isWholePart(subview, partials, block);
    if (!llvm::all_of(subview.getMixedOffsets(), isZeroInteger))
      return false;
    view = subview.getSource();
  }
  return false;
}

/// The product adds to the part of its block, which starts from zero.
LogicalResult ClusterSums::verifyPart(SparseProductOpInterface product) {
  if (!loop->isProperAncestor(product))
    return product->emitOpError()
           << "expected all products to be in the loop over the blocks of "
              "their cluster";
  if (!isPartOfBlock(product.getC(), partials, loop.getInductionVar(0)))
    return product->emitOpError()
           << "expected to add to the part of the partial sums that its block "
              "of the cluster has";
  linalg::FillOp fill = findFill(product.getC(), clusters);
  if (!fill || !(matchPattern(fill.value(), m_AnyZeroFloat()) ||
                 matchPattern(fill.value(), m_Zero())))
    return product->emitOpError()
           << "expected partial sums to be filled with zeros";
  return success();
}

FailureOr<std::optional<ClusterSums>>
ClusterSums::find(scf::ForallOp clusters) {
  SmallVector<scf::ForallOp> loops;
  clusters.getBody()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  if (loops.empty()) {
    for (auto combine : clusters.getBody()->getOps<CombineOp>())
      return combine.emitOpError() << "expected a loop over the blocks of a "
                                      "cluster, which make its partial sums";
    return std::optional<ClusterSums>();
  }
  ClusterSums sums(clusters, loops.front());
  if (loops.size() > 1 || loops.front()->getBlock() != clusters.getBody())
    return loops.back().emitOpError()
           << "expected at most one loop over the blocks of a cluster";
  if (failed(sums.verifyLoop()) || failed(sums.findCombine()))
    return failure();
  WalkResult products = clusters.walk([&](SparseProductOpInterface product) {
    return WalkResult(sums.verifyPart(product));
  });
  if (products.wasInterrupted())
    return failure();
  return std::optional<ClusterSums>(sums);
}

void ClusterSums::inlineBlocks(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  // The number that the cluster has for the block too; of a remainder, LLVM
  // knows how large it is.
  Value block = arith::RemUIOp::create(
      rewriter, loc, gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x),
      arith::ConstantIndexOp::create(rewriter, loc, blocks));
  rewriter.eraseOp(loop.getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), loop, block);
  rewriter.eraseOp(loop);
}

void ClusterSums::erase(RewriterBase &rewriter) {
  rewriter.eraseOp(combine);
  for (Operation *user : llvm::make_early_inc_range(partials->getUsers()))
    if (auto view = dyn_cast<memref::SubViewOp>(user))
      for (Operation *fill : llvm::make_early_inc_range(view->getUsers()))
        if (isa<linalg::FillOp>(fill))
          rewriter.eraseOp(fill);
  eraseOwnMemory(rewriter, partials);
}
