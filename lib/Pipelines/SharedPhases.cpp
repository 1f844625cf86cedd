//===- SharedPhases.cpp - Phases that all targets have --------------------===//

#include "nm/Pipelines/SharedPhases.h"

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;

/// Whole ops to those that can be fused; sums of products in f32.
static void buildElementwiseOps(OpPassManager &pm, bool widensSums = false) {
  // Makes ops that can be cut and fused, as those of the next passes.
  pm.addNestedPass<func::FuncOp>(createNMDecomposeLinalg());
  // Before fusion, which puts products into sums that were written without.
  if (widensSums)
    pm.addNestedPass<func::FuncOp>(createNMWidenSums());
  // Arithmetic on whole tensors is linalg like the rest...
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
}

void mlir::nm::buildConvertToNM(OpPassManager &pm,
                                const ConvertToNMOptions &options) {
  // While ops are those that were written.
  pm.addPass(createNMCheckOps());
  // Before all of upstream's passes that take outputs for overwritten; the
  // canonicalizer is one of them.
  pm.addPass(createNMKeepOutputs());
  // Before all that folds.
  pm.addPass(createNMKeepEncodings());
  // A weight and its product may be in different functions; and results of
  // unknown size cannot cross the calls that are left. Nothing is folded yet:
  // folds take it for granted that sizes agree...
  pm.addPass(createInlinerPass(/*opPipelines=*/{}, [](OpPassManager &) {}));
  pm.addPass(createSymbolDCEPass());
  // ...which is checked here.
  pm.addNestedPass<func::FuncOp>(createNMCheckSizes());
  // Behind the checks, which name the operands of what was written.
  pm.addNestedPass<func::FuncOp>(createNMRaiseAttention());
  NMDecomposeAttentionOptions attention;
  attention.library = options.computedProducts;
  attention.tiles = !options.computedProducts;
  pm.addPass(createNMDecomposeAttention(attention));
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  // While images have places, and no tensor is collapsed.
  if (options.copiesPixels) {
    NMPutChannelsLastOptions layouts;
    layouts.detectWeights = options.detectWeights;
    pm.addNestedPass<func::FuncOp>(createNMPutChannelsLast(layouts));
    pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  }
  // Before detection, which takes matrices.
  NMDecomposeConvolutionsOptions convolutions;
  convolutions.detectWeights = options.detectWeights;
  pm.addNestedPass<func::FuncOp>(createNMDecomposeConvolutions(convolutions));
  // While weights are still the plain constants that were written.
  if (options.detectWeights) {
    NMDetectWeightsOptions detect;
    // A GPU's schedules of unstructured constants are those of N:M patterns and
    // of dense weights, too, and estimates say which is taken.
    detect.byBytes = options.computedProducts;
    pm.addPass(createNMDetectWeights(detect));
  }
  // Needs the encodings, so after detection. Dense neighbours get the same
  // kernels, as products with N = M.
  ConvertLinalgToNMOptions convert;
  convert.denseProducts = true;
  convert.computedProducts = options.computedProducts;
  convert.arithmetic = options.arithmetic.str();
  pm.addPass(createConvertLinalgToNM(convert));
  // The last user of encodings is gone, so their storage can take their place.
  pm.addPass(createNMMaterializeStorage());
  // Casts and transposes next to the new ops fold into them, so that schedules
  // are chosen for the sizes that will run.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // What follows a product becomes one op, which a product can take...
  buildElementwiseOps(pm, /*widensSums=*/true);
  NMFuseElementwiseOptions fusion;
  fusion.beforeEpilogues = true;
  pm.addNestedPass<func::FuncOp>(createNMFuseElementwise(fusion));
  // ...before schedules are chosen, which count what C is made of.
  pm.addNestedPass<func::FuncOp>(createNMFuseEpilogue());
  // Constants and operands that fused ops have in common...
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // ...by which those are found that share A, once epilogues are known.
  pm.addPass(createNMMergeProducts());
  // Slices of slices, and the weights that were put together.
  pm.addPass(createCanonicalizerPass());
}

void mlir::nm::buildElementwiseFusion(OpPassManager &pm) {
  buildElementwiseOps(pm);
  // ...so that it can be fused.
  pm.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
}

void mlir::nm::buildElementwiseFusionOfScheduled(OpPassManager &pm) {
  buildElementwiseOps(pm);
  // With rows of A as schedules were chosen for.
  pm.addNestedPass<func::FuncOp>(createNMFuseElementwise());
}

void mlir::nm::buildBufferization(OpPassManager &pm) {
  // Upstream drops encodings without a word, so this stands right before it.
  pm.addPass(createNMCheckEncodings());
  // While slices have no strides in their types.
  pm.addNestedPass<func::FuncOp>(createNMNormalizeSlices());
  // Callers' arguments are read-only, which bufferization must know.
  pm.addNestedPass<func::FuncOp>(createNMProtectArguments());
  // Right before the analyses that compare all ops on one tensor.
  pm.addNestedPass<func::FuncOp>(createNMSeparateEmpties());
  // Results computed into a tensor.empty are computed in place of it.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // Each turn of a loop may yield memory of its own, as a product of what the
  // turn before yielded does.
  bufferize.allowReturnAllocsFromLoops = true;
  // Callers pass row-major memory.
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // Right where they are made, so that nothing sees another order.
  pm.addPass(createNMOrderConstants());
  // Copies of a tile onto itself, left by parallel_insert_slice, fold here,
  // before they can be taken for work.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // While allocations stand where they were made.
  pm.addNestedPass<func::FuncOp>(createNMMergeBranchBuffers());
  // Results that are used no more go.
  pm.addPass(createCanonicalizerPass());
  // The next pass takes it for granted that results differ.
  pm.addNestedPass<func::FuncOp>(createNMSeparateResults());
  // The caller allocates results: allocations that are returned become
  // arguments, and are written directly.
  bufferization::BufferResultsToOutParamsPassOptions outParams;
  outParams.hoistStaticAllocs = true;
  outParams.hoistDynamicAllocs = true;
  outParams.modifyPublicFunctions = true;
  pm.addPass(bufferization::createBufferResultsToOutParamsPass(outParams));
  // What is left are temporaries, which are freed where they die.
  bufferization::BufferDeallocationPipelineOptions deallocation;
  bufferization::buildBufferDeallocationPipeline(pm, deallocation);
}
