//===- DenseReference.cpp - The dense product in float64 ------------------===//

#include "DenseReference.h"

#include "ReferenceProducts.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Pipelines/BufferizedToLLVM.h"
#include "nm/Pipelines/SharedStages.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// What has no meaning in f64
//===----------------------------------------------------------------------===//

static std::optional<StringRef> whyNoReference(Operation *op) {
  if (isa_and_present<NMDialect>(op->getDialect()))
    return "the reference takes weights in dense form, as linalg ops have them";
  if (isa<arith::BitcastOp, tensor::BitcastOp>(op))
    return "the bits of a float are others in f64";
  auto function = dyn_cast<func::FuncOp>(op);
  if (function && function.isExternal())
    return "its body is not in the module";
  return std::nullopt;
}

static LogicalResult checkOps(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    std::optional<StringRef> obstacle = whyNoReference(op);
    if (!obstacle)
      return WalkResult::advance();
    op->emitOpError() << "has no float64 reference: " << *obstacle;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Widening
//===----------------------------------------------------------------------===//

/// Replaces all types, and the numbers in attributes. Arrays of numbers stay as
/// they are: constants are widened when they are read, not in memory.
static void widenTypes(ModuleOp module) {
  Type f64 = Float64Type::get(module.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FloatType) { return f64; });
  replacer.addReplacement(
      [&](RankedTensorType type) -> std::pair<Type, WalkResult> {
        Type element = type.getElementType();
        if (isa<FloatType>(element))
          element = f64;
        return {RankedTensorType::get(type.getShape(), element),
                WalkResult::skip()};
      });
  replacer.addReplacement(
      [&](FloatAttr attribute) -> std::pair<Attribute, WalkResult> {
        return {FloatAttr::get(f64, attribute.getValueAsDouble()),
                WalkResult::skip()};
      });
  replacer.addReplacement(
      [](ElementsAttr attribute) -> std::pair<Attribute, WalkResult> {
        return {attribute, WalkResult::skip()};
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// `attribute` without the encoding of its type.
static ElementsAttr dropEncoding(ElementsAttr attribute) {
  ShapedType type = attribute.getShapedType();
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return DenseResourceElementsAttr::get(plain, resource.getRawHandle());
  return cast<DenseElementsAttr>(attribute).reshape(plain);
}

/// Gives a constant whose type was replaced its own type back, and widens what
/// is read from it.
static void widenConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<ElementsAttr>(op.getValue());
  if (!elements || elements.getShapedType() == op.getType())
    return;
  OpBuilder b(op);
  Value constant =
      arith::ConstantOp::create(b, op.getLoc(), dropEncoding(elements));
  if (constant.getType() != op.getType())
    constant = arith::ExtFOp::create(b, op.getLoc(), op.getType(), constant);
  op.replaceAllUsesWith(constant);
  op.erase();
}

static void widenOps(ModuleOp module) {
  SmallVector<Operation *> casts;
  module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *cast : casts) {
    cast->replaceAllUsesWith(cast->getOperands());
    cast->erase();
  }
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp op) { constants.push_back(op); });
  for (arith::ConstantOp constant : constants)
    widenConstant(constant);
}

static LogicalResult renameFunctions(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    std::string name = (function.getSymName() + ".reference").str();
    if (failed(symbols.rename(function, name)))
      return function.emitOpError() << "expected no function @\"" << name
                                    << "\", which is the name of the reference";
  }
  return success();
}

OwningOpRef<ModuleOp> mlir::nm::createReference(ModuleOp module) {
  OwningOpRef<ModuleOp> reference = module.clone();
  replaceSparseProducts(*reference);
  if (failed(checkOps(*reference)))
    return nullptr;
  widenTypes(*reference);
  widenOps(*reference);
  if (failed(renameFunctions(*reference)))
    return nullptr;
  return reference;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

void mlir::nm::buildReferencePipeline(OpPassManager &pm) {
  // Results of unknown size cannot cross calls.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addNestedPass<func::FuncOp>(createNMDecomposeLinalg());
  // Arithmetic on tensors, widening among it, is linalg as all else...
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  // ...and fuses, so that widened constants never are in memory.
  pm.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  // Tasks of tens of milliseconds: enough of them, and each with enough rows to
  // share what it reads of the weights.
  NMTileToBlocksOptions tile;
  tile.minTaskElements = int64_t(1) << 28;
  pm.addNestedPass<func::FuncOp>(createNMTileToBlocks(tile));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Within tasks, so after they are cut.
  pm.addNestedPass<func::FuncOp>(createNMOrderLoops());
  buildBufferization(pm);
  buildBufferizedToLLVMPipeline(pm);
}
