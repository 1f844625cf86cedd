//===- KernelProfile.h - What a kernel takes, and its bound -----*- C++ -*-===//

#ifndef NM_SCHEDULE_KERNELPROFILE_H
#define NM_SCHEDULE_KERNELPROFILE_H

#include "nm/Schedule/GpuChip.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nm {

enum class Unit {
  CpuCores,
  CudaCores,
  TensorCores,
  SparseTensorCores,
  /// cuBLAS with dense weights.
  Library
};

/// Which unit of a GPU the kernels of `strategy` multiply with.
Unit unitOfStrategy(std::string_view strategy);

/// Registers, occupancy and arithmetic intensities of a GPU's kernel, by its
/// schedule; absent where the schedule does not say.
struct KernelProfile {
  /// Threads of a block; 0 where not known.
  int64_t threads = 0;
  /// Registers of a thread when it starts, and who counted them: `ptxas`, or
  /// `estimate`, by the sums that the schedule gives a thread.
  std::optional<int64_t> registers;
  std::string registersFrom;
  /// The share of a multiprocessor's threads that resident blocks have.
  std::optional<double> occupancy;
  /// Operations a byte from registers to CUDA cores, where each multiply-add
  /// reads three numbers; from shared memory, by the tile of a thread or of an
  /// instruction; from the second-level cache, by the tile of a block; and from
  /// memory, of which each byte is read once.
  std::optional<double> ofRegisters, ofShared, ofL2, ofMemory;
  /// Multiply-adds for each number that is loaded from shared memory.
  std::optional<double> computeToLoads;
  /// `compute`, `shared`, `l2` or `memory`: what takes the longest at least.
  std::string bound;
};

/// The share of a multiprocessor's threads that blocks of `threads` threads
/// with so many registers and so much shared memory have.
double occupancyOf(const GpuChip &chip, int64_t threads, int64_t registers,
                   int64_t sharedBytes);

} // namespace nm

#endif // NM_SCHEDULE_KERNELPROFILE_H
