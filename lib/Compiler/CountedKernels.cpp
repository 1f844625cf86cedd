//===- CountedKernels.cpp - ptxas's counts of a product's kernel ----------===//

#include "CountedKernels.h"

#include "nm/Dialect/NM/IR/SourceLocation.h"
#include "nm/Schedule/KernelProfile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::nm;

/// 0 where they are not known.
static int64_t countThreads(gpu::LaunchFuncOp launch) {
  gpu::KernelDim3 size = launch.getBlockSizeOperandValues();
  int64_t threads = 1;
  for (Value each : {size.x, size.y, size.z})
    threads *= getConstantIntValue(each).value_or(0);
  return threads;
}

void mlir::nm::recordKernels(ModuleOp module,
                             std::vector<FunctionRecord> &records) {
  llvm::StringMap<std::vector<KernelOfProduct>> byPlace;
  module.walk([&](gpu::LaunchFuncOp launch) {
    byPlace[getPlace(launch.getLoc())].push_back(
        {launch.getKernelName().str(), countThreads(launch)});
  });
  llvm::StringMap<int64_t> products;
  for (FunctionRecord &record : records)
    for (OpRecord &op : record.ops)
      ++products[op.place];
  for (FunctionRecord &record : records)
    for (OpRecord &op : record.ops)
      if (!op.place.empty() && products[op.place] == 1)
        op.kernels = byPlace[op.place];
}

static void takeCount(llvm::StringRef chip,
                      const std::vector<AssembledKernel> &kernels,
                      OpRecord &op) {
  ::nm::KernelProfile &profile = op.profile;
  // cuBLAS multiplies where there is none of its own.
  if (!profile.registers)
    return;
  std::optional<int64_t> most;
  int64_t threads = 0;
  for (const KernelOfProduct &kernel : op.kernels)
    for (const AssembledKernel &assembled : kernels)
      if (assembled.name == kernel.name && assembled.registers > most) {
        most = assembled.registers;
        threads = kernel.threads;
      }
  if (!most || *most == 0)
    return;
  profile.registers = most;
  profile.registersFrom = "ptxas";
  ::nm::Result<::nm::GpuChip> gpu =
      ::nm::GpuChip::get(std::string_view(chip.data(), chip.size()));
  profile.occupancy = std::nullopt;
  if (gpu && threads > 0 && op.choice.sharedBytes)
    profile.occupancy =
        occupancyOf(*gpu, threads, *most, *op.choice.sharedBytes);
}

void mlir::nm::takeCounts(llvm::StringRef chip,
                          const std::vector<AssembledKernel> &kernels,
                          std::vector<FunctionRecord> &records) {
  for (FunctionRecord &record : records)
    for (OpRecord &op : record.ops)
      takeCount(chip, kernels, op);
}
