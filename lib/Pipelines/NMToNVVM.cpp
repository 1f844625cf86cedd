//===- NMToNVVM.cpp - From linalg with N:M weights to NVIDIA GPUs ---------===//

#include "nm/Pipelines/NMToNVVM.h"

#include "nm/Conversion/NMToLoops/NMToLoops.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/GPU/Attention/AttentionToGPU.h"
#include "nm/GPU/Layouts/TransposeToGPU.h"
#include "nm/GPU/Passes.h"
#include "nm/GPU/Rows/RowsToGPU.h"
#include "nm/GPU/Tile/LinalgToGPU.h"
#include "nm/GPU/Tile/NMToGPU.h"
#include "nm/GPU/Windows/WindowsToGPU.h"
#include "nm/Pipelines/SharedPhases.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;

/// The PTX version of kernels. None is known of an unknown chip, which
/// nm-attach-chip reports before it matters.
static int64_t getPtxVersion(const NMToNVVMOptions &options) {
  if (options.ptxVersion != 0)
    return options.ptxVersion;
  ::nm::Result<GpuChip> chip = GpuChip::get(options.chip);
  return chip ? chip->ptxVersion : 0;
}

bool mlir::nm::copiesPixels(StringRef chip) {
  ::nm::Result<GpuChip> found = GpuChip::get(chip);
  return found && found->hasWgmma;
}

ConvertToNMOptions mlir::nm::getConvertOptions(const NMToNVVMOptions &options) {
  ConvertToNMOptions convert;
  convert.detectWeights = options.detectWeights;
  convert.arithmetic = options.arithmetic.getValue();
  convert.computedProducts = true;
  convert.copiesPixels = copiesPixels(options.chip);
  return convert;
}

void mlir::nm::buildScheduleForGPU(OpPassManager &pm,
                                   const NMToNVVMOptions &options,
                                   bool isSimulated) {
  bool mayBeDense = options.denseFallback && !isSimulated;
  // First of all that depends on it.
  NMAttachChipOptions chip;
  chip.chip = options.chip;
  chip.scheduleTables.assign(options.scheduleTables.begin(),
                             options.scheduleTables.end());
  chip.device = options.device;
  chip.batchInvariant = options.batchInvariant;
  pm.addPass(createNMAttachChip(chip));
  // Before all that asks a product for its pattern.
  pm.addPass(createNMFitWindows());
  // Of products whose epilogues are known, and whose schedules are not.
  if (options.propagateLayouts) {
    NMPropagateLayoutsOptions layouts;
    layouts.schedule = options.schedule;
    layouts.denseFallback = mayBeDense;
    layouts.exactPattern = !options.denseFallback;
    pm.addPass(createNMPropagateLayouts(layouts));
  }
  // While selection is free to choose, and before products that are combined
  // are one.
  if (options.schedule.empty()) {
    NMSplitColumnsOptions columns;
    columns.denseFallback = mayBeDense;
    columns.exactPattern = !options.denseFallback;
    pm.addPass(createNMSplitColumns(columns));
  }
  // While products that are combined may still become one.
  NMPairProductsOptions pairs;
  pairs.schedule = options.schedule;
  pairs.denseFallback = mayBeDense;
  pairs.exactPattern = !options.denseFallback;
  pm.addPass(createNMPairProducts(pairs));
  NMSelectGpuScheduleOptions schedule;
  schedule.denseFallback = mayBeDense;
  schedule.exactPattern = !options.denseFallback;
  schedule.schedule = options.schedule;
  pm.addPass(createNMSelectGpuSchedule(schedule));
}

/// Products to tiles in shared memory, and those to what threads do.
static void buildProducts(OpPassManager &pm) {
  // While a product's operands are still its own, not tiles of them.
  pm.addNestedPass<func::FuncOp>(createNMAlignOperands());
  // Copies need memory to copy between.
  pm.addNestedPass<func::FuncOp>(createNMStageSharedMemory());
  // While a product is one op, which copies move past whole.
  pm.addNestedPass<func::FuncOp>(createNMPipelineCopies());
  // The loops of a single tile that pipelining leaves, and subscripts of slots.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createConvertNMToGPU());
}

static void outlineLaunches(OpPassManager &pm) {
  NMOutlineEqualOptions outline;
  outline.launches = true;
  pm.addPass(createNMOutlineEqual(outline));
}

