//===- CheckSizes.cpp - Sizes that must agree -----------------------------===//

#include "SizeFacts.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/SourceLocation.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMCHECKSIZES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using arith::CmpIPredicate;

/// `f.mlir:4:8: linalg.matmul: ` before what is wrong.
static std::string getPrefix(Operation *op) {
  std::string place = getPlace(op->getLoc());
  return (place.empty() ? "" : place + ": ") +
         op->getName().getStringRef().str() + ": ";
}

/// Whether the region of `op` runs for each element of a tensor.
static bool runsForElements(Operation *op) {
  return isa<linalg::LinalgOp, tensor::GenerateOp>(op);
}

static bool hasUnknownTypes(Operation *op) {
  auto isUnknown = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return type.isIndex() || (shaped && !shaped.hasStaticShape());
  };
  return llvm::any_of(op->getOperandTypes(), isUnknown) ||
         llvm::any_of(op->getResultTypes(), isUnknown);
}

/// Whether `op` may demand of sizes what the verifier has not checked.
static bool mayDemand(Operation *op) {
  return hasUnknownTypes(op) || isa<tensor::PadOp>(op) || runsForElements(op);
}

//===----------------------------------------------------------------------===//
// Facts to checks
//===----------------------------------------------------------------------===//

namespace {
/// A fact at one place, in terms of values.
struct KnownFact {
  OpFoldResult got, expected;
  SmallVector<OpFoldResult> extents;
};

/// Makes the checks of one function.
class FunctionChecks {
public:
  explicit FunctionChecks(func::FuncOp function)
      : function(function), entryBuilder(function.getContext()),
        localBuilder(function.getContext()), first(&function.front().front()),
        entry(entryBuilder, function) {
    entryBuilder.setInsertionPoint(first);
  }

  LogicalResult run();

private:
  LogicalResult visit(Operation *op);
  LogicalResult demand(Operation *op, const SizeFact &fact);
  void check(SizeBuilder &sizes, Operation *op, const SizeFact &fact,
             const KnownFact &known);
  bool isNew(const SizeFact &fact, const KnownFact &known);
  void checkExtract(Operation *op, tensor::ExtractOp extract,
                    FactConsumer consume);
  void replaceAsserts();
  void eraseUnused();

  func::FuncOp function;
  OpBuilder entryBuilder, localBuilder;
  /// The first op of the function as it was written.
  Operation *first;
  EntrySizes entry;
  /// Sizes that are equal, and the most that a size may be, by checks at the
  /// start of the function.
  llvm::DenseSet<std::tuple<int, void *, void *>> facts;
  DenseMap<void *, int64_t> limits;
};
} // namespace

static std::optional<KnownFact> makeKnown(const SizeFact &fact,
                                          SizeBuilder &sizes) {
  KnownFact known;
  FailureOr<OpFoldResult> got = fact.got(sizes),
                          expected = fact.expected(sizes);
  if (failed(got) || failed(expected))
    return std::nullopt;
  known.got = *got;
  known.expected = *expected;
  for (const SizeTerm &extent : fact.extents) {
    FailureOr<OpFoldResult> size = extent(sizes);
    if (failed(size))
      return std::nullopt;
    known.extents.push_back(*size);
  }
  return known;
}

/// Whether `fact` holds, where that is known.
static std::optional<bool> holds(const SizeFact &fact, const KnownFact &known) {
  if (llvm::any_of(known.extents, [](OpFoldResult extent) {
        return isConstantIntValue(extent, 0);
      }))
    return true;
  std::optional<int64_t> got = getConstantIntValue(known.got),
                         expected = getConstantIntValue(known.expected);
  if (got && expected)
    return arith::applyCmpPredicate(fact.predicate, APInt(64, *got),
                                    APInt(64, *expected));
  // An argument's size, as the runtime has it.
  auto size = dyn_cast<Value>(known.got);
  if (size && size.getDefiningOp<tensor::DimOp>() &&
      fact.predicate == CmpIPredicate::sge && expected.value_or(1) <= 0)
    return true;
  bool isSame = known.got == known.expected;
  if (isSame && fact.predicate != CmpIPredicate::ult)
    return true;
  return std::nullopt;
}

static bool isKnown(ArrayRef<OpFoldResult> sizes) {
  return llvm::all_of(sizes, [](OpFoldResult size) {
    return getConstantIntValue(size).has_value();
  });
}

/// The text of a fact whose sizes are known.
static std::string getText(const SizeFact &fact, const KnownFact &known) {
  std::string text = fact.text;
  for (auto [name, value] :
       {std::pair("{0}", known.got), std::pair("{1}", known.expected)})
    if (size_t at = text.find(name); at != std::string::npos)
      text.replace(at, 3, std::to_string(*getConstantIntValue(value)));
  return text;
}

/// Whether no check at the start of the function says as much as `fact`.
bool FunctionChecks::isNew(const SizeFact &fact, const KnownFact &known) {
  if (!known.extents.empty())
    return true;
  void *got = known.got.getOpaqueValue();
  std::optional<int64_t> limit = getConstantIntValue(known.expected);
  if (fact.predicate == CmpIPredicate::sle && limit) {
    auto [least, isFirst] = limits.try_emplace(got, *limit);
    if (!isFirst && least->second <= *limit)
      return false;
    least->second = *limit;
    return true;
  }
  return facts
      .insert({int(fact.predicate), got, known.expected.getOpaqueValue()})
      .second;
}

