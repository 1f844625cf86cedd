//===- GpuChip.h - What the compiler knows of a GPU -------------*- C++ -*-===//

#ifndef NM_SCHEDULE_GPUCHIP_H
#define NM_SCHEDULE_GPUCHIP_H

#include "nm/Support/Error.h"

#include <cstdint>
#include <string_view>

namespace nm {

/// The rates of a multiprocessor, each for a clock unless its comment names
/// another unit. They are from data sheets, or measured; lib/Schedule/Chips has
/// a file for each chip.
struct GpuRates {
  /// Operations of the tensor cores on f16 with sums of f32: by the fastest
  /// instruction that the chip has, and by mma.sync. On 8 bits the tensor cores
  /// make twice as many, and with sparse weights twice as many again, of which
  /// half are on zeros that are skipped.
  double tensor = 0, mma = 0;
  /// Bytes that shared memory reads or writes, bytes that arrive from the
  /// second-level cache, and bytes of C that are stored.
  double shared = 0, received = 0, stored = 0;
  /// Microseconds that a launch takes, and that one takes which starts before
  /// the kernel before it has ended.
  double launch = 0, earlyLaunch = 0;
  /// Clocks that a block takes before its first step and behind its last,
  /// clocks of a step's barriers, and clocks until a copy arrives.
  double start = 0, barrier = 0, latency = 0;
  /// The clock under load as a share of the data sheet's clock, and the memory
  /// rate that kernels reach as a share of the data sheet's memory rate.
  double loadedClock = 0, reachedMemory = 0;
};

/// What the cost model knows of a chip. Where one compute capability has many
/// products, it is the largest of them.
struct GpuChip {
  /// As ptxas names it, without the suffix for chip-specific features.
  std::string_view name;
  /// The oldest PTX version that has all that kernels for the chip use.
  int64_t ptxVersion = 0;
  int64_t multiprocessors = 0;
  /// FP32 fused multiply-adds of a multiprocessor and clock.
  int64_t fmaPerClock = 0;
  double clockGHz = 0;
  double memoryGBs = 0;
  /// Shared memory, in bytes, that a block can have, and a multiprocessor has.
  int64_t sharedPerBlock = 0;
  int64_t sharedPerMultiprocessor = 0;
  /// Whether it is of compute capability 9.0 or later.
  bool isSm90 = false;
  /// Whether its code has wgmma, which of all chips sm_90a has.
  bool hasWgmma = false;
  /// Whether the tensor cores take 8-bit floats by mma, and by mma.sp. Without
  /// the latter ptxas makes two instructions of f16 of each mma.sp.
  bool multipliesFloat8 = false, multipliesSparseFloat8 = false;
  GpuRates rates;

  /// Whether a kernel can start before the one before it has ended, and bulk
  /// copies bring data to the second-level cache.
  bool startsEarly() const { return isSm90; }
  /// Whether the blocks of a cluster read each other's shared memory.
  bool hasClusters() const { return isSm90; }
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