void mlir::nm::buildLaunches(OpPassManager &pm,
                             const NMToNVVMOptions &options) {
  // Needs the schedules; before tiling, so that a weight is packed whole.
  pm.addPass(createNMPackWeights());
  // Of few ops, for each becomes a kernel.
  buildElementwiseFusionOfScheduled(pm);
  // Behind fusion, whose patterns would move the reshapes of this pass, and
  // before bufferization, which makes views of these.
  pm.addNestedPass<func::FuncOp>(createNMFormRows());
  // On tensors, where a fill of the output can still be moved into its tiles.
  pm.addNestedPass<func::FuncOp>(createNMTileToGpuBlocks());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildBufferization(pm);
  if (options.profile)
    pm.addNestedPass<func::FuncOp>(createNMNameSteps());
  // Packing, before it is expanded. Equal kernels become one further down.
  NMOutlineEqualOptions outline;
  outline.hostOnly = true;
  pm.addPass(createNMOutlineEqual(outline));
  // While products of cuBLAS, which takes such rows, still name their operands.
  pm.addNestedPass<func::FuncOp>(createNMPadRows());
  // Before anything takes these products, or their fills, for kernels.
  NMCallCublasOptions cublas;
  cublas.available = options.cublas;
  pm.addPass(createNMCallCublas(cublas));
  buildProducts(pm);
  // Attention that cuDNN does not have, or may refuse.
  pm.addNestedPass<func::FuncOp>(createConvertAttentionToGPU());
  // While they are ops, and not yet kernels.
  pm.addNestedPass<func::FuncOp>(createNMInlineProducers());
  // While fills and copies, which pad images, are ops.
  pm.addNestedPass<func::FuncOp>(createConvertWindowsToGPU());
  // Before the ops are gone that transpose what they make.
  ConvertRowsToGPUOptions reductions;
  reductions.reductionsOnly = true;
  pm.addNestedPass<func::FuncOp>(createConvertRowsToGPU(reductions));
  // That for which a thread an element would be slow.
  pm.addNestedPass<func::FuncOp>(createConvertTransposeToGPU());
  // Packing, which runs on the host where weights are loaded, and on the device
  // where they come with each call; and products that no strategy takes.
  ConvertNMToLoopsOptions loops;
  loops.parallel = true;
  pm.addPass(createConvertNMToLoops(loops));
  // Elementwise ops, and fills that no product has taken, when those that
  // transpose, or write panels, are kernels.
  pm.addNestedPass<func::FuncOp>(createConvertRowsToGPU());
  // All that is left, by a thread for each element.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToGPU());
  // Where all kernels are launches, and checks are still ops.
  pm.addNestedPass<func::FuncOp>(createNMMergeLaunches());
  // Where launches are known, and their bodies may still name what is outside.
  pm.addNestedPass<func::FuncOp>(createNMRecordChecks());
  // While launches name constants, which outlined ones have as operands.
  if (options.overlapKernels)
    pm.addNestedPass<func::FuncOp>(createNMLoadEarly());
  // Where a record of checks is an operand; each layer has kernels of its own
  // until here, and most of a compilation's time is for what follows.
  outlineLaunches(pm);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Arithmetic of kernels that NVPTX has no instructions for.
static void buildKernelArithmetic(OpPassManager &kernels) {
  // convert-gpu-to-nvvm has no functions of integers.
  kernels.addPass(createNMExpandIntegerMath());
  // Instead of libdevice, which only an installed toolkit has.
  NMApproximateMathOptions math;
  math.hasExp2 = true;
  kernels.addPass(createNMApproximateMath(math));
}

void mlir::nm::buildKernels(OpPassManager &pm, const NMToNVVMOptions &options) {
  // A kernel has constants, instead of being passed them...
  pm.addNestedPass<func::FuncOp>(createNMSinkConstants());
  // ...and computes what is cheap.
  pm.addNestedPass<func::FuncOp>(createGpuLaunchSinkIndexComputationsPass());
  // Kernels need functions of their own...
  pm.addPass(createGpuKernelOutliningPass());
  // Where a launch is one op.
  pm.addPass(createNMInlineLaunches());
  // ...which are assembled together.
  pm.addPass(createNMGatherKernels());
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = "+ptx" + std::to_string(getPtxVersion(options));
  target.optLevel = options.optLevel;
  pm.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  // Where the target is known, and kernels still say what sizes they have.
  if (options.overlapKernels)
    kernels.addPass(createNMOverlapKernels());
  // On scalars, before they become NVVM or calls of libdevice.
  buildKernelArithmetic(kernels);
  // Asynchronous copies to NVVM while they still name memrefs.
  kernels.addPass(createConvertNVGPUToNVVMPass());
  // The conversions below know blocks only.
  kernels.addPass(createSCFToControlFlowPass());
  // Views become arithmetic on offsets, which is affine.apply at first.
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  // All the rest at once, memrefs included: converted one by one, dialects
  // disagree on workgroup memory.
  kernels.addPass(createConvertGpuOpsToNVVMOps());
  // Where that has made a symbol of it.
  kernels.addPass(createNMAlignKernelMemory());
  kernels.addPass(createNMPinRegisters());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  // The casts between integers and indices that are left.
  kernels.addPass(createReconcileUnrealizedCastsPass());
  // Where kernels have parameters in memory.
  pm.addPass(createNMPassTensorMaps());
}

void mlir::nm::buildDeviceMemory(OpPassManager &pm,
                                 const NMToNVVMOptions &options) {
  // Where each step is a launch or a call.
  if (options.profile)
    pm.addPass(createNMMarkSteps());
  // Where all temporaries are known.
  pm.addNestedPass<func::FuncOp>(createNMPlanMemory());
  // While the host's side is memrefs.
  pm.addPass(createNMEncodeTensorMaps());
  // While the host's side is memrefs, and launches name kernels.
  pm.addPass(createNMLaunchOnStream());
}

void mlir::nm::buildKernelBinary(OpPassManager &pm,
                                 const NMToNVVMOptions &options) {
  // Ops that are PTX rather than LLVM intrinsics.
  pm.addNestedPass<gpu::GPUModuleOp>(createConvertNVVMToLLVMPass());
  // Last of all, for it stands for a part of the translation.
  pm.addNestedPass<gpu::GPUModuleOp>(createNMSplitEdges());
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = options.format;
  binary.toolkitPath = options.toolkit;
  pm.addPass(createGpuModuleToBinaryPass(binary));
}

void mlir::nm::buildKernelHost(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createNMExportFunctions());
  pm.addNestedPass<func::FuncOp>(createNMExpandCopies());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  // Conversions of 8-bit floats, which weights are widened by.
  pm.addNestedPass<func::FuncOp>(createNMApproximateMath());
  pm.addPass(createSCFToControlFlowPass());
  // A check in a loop ends the function that it is in.
  pm.addPass(createNMExpandChecks());
  pm.addPass(memref::createExpandOpsPass());
  pm.addPass(createNMExpandReshapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  // Sizes of launches.
  pm.addPass(arith::createArithExpandOpsPass());
  // Launches become calls of the runtime's mgpu functions.
  pm.addPass(createGpuToLLVMConversionPass());
  // The casts that the passes have left between each other cancel.
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Of the host, and of simulated kernels.
  pm.addPass(createNMSplitEdges());
  // Nothing reads it any more, and tools that lack the dialect refuse it.
  NMAttachChipOptions none;
  none.chip = "";
  pm.addPass(createNMAttachChip(none));
}

void mlir::nm::buildNMToNVVMPipeline(OpPassManager &pm,
                                     const NMToNVVMOptions &options) {
  buildConvertToNM(pm, getConvertOptions(options));
  buildScheduleForGPU(pm, options);
  buildLaunches(pm, options);
  buildKernels(pm, options);
  buildDeviceMemory(pm, options);
  buildKernelBinary(pm, options);
  buildKernelHost(pm);
}

/// Parses the options and builds the pipeline. LLVM's back end would end the
/// process for a PTX version that it or the chip has not.
static LogicalResult
buildFromText(OpPassManager &pm, StringRef text,
              llvm::function_ref<LogicalResult(const Twine &)> fail) {
  NMToNVVMOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  ::nm::Result<GpuChip> chip = GpuChip::get(options.chip);
  if (!chip)
    return fail(chip.error().message);
  if (options.ptxVersion != 0)
    if (::nm::Status status = chip->checkPtxVersion(options.ptxVersion);
        !status)
      return fail(status.error().message);
  buildNMToNVVMPipeline(pm, options);
  return success();
}

void mlir::nm::registerNMToNVVMPipeline() {
  registerPassPipeline(
      "nm-to-nvvm",
      "linalg with N:M weights to kernels for NVIDIA GPUs, and the LLVM "
      "dialect",
      buildFromText,
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(NMToNVVMOptions());
      });
}
