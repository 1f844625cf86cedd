//===- PackActivations.cpp - A in the form that a schedule takes ----------===//

#include "PackActivations.h"

#include "nm/Dialect/NM/Transforms/RepeatRows.h"
#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

/// The columns that `splits` of each of `m` have.
static OpFoldResult countSplitColumns(OpBuilder &builder, Location loc,
                                      OpFoldResult m, int64_t splits) {
  AffineExpr groups =
      builder.getAffineSymbolExpr(0).ceilDiv(::nm::kSplitColumns);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, groups * (splits * ::nm::kSplitColumns), m);
}

/// Where weights are packed as sums of splits, makes A such sums, too.
static void splitA(SparseProductOpInterface op, PackedFormAttrInterface form) {
  int64_t splits = form.countSplits();
  auto product = dyn_cast<SpMMOp>(*op);
  if (splits == 1 || !product)
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  bool transpose = !product.getTransposeA();
  Value a = product.getA();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, a);
  if (transpose)
    std::swap(sizes[sizes.size() - 2], sizes.back());
  // What repeats rows need not do so before they are split.
  IntegerAttr windows;
  if (std::optional<RepeatedRows> repeated = findRepeatedRows(a)) {
    a = repeated->a;
    windows = builder.getI64IntegerAttr(repeated->groups.windowRows);
  }
  sizes.back() = countSplitColumns(builder, loc, sizes.back(), splits);
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getBF16Type());
  auto split = SplitFloatsOp::create(
      builder, loc, TypeRange{empty.getType()},
      builder.getI64IntegerAttr(splits),
      transpose ? builder.getUnitAttr() : UnitAttr(), windows, a, empty);
  product.getAMutable().assign(split->getResult(0));
  product.setTransposeA(true);
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// The dimensions of `rank`, of which the last stands for two.
static SmallVector<ReassociationIndices> groupLastTwo(size_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (size_t dim = 0; dim < rank; ++dim)
    groups.push_back({int64_t(dim)});
  groups.back().push_back(int64_t(rank));
  return groups;
}

/// `a`, [m x k], as [m x k/16 x 16].
static Value splitColumns(OpBuilder &builder, Location loc, Value a) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, a);
  size_t rank = sizes.size();
  sizes.back() = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).floorDiv(kPanelColumnsOfA),
      sizes.back());
  sizes.push_back(builder.getIndexAttr(kPanelColumnsOfA));
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  Type element = cast<RankedTensorType>(a.getType()).getElementType();
  return tensor::ExpandShapeOp::create(builder, loc,
                                       RankedTensorType::get(shape, element), a,
                                       groupLastTwo(rank), sizes);
}

/// Writes `rows`, [m x k/16 x 16], to `panels`, [k/16 x m x 16]. It is a
/// generic op, so that what makes the rows is fused to it.
static Value writePanels(OpBuilder &builder, Location loc, Value rows,
                         Value panels) {
  auto type = cast<RankedTensorType>(panels.getType());
  auto rank = unsigned(type.getRank());
  AffineMap written = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> read(written.getResults());
  std::swap(read[rank - 3], read[rank - 2]);
  return linalg::GenericOp::create(
             builder, loc, type, rows, panels,
             ArrayRef<AffineMap>{
                 AffineMap::get(rank, 0, read, builder.getContext()), written},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [](OpBuilder &body, Location loc, ValueRange elements) {
               linalg::YieldOp::create(body, loc, elements.front());
             })
      .getResult(0);
}

namespace {
/// A part of a tensor.
struct Part {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Part(OpBuilder &builder, ArrayRef<OpFoldResult> sizes)
      : offsets(sizes.size(), builder.getIndexAttr(0)), sizes(sizes),
        strides(sizes.size(), builder.getIndexAttr(1)) {}

  /// `tensor` with what `write` makes of the part.
  Value replaceIn(OpBuilder &builder, Location loc, Value tensor,
                  function_ref<Value(Value)> write) const {
    Value slice = tensor::ExtractSliceOp::create(builder, loc, tensor, offsets,
                                                 sizes, strides);
    return tensor::InsertSliceOp::create(builder, loc, write(slice), tensor,
                                         offsets, sizes, strides);
  }
};
} // namespace

/// `panels`, [k/16 x m x 16], of which those from `first` on are zeros, if
/// there are any.
static Value fillPanels(OpBuilder &builder, Location loc, Value panels,
                        int64_t first) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, panels);
  size_t kDim = sizes.size() - 3;
  int64_t left = *getConstantIntValue(sizes[kDim]) - first;
  if (left == 0)
    return panels;
  Part rest(builder, sizes);
  rest.offsets[kDim] = builder.getIndexAttr(first);
  rest.sizes[kDim] = builder.getIndexAttr(left);
  return rest.replaceIn(builder, loc, panels, [&](Value slice) {
    Value zero = arith::ConstantOp::create(
        builder, loc,
        builder.getZeroAttr(getElementTypeOrSelf(panels.getType())));
    return linalg::FillOp::create(builder, loc, zero, slice).getResult(0);
  });
}

/// `a`, row-major, as nm.spmm takes it with panels_a of `count` rows, with
/// zeros that fill k up to a multiple of `windowRows`.
static Value createPanels(OpBuilder &builder, Location loc, Value a,
                          int64_t count, int64_t windowRows) {
  Value rows = splitColumns(builder, loc, a);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rows);
  size_t rank = sizes.size(), mDim = rank - 2, kDim = rank - 3;
  std::swap(sizes[kDim], sizes[mDim]);
  int64_t panels = *getConstantIntValue(sizes[kDim]);
  SmallVector<OpFoldResult> filled = sizes;
  filled[mDim] = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(count) * count,
      sizes[mDim]);
  filled[kDim] = builder.getIndexAttr(
      llvm::alignTo(panels, windowRows / kPanelColumnsOfA));
  Value empty = tensor::EmptyOp::create(builder, loc, filled,
                                        getElementTypeOrSelf(rows.getType()));
  Value written =
      Part(builder, sizes).replaceIn(builder, loc, empty, [&](Value slice) {
        return writePanels(builder, loc, rows, slice);
      });
  return tensor::CollapseShapeOp::create(
      builder, loc, fillPanels(builder, loc, written, panels),
      groupLastTwo(rank - 1));
}

/// Where the schedule copies A from panels, puts it into them.
static void putIntoPanels(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  auto product = dyn_cast<SpMMOp>(*op);
  if (!schedule || !product || product.getPanelsA())
    return;
  BlockTiling tiling = schedule.getTiling();
  if (tiling.copyA != ::nm::CopyKind::Bulk)
    return;
  OpBuilder builder(op);
  int64_t rows = tiling.blockM;
  product.getAMutable().assign(createPanels(builder, op.getLoc(),
                                            product.getA(), rows,
                                            op.getPattern().windowRows()));
  product.setPanelsA(rows);
}

void mlir::nm::packActivations(SparseProductOpInterface op,
                               PackedFormAttrInterface form) {
  splitA(op, form);
  putIntoPanels(op);
}
