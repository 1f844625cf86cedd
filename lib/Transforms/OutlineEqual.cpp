//===- OutlineEqual.cpp - Equal ops to calls of one function --------------===//

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <vector>

namespace mlir::nm {
#define GEN_PASS_DEF_NMOUTLINEEQUAL
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

//===----------------------------------------------------------------------===//
// What makes ops equal
//===----------------------------------------------------------------------===//

namespace {
/// All of an op but its location and the values from outside, as numbers that
/// are the same for equal ops.
class Description {
public:
  explicit Description(Operation *op) { add(op); }

  std::vector<uintptr_t> takeNumbers() { return std::move(numbers); }
  /// The values from outside that are no constants, in the order of first use.
  SmallVector<Value> takePassed() { return passed.takeVector(); }
  /// Those that are.
  SmallVector<Operation *> takeConstants() { return constants.takeVector(); }

private:
  enum Kind : uintptr_t { Inside, Passed, Constant };

  void add(const void *pointer) {
    numbers.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  void add(Attribute attribute) { add(attribute.getAsOpaquePointer()); }
  void add(Type type) { add(type.getAsOpaquePointer()); }
  void add(Operation *op);
  void add(Region &region);
  void addUse(Value value);
  void addMade(ValueRange values);

  std::vector<uintptr_t> numbers;
  DenseMap<Value, uintptr_t> made;
  llvm::SetVector<Value> passed;
  llvm::SetVector<Operation *> constants;
};
} // namespace

void Description::add(Operation *op) {
  add(op->getName().getAsOpaquePointer());
  add(op->getAttrDictionary());
  numbers.push_back(op->getNumOperands());
  for (Value operand : op->getOperands())
    addUse(operand);
  numbers.push_back(op->getNumRegions());
  for (Region &region : op->getRegions())
    add(region);
  addMade(op->getResults());
}

void Description::add(Region &region) {
  numbers.push_back(region.getBlocks().size());
  for (Block &block : region) {
    addMade(block.getArguments());
    numbers.push_back(block.getOperations().size());
    for (Operation &op : block)
      add(&op);
  }
}

void Description::addUse(Value value) {
  if (auto it = made.find(value); it != made.end()) {
    numbers.insert(numbers.end(), {Inside, it->second});
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->hasTrait<OpTrait::ConstantLike>()) {
    constants.insert(op);
    numbers.push_back(Constant);
    add(op->getName().getAsOpaquePointer());
    add(op->getAttrDictionary());
    add(value.getType());
    return;
  }
  passed.insert(value);
  size_t number = llvm::find(passed, value) - passed.begin();
  numbers.insert(numbers.end(), {Passed, number});
  add(value.getType());
}

void Description::addMade(ValueRange values) {
  numbers.push_back(values.size());
  for (Value value : values) {
    made.try_emplace(value, made.size());
    add(value.getType());
  }
}

//===----------------------------------------------------------------------===//
// Outlining
//===----------------------------------------------------------------------===//

namespace {
/// An op that may be the body of a function.
struct Candidate {
  Operation *op;
  SmallVector<Value> passed;
  SmallVector<Operation *> constants;
};

class Outlining {
public:
  Outlining(ModuleOp module, bool hostOnly, bool launches)
      : module(module), hostOnly(hostOnly), launches(launches),
        symbols(module) {}

  void run();

private:
  bool isWanted(Operation *op) const;
  void collect(func::FuncOp function);
  void outline(ArrayRef<Candidate> equal);
  func::FuncOp createFunction(const Candidate &candidate);

  ModuleOp module;
  bool hostOnly, launches;
  SymbolTable symbols;
  std::vector<SmallVector<Candidate, 0>> groups;
  std::map<std::vector<uintptr_t>, size_t> groupOf;
};
} // namespace

/// Whether `op` works on memory alone, and is expanded to loops.
static bool isLoop(Operation *op) {
  bool isOfKind = isa<scf::ForallOp, linalg::LinalgOp>(op) ||
                  (isa_and_present<mlir::nm::NMDialect>(op->getDialect()) &&
                   isa<DestinationStyleOpInterface>(op));
  // A matrix that is in no memory cannot be passed.
  auto isMemory = [](Value value) { return !mlir::nm::isInNoMemory(value); };
  return isOfKind && op->getNumResults() == 0 &&
         llvm::all_of(op->getOperands(), isMemory) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
}

/// Whether `op` is a kernel that no other op waits for.
static bool isLaunch(Operation *op) {
  return isa<gpu::LaunchOp>(op) && op->getNumResults() == 0;
}

/// Whether a kernel's code is what it is where its operands are computed: sizes
/// that are known when the function is called are folded into the kernel there.
static bool isKnownToKernels(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.hasStaticShape();
}

bool Outlining::isWanted(Operation *op) const {
  return launches ? isLaunch(op) : isLoop(op);
}

void Outlining::collect(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isWanted(op))
      return WalkResult::advance();
    Description description(op);
    Candidate candidate{op, description.takePassed(),
                        description.takeConstants()};
    if (launches && !llvm::all_of(candidate.passed, isKnownToKernels))
      return WalkResult::skip();
    auto [it, isNew] =
        groupOf.try_emplace(description.takeNumbers(), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(std::move(candidate));
    return WalkResult::skip();
  });
}

/// The name that upstream's outlining gives a kernel of `caller`.
static FlatSymbolRefAttr getKernelName(func::FuncOp caller) {
  return FlatSymbolRefAttr::get(caller.getContext(),
                                (caller.getName() + "_kernel").str());
}

func::FuncOp Outlining::createFunction(const Candidate &candidate) {
  auto caller = candidate.op->getParentOfType<func::FuncOp>();
  Location loc = candidate.op->getLoc();
  OpBuilder builder(module.getContext());
  auto function = func::FuncOp::create(
      builder, loc, (caller.getName() + ".equal").str(),
      builder.getFunctionType(ValueRange(candidate.passed).getTypes(), {}));
  function.setPrivate();
  // Once is what this is for.
  function->setAttr("passthrough",
                    builder.getStrArrayAttr({StringRef("noinline")}));
  if (Attribute isHost = caller->getAttr(mlir::nm::kHostFunction))
    function->setAttr(mlir::nm::kHostFunction, isHost);
  symbols.insert(function);
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  mapping.map(candidate.passed, entry->getArguments());
  for (Operation *constant : candidate.constants)
    builder.clone(*constant, mapping);
  Operation *clone = builder.clone(*candidate.op, mapping);
  if (auto launch = dyn_cast<gpu::LaunchOp>(clone))
    launch.setFunctionAttr(getKernelName(caller));
  func::ReturnOp::create(builder, loc);
  return function;
}

void Outlining::outline(ArrayRef<Candidate> equal) {
  func::FuncOp function = createFunction(equal.front());
  for (const Candidate &candidate : equal) {
    OpBuilder builder(candidate.op);
    func::CallOp::create(builder, candidate.op->getLoc(), function,
                         candidate.passed);
    candidate.op->erase();
  }
}

void Outlining::run() {
  for (auto function : module.getOps<func::FuncOp>())
    if (!hostOnly || function->hasAttr(mlir::nm::kHostFunction))
      collect(function);
  for (ArrayRef<Candidate> equal : groups)
    if (equal.size() > 1)
      outline(equal);
}

namespace {
struct NMOutlineEqual : mlir::nm::impl::NMOutlineEqualBase<NMOutlineEqual> {
  using Base::Base;

  void runOnOperation() override {
    Outlining(getOperation(), hostOnly, launches).run();
  }
};
} // namespace