void FunctionChecks::check(SizeBuilder &sizes, Operation *op,
                           const SizeFact &fact, const KnownFact &known) {
  OpBuilder &builder = sizes.getBuilder();
  Location loc = op->getLoc();
  Value got = sizes.getValue(known.got),
        expected = sizes.getValue(known.expected);
  Value condition =
      builder.createOrFold<arith::CmpIOp>(loc, fact.predicate, got, expected);
  for (OpFoldResult extent : known.extents) {
    if (getConstantIntValue(extent))
      continue;
    Value isEmpty = arith::CmpIOp::create(builder, loc, CmpIPredicate::eq,
                                          sizes.getValue(extent),
                                          sizes.getValue(sizes.getNumber(0)));
    condition = arith::OrIOp::create(builder, loc, condition, isEmpty);
  }
  CheckOp::create(builder, loc, condition, getPrefix(op) + fact.text,
                  ValueRange{got, expected});
}

LogicalResult FunctionChecks::demand(Operation *op, const SizeFact &fact) {
  bool isAlwaysRun = op->getParentRegion() == &function.getBody() &&
                     op->getBlock() == &function.front();
  entry.setLoc(op->getLoc());
  if (isAlwaysRun)
    if (std::optional<KnownFact> known = makeKnown(fact, entry)) {
      std::optional<bool> isTrue = holds(fact, *known);
      if (isTrue.value_or(true) ? isTrue.has_value() : isKnown(known->extents))
        return *isTrue ? success() : op->emitOpError() << getText(fact, *known);
      if (isNew(fact, *known))
        check(entry, op, fact, *known);
      return success();
    }
  Operation *place = op;
  if (auto parallel = dyn_cast<scf::InParallelOp>(op->getParentOp()))
    place = parallel;
  localBuilder.setInsertionPoint(place);
  LocalSizes sizes(localBuilder, op->getLoc());
  std::optional<KnownFact> known = makeKnown(fact, sizes);
  if (known && !holds(fact, *known).value_or(false))
    check(sizes, op, fact, *known);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops to facts
//===----------------------------------------------------------------------===//

void FunctionChecks::checkExtract(Operation *op, tensor::ExtractOp extract,
                                  FactConsumer consume) {
  findBodyFacts(op, extract, consume, [&](int64_t dim) {
    OpBuilder builder(extract);
    Location loc = extract.getLoc();
    Value index = extract.getIndices()[dim];
    Value size =
        builder.createOrFold<tensor::DimOp>(loc, extract.getTensor(), dim);
    Value checked =
        CheckIndexOp::create(builder, loc, builder.getIndexType(), index, size,
                             getPrefix(extract) +
                                 "expected an index from 0 to below {1} in "
                                 "dimension " +
                                 std::to_string(dim) + ", but got {0}");
    extract.getIndicesMutable()[dim].set(checked);
  });
}

LogicalResult FunctionChecks::visit(Operation *op) {
  if (!mayDemand(op))
    return success();
  SmallVector<SizeFact> facts;
  auto consume = [&](SizeFact fact) { facts.push_back(std::move(fact)); };
  findSizeFacts(op, consume);
  if (runsForElements(op))
    op->getRegion(0).walk(
        [&](tensor::ExtractOp extract) { checkExtract(op, extract, consume); });
  for (const SizeFact &fact : facts)
    if (failed(demand(op, fact)))
      return failure();
  return success();
}

/// Upstream's assertions would end the process.
void FunctionChecks::replaceAsserts() {
  SmallVector<cf::AssertOp> assertions;
  function.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  for (cf::AssertOp assertion : assertions) {
    OpBuilder builder(assertion);
    std::string text = getPrefix(assertion) + assertion.getMsg().str();
    llvm::replace(text, '{', '(');
    CheckOp::create(builder, assertion.getLoc(), assertion.getArg(), text,
                    ValueRange());
    assertion.erase();
  }
}

/// Sizes that no check has asked for in the end.
void FunctionChecks::eraseUnused() {
  Block &block = function.front();
  SmallVector<Operation *> made;
  for (Operation &op : block) {
    if (&op == first)
      break;
    made.push_back(&op);
  }
  for (Operation *op : llvm::reverse(made))
    if (isOpTriviallyDead(op))
      op->erase();
}

LogicalResult FunctionChecks::run() {
  SmallVector<Operation *> ops;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    return runsForElements(op) || isa<SparseProductOpInterface>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  eraseUnused();
  replaceAsserts();
  return success();
}

/// Sizes that a check has made known, in the types of linalg's operands.
static LogicalResult refineTypes(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (hasUnknownTypes(op))
      ops.push_back(op);
  });
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  context->getLoadedDialect<linalg::LinalgDialect>()
      ->getCanonicalizationPatterns(patterns);
  return applyOpPatternsGreedily(ops, std::move(patterns));
}

namespace {
struct NMCheckSizes : mlir::nm::impl::NMCheckSizesBase<NMCheckSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(FunctionChecks(function).run()) || failed(refineTypes(function)))
      signalPassFailure();
  }
};
} // namespace
