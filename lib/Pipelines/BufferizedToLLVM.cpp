//===- BufferizedToLLVM.cpp - From memrefs to the LLVM dialect ------------===//

#include "nm/Pipelines/BufferizedToLLVM.h"

#include "nm/Conversion/ForallToThreads/ForallToThreads.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nm;

/// Structured ops and loops to control flow, and tasks to functions.
static void buildLoops(OpPassManager &pm) {
  // Before parallel loops are outlined, which adds functions that no one else
  // calls.
  pm.addNestedPass<func::FuncOp>(createNMExportFunctions());
  // Makes linalg ops, so before they become loops.
  pm.addNestedPass<func::FuncOp>(createNMExpandCopies());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  // While loops are still structured. The functions it makes go through all
  // that follows.
  pm.addPass(createConvertForallToThreads());
}

/// Arithmetic that the processor or libm has.
static void buildArithmetic(OpPassManager &pm) {
  // On scalars and vectors alike, so after linalg ops have become scalar.
  pm.addPass(createNMExpandIntegerMath());
  pm.addPass(createNMApproximateMath());
  // What was not approximated is not in libm for f16 and bf16 either.
  pm.addPass(math::createMathExtendToSupportedTypes());
  // LLVM would call compiler-rt to round to bf16: arithmetic is made in f32...
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  // ...rounded each...
  pm.addPass(createNMKeepRoundings());
  // ...in integer arithmetic, which LLVM has in vectors...
  pm.addPass(createNMRoundToBF16());
  // ...and extensions of bf16. Also expands ceildivsi and the like, which the
  // subscripts of tasks have.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
}

/// Memrefs to their parts, and vectors to one dimension.
static void buildMemory(OpPassManager &pm) {
  // Transfers become loads and stores where they are contiguous and in bounds,
  // and masked ones where not.
  pm.addPass(createConvertVectorToSCFPass(
      VectorTransferToSCFOptions().enableFullUnroll()));
  // Atomics and reshapes that the conversion to LLVM does not know.
  pm.addPass(memref::createExpandOpsPass());
  // Those reshapes that the next pass cannot take.
  pm.addPass(createNMExpandReshapes());
  // Subviews and casts become arithmetic on offsets and strides...
  pm.addPass(memref::createExpandStridedMetadataPass());
  // ...which is affine.apply at first.
  pm.addPass(createLowerAffinePass());
  // Offsets that were made twice, and those that do not change in a loop.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Each remaining dialect to LLVM.
static void buildLLVM(OpPassManager &pm) {
  // Structured control flow first: the passes below know blocks only.
  pm.addPass(createSCFToControlFlowPass());
  // A check in a loop ends the function that it is in, which takes branches;
  // what that frees are memrefs still.
  pm.addPass(createNMExpandChecks());
  // Before memrefs are gone, which vector loads and stores name.
  ConvertVectorToLLVMPassOptions vectorToLLVM;
  // Loads of tiles name memrefs, too.
  vectorToLLVM.amx = true;
  vectorToLLVM.vectorTransposeLowering =
      vector::VectorTransposeLowering::Shuffle16x16;
  pm.addPass(createConvertVectorToLLVMPass(vectorToLLVM));
  // Those that LLVM has as intrinsics, then those that libm has.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  // The runtime keeps freed temporaries for the next call, which malloc does
  // not.
  FinalizeMemRefToLLVMConversionPassOptions memref;
  memref.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memref));
  // After all passes that make arith ops.
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  // Signatures last but for the branches: until here memref arguments are
  // reached through casts.
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  // The casts that the passes have left between each other cancel.
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Where branches are LLVM's.
  pm.addPass(createNMSplitEdges());
}

void mlir::nm::buildBufferizedToLLVMPipeline(OpPassManager &pm) {
  buildLoops(pm);
  buildArithmetic(pm);
  buildMemory(pm);
  buildLLVM(pm);
}

/// By itself it begins with a check, as the pipelines do that it is a part of.
static void buildCheckedPipeline(OpPassManager &pm) {
  pm.addPass(createNMCheckOps());
  buildBufferizedToLLVMPipeline(pm);
}

void mlir::nm::registerBufferizedToLLVMPipeline() {
  PassPipelineRegistration<>(
      "nm-bufferized-to-llvm",
      "bufferized upstream ops to the LLVM dialect, for the CPU",
      buildCheckedPipeline);
}
