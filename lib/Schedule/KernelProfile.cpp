//===- KernelProfile.cpp - What a kernel takes, and its bound -------------===//

#include "nm/Schedule/KernelProfile.h"

#include "nm/Schedule/SharedBytes.h"
#include "nm/Support/Warp.h"

#include <algorithm>

using namespace nm;

/// CUDA's limits of every chip that nm knows.
static constexpr int64_t kThreadsOfMultiprocessor = 2048,
                         kBlocksOfMultiprocessor = 32;
/// Registers are given out to a warp by 256.
static constexpr int64_t kRegisterStep = 8;

Unit nm::unitOfStrategy(std::string_view strategy) {
  if (strategy == "cublas")
    return Unit::Library;
  if (strategy == "wgmma_sp" || strategy == "mma_sp")
    return Unit::SparseTensorCores;
  if (strategy.substr(0, 5) == "wgmma" || strategy.substr(0, 3) == "mma")
    return Unit::TensorCores;
  return Unit::CudaCores;
}

int64_t nm::countResidentBlocks(const GpuChip &chip, int64_t threads,
                                int64_t registers, int64_t sharedBytes) {
  int64_t ofThread =
      (registers + kRegisterStep - 1) / kRegisterStep * kRegisterStep;
  return std::min(
      {kRegisters / (ofThread * threads),
       chip.sharedPerMultiprocessor / (sharedBytes + kReservedShared),
       kThreadsOfMultiprocessor / threads});
}

double nm::occupancyOf(const GpuChip &chip, int64_t threads, int64_t registers,
                       int64_t sharedBytes) {
  int64_t blocks =
      std::min(countResidentBlocks(chip, threads, registers, sharedBytes),
               kBlocksOfMultiprocessor);
  return double(blocks * threads) / double(kThreadsOfMultiprocessor);
}
