//===- LayoutRewrite.cpp - Gives activations their layouts ----------------===//

#include "GPU/Layouts/LayoutRewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class LayoutRewriter {
public:
  LayoutRewriter(RewriterBase &rewriter, const OtherLayouts &layouts,
                 const ChosenLayouts &chosen)
      : rewriter(rewriter), layouts(layouts), chosen(chosen) {}

  void rewrite(func::FuncOp function);
  LayoutOps takeOps() { return std::move(made); }

private:
  /// `value` in its own layout or in the other, transposed if need be.
  Value get(Value value, bool isOther);
  Value get(OpOperand &operand) {
    if (chosen.isCopied(operand))
      return copy(operand.get());
    return get(operand.get(), chosen.isOther(operand));
  }
  /// `value` in memory of its own, for nm-pad-rows to lay out.
  Value copy(Value value);
  Value makeFree(Value value);
  Value transpose(Value from, ArrayRef<int64_t> permutation);
  bool isChanged(Operation *op) const;
  /// `map` of an operand, to its dimensions in the layout it is taken in.
  AffineMap getMap(AffineMap map, OpOperand &operand);

  Operation *rebuild(Operation *op);
  Operation *rebuildProduct(SpMMOp op);
  Operation *rebuildLinalg(linalg::LinalgOp op);
  Operation *rebuildView(Operation *op);
  void setTypes(Operation *rebuilt, Operation *op);
  void replaceDim(tensor::DimOp op);

  RewriterBase &rewriter;
  const OtherLayouts &layouts;
  const ChosenLayouts &chosen;
  /// What there is in place of a value, in its own layout and in the other.
  DenseMap<Value, Value> own, other, copies;
  LayoutOps made;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// An empty or filled tensor, or a constant, in the other layout.
Value LayoutRewriter::makeFree(Value value) {
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *op = value.getDefiningOp();
  rewriter.setInsertionPoint(op);
  ArrayRef<int64_t> order = layouts.getOrder(value);
  RankedTensorType type = layouts.getType(value);
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return arith::ConstantOp::create(rewriter, op->getLoc(),
                                     splat.resizeSplat(type));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return linalg::FillOp::create(rewriter, op->getLoc(), fill.value(),
                                  get(fill.output(), /*isOther=*/true))
        .getResult(0);
  SmallVector<OpFoldResult> sizes =
      applyPermutation(cast<tensor::EmptyOp>(op).getMixedSizes(), order);
  return tensor::EmptyOp::create(rewriter, op->getLoc(), sizes,
                                 type.getElementType());
}

/// Right after `from`, so that it is there for all that use it.
Value LayoutRewriter::transpose(Value from, ArrayRef<int64_t> permutation) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(from);
  Location loc = from.getLoc();
  SmallVector<OpFoldResult> sizes =
      applyPermutation(tensor::getMixedSizes(rewriter, loc, from), permutation);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        getElementTypeOrSelf(from.getType()));
  auto op =
      linalg::TransposeOp::create(rewriter, loc, from, empty, permutation);
  made.transpositions.push_back(op);
  return op->getResult(0);
}

/// Not a linalg.copy, which canonicalization folds into what it copies.
Value LayoutRewriter::copy(Value value) {
  Value &copied = copies[value];
  if (copied)
    return copied;
  Value from = get(value, /*isOther=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(from);
  auto op = bufferization::AllocTensorOp::create(
      rewriter, from.getLoc(), cast<RankedTensorType>(from.getType()),
      /*dynamicSizes=*/ValueRange(), from);
  made.copies.push_back(op);
  return copied = op.getResult();
}

Value LayoutRewriter::get(Value value, bool isOther) {
  Value &wanted = isOther ? other[value] : own[value];
  if (wanted)
    return wanted;
  if (!isOther && (!chosen.isOther(value) || isMadeInAnyLayout(value)))
    return wanted = value;
  if (isOther && isMadeInAnyLayout(value)) {
    Value made = makeFree(value);
    return other[value] = made;
  }
  ArrayRef<int64_t> order = layouts.getOrder(value);
  Value made =
      isOther ? transpose(get(value, false), order)
              : transpose(other.lookup(value), invertPermutationVector(order));
  return (isOther ? other : own)[value] = made;
}

