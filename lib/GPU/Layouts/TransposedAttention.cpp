//===- TransposedAttention.cpp - Attention that stores [k x m] ------------===//
//
// A lane has neighbouring columns of two rows, which eight rows beside it have,
// too: 16 bytes along rows, as along columns. So the kernel stores its results
// in either layout as fast.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/TransposedAttention.h"

#include "GPU/Library/CallAttention.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// [m x k] as a view of an attention's result.
struct OwnAttention {
  AttentionOp op;
  /// Where there is a branch for cuDNN, which has the op of the other one.
  scf::IfOp branches;
  /// The dimensions of the result for m and for k.
  SmallVector<ReassociationIndices> groups;
};
} // namespace

/// The attention that `value` is the result of, of both branches where cuDNN
/// may have it.
static OwnAttention findAttention(Value value) {
  if (auto op = value.getDefiningOp<AttentionOp>())
    return {op, {}, {}};
  auto branches = value.getDefiningOp<scf::IfOp>();
  if (!branches || branches->getNumResults() != 1 || !branches.elseBlock() ||
      !branches.getCondition().getDefiningOp<HasCudnnOp>())
    return {};
  auto op = branches.elseYield().getOperand(0).getDefiningOp<AttentionOp>();
  // Others are a call where the library is.
  return op && isShortKernel(op) ? OwnAttention{op, branches, {}}
                                 : OwnAttention();
}

/// Whether storing its result transposed pays: of 8 x 16 heads of 64 it saves a
/// kernel of 5.5 us; of 32 heads of 128, 512 rows, causal, a block of
/// Llama-3-8B takes 172 us with it and 161 without (an H200, 2026-11-29).
static bool hasNarrowValues(AttentionOp op) {
  constexpr int64_t kWidest = 64;
  AttentionOperands operands(op);
  int64_t width = operands.getStaticSize(operands.loops.width);
  return !ShapedType::isDynamic(width) && width <= kWidest;
}

static OwnAttention findOwnAttention(Value value) {
  SmallVector<ReassociationIndices> groups;
  while (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    if (!value.hasOneUse())
      return {};
    SmallVector<ReassociationIndices> own = collapse.getReassociationIndices();
    if (!groups.empty()) {
      auto both = composeReassociationIndices(own, groups, value.getContext());
      if (!both)
        return {};
      own = std::move(*both);
    }
    groups = std::move(own);
    value = collapse.getSrc();
  }
  if (groups.size() != 2 || !value.hasOneUse())
    return {};
  OwnAttention found = findAttention(value);
  found.groups = groups;
  auto isInBranch = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    return op && found.branches && found.branches->isProperAncestor(op);
  };
  if (!found.op || !found.op.hasPureTensorSemantics() ||
      whyNoAttentionKernel(found.op) || !hasNarrowValues(found.op) ||
      llvm::any_of(found.op->getOperands(), isInBranch))
    return {};
  return found;
}

/// Erases `op` and what makes its operands, as far as nothing else uses them.
static void eraseUnused(RewriterBase &rewriter, Operation *op) {
  if (!op || !op->use_empty() ||
      !isa<tensor::CollapseShapeOp, scf::IfOp, AttentionOp, HasCudnnOp>(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  rewriter.eraseOp(op);
  for (Value operand : operands)
    eraseUnused(rewriter, operand.getDefiningOp());
}

bool mlir::nm::isOwnAttention(Value value) {
  return value.hasOneUse() && findOwnAttention(value).op;
}

bool mlir::nm::transposeAttention(RewriterBase &rewriter,
                                  linalg::TransposeOp op) {
  OwnAttention found = findOwnAttention(op.getInput());
  if (!found.op || op.getPermutation() != ArrayRef<int64_t>{1, 0})
    return false;
  AttentionOp attention = found.op;
  rewriter.setInsertionPoint(op);
  Location loc = attention.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, attention.getO());
  AffineMap map = getOutputMap(attention);
  auto type = cast<RankedTensorType>(attention.getO().getType());
  // k in front of m; and the dimensions that each has then.
  SmallVector<ReassociationIndices> groups(2);
  SmallVector<OpFoldResult> ordered;
  SmallVector<AffineExpr> written;
  for (int64_t group : {1, 0})
    for (int64_t dim : found.groups[group]) {
      groups[1 - group].push_back(int64_t(ordered.size()));
      ordered.push_back(sizes[dim]);
      written.push_back(map.getResult(dim));
    }
  Value output =
      tensor::EmptyOp::create(rewriter, loc, ordered, type.getElementType());
  auto stored = cast<AttentionOp>(rewriter.clone(*attention));
  stored.getOMutable().assign(output);
  stored->getResult(0).setType(cast<RankedTensorType>(output.getType()));
  SmallVector<Attribute> maps(attention.getIndexingMaps().getValue());
  maps.back() = AffineMapAttr::get(
      AffineMap::get(map.getNumDims(), 0, written, rewriter.getContext()));
  stored.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
  emitRemark(loc) << "attention is a kernel that stores its result transposed, "
                     "for products that gain more by it";
  Operation *before = op.getInput().getDefiningOp();
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
      op, cast<RankedTensorType>(op.getInit().getType()), stored->getResult(0),
      groups);
  eraseUnused(rewriter, before);
  return true;
}
