//===- ContractionToContract.cpp - Products of computed operands ----------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/Dialect/NM/Transforms/ProductBody.h"
#include "nm/Dialect/NM/Transforms/WeightContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// Shorter sums take less than a call beside those of their neighbours.
static constexpr int64_t kLeastK = 8;

//===----------------------------------------------------------------------===//
// What is taken
//===----------------------------------------------------------------------===//

static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

static bool isTakenElement(Type type) {
  return type.isF32() || type.isF16() || type.isBF16();
}

/// Why `op` is no product that nm.contract has, if so.
static const char *whyNotContract(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !reducesTwoOperands(op))
    return "op is not a sum of products of two tensors";
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()) ||
        !isTakenElement(getElement(operand)))
      return "an operand is no tensor of f32, f16 or bf16";
  if (checkProductBody(op))
    return "its body is no step of a product";
  std::optional<LoopRoles> roles = getLoopRoles(op.getIndexingMapsArray());
  if (!roles)
    return "a loop is neither a batch, nor of m, n or k";
  if (roles->m.empty() && roles->n.empty())
    return "it multiplies no matrix";
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t k = 1;
  for (unsigned loop : roles->k) {
    if (ShapedType::isDynamic(sizes[loop]))
      return nullptr;
    k *= sizes[loop];
  }
  return k < kLeastK ? "its sums are short" : nullptr;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
/// A tensor and the loops that its dimensions run along.
struct Operand {
  Value value;
  SmallVector<unsigned> loops;
};
} // namespace

/// What a transposition makes `operand` of; none where none does.
static std::optional<Operand> skipTransposition(const Operand &operand) {
  auto transpose = operand.value.getDefiningOp<linalg::TransposeOp>();
  if (!transpose)
    return std::nullopt;
  Operand source{transpose.getInput(),
                 SmallVector<unsigned>(operand.loops.size())};
  for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
    source.loops[from] = operand.loops[dim];
  return source;
}

/// Whether contiguous tensors of such loops are multiplied by one call.
static bool areOneCall(const LoopRoles &roles, ArrayRef<int64_t> sizes,
                       ArrayRef<unsigned> a, ArrayRef<unsigned> b,
                       ArrayRef<unsigned> c) {
  return isOneCall(
      findMatrixProducts(roles, sizes,
                         {OperandLayout::getContiguous(a, sizes),
                          OperandLayout::getContiguous(b, sizes),
                          OperandLayout::getContiguous(c, sizes)}));
}

/// Lets the product read what `a` and `b` are transposed from, where it can as
/// they are.
static void foldTranspositions(linalg::LinalgOp op, Operand &a, Operand &b) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  LoopRoles roles = *getLoopRoles(maps);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> c = getLoopsOf(maps[2]);
  for (Operand *operand : {&a, &b})
    while (std::optional<Operand> source = skipTransposition(*operand)) {
      bool isA = operand == &a;
      if (!areOneCall(roles, sizes, isA ? source->loops : a.loops,
                      isA ? b.loops : source->loops, c))
        break;
      *operand = *source;
    }
}

/// `value` with elements of `type`.
static Value widen(OpBuilder &builder, Location loc, Value value, Type type) {
  auto tensor = cast<RankedTensorType>(value.getType());
  if (tensor.getElementType() == type)
    return value;
  return arith::ExtFOp::create(builder, loc, tensor.clone(type), value);
}

/// Zeros of their own, which the call can leave out, where `init` is filled.
static Value cloneFill(OpBuilder &builder, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return init;
  Value output = fill.output();
  if (auto empty = output.getDefiningOp<tensor::EmptyOp>())
    output = builder.clone(*empty)->getResult(0);
  return linalg::FillOp::create(builder, fill.getLoc(), fill.value(), output)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
struct ContractionToContract : OpInterfaceRewritePattern<linalg::LinalgOp> {
  ContractionToContract(MLIRContext *context, Arithmetic arithmetic)
      : OpInterfaceRewritePattern(context, /*benefit=*/0),
        arithmetic(arithmetic) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (const char *reason = whyNotContract(op))
      return rewriter.notifyMatchFailure(op, reason);
    Location loc = op.getLoc();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    Operand a{op.getDpsInputs()[0], getLoopsOf(maps[0])},
        b{op.getDpsInputs()[1], getLoopsOf(maps[1])};
    Value c = op.getDpsInits()[0];
    Type ofA = getElement(a.value), ofB = getElement(b.value);
    Type type = ofA == ofB ? ofA : Type(rewriter.getF32Type());
    if (getElement(c) != type && !getElement(c).isF32())
      return rewriter.notifyMatchFailure(op, "C is narrower than sums of f32");
    foldTranspositions(op, a, b);
    maps[0] = getMap(a.loops, maps[0]);
    maps[1] = getMap(b.loops, maps[1]);
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, TypeRange(c.getType()), widen(rewriter, loc, a.value, type),
        widen(rewriter, loc, b.value, type), cloneFill(rewriter, c),
        rewriter.getAffineMapArrayAttr(maps), getArithmetic(op, type));
    return success();
  }

private:
  static AffineMap getMap(ArrayRef<unsigned> loops, AffineMap like) {
    SmallVector<AffineExpr> results;
    for (unsigned loop : loops)
      results.push_back(getAffineDimExpr(loop, like.getContext()));
    return AffineMap::get(like.getNumDims(), 0, results, like.getContext());
  }
  /// What `op` says, or else the option, which is of products of f32.
  Arithmetic getArithmetic(linalg::LinalgOp op, Type type) const {
    auto given = op->getAttrOfType<ArithmeticAttr>(kArithmeticAttr);
    Arithmetic wanted = given ? given.getValue() : arithmetic;
    return type.isF32() && wanted != Arithmetic::FastAccum ? wanted
                                                           : Arithmetic::F32;
  }

  Arithmetic arithmetic;
};
} // namespace

void mlir::nm::populateContractionToContractPatterns(
    RewritePatternSet &patterns, Arithmetic arithmetic) {
  patterns.add<ContractionToContract>(patterns.getContext(), arithmetic);
}
