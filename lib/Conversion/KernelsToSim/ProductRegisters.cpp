//===- ProductRegisters.cpp - Where wgmma's registers are used ------------===//

#include "ProductRegisters.h"

#include "WarpgroupInstructions.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::nm;

ProductRegisters::ProductRegisters(LLVM::LLVMFuncOp function,
                                   int32_t &numProducts) {
  SmallVector<Operation *> products;
  function.getBody().walk([&](Operation *op) {
    if (isWarpgroupProduct(op))
      products.push_back(op);
  });
  for (Operation *product : products) {
    int32_t number = numProducts++;
    for (Value result : product->getResults())
      addUses(result, number);
    for (Value sum : getWarpgroupSums(product))
      addOrigins(sum, number);
    for (Value value : getWarpgroupRegisters(product))
      addDefinition(value, number);
    add(product, Use::Start, number);
  }
}

ArrayRef<ProductRegisters::Entry> ProductRegisters::get(Operation *op) const {
  auto found = entries.find(op);
  return found == entries.end() ? ArrayRef<Entry>() : found->second;
}

void ProductRegisters::add(Operation *op, Use use, int32_t product) {
  SmallVector<Entry> &list = entries[op];
  if (llvm::none_of(list, [&](const Entry &entry) {
        return entry.use == use && entry.product == product;
      }))
    list.push_back({use, product});
}

/// Whether `op` only puts values into structs and takes them out.
static bool passesOn(Operation *op) {
  return isa<LLVM::ExtractValueOp, LLVM::InsertValueOp>(op);
}

/// The argument of a block that `use`, of a branch, becomes.
static std::optional<BlockArgument> getPassedOn(OpOperand &use) {
  auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
  return branch ? branch.getSuccessorBlockArgument(use.getOperandNumber())
                : std::nullopt;
}

/// What uses a product's sums, but for products that go on with them.
void ProductRegisters::addUses(Value sums, int32_t product) {
  llvm::SetVector<Value> values;
  values.insert(sums);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      if (isWarpgroupProduct(user))
        continue;
      if (passesOn(user))
        values.insert(user->getResult(0));
      else if (std::optional<BlockArgument> argument = getPassedOn(use))
        values.insert(*argument);
      else
        add(user, Use::Sums, product);
    }
}

/// What is passed to the argument of a block.
static SmallVector<Value> getIncoming(BlockArgument argument) {
  SmallVector<Value> values;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
    auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
    if (!branch)
      continue;
    SuccessorOperands operands =
        branch.getSuccessorOperands(it.getSuccessorIndex());
    if (Value value = operands[argument.getArgNumber()])
      values.push_back(value);
  }
  return values;
}

/// What makes the values that a product's sums begin with, but for products
/// before it. Constants are in no register before the product's own.
void ProductRegisters::addOrigins(Value sum, int32_t product) {
  llvm::SetVector<Value> values;
  values.insert(sum);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      values.insert_range(getIncoming(argument));
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (passesOn(op))
      values.insert_range(op->getOperands());
    else if (!isWarpgroupProduct(op) &&
             !op->hasTrait<OpTrait::ConstantLike>() &&
             !isa<LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp>(op))
      add(op, Use::Sums, product);
  }
}

/// Where a register that a product reads gets a new value.
void ProductRegisters::addDefinition(Value value, int32_t product) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!argument.getOwner()->isEntryBlock())
      add(&argument.getOwner()->front(), Use::Operand, product);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!op->hasTrait<OpTrait::ConstantLike>())
    add(op, Use::Operand, product);
}
