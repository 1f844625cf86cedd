//===- PartialSums.cpp - Parts of k that several sum ----------------------===//
//
// PartialReductionOpInterface of nm.spmm and nm.spmv. k is cut into parts that
// are summed side by side, each into a tensor of C's shape of its own: the
// first dimension of the partial sums is the parts.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/IR/PartialSums.h"

#include "TilingInterfaceImpl.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;
using namespace mlir::nm::detail;

MergeResult mlir::nm::mergePartialSums(OpBuilder &builder,
                                       SparseProductOpInterface op,
                                       Value partials) {
  Value c = op.hasEpilogue()
                ? createZeroSums(builder, op, op.getAccumulatorType())
                : op.getC();
  auto combine =
      CombineOp::create(builder, op.getLoc(), c.getType(), partials, c);
  Value sums = combine->getResult(0);
  return {{combine},
          {op.hasEpilogue() ? applyEpilogue(builder, op, sums) : sums}};
}

//===----------------------------------------------------------------------===//
// PartialReductionOpInterface
//===----------------------------------------------------------------------===//

static LogicalResult
verifyReduction(SparseProductOpInterface op,
                const llvm::SetVector<unsigned> &reductionDims) {
  auto k = static_cast<unsigned>(op.getNumOutputLoops());
  if (op.hasPureTensorSemantics() && reductionDims.size() == 1 &&
      reductionDims.front() == k)
    return success();
  return op->emitOpError() << "expected partial sums over k, loop " << k
                           << ", of tensors";
}

FailureOr<Value> mlir::nm::detail::createPartialSums(
    SparseProductOpInterface op, OpBuilder &builder,
    ArrayRef<OpFoldResult> sizes,
    const llvm::SetVector<unsigned> &reductionDims) {
  if (failed(verifyReduction(op, reductionDims)))
    return failure();
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> shape = {sizes[reductionDims.front()]};
  llvm::append_range(shape, tensor::getMixedSizes(builder, loc, op.getC()));
  Type element = op.getAccumulatorType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

SliceRegion mlir::nm::detail::getRegionOfPart(SparseProductOpInterface op,
                                              OpBuilder &builder,
                                              const SliceRegion &tile,
                                              OpFoldResult part) {
  SliceRegion region;
  region.append({part, builder.getIndexAttr(1)});
  SliceRegion ofC = getProductRegionOfC(op, tile);
  llvm::append_range(region.offsets, ofC.offsets);
  llvm::append_range(region.sizes, ofC.sizes);
  return region;
}

Value mlir::nm::createSliceOfPart(OpBuilder &builder, Location loc,
                                  Value partials, const SliceRegion &region) {
  SmallVector<OpFoldResult> strides(region.offsets.size(),
                                    builder.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : ArrayRef(region.sizes).drop_front())
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = cast<RankedTensorType>(partials.getType());
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()),
      partials, region.offsets, region.sizes, strides);
}

FailureOr<TilingResult>
mlir::nm::detail::tileToPart(SparseProductOpInterface op, OpBuilder &builder,
                             ReductionTilingStrategy strategy,
                             ValueRange partials, const SliceRegion &tile,
                             const llvm::SetVector<unsigned> &reductionDims,
                             OpFoldResult part) {
  if (failed(verifyReduction(op, reductionDims)))
    return failure();
  // A partial sum for each k of a tile would be no product any more.
  if (strategy != ReductionTilingStrategy::PartialReductionOuterParallel)
    return op->emitOpError() << "expected parts of k that are summed side by "
                                "side, by the strategy 'outer parallel'";
  Value sums = createSliceOfPart(builder, op.getLoc(), partials.front(),
                                 getRegionOfPart(op, builder, tile, part));
  FailureOr<SparseProductOpInterface> product =
      tilePartialProduct(builder, op, tile.offsets, tile.sizes, sums);
  if (failed(product))
    return failure();
  return TilingResult{{*product},
                      {product->getOperation()->getResult(0)},
                      {sums.getDefiningOp()}};
}
