//===- WeightOrigin.cpp - Where the weights of a product come from --------===//

#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::areWeightsConstant(SparseProductOpInterface op) {
  return op.getValues().getDefiningOp<arith::ConstantOp>() &&
         op.getIndices().getDefiningOp<arith::ConstantOp>();
}

/// Whether `value` is a part of an encoded argument that only callers outside
/// the module pass, and of which nothing but products makes use.
static bool isLoaded(Value value, StringRef part) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function && function.isPublic() &&
         argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), part) &&
         SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()) &&
         llvm::all_of(argument.getUsers(), llvm::IsaPred<SpMMOp, SpMVOp>);
}

bool mlir::nm::areWeightsLoaded(SparseProductOpInterface op) {
  return areWeightsConstant(op) || (isLoaded(op.getValues(), "nm.values_of") &&
                                    isLoaded(op.getIndices(), "nm.indices_of"));
}
