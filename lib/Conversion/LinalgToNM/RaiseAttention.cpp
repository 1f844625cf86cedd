//===- RaiseAttention.cpp - Products with a softmax between ---------------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMRAISEATTENTION
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Ops between the two products
//===----------------------------------------------------------------------===//

/// `value` without conversions among floats.
static Value skipConversions(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static std::optional<double> getConstant(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToDouble();
}

/// The factor by which `op` multiplies each element of its only input; 1 where
/// `op` only converts.
static std::optional<double> getFactor(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Value input = op.getBody()->getArgument(0),
        result = skipConversions(yield.getOperand(0));
  if (result == input)
    return 1;
  Operation *maker = result.getDefiningOp();
  if (!isa_and_present<arith::MulFOp, arith::DivFOp>(maker))
    return std::nullopt;
  Value lhs = maker->getOperand(0), rhs = maker->getOperand(1);
  if (isa<arith::MulFOp>(maker) && getConstant(lhs))
    std::swap(lhs, rhs);
  std::optional<double> constant = getConstant(rhs);
  if (skipConversions(lhs) != input || !constant)
    return std::nullopt;
  return isa<arith::MulFOp>(maker) ? *constant : 1 / *constant;
}

/// The op behind `value` that is no factor, which nothing but this reads.
static Operation *skipFactors(Value value, double &factor) {
  while (value.hasOneUse()) {
    Operation *op = value.getDefiningOp();
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    std::optional<double> own = generic ? getFactor(generic) : std::nullopt;
    if (!own)
      return op;
    factor *= *own;
    value = generic.getInputs()[0];
  }
  return nullptr;
}

/// Whether `op` is what a weight, or a choice of arithmetic, is for.
static bool isOfWeights(Operation *op) {
  return op->hasAttr(kArithmeticAttr) ||
         llvm::any_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_Constant()) ||
                  cast<RankedTensorType>(operand.getType()).getEncoding();
         });
}

/// The op as a sum of products of its two inputs into zeros.
static linalg::LinalgOp getProduct(Operation *op) {
  auto product = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!product || !linalg::isaContractionOpInterface(product) ||
      product->getNumResults() != 1)
    return {};
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return {};
  for (Value operand : product->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      return {};
  return isOfWeights(op) ? linalg::LinalgOp() : product;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Both products, their loops numbered as those of one attention.
class Match {
public:
  /// Whether `last` is the product with the values of an attention.
  bool find(linalg::LinalgOp last);
  AttentionOp create(OpBuilder &builder);

private:
  bool findScores(Operation *maker);
  bool mapLoops();
  std::optional<AffineMap> mapOperand(AffineMap map, ArrayRef<int64_t> loops);

  linalg::LinalgOp scores, last;
  linalg::SoftmaxOp softmax;
  unsigned powers = 0;
  double scale = 1;
  unsigned count = 0;
  Value q, k, v;
  AffineMap ofQ, ofK, ofV, ofO;
};
} // namespace

static AffineMap mapOf(linalg::LinalgOp op, unsigned operand) {
  return op.getMatchingIndexingMap(&op->getOpOperand(operand));
}

bool Match::findScores(Operation *maker) {
  softmax = dyn_cast_or_null<linalg::SoftmaxOp>(maker);
  if (!softmax || softmax->getNumResults() != 1)
    return false;
  scores = getProduct(skipFactors(softmax.getInput(), scale));
  return scores && getElementTypeOrSelf(scores->getResult(0).getType()).isF32();
}

/// `map` with its loops numbered by `loops`.
std::optional<AffineMap> Match::mapOperand(AffineMap map,
                                           ArrayRef<int64_t> loops) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || loops[dim.getPosition()] < 0)
      return std::nullopt;
    results.push_back(
        getAffineDimExpr(unsigned(loops[dim.getPosition()]), map.getContext()));
  }
  return AffineMap::get(count, 0, results, map.getContext());
}

/// Loops are those of the scores' dimensions, in their order, the depth and the
/// width.
bool Match::mapLoops() {
  AffineMap made = mapOf(scores, 2), read = mapOf(last, powers);
  unsigned rank = made.getNumResults();
  if (read.getNumResults() != rank || scores.getNumLoops() != rank + 1 ||
      last.getNumLoops() != rank + 1)
    return false;
  count = rank + 2;
  auto number = [&](AffineMap map, unsigned other) {
    SmallVector<int64_t> loops(map.getNumDims(), other);
    for (auto [i, result] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        loops[dim.getPosition()] = int64_t(i);
    return loops;
  };
  SmallVector<int64_t> first = number(made, rank),
                       second = number(read, rank + 1);
  unsigned keys = unsigned(softmax.getDimension());
  std::optional<AffineMap> a = mapOperand(mapOf(scores, 0), first),
                           b = mapOperand(mapOf(scores, 1), first),
                           c = mapOperand(mapOf(last, 1 - powers), second),
                           o = mapOperand(mapOf(last, 2), second);
  if (!a || !b || !c || !o)
    return false;
  bool isFirst = a->isFunctionOfDim(keys);
  q = scores->getOperand(isFirst ? 1 : 0);
  k = scores->getOperand(isFirst ? 0 : 1);
  v = last->getOperand(1 - powers);
  ofQ = isFirst ? *b : *a;
  ofK = isFirst ? *a : *b;
  ofV = *c;
  ofO = *o;
  std::optional<AttentionLoops> loops = getAttentionLoops(ofQ, ofK, ofV, ofO);
  return loops && loops->keys == keys;
}

bool Match::find(linalg::LinalgOp product) {
  last = product;
  for (powers = 0; powers < 2; ++powers) {
    double factor = 1;
    if (findScores(skipFactors(last->getOperand(powers), factor)) &&
        factor == 1 && mapLoops())
      break;
    scale = 1;
  }
  if (powers == 2)
    return false;
  Type element = getElementTypeOrSelf(last->getResult(0).getType());
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return false;
  for (Value operand : {q, k, v})
    if (getElementTypeOrSelf(operand.getType()) != element)
      return false;
  return true;
}

AttentionOp Match::create(OpBuilder &builder) {
  Location loc = last->getLoc();
  Value o = last.getDpsInits()[0];
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        tensor::getMixedSizes(builder, loc, o),
                                        getElementTypeOrSelf(o.getType()));
  SmallVector<AffineMap> maps = {ofQ, ofK, ofV, ofO};
  return AttentionOp::create(builder, loc, o.getType(), q, k, v,
                             /*mask=*/Value(), /*lengths=*/Value(), empty,
                             builder.getAffineMapArrayAttr(maps),
                             builder.getF32FloatAttr(float(scale)),
                             /*causal=*/UnitAttr());
}

namespace {
struct NMRaiseAttention
    : mlir::nm::impl::NMRaiseAttentionBase<NMRaiseAttention> {
  void runOnOperation() override {
    for (auto product :
         collectOps<linalg::LinalgOp>(getOperation(), [](linalg::LinalgOp op) {
           return bool(getProduct(op));
         })) {
      Match match;
      if (!match.find(product))
        continue;
      OpBuilder builder(product);
      product->getResult(0).replaceAllUsesWith(
          match.create(builder)->getResult(0));
      product->erase();
    }
  }
};
} // namespace
