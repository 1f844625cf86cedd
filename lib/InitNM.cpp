//===- InitNM.cpp - Registration of all that nm has -----------------------===//

#include "nm/InitNM.h"
#include "nm/Conversion/ForallToThreads/ForallToThreads.h"
#include "nm/Conversion/KernelsToSim/KernelsToSim.h"
#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Conversion/NMToLoops/NMToLoops.h"
#include "nm/Conversion/NMToSparseTensor/NMToSparseTensor.h"
#include "nm/Conversion/NMToVector/NMToVector.h"
#include "nm/Conversion/SparseTensorToNM/SparseTensorToNM.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/TransformOps/NMTransformOps.h"
#include "nm/Dialect/NM/Transforms/BufferizableOpInterfaceImpl.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/GPU/Attention/AttentionToGPU.h"
#include "nm/GPU/Layouts/TransposeToGPU.h"
#include "nm/GPU/Passes.h"
#include "nm/GPU/Rows/RowsToGPU.h"
#include "nm/GPU/Tile/LinalgToGPU.h"
#include "nm/GPU/Tile/NMToGPU.h"
#include "nm/GPU/Windows/WindowsToGPU.h"
#include "nm/Pipelines/BufferizedToLLVM.h"
#include "nm/Pipelines/NMToCPU.h"
#include "nm/Pipelines/NMToNVVM.h"
#include "nm/Pipelines/NMToSim.h"
#include "nm/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void mlir::nm::registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // gpu-module-to-binary translates kernels.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  registerDialect(registry);
}

void mlir::nm::registerDialect(DialectRegistry &registry) {
  registry.insert<NMDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerTransformDialectExtension(registry);
}

void mlir::nm::registerAllPasses() {
  mlir::registerAllPasses();
  registerPasses();
}

void mlir::nm::registerPasses() {
  // In pipeline order.
  registerConvertSparseTensorToNM();
  registerNMKeepEncodings();
  registerNMRaiseAttention();
  registerNMDecomposeAttention();
  registerNMPutChannelsLast();
  registerNMDecomposeConvolutions();
  registerConvertLinalgToNM();
  registerNMPasses();
  registerNMGPUPasses();
  registerConvertNMToLoops();
  registerConvertNMToVector();
  registerConvertNMToGPU();
  registerConvertTransposeToGPU();
  registerRowsToGPUPasses();
  registerConvertWindowsToGPU();
  registerConvertAttentionToGPU();
  registerConvertLinalgToGPU();
  registerConvertKernelsToSim();
  registerConvertNMToSparseTensor();
  registerConvertForallToThreads();
  registerNMLoweringPasses();
  registerBufferizedToLLVMPipeline();
  registerNMToCPUPipeline();
  registerNMToNVVMPipeline();
  registerNMToSimPipeline();
}
