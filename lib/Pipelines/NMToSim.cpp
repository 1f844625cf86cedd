//===- NMToSim.cpp - Kernels for NVIDIA GPUs, simulated -------------------===//

#include "nm/Pipelines/NMToSim.h"

#include "nm/Conversion/KernelsToSim/KernelsToSim.h"
#include "nm/Pipelines/SharedPhases.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::nm;

void mlir::nm::buildSimulatedKernels(OpPassManager &pm) {
  // While launches still name memrefs, whose sizes the simulator checks.
  pm.addPass(createConvertKernelsToSim());
  NMEncodeTensorMapsOptions maps;
  maps.encoder = "nmSimEncodeTensorMap";
  maps.pixelEncoder = "nmSimEncodePixelMap";
  // Once those know of which tensors kernels read boxes.
  pm.addPass(createNMEncodeTensorMaps(maps));
}

void mlir::nm::buildNMToSimPipeline(OpPassManager &pm,
                                    const NMToNVVMOptions &options) {
  buildConvertToNM(pm, getConvertOptions(options));
  // Kernels work on memory of the host.
  NMToNVVMOptions simulated;
  simulated.copyOptionValuesFrom(options);
  simulated.cublas = false;
  buildScheduleForGPU(pm, simulated, /*isSimulated=*/true);
  buildLaunches(pm, simulated);
  buildKernels(pm, options);
  buildSimulatedKernels(pm);
  buildKernelHost(pm);
}

void mlir::nm::registerNMToSimPipeline() {
  PassPipelineRegistration<NMToNVVMOptions>(
      "nm-to-sim",
      "linalg with N:M weights to kernels for NVIDIA GPUs, simulated on the "
      "host",
      buildNMToSimPipeline);
}
