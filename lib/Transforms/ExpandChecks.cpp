//===- ExpandChecks.cpp - Checks to branches ------------------------------===//

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/SourceLocation.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPANDCHECKS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

static constexpr StringLiteral kFailCheck("nmFailCheck"),
    kOpenChecks("nmOpenChecks"), kMarkChecks("nmMarkChecks"),
    kCloseChecks("nmCloseChecks");

namespace {
/// Rewrites the checks of one module.
class CheckExpander {
public:
  explicit CheckExpander(ModuleOp module)
      : module(module), rewriter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        nothing(LLVM::LLVMVoidType::get(module.getContext())) {}

  LogicalResult run();

private:
  FailureOr<LLVM::LLVMFuncOp> declare(Operation *op, StringRef name,
                                      ArrayRef<Type> arguments, Type result);
  Value getText(Location loc, StringRef text);
  LogicalResult callFailure(Operation *op, StringRef text, ValueRange values);
  void returnNothing(Location loc, func::FuncOp function);
  void checkAllocation(memref::AllocOp op);
  LogicalResult expand(CheckOp op);
  LogicalResult expand(CheckIndexOp op);
  LogicalResult expand(OpenChecksOp op);
  LogicalResult expand(MarkChecksOp op);
  LogicalResult expand(CloseChecksOp op);
  Value getAddress(Location loc, Value record);
  Value getFlag(Location loc, bool value) {
    return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32Type(),
                                    int64_t(value));
  }

  ModuleOp module;
  IRRewriter rewriter;
  Type pointer, nothing;
  /// What frees the temporaries that live at a check.
  DenseMap<Operation *, SmallVector<Operation *>> frees;
  llvm::StringMap<LLVM::GlobalOp> texts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Temporaries
//===----------------------------------------------------------------------===//

static Value getFreed(Operation *op) {
  if (auto free = dyn_cast<memref::DeallocOp>(op))
    return free.getMemref();
  if (auto free = dyn_cast<gpu::DeallocOp>(op))
    return free.getMemref();
  return {};
}

namespace {
/// Which temporaries of one function live at an op, before it is cut.
class LiveTemporaries {
public:
  explicit LiveTemporaries(func::FuncOp function)
      : dominance(function.getOperation()) {
    function.walk([&](Operation *op) {
      if (getFreed(op))
        frees.push_back(op);
    });
  }

  /// The ops that will free what is allocated at `op`, one for each.
  SmallVector<Operation *> findFrees(Operation *op);

private:
  bool reaches(Operation *from, Operation *to);
  bool isInCycle(Block *block);

