//===- NMToCPU.cpp - From linalg with N:M weights to the CPU --------------===//

#include "nm/Pipelines/NMToCPU.h"

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Conversion/NMToLoops/NMToLoops.h"
#include "nm/Conversion/NMToVector/NMToVector.h"
#include "nm/Dialect/NM/Transforms/CpuFeatures.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Pipelines/BufferizedToLLVM.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;

void mlir::nm::buildConvertToNM(OpPassManager &pm,
                                const NMToCPUOptions &options) {
  // A weight and its product may be in different functions; and results of
  // unknown size cannot cross the calls that are left.
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  // Before anything else, while weights are still the plain constants that were
  // written.
  if (options.detectWeights)
    pm.addPass(createNMDetectWeights());
  // Needs the encodings, so after detection. Dense neighbours get the same
  // kernels, as products with N = M.
  ConvertLinalgToNMOptions convert;
  convert.denseProducts = true;
  pm.addPass(createConvertLinalgToNM(convert));
  // The last user of encodings is gone, so their storage can take their place.
  pm.addPass(createNMMaterializeStorage());
  // Casts and transposes next to the new ops fold into them, so that schedules
  // are chosen for the sizes that will run.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::nm::buildScheduleForCPU(OpPassManager &pm,
                                   const NMToCPUOptions &options) {
  NMSelectScheduleOptions schedule;
  schedule.target = "cpu";
  schedule.strategy = options.strategy;
  schedule.block.assign(options.block.begin(), options.block.end());
  schedule.thread.assign(options.thread.begin(), options.thread.end());
  schedule.denseFallback = options.denseFallback;
  schedule.threads = options.threads;
  schedule.features = options.features;
  pm.addPass(createNMSelectSchedule(schedule));
}

void mlir::nm::buildBufferization(OpPassManager &pm) {
  // Upstream drops encodings without a word, so this stands right before it.
  pm.addPass(createNMCheckEncodings());
  // Callers' arguments are read-only, which bufferization must know.
  pm.addNestedPass<func::FuncOp>(createNMProtectArguments());
  // Results computed into a tensor.empty are computed in place of it.
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  // Callers pass row-major memory.
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // Copies of a tile onto itself, left by parallel_insert_slice, fold here,
  // before they can be taken for work.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
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

/// The vectors that the processor has. Unknown features are
/// nm-select-schedule's to report, which stands before.
static ConvertNMToVectorOptions
getVectorOptions(const NMToCPUOptions &options) {
  ConvertNMToVectorOptions vector;
  if (::nm::Result<::nm::CpuTarget> cpu =
          getCpuTarget(options.features, options.threads)) {
    vector.vectorBits = cpu->vectorBits;
    vector.x86Permutes = cpu->permutes;
  }
  return vector;
}

void mlir::nm::buildLowerToCPU(OpPassManager &pm,
                               const NMToCPUOptions &options) {
  // Needs the schedules; before tiling, so that a weight is packed whole.
  pm.addPass(createNMPackWeights());
  // Makes ops that can be cut and fused, as those of the next passes.
  pm.addNestedPass<func::FuncOp>(createNMDecomposeLinalg());
  // Arithmetic on whole tensors is linalg like the rest...
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  // ...so that neighbours of the products become one op, cut once by the next
  // pass.
  pm.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  NMTileToBlocksOptions tile;
  tile.minTaskElements = options.minTaskElements;
  pm.addNestedPass<func::FuncOp>(createNMTileToBlocks(tile));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildBufferization(pm);
  // The fast path takes the ops that have its schedule; the reference takes the
  // others, and the format ops.
  pm.addPass(createConvertNMToVector(getVectorOptions(options)));
  pm.addPass(createConvertNMToLoops());
  buildBufferizedToLLVMPipeline(pm);
}

void mlir::nm::buildNMToCPUPipeline(OpPassManager &pm,
                                    const NMToCPUOptions &options) {
  buildConvertToNM(pm, options);
  buildScheduleForCPU(pm, options);
  buildLowerToCPU(pm, options);
}

void mlir::nm::registerNMToCPUPipeline() {
  PassPipelineRegistration<NMToCPUOptions>(
      "nm-to-cpu", "linalg with N:M weights to the LLVM dialect, for the CPU",
      buildNMToCPUPipeline);
}