AffineMap LayoutRewriter::getMap(AffineMap map, OpOperand &operand) {
  if (!chosen.isOther(operand))
    return map;
  SmallVector<AffineExpr> results;
  for (int64_t dim : layouts.getOrder(operand.get()))
    results.push_back(map.getResult(dim));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool LayoutRewriter::isChanged(Operation *op) const {
  return llvm::any_of(
             op->getOpOperands(),
             [&](OpOperand &operand) { return chosen.isOther(operand); }) ||
         llvm::any_of(op->getResults(),
                      [&](Value result) { return chosen.isOther(result); });
}

void LayoutRewriter::setTypes(Operation *rebuilt, Operation *op) {
  for (auto [result, before] :
       llvm::zip(rebuilt->getResults(), op->getResults()))
    if (chosen.isOther(before))
      result.setType(layouts.getType(before));
}

Operation *LayoutRewriter::rebuildProduct(SpMMOp op) {
  auto rebuilt = cast<SpMMOp>(rewriter.clone(*op));
  for (auto [operand, before] :
       llvm::zip(rebuilt->getOpOperands(), op->getOpOperands()))
    operand.set(get(before));
  if (chosen.isOther(op.getAMutable()))
    rebuilt.setTransposeA(!op.getTransposeA());
  if (chosen.isOther(op->getResult(0)))
    rebuilt.setTransposeC(!op.getTransposeC());
  SmallVector<AffineMap> maps;
  for (auto [map, operand] :
       llvm::zip(op.getEpilogueMaps().getAsValueRange<AffineMapAttr>(),
                 op.getEpilogueOperandsMutable()))
    maps.push_back(getMap(map, operand));
  rebuilt.setEpilogueMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  return rebuilt;
}

Operation *LayoutRewriter::rebuildLinalg(linalg::LinalgOp op) {
  Operation *clone = rewriter.clone(*op);
  // A fill is one in any layout, which products look for.
  if (auto fill = dyn_cast<linalg::FillOp>(clone)) {
    fill.getOutputsMutable()[0].set(get(op.getDpsInitsMutable()[0]));
    return fill;
  }
  linalg::GenericOp generic = dyn_cast<linalg::GenericOp>(clone);
  if (!generic) {
    rewriter.setInsertionPoint(clone);
    generic =
        *linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(clone));
    rewriter.setInsertionPoint(op);
  }
  SmallVector<AffineMap> maps;
  for (auto [operand, before] :
       llvm::zip(generic->getOpOperands(), op->getOpOperands())) {
    operand.set(get(before));
    maps.push_back(getMap(op.getMatchingIndexingMap(&before), before));
  }
  generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  return generic;
}

/// Groups of as many dimensions as before, in `order`.
static SmallVector<ReassociationIndices>
orderGroups(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> order) {
  SmallVector<ReassociationIndices> ordered;
  int64_t next = 0;
  for (int64_t group : order) {
    ordered.emplace_back(llvm::to_vector<2>(
        llvm::seq<int64_t>(next, next + groups[group].size())));
    next += groups[group].size();
  }
  return ordered;
}

Operation *LayoutRewriter::rebuildView(Operation *op) {
  Value source = get(op->getOpOperand(0)), result = op->getResult(0);
  RankedTensorType type = layouts.getType(result);
  Location loc = op->getLoc();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<OpFoldResult> sizes = applyPermutation(
        expand.getMixedOutputShape(), layouts.getOrder(result));
    return tensor::ExpandShapeOp::create(
        rewriter, loc, type, source,
        orderGroups(expand.getReassociationIndices(),
                    layouts.getOrder(expand.getSrc())),
        sizes);
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(
        rewriter, loc, type, source,
        orderGroups(collapse.getReassociationIndices(),
                    layouts.getOrder(result)));
  return tensor::CastOp::create(rewriter, loc, type, source);
}

Operation *LayoutRewriter::rebuild(Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto product = dyn_cast<SpMMOp>(op))
    return rebuildProduct(product);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return rebuildLinalg(linalgOp);
  return rebuildView(op);
}

/// A size of a value that is there in its other layout only.
void LayoutRewriter::replaceDim(tensor::DimOp op) {
  Value source = op.getSource();
  std::optional<int64_t> dim = op.getConstantIndex();
  bool isOther = chosen.isOther(source) && !isMadeInAnyLayout(source);
  if (!dim || !isOther)
    return rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().set(get(source, false)); });
  ArrayRef<int64_t> order = layouts.getOrder(source);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<tensor::DimOp>(
      op, other.lookup(source), llvm::find(order, *dim) - order.begin());
}

void LayoutRewriter::rewrite(func::FuncOp function) {
  SmallVector<Operation *> ops, replaced;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      replaceDim(dim);
      continue;
    }
    // It stays for those that take it as it is.
    if (op->getNumResults() == 1 && isMadeInAnyLayout(op->getResult(0)))
      continue;
    if (!isChanged(op)) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(get(operand));
      continue;
    }
    Operation *rebuilt = rebuild(op);
    setTypes(rebuilt, op);
    for (auto [before, result] :
         llvm::zip(op->getResults(), rebuilt->getResults()))
      (chosen.isOther(before) ? other : own)[before] = result;
    replaced.push_back(op);
  }
  for (Operation *op : llvm::reverse(replaced))
    rewriter.eraseOp(op);
}

LayoutOps mlir::nm::rewriteLayouts(RewriterBase &rewriter,
                                   func::FuncOp function,
                                   const OtherLayouts &layouts,
                                   const ChosenLayouts &chosen) {
  LayoutRewriter layoutRewriter(rewriter, layouts, chosen);
  layoutRewriter.rewrite(function);
  return layoutRewriter.takeOps();
}