  DominanceInfo dominance;
  SmallVector<Operation *> frees;
  DenseMap<Block *, bool> cycles;
};
} // namespace

static bool leadsTo(Block *from, Block *to) {
  for (Block *next : from->getSuccessors())
    for (Block *block : llvm::depth_first(next))
      if (block == to)
        return true;
  return false;
}

bool LiveTemporaries::isInCycle(Block *block) {
  auto [known, isNew] = cycles.try_emplace(block, false);
  if (isNew)
    known->second = leadsTo(block, block);
  return known->second;
}

/// Whether control flow leads from `from` to `to`. A long function has no
/// cycles, and is not searched.
bool LiveTemporaries::reaches(Operation *from, Operation *to) {
  if (dominance.properlyDominates(from, to))
    return true;
  if (dominance.properlyDominates(to, from) && !isInCycle(to->getBlock()))
    return false;
  return leadsTo(from->getBlock(), to->getBlock());
}

SmallVector<Operation *> LiveTemporaries::findFrees(Operation *op) {
  SmallVector<Operation *> later;
  SmallVector<Value> freed, found;
  for (Operation *free : frees) {
    if (!llvm::all_of(free->getOperands(), [&](Value operand) {
          return dominance.properlyDominates(operand, op);
        }))
      continue;
    Value memory = getFreed(free);
    if (reaches(free, op))
      freed.push_back(memory);
    else if (!llvm::is_contained(found, memory)) {
      found.push_back(memory);
      later.push_back(free);
    }
  }
  llvm::erase_if(later, [&](Operation *free) {
    return llvm::is_contained(freed, getFreed(free));
  });
  return later;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

FailureOr<LLVM::LLVMFuncOp> CheckExpander::declare(Operation *op,
                                                   StringRef name,
                                                   ArrayRef<Type> arguments,
                                                   Type result) {
  Operation *known = SymbolTable::lookupSymbolIn(module, name);
  if (known && !isa<LLVM::LLVMFuncOp>(known))
    return op->emitOpError() << "expected the name @" << name
                             << " to be free for the runtime's function";
  return LLVM::lookupOrCreateFn(rewriter, module, name, arguments, result);
}

Value CheckExpander::getText(Location loc, StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), text.size());
    global = LLVM::GlobalOp::create(rewriter, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal,
                                    "nm_check_" + std::to_string(texts.size()),
                                    rewriter.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(rewriter, loc, global);
}

LogicalResult CheckExpander::callFailure(Operation *op, StringRef text,
                                         ValueRange values) {
  Location loc = op->getLoc();
  Type i64 = rewriter.getI64Type();
  SmallVector<Type> types(2 + kMostCheckValues, i64);
  types[0] = pointer;
  FailureOr<LLVM::LLVMFuncOp> function =
      declare(op, kFailCheck, types, nothing);
  if (failed(function))
    return failure();
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(rewriter, loc, i64, value);
  };
  SmallVector<Value> operands = {getText(loc, text), number(text.size())};
  for (Value value : values)
    operands.push_back(arith::IndexCastOp::create(rewriter, loc, i64, value));
  while (operands.size() < 2 + kMostCheckValues)
    operands.push_back(number(0));
  LLVM::CallOp::create(rewriter, loc, *function, operands);
  return success();
}

/// The caller looks at no result of a call that has failed.
void CheckExpander::returnNothing(Location loc, func::FuncOp function) {
  SmallVector<Value> results;
  for (Type type : function.getResultTypes())
    results.push_back(
        type.isIntOrIndexOrFloat()
            ? arith::ConstantOp::create(rewriter, loc,
                                        rewriter.getZeroAttr(type))
                  .getResult()
            : ub::PoisonOp::create(rewriter, loc, type).getResult());
  func::ReturnOp::create(rewriter, loc, results);
}

LogicalResult CheckExpander::expand(CheckOp op) {
  Location loc = op.getLoc();
  auto function = op->getParentOfType<func::FuncOp>();
  Block *before = op->getBlock();
  Block *rest = rewriter.splitBlock(before, std::next(op->getIterator()));
  Block *end = rewriter.createBlock(&function.getBody());
  if (failed(callFailure(op, op.getText(), op.getValues())))
    return failure();
  for (Operation *free : frees.lookup(op))
    rewriter.clone(*free);
  returnNothing(loc, function);
  rewriter.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(rewriter, loc, op.getCondition(), rest, end);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult CheckExpander::expand(CheckIndexOp op) {
  Location loc = op.getLoc();
  Block *before = op->getBlock();
  Block *rest = rewriter.splitBlock(before, std::next(op->getIterator()));
  BlockArgument index = rest->addArgument(rewriter.getIndexType(), loc);
  Block *wrong = rewriter.createBlock(rest);
  if (failed(callFailure(op, op.getText(), {op.getIndex(), op.getSize()})))
    return failure();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  cf::BranchOp::create(rewriter, loc, rest, zero);
  rewriter.setInsertionPointToEnd(before);
  Value isInside = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, op.getIndex(), op.getSize());
  cf::CondBranchOp::create(rewriter, loc, isInside, rest, op.getIndex(), wrong,
                           ValueRange());
  rewriter.replaceOp(op, index);
  return success();
}

//===----------------------------------------------------------------------===//
// Records of checks in kernels
//===----------------------------------------------------------------------===//

Value CheckExpander::getAddress(Location loc, Value record) {
  Value index =
      memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc, record);
  Value number =
      arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), index);
  return LLVM::IntToPtrOp::create(rewriter, loc, pointer, number);
}

