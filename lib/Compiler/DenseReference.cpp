//===- DenseReference.cpp - The dense product in float64 ------------------===//

#include "DenseReference.h"

#include "ReferenceLoops.h"
#include "ReferenceProducts.h"
#include "ReferenceRounding.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Pipelines/BufferizedToLLVM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
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
// One form of linalg
//===----------------------------------------------------------------------===//

/// Upstream takes it for granted that a softmax is on floats.
static LogicalResult checkSoftmax(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<linalg::SoftmaxOp>(op) || isa<FloatType>(element))
    return success();
  return op->emitOpError() << "expected a float element type, but got "
                           << element;
}

/// Has packs and unpacks be pads, reshapes and transpositions.
static LogicalResult lowerRelayouts(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (auto op : collectOps<linalg::PackOp>(module)) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::lowerPack(rewriter, op)))
      return op->emitOpError() << "could not be lowered";
  }
  for (auto op : collectOps<linalg::UnPackOp>(module)) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::lowerUnPack(rewriter, op)))
      return op->emitOpError() << "could not be lowered";
  }
  return success();
}

static LogicalResult decomposeOps(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (auto op : collectOps<linalg::AggregatedOpInterface>(module)) {
    if (failed(checkSoftmax(op)))
      return failure();
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op->emitOpError() << "could not be decomposed";
    rewriter.replaceOp(op, *parts);
  }
  return success();
}

/// Has the body of `op` read `init`, which bufferization would not keep else:
/// it yields what it reads where an index is below 0, as none is.
static void readInit(linalg::GenericOp op, OpOperand &init) {
  Operation *yield = op.getBody()->getTerminator();
  OpBuilder b(yield);
  Location loc = op.getLoc();
  Value index = linalg::IndexOp::create(b, loc, 0);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value exists =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, zero);
  OpOperand &yielded =
      yield->getOpOperand(op.getTiedOpResult(&init).getResultNumber());
  yielded.set(arith::SelectOp::create(b, loc, exists, yielded.get(),
                                      op.getMatchingBlockArgument(&init)));
}

/// Makes linalg.generic of every linalg op on tensors, and has those keep what
/// they do not write.
static LogicalResult generalizeOps(ModuleOp module) {
  SmallVector<linalg::LinalgOp> ops;
  module.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics())
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : ops) {
    auto generic = dyn_cast<linalg::GenericOp>(*op);
    if (!generic) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> made =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(made))
        return op->emitOpError() << "has no form as linalg.generic";
      generic = *made;
    }
    for (OpOperand &init : generic.getDpsInitsMutable())
      if (generic.getNumLoops() > 0 &&
          !generic.payloadUsesValueFromOperand(&init) &&
          !init.get().getDefiningOp<tensor::EmptyOp>())
        readInit(generic, init);
  }
  return success();
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

/// Has the body that takes `use` widen the elements of `constant`, so that
/// these never are in memory as f64.
static void widenInBody(linalg::GenericOp op, OpOperand &use, Value constant) {
  BlockArgument element = op.getMatchingBlockArgument(&use);
  Type wide = element.getType();
  use.set(constant);
  element.setType(getElementTypeOrSelf(constant.getType()));
  OpBuilder b = OpBuilder::atBlockBegin(op.getBody());
  auto widened = arith::ExtFOp::create(b, op.getLoc(), wide, element);
  element.replaceAllUsesExcept(widened, widened);
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
  if (constant.getType() == op.getType()) {
    op.replaceAllUsesWith(constant);
    op.erase();
    return;
  }
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
    if (auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
        generic && generic.isDpsInput(&use))
      widenInBody(generic, use, constant);
  if (!op->use_empty())
    op.replaceAllUsesWith(
        arith::ExtFOp::create(b, op.getLoc(), op.getType(), constant)
            .getResult());
  op.erase();
}

static void widenConstants(ModuleOp module) {
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
  if (failed(checkOps(*reference)) || failed(decomposeOps(*reference)) ||
      failed(lowerRelayouts(*reference)) || failed(generalizeOps(*reference)))
    return nullptr;
  SmallVector<RoundedCast> casts = findRoundedCasts(*reference);
  widenTypes(*reference);
  expandRoundedCasts(casts);
  widenConstants(*reference);
  if (failed(renameFunctions(*reference)))
    return nullptr;
  return reference;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Bufferization without an analysis of what may be overwritten.
static void buildReferenceBufferization(OpPassManager &pm) {
  // Upstream crashes on other strides of single elements.
  pm.addNestedPass<func::FuncOp>(createNMNormalizeSlices());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.copyBeforeWrite = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createNMOrderConstants());
  // Each result is copied to the caller's memory.
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
  bufferization::BufferDeallocationPipelineOptions deallocation;
  bufferization::buildBufferDeallocationPipeline(pm, deallocation);
}

void mlir::nm::buildReferencePipeline(OpPassManager &pm) {
  // Results of unknown size cannot cross calls. Without the canonicalizer,
  // which runs on what is inlined by default: nothing is rewritten before there
  // are loops, so that no error of a rewrite is in what is compared and in the
  // reference alike.
  pm.addPass(createInlinerPass(llvm::StringMap<OpPassManager>(),
                               [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  // Arithmetic on whole tensors is linalg as all else.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  buildReferenceBufferization(pm);
  pm.addNestedPass<func::FuncOp>(createReferenceLoopsPass());
  buildBufferizedToLLVMPipeline(pm);
}
