//===- WeightOrigin.cpp - Where the weights of a product come from --------===//

#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::areWeightsConstant(SparseProductOpInterface op) {
  return op.getValues().getDefiningOp<arith::ConstantOp>() &&
         op.getIndices().getDefiningOp<arith::ConstantOp>();
}

bool mlir::nm::isElementwiseOfOne(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || !readsOneInPlace(op))
    return false;
  Block &body = *op.getBody();
  auto isInside = [&](Value value) { return value.getParentBlock() == &body; };
  return llvm::all_of(body, [&](Operation &inner) {
    return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) &&
           llvm::all_of(inner.getOperands(), isInside);
  });
}

static bool isElementwiseOfOne(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return generic && mlir::nm::isElementwiseOfOne(generic);
}

/// Whether nothing but products makes use of `value`, or of other weights that
/// are made of it.
static bool isForProducts(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    bool makesWeights =
        isElementwiseOfOne(user) || isa<DecompressOp, CompressOp>(user);
    return isa<SpMMOp, SpMVOp>(user) ||
           (makesWeights && llvm::all_of(user->getResults(), isForProducts));
  });
}

static bool refersTo(Attribute attribute, StringAttr name) {
  return attribute
      .walk([&](SymbolRefAttr reference) {
        return reference.getRootReference() == name ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `op` refers to a symbol `name`. An op whose own attributes may do so
/// has one of the interfaces: to list the attributes of each op of a module
/// takes long where each product asks.
static bool refersTo(Operation *op, StringAttr name) {
  bool mayRefer =
      !op->isRegistered() || isa<SymbolUserOpInterface, CallOpInterface>(op);
  DictionaryAttr attributes =
      mayRefer ? op->getAttrDictionary() : op->getDiscardableAttrDictionary();
  return refersTo(attributes, name);
}

static bool isReferredTo(func::FuncOp function) {
  Operation *table = function->getParentOp();
  return table
      ->walk([&](Operation *op) {
        return op != table && refersTo(op, function.getSymNameAttr())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The argument that `value` is, or is made of each element of, where that is a
/// part of an encoded argument that only callers outside the module pass; null
/// for others.
static BlockArgument findLoadedPart(Value value, StringRef part) {
  if (isElementwiseOfOne(value.getDefiningOp()))
    value = value.getDefiningOp<linalg::GenericOp>().getInputs()[0];
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  bool isPart = function && function.isPublic() &&
                argument.getOwner()->isEntryBlock() &&
                function.getArgAttr(argument.getArgNumber(), part) &&
                !isReferredTo(function);
  return isPart ? argument : BlockArgument();
}

/// Whether `value` is such a part, and nothing but products makes use of it.
static bool isLoaded(Value value, StringRef part) {
  BlockArgument argument = findLoadedPart(value, part);
  return argument && isForProducts(argument);
}

bool mlir::nm::areWeightsLoaded(SparseProductOpInterface op) {
  return areWeightsConstant(op) || (isLoaded(op.getValues(), "nm.values_of") &&
                                    isLoaded(op.getIndices(), "nm.indices_of"));
}

bool mlir::nm::areWeightsRemadeAtLoad(SparseProductOpInterface op) {
  auto compress = op.getValues().getDefiningOp<CompressOp>();
  if (!compress || op.getIndices().getDefiningOp() != compress ||
      !op.getValues().hasOneUse() || !op.getIndices().hasOneUse())
    return false;
  auto decompress = compress.getDense().getDefiningOp<DecompressOp>();
  return decompress && decompress->hasOneUse() &&
         isLoaded(decompress.getValues(), "nm.values_of") &&
         isLoaded(decompress.getIndices(), "nm.indices_of");
}
