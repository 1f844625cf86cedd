//===- AttentionViews.cpp - Attention reads what was transposed -----------===//

#include "AttentionViews.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether the last dimension stays the last.
static bool keepsRows(ArrayRef<int64_t> permutation) {
  return !permutation.empty() &&
         permutation.back() == int64_t(permutation.size()) - 1;
}

static SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = int64_t(to);
  return inverse;
}

/// The groups, in another order, that reshape a tensor whose whole dimensions
/// are in that order: dimension i is `groups[order[i]]`. `dims` gets, for each
/// of the split dimensions, what it was before.
static SmallVector<ReassociationIndices>
reorderGroups(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> order,
              SmallVector<int64_t> &dims) {
  SmallVector<ReassociationIndices> reordered;
  for (int64_t group : order) {
    ReassociationIndices own;
    for (int64_t dim : groups[group]) {
      own.push_back(int64_t(dims.size()));
      dims.push_back(dim);
    }
    reordered.push_back(own);
  }
  return reordered;
}

static AffineMap reorder(AffineMap map, ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> results;
  for (int64_t dim : dims)
    results.push_back(map.getResult(unsigned(dim)));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A tensor whose dimension i runs along result i of `map`.
namespace {
struct MappedTensor {
  Value value;
  AffineMap map;
};
} // namespace

/// What makes `value`, but for a split that is merged again, as PyTorch writes
/// it where heads are repeated once.
static Operation *findMaker(Value value) {
  Operation *maker = value.getDefiningOp();
  while (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(maker)) {
    auto expand = collapse.getSrc().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || expand.getSrcType() != collapse.getResultType() ||
        expand.getReassociationIndices() != collapse.getReassociationIndices())
      break;
    maker = expand.getSrc().getDefiningOp();
  }
  return maker;
}

/// What `operand` is transposed from, whole or split into more dimensions.
static std::optional<MappedTensor> findSource(RewriterBase &rewriter,
                                              MappedTensor operand) {
  Operation *maker = findMaker(operand.value);
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(maker)) {
    if (!keepsRows(transpose.getPermutation()))
      return std::nullopt;
    return MappedTensor{
        transpose.getInput(),
        reorder(operand.map, invert(transpose.getPermutation()))};
  }
  auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(maker);
  auto transpose =
      expand ? expand.getSrc().getDefiningOp<linalg::TransposeOp>() : nullptr;
  if (!transpose || !keepsRows(transpose.getPermutation()))
    return std::nullopt;
  SmallVector<int64_t> dims;
  SmallVector<ReassociationIndices> groups =
      reorderGroups(expand.getReassociationIndices(),
                    invert(transpose.getPermutation()), dims);
  SmallVector<OpFoldResult> sizes, all = expand.getMixedOutputShape();
  SmallVector<int64_t> shape;
  for (int64_t dim : dims) {
    sizes.push_back(all[dim]);
    shape.push_back(expand.getResultType().getDimSize(dim));
  }
  auto type =
      RankedTensorType::get(shape, expand.getResultType().getElementType());
  // Where its sizes are known, which may be behind the transposition.
  rewriter.setInsertionPoint(expand);
  Value split = tensor::ExpandShapeOp::create(
      rewriter, expand.getLoc(), type, transpose.getInput(), groups, sizes);
  return MappedTensor{split, reorder(operand.map, dims)};
}

//===----------------------------------------------------------------------===//
// The output
//===----------------------------------------------------------------------===//

/// What the output becomes, and the op whose result it then is.
namespace {
struct Written {
  MappedTensor output;
  linalg::TransposeOp transpose;
  /// Between the attention and the transposition, if anything.
  tensor::CollapseShapeOp collapse;
  SmallVector<ReassociationIndices> groups;
};
} // namespace

/// The new tensor that O is transposed to.
static std::optional<Written> findWritten(RewriterBase &rewriter,
                                          AttentionOp op, AffineMap map) {
  Value result = op->getResult(0);
  if (!result.hasOneUse() || !op.getO().getDefiningOp<tensor::EmptyOp>())
    return std::nullopt;
  Written written;
  Operation *user = *result.user_begin();
  written.collapse = dyn_cast<tensor::CollapseShapeOp>(user);
  if (written.collapse) {
    if (!written.collapse->hasOneUse())
      return std::nullopt;
    user = *written.collapse->user_begin();
  }
  written.transpose = dyn_cast<linalg::TransposeOp>(user);
  if (!written.transpose || user->getBlock() != op->getBlock() ||
      !written.transpose.getInit().getDefiningOp<tensor::EmptyOp>() ||
      !keepsRows(written.transpose.getPermutation()))
    return std::nullopt;
  ArrayRef<int64_t> permutation = written.transpose.getPermutation();
  SmallVector<int64_t> dims(permutation);
  if (written.collapse) {
    dims.clear();
    written.groups = reorderGroups(written.collapse.getReassociationIndices(),
                                   permutation, dims);
  }
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes,
      all = tensor::getMixedSizes(rewriter, op.getLoc(), op.getO());
  for (int64_t dim : dims)
    sizes.push_back(all[dim]);
  Type element = getElementTypeOrSelf(op.getO().getType());
  written.output = {
      tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, element),
      reorder(map, dims)};
  return written;
}

static void replaceTransposed(RewriterBase &rewriter, Written &written,
                              Value result) {
  rewriter.setInsertionPoint(written.transpose);
  if (written.collapse)
    result = tensor::CollapseShapeOp::create(
        rewriter, written.collapse.getLoc(),
        cast<RankedTensorType>(written.transpose->getResult(0).getType()),
        result, written.groups);
  rewriter.replaceOp(written.transpose, result);
  if (written.collapse)
    rewriter.eraseOp(written.collapse);
}

AttentionOp mlir::nm::foldTranspositions(RewriterBase &rewriter,
                                         AttentionOp op) {
  SmallVector<Value> operands(op->getOperands());
  SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
  for (unsigned i = 0; i + 1 < operands.size(); ++i)
    while (std::optional<MappedTensor> source =
               findSource(rewriter, {operands[i], op.getMap(i)})) {
      operands[i] = source->value;
      maps[i] = AffineMapAttr::get(source->map);
      op->setOperand(i, operands[i]);
      op.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
    }
  unsigned last = unsigned(operands.size()) - 1;
  std::optional<Written> written = findWritten(rewriter, op, op.getMap(last));
  if (!written)
    return op;
  operands[last] = written->output.value;
  maps[last] = AffineMapAttr::get(written->output.map);
  rewriter.setInsertionPoint(op);
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(operands[last].getType());
  state.addAttributes(op->getAttrs());
  state.attributes.set("indexing_maps", rewriter.getArrayAttr(maps));
  auto folded = cast<AttentionOp>(rewriter.create(state));
  replaceTransposed(rewriter, *written, folded->getResult(0));
  rewriter.eraseOp(op);
  return folded;
}
