//===- GpuChip.h - What the compiler knows of a GPU -------------*- C++ -*-===//

#ifndef NM_SCHEDULE_GPUCHIP_H
#define NM_SCHEDULE_GPUCHIP_H

#include "nm/Support/Error.h"

#include <cstdint>
#include <string_view>

namespace nm {

/// What the cost model knows of a chip. Where one compute capability has many
/// products, it is the largest of them.
struct GpuChip {
  /// As ptxas names it, without the suffix for chip-specific features.
  std::string_view name;
  /// The oldest PTX version that has all that kernels for the chip use.
  int64_t ptxVersion;
  int64_t multiprocessors;
  /// FP32 fused multiply-adds of a multiprocessor and clock.
  int64_t fmaPerClock;
  double clockGHz;
  double memoryGBs;
  /// Shared memory, in bytes, that a block can have, and a multiprocessor has.
  int64_t sharedPerBlock;
  int64_t sharedPerMultiprocessor;
  /// Whether it is of compute capability 9.0 or later.
  bool isSm90;
  /// Whether its code has wgmma, which of all chips sm_90a has.
  bool hasWgmma = false;

  /// Whether a kernel can start before the one before it has ended, and bulk
  /// copies bring data to the second-level cache.
  bool startsEarly() const { return isSm90; }
  /// Whether the blocks of a cluster read each other's shared memory.
  bool hasClusters() const { return isSm90; }
  /// Whether tensor cores take 8-bit floats, as from sm_89 on.
  bool multipliesFloat8() const { return isSm90 || name == "sm_89"; }
  /// The largest grid that starts early: one block for each multiprocessor,
  /// for more of them would not be spread evenly.
  int64_t earlyBlocks() const { return startsEarly() ? multiprocessors : 0; }

  /// Finds the chip `sm_90`, `sm_90a` etc.; the error lists those there are.
  static Result<GpuChip> get(std::string_view name);
  /// Whether there are kernels for the chip in a PTX version, 87 for 8.7.
  Status checkPtxVersion(int64_t version) const;
};

} // namespace nm

#endif // NM_SCHEDULE_GPUCHIP_H
