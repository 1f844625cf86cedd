//===- WidenSums.cpp - Sums of products of narrow floats in f32 -----------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMWIDENSUMS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

//===----------------------------------------------------------------------===//
// Which ops sum products
//===----------------------------------------------------------------------===//

namespace {
/// What happens to one output of a linalg op from one turn of its loops to the
/// next.
struct Sum {
  unsigned output;
  /// From the output's value to the one that is yielded: additions, and
  /// conversions between them.
  SmallVector<Operation *> chain;
  /// The widest type that the chain has, at least f32.
  FloatType type;
};
} // namespace

static bool isNarrow(Type type) {
  auto floating = dyn_cast<FloatType>(type);
  return floating && floating.getWidth() < 32;
}

/// Whether `op` extends, or rounds to the nearest as a wider sum is rounded.
static bool isConversion(Operation *op) {
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    return truncation.getRoundingmode().value_or(
               arith::RoundingMode::to_nearest_even) ==
           arith::RoundingMode::to_nearest_even;
  return isa<arith::ExtFOp>(op);
}

/// Whether `op` only adds something else to the running sum `sum`.
static bool addsTo(Operation *op, Value sum) {
  if (isa<arith::AddFOp>(op))
    return op->getOperand(0) != op->getOperand(1);
  if (isa<arith::SubFOp>(op))
    return op->getOperand(0) == sum && op->getOperand(1) != sum;
  return isa<math::FmaOp>(op) && op->getOperand(2) == sum &&
         op->getOperand(0) != sum && op->getOperand(1) != sum;
}

/// Whether `op`, which adds to `sum`, adds a product.
static bool addsProduct(Operation *op, Value sum) {
  if (isa<math::FmaOp>(op))
    return true;
  Value term = op->getOperand(op->getOperand(0) == sum ? 1 : 0);
  while (Operation *source = term.getDefiningOp()) {
    if (isa<arith::MulFOp>(source))
      return true;
    if (!isConversion(source))
      return false;
    term = source->getOperand(0);
  }
  return false;
}

namespace {
/// A sum of products, or why it cannot be kept in another type; neither where
/// there is no sum of products.
struct Finding {
  std::optional<Sum> sum;
  StringRef obstacle;
};
} // namespace

static Finding findSum(linalg::LinalgOp op, unsigned output) {
  Block *body = op.getBlock();
  Operation *yield = body->getTerminator();
  Value value = body->getArgument(op.getNumDpsInputs() + output);
  Sum sum{output, {}, Float32Type::get(op.getContext())};
  bool hasProduct = false, isUsedElsewhere = false;
  while (true) {
    Operation *next = nullptr;
    for (Operation *user : value.getUsers())
      if (isConversion(user) || addsTo(user, value))
        next = user;
    isUsedElsewhere |= next && !value.hasOneUse();
    if (!next)
      break;
    hasProduct |= !isConversion(next) && addsProduct(next, value);
    sum.chain.push_back(next);
    value = next->getResult(0);
    auto type = cast<FloatType>(value.getType());
    if (type.getWidth() > sum.type.getWidth())
      sum.type = type;
  }
  if (!hasProduct)
    return {};
  if (isUsedElsewhere || !value.hasOneUse() || *value.user_begin() != yield ||
      yield->getOperand(output) != value)
    return {std::nullopt, "the body does more with its sum than to add to it"};
  if (!op.hasPureTensorSemantics())
    return {std::nullopt, "op is not on tensors"};
  return {sum, {}};
}

