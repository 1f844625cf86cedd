//===- ForallToThreads.cpp - scf.forall to runtime calls ------------------===//

#include "nm/Conversion/ForallToThreads/ForallToThreads.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTFORALLTOTHREADS
#include "nm/Conversion/ForallToThreads/ForallToThreads.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Defined by libnm_runtime.
static constexpr StringLiteral kParallelFor = "nmParallelFor";

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

namespace {
/// The values of a loop's dimensions: first + trip * step, trip < trips.
struct IterationSpace {
  SmallVector<Value> first, step, trips;
};
} // namespace

static IterationSpace createIterationSpace(OpBuilder &b, scf::ForallOp forall) {
  Location loc = forall.getLoc();
  auto toValue = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, loc, value);
  };
  Value zero = toValue(b.getIndexAttr(0));
  IterationSpace space;
  for (auto [lower, upper, step] :
       llvm::zip(forall.getMixedLowerBound(), forall.getMixedUpperBound(),
                 forall.getMixedStep())) {
    space.first.push_back(toValue(lower));
    space.step.push_back(toValue(step));
    Value extent =
        b.createOrFold<arith::SubIOp>(loc, toValue(upper), space.first.back());
    Value trips =
        b.createOrFold<arith::CeilDivSIOp>(loc, extent, space.step.back());
    // An upper bound below the lower one is an empty dimension.
    space.trips.push_back(b.createOrFold<arith::MaxSIOp>(loc, trips, zero));
  }
  return space;
}

/// The induction variables of iteration `linear`; the last dimension varies
/// fastest.
static SmallVector<Value> createInductionVariables(OpBuilder &b, Location loc,
                                                   const IterationSpace &space,
                                                   Value linear) {
  SmallVector<Value> values(space.trips.size());
  for (size_t dim = values.size(); dim-- > 0;) {
    Value trip = linear;
    if (dim > 0) {
      trip = arith::RemUIOp::create(b, loc, linear, space.trips[dim]);
      linear = arith::DivUIOp::create(b, loc, linear, space.trips[dim]);
    }
    Value offset = b.createOrFold<arith::MulIOp>(loc, trip, space.step[dim]);
    values[dim] = b.createOrFold<arith::AddIOp>(loc, space.first[dim], offset);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Captured values
//===----------------------------------------------------------------------===//

namespace {
/// What a body uses from outside: constants, which are copied into it, and the
/// values that are passed to it, with the type of the struct that does.
struct Captures {
  SmallVector<Operation *> constants;
  SmallVector<Value> passed;
  LLVM::LLVMStructType contextType;
};
} // namespace

static FailureOr<Captures> collectCaptures(scf::ForallOp forall,
                                           const IterationSpace &space) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(forall.getRegion(), used);
  for (ArrayRef<Value> values : {space.first, space.step, space.trips})
    used.insert(values.begin(), values.end());

  MLIRContext *context = forall.getContext();
  LLVMTypeConverter converter(context);
  Captures captures;
  SmallVector<Type> fields;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>()) {
      captures.constants.push_back(op);
      continue;
    }
    Type field = converter.convertType(value.getType());
    if (!field)
      return forall.emitOpError() << "expected captured values of types that "
                                     "LLVM can hold, but got "
                                  << value.getType();
    captures.passed.push_back(value);
    fields.push_back(field);
  }
  captures.contextType = LLVM::LLVMStructType::getLiteral(context, fields);
  return captures;
}

/// `value` as `type`; the conversions to LLVM that follow finish casts of
/// memrefs and indices.
static Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

static Value createFieldPointer(OpBuilder &b, Location loc,
                                LLVM::LLVMStructType type, Value context,
                                int32_t field) {
  return LLVM::GEPOp::create(b, loc, context.getType(), type, context,
                             ArrayRef<LLVM::GEPArg>{0, field});
}

/// A struct on the stack that holds the captured values. The stack slot is made
/// in the function's entry, where a loop around does not grow the stack.
static Value createContext(OpBuilder &b, Location loc, func::FuncOp function,
                           const Captures &captures) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value context;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.front());
    Value one = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    context = LLVM::AllocaOp::create(b, loc, pointer, captures.contextType, one,
                                     /*alignment=*/0);
  }
  for (auto [i, value] : llvm::enumerate(captures.passed)) {
    Value field = castTo(b, loc, value, captures.contextType.getBody()[i]);
    LLVM::StoreOp::create(
        b, loc, field,
        createFieldPointer(b, loc, captures.contextType, context, i));
  }
  return context;
}

/// Maps the captured values to those that the body reads from `context`.
static void readContext(OpBuilder &b, Location loc, Value context,
                        const Captures &captures, IRMapping &mapping) {
  for (Operation *constant : captures.constants)
    b.clone(*constant, mapping);
  for (auto [i, value] : llvm::enumerate(captures.passed)) {
    Value field = LLVM::LoadOp::create(
        b, loc, captures.contextType.getBody()[i],
        createFieldPointer(b, loc, captures.contextType, context, i));
    mapping.map(value, castTo(b, loc, field, value.getType()));
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool isOne(Value value) { return isConstantIntValue(value, 1); }

/// Replaces a loop of one iteration by its body.
static void inlineBody(OpBuilder &b, scf::ForallOp forall,
                       const IterationSpace &space) {
  IRMapping mapping;
  mapping.map(forall.getInductionVars(), space.first);
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, mapping);
  forall.erase();
}

/// The function that makes one iteration.
static func::FuncOp createTask(OpBuilder &b, scf::ForallOp forall,
                               const IterationSpace &space,
                               const Captures &captures, StringRef name) {
  Location loc = forall.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto task = func::FuncOp::create(
      b, loc, name, b.getFunctionType({b.getI64Type(), pointer}, {}));
  task.setPrivate();
  Block *entry = task.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  readContext(b, loc, entry->getArgument(1), captures, mapping);
  Value linear = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                            entry->getArgument(0));
  IterationSpace inside;
  auto map = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookup(value); });
  };
  inside.first = map(space.first);
  inside.step = map(space.step);
  inside.trips = map(space.trips);
  mapping.map(forall.getInductionVars(),
              createInductionVariables(b, loc, inside, linear));
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, mapping);
  func::ReturnOp::create(b, loc);
  return task;
}