LogicalResult CheckExpander::expand(OpenChecksOp op) {
  Location loc = op.getLoc();
  FailureOr<LLVM::LLVMFuncOp> function =
      declare(op, kOpenChecks, {rewriter.getI32Type()}, pointer);
  if (failed(function))
    return failure();
  rewriter.setInsertionPoint(op);
  Value memory = LLVM::CallOp::create(rewriter, loc, *function,
                                      getFlag(loc, op.getDevice()))
                     .getResult();
  auto type = cast<MemRefType>(op.getRecord().getType());
  LLVMTypeConverter converter(module.getContext());
  Value descriptor =
      MemRefDescriptor::fromStaticShape(rewriter, loc, converter, type, memory);
  rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, type, descriptor);
  return success();
}

LogicalResult CheckExpander::expand(MarkChecksOp op) {
  if (!op.getDevice()) {
    rewriter.eraseOp(op);
    return success();
  }
  FailureOr<LLVM::LLVMFuncOp> function =
      declare(op, kMarkChecks, {pointer}, nothing);
  if (failed(function))
    return failure();
  rewriter.setInsertionPoint(op);
  LLVM::CallOp::create(rewriter, op.getLoc(), *function,
                       getAddress(op.getLoc(), op.getRecord()));
  rewriter.eraseOp(op);
  return success();
}

LogicalResult CheckExpander::expand(CloseChecksOp op) {
  Location loc = op.getLoc();
  Type i64 = rewriter.getI64Type();
  FailureOr<LLVM::LLVMFuncOp> function =
      declare(op, kCloseChecks, {pointer, pointer, i64, rewriter.getI32Type()},
              nothing);
  if (failed(function))
    return failure();
  // Each text ends with a zero byte.
  std::string texts;
  for (StringRef text : op.getTexts().getAsValueRange<StringAttr>())
    texts += (text + Twine('\0')).str();
  rewriter.setInsertionPoint(op);
  Value size =
      LLVM::ConstantOp::create(rewriter, loc, i64, int64_t(texts.size()));
  LLVM::CallOp::create(rewriter, loc, *function,
                       ValueRange{getAddress(loc, op.getRecord()),
                                  getText(loc, texts), size,
                                  getFlag(loc, op.getDevice())});
  rewriter.eraseOp(op);
  return success();
}

/// A temporary that is large enough for memory to lack it is checked for.
void CheckExpander::checkAllocation(memref::AllocOp op) {
  constexpr int64_t kLarge = int64_t(1) << 26;
  MemRefType type = op.getType();
  if (type.getMemorySpace() ||
      (type.hasStaticShape() && type.getNumElements() < kLarge))
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPointAfter(op);
  Value count = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (OpFoldResult size : op.getMixedSizes())
    count = rewriter.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(rewriter, loc, size));
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(rewriter, loc, op);
  Value isThere =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, address,
                            arith::ConstantIndexOp::create(rewriter, loc, 0));
  std::string place = getPlace(loc);
  CheckOp::create(rewriter, loc, isThere,
                  (place.empty() ? "" : place + ": ") +
                      "expected memory for a temporary of {0} elements, but "
                      "there is too little",
                  count);
}

LogicalResult CheckExpander::run() {
  module.walk([&](memref::AllocOp op) {
    if (op->getParentOfType<func::FuncOp>())
      checkAllocation(op);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    LiveTemporaries live(function);
    function.walk([&](CheckOp op) { frees[op] = live.findFrees(op); });
  }
  SmallVector<Operation *> checks;
  module.walk([&](Operation *op) {
    if (isa<CheckOp, CheckIndexOp, OpenChecksOp, MarkChecksOp, CloseChecksOp>(
            op))
      checks.push_back(op);
  });
  for (Operation *op : checks) {
    if (!isa<func::FuncOp>(op->getParentOp()))
      return op->emitOpError()
             << "expected a function around it, whose control flow is branches";
    LogicalResult expanded =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<CheckOp, CheckIndexOp, OpenChecksOp, MarkChecksOp,
                  CloseChecksOp>([&](auto check) { return expand(check); });
    if (failed(expanded))
      return failure();
  }
  return success();
}

namespace {
struct NMExpandChecks : mlir::nm::impl::NMExpandChecksBase<NMExpandChecks> {
  void runOnOperation() override {
    if (failed(CheckExpander(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