/// The sums of products that `op` keeps in types narrower than f32. Says which
/// have to stay so.
static SmallVector<Sum> findSums(linalg::LinalgOp op) {
  SmallVector<Sum> sums;
  if (op.getNumReductionLoops() == 0)
    return sums;
  for (auto [output, init] : llvm::enumerate(op.getDpsInits())) {
    Type type = getElementTypeOrSelf(init.getType());
    if (!isNarrow(type))
      continue;
    Finding finding = findSum(op, output);
    if (finding.sum)
      sums.push_back(std::move(*finding.sum));
    else if (!finding.obstacle.empty())
      emitRemark(op.getLoc()) << op->getName() << " sums products in " << type
                              << ", not in f32: " << finding.obstacle;
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static Value extend(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : builder.createOrFold<arith::ExtFOp>(loc, type, value);
}

/// `term` in `type`. A product of narrow numbers is not rounded before it is
/// added, where it is added in its own type.
static Value widenTerm(OpBuilder &builder, Value term, Type type) {
  Location loc = term.getLoc();
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!product || !isNarrow(term.getType()))
    return extend(builder, loc, term, type);
  return arith::MulFOp::create(
      builder, loc, extend(builder, loc, product.getLhs(), type),
      extend(builder, loc, product.getRhs(), type), product.getFastmath());
}

/// The addition `op` to the running sum `old`, which now is `sum`.
static Value widenAddition(OpBuilder &builder, Operation *op, Value old,
                           Value sum) {
  Type type = sum.getType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(operand == old ? sum
                                      : widenTerm(builder, operand, type));
  OperationState state(op->getLoc(), op->getName(), operands, type,
                       op->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Has `sum` kept in its wider type by the body of `op`, whose output is of
/// that type.
static void widenBody(linalg::GenericOp op, const Sum &sum,
                      const IRMapping &mapping) {
  Block *body = op.getBody();
  Value old = body->getArgument(op.getNumDpsInputs() + sum.output);
  old.setType(sum.type);
  Value value = old;
  OpBuilder builder(op.getContext());
  for (Operation *original : sum.chain) {
    Operation *link = mapping.lookup(original);
    if (!isConversion(link)) {
      builder.setInsertionPoint(link);
      value = widenAddition(builder, link, old, value);
    }
    old = link->getResult(0);
  }
  body->getTerminator()->setOperand(sum.output, value);
  // What was the sum mixes types now.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

/// What `init` holds, in `type`.
static Value widenInit(OpBuilder &builder, Value init, Type type) {
  Location loc = init.getLoc();
  auto shaped = cast<RankedTensorType>(init.getType());
  auto widened = RankedTensorType::get(shaped.getShape(), type);
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return arith::ExtFOp::create(builder, loc, widened, init);
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, init), type);
  Value value = extend(builder, loc, fill.value(), type);
  return linalg::FillOp::create(builder, loc, value, empty).getResult(0);
}

/// `op` with the outputs of `sums` in their wider types.
static linalg::GenericOp createWidened(RewriterBase &rewriter,
                                       linalg::GenericOp op,
                                       ArrayRef<Sum> sums) {
  SmallVector<Value> inits(op.getDpsInits());
  for (const Sum &sum : sums)
    inits[sum.output] = widenInit(rewriter, inits[sum.output], sum.type);
  auto widened = linalg::GenericOp::create(
      rewriter, op.getLoc(), TypeRange(ValueRange(inits)), op.getDpsInputs(),
      inits, op.getIndexingMapsArray(), op.getIteratorTypesArray());
  widened->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&widened.getRegion(), mapping);
  for (const Sum &sum : sums)
    widenBody(widened, sum, mapping);
  return widened;
}

static LogicalResult widenSums(RewriterBase &rewriter, linalg::LinalgOp op) {
  SmallVector<Sum> sums = findSums(op);
  if (sums.empty())
    return success();
  StringRef name = op->getName().getStringRef();
  rewriter.setInsertionPoint(op);
  // Takes the body as it is, so that `sums` still point into it.
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> generalized =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(generalized))
      return op->emitOpError() << "has no form as linalg.generic";
    generic = *generalized;
  }
  rewriter.setInsertionPoint(generic);
  linalg::GenericOp widened = createWidened(rewriter, generic, sums);
  SmallVector<Value> results(widened->getResults());
  for (const Sum &sum : sums) {
    Type type = generic->getResult(sum.output).getType();
    results[sum.output] = arith::TruncFOp::create(rewriter, generic.getLoc(),
                                                  type, results[sum.output]);
    emitRemark(generic.getLoc())
        << name << " sums products in " << sum.type << ", rounded once to "
        << getElementTypeOrSelf(type);
  }
  rewriter.replaceOp(generic, results);
  return success();
}

namespace {
struct NMWidenSums : mlir::nm::impl::NMWidenSumsBase<NMWidenSums> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      if (failed(widenSums(rewriter, op)))
        return signalPassFailure();
  }
};
} // namespace
