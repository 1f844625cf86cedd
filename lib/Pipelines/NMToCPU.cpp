//===- NMToCPU.cpp - From linalg with N:M weights to the CPU --------------===//

#include "nm/Pipelines/NMToCPU.h"

#include "nm/Conversion/NMToLoops/NMToLoops.h"
#include "nm/Conversion/NMToVector/NMToVector.h"
#include "nm/Dialect/NM/Transforms/CpuFeatures.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Pipelines/BufferizedToLLVM.h"
#include "nm/Pipelines/SharedPhases.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;

void mlir::nm::buildScheduleForCPU(OpPassManager &pm,
                                   const NMToCPUOptions &options) {
  NMSelectScheduleOptions schedule;
  schedule.schedule = options.schedule;
  schedule.denseFallback = options.denseFallback;
  schedule.scheduleTables.assign(options.scheduleTables.begin(),
                                 options.scheduleTables.end());
  schedule.device = options.device;
  schedule.batchInvariant = options.batchInvariant;
  schedule.threads = options.threads;
  schedule.features = options.features;
  pm.addPass(createNMSelectSchedule(schedule));
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
    vector.i8mm = cpu->multipliesMatrices(::nm::ElementType::I8);
    vector.bf16Pairs = cpu->bf16Pairs;
    vector.shuffleWeights = cpu->shufflesWeights;
  }
  return vector;
}

void mlir::nm::buildLowerToCPU(OpPassManager &pm,
                               const NMToCPUOptions &options) {
  // Needs the schedules; before tiling, so that a weight is packed whole.
  pm.addPass(createNMPackWeights());
  // Neighbours of the products become one op, cut once by the next pass.
  buildElementwiseFusion(pm);
  NMTileToBlocksOptions tile;
  tile.minTaskElements = options.minTaskElements;
  pm.addNestedPass<func::FuncOp>(createNMTileToBlocks(tile));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildBufferization(pm);
  // While each function has its own temporaries.
  NMPlanMemoryOptions memory;
  memory.count = true;
  pm.addNestedPass<func::FuncOp>(createNMPlanMemory(memory));
  if (options.profile)
    pm.addNestedPass<func::FuncOp>(createNMNameSteps());
  // Of memrefs, which calls pass by reference; before anything is expanded.
  pm.addPass(createNMOutlineEqual());
  // Where each step is one op of the function still.
  if (options.profile)
    pm.addPass(createNMMarkSteps());
  // The fast path takes the ops that have its schedule; the reference takes the
  // others, and the format ops.
  pm.addPass(createConvertNMToVector(getVectorOptions(options)));
  pm.addPass(createConvertNMToLoops());
  buildBufferizedToLLVMPipeline(pm);
}

void mlir::nm::buildNMToCPUPipeline(OpPassManager &pm,
                                    const NMToCPUOptions &options) {
  ConvertToNMOptions convert;
  convert.detectWeights = options.detectWeights;
  convert.arithmetic = options.arithmetic.getValue();
  buildConvertToNM(pm, convert);
  buildScheduleForCPU(pm, options);
  buildLowerToCPU(pm, options);
}

void mlir::nm::registerNMToCPUPipeline() {
  PassPipelineRegistration<NMToCPUOptions>(
      "nm-to-cpu", "linalg with N:M weights to the LLVM dialect, for the CPU",
      buildNMToCPUPipeline);
}