static void createParallelFor(OpBuilder &b, Location loc,
                              const IterationSpace &space, func::FuncOp task,
                              Value context) {
  Value count = space.trips[0];
  for (Value trips : ArrayRef(space.trips).drop_front())
    count = b.createOrFold<arith::MulIOp>(loc, count, trips);
  count = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), count);
  Value function = func::ConstantOp::create(b, loc, task.getFunctionType(),
                                            task.getSymName());
  func::CallOp::create(
      b, loc, kParallelFor, TypeRange{},
      ValueRange{count, castTo(b, loc, function, context.getType()), context});
}

namespace {
/// The loops of a module as calls of the runtime.
class ForallConversion {
public:
  explicit ForallConversion(ModuleOp module) : module(module) {}

  LogicalResult run();

private:
  bool refuseResults();
  SmallVector<scf::ForallOp> takeOutermostLoops(func::FuncOp function);
  LogicalResult convert(scf::ForallOp forall, func::FuncOp function,
                        SymbolTable &symbols);
  LogicalResult declareParallelFor(Location loc, SymbolTable &symbols);

  ModuleOp module;
};
} // namespace

/// Reports loops on tensors; returns whether there are any.
bool ForallConversion::refuseResults() {
  bool found = false;
  module.walk(
      [&](scf::ForallOp forall) {
        if (forall->getNumResults() == 0)
          return;
        found = true;
        forall.emitOpError()
            << "expected no results, which bufferization removes, but got "
            << forall->getNumResults();
      });
  return found;
}

/// The loops of `function` that are in no other; those inside become scf.for.
SmallVector<scf::ForallOp>
ForallConversion::takeOutermostLoops(func::FuncOp function) {
  SmallVector<scf::ForallOp> outermost, nested;
  function.walk([&](scf::ForallOp forall) {
    bool isNested = bool(forall->getParentOfType<scf::ForallOp>());
    (isNested ? nested : outermost).push_back(forall);
  });
  IRRewriter rewriter(module.getContext());
  for (scf::ForallOp forall : nested) {
    rewriter.setInsertionPoint(forall);
    // Only a loop with results fails, and there are none.
    (void)scf::forallToForLoop(rewriter, forall);
  }
  return outermost;
}

LogicalResult ForallConversion::declareParallelFor(Location loc,
                                                   SymbolTable &symbols) {
  OpBuilder b(module.getBodyRegion());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  FunctionType type = b.getFunctionType({b.getI64Type(), pointer, pointer}, {});
  if (Operation *found = symbols.lookup(kParallelFor)) {
    auto function = dyn_cast<func::FuncOp>(found);
    if (function && function.isExternal() && function.getFunctionType() == type)
      return success();
    return found->emitOpError() << "expected the name of the runtime's @"
                                << kParallelFor << " to be free";
  }
  auto function = func::FuncOp::create(b, loc, kParallelFor, type);
  function.setPrivate();
  symbols.insert(function);
  return success();
}

LogicalResult ForallConversion::convert(scf::ForallOp forall,
                                        func::FuncOp function,
                                        SymbolTable &symbols) {
  OpBuilder b(forall);
  IterationSpace space = createIterationSpace(b, forall);
  if (llvm::all_of(space.trips, isOne)) {
    inlineBody(b, forall, space);
    return success();
  }
  FailureOr<Captures> captures = collectCaptures(forall, space);
  if (failed(captures) || failed(declareParallelFor(forall.getLoc(), symbols)))
    return failure();
  OpBuilder taskBuilder(module.getContext());
  func::FuncOp task = createTask(taskBuilder, forall, space, *captures,
                                 (function.getSymName() + ".forall").str());
  symbols.insert(task, std::next(function->getIterator()));
  Value context = createContext(b, forall.getLoc(), function, *captures);
  createParallelFor(b, forall.getLoc(), space, task, context);
  forall.erase();
  return success();
}

LogicalResult ForallConversion::run() {
  if (refuseResults())
    return failure();
  SymbolTable symbols(module);
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    for (scf::ForallOp forall : takeOutermostLoops(function))
      if (failed(convert(forall, function, symbols)))
        return failure();
  return success();
}

LogicalResult mlir::nm::convertForallToThreads(ModuleOp module) {
  return ForallConversion(module).run();
}

namespace {
struct ConvertForallToThreads
    : mlir::nm::impl::ConvertForallToThreadsBase<ConvertForallToThreads> {
  void runOnOperation() override {
    if (failed(mlir::nm::convertForallToThreads(getOperation())))
      signalPassFailure();
  }
};
} // namespace
