//===- SharedBytes.h - Room on a multiprocessor -----------------*- C++ -*-===//
//
// Bytes that buffers take of a block's shared memory, as the models count them
// and as kernels are made, and the blocks that a multiprocessor has room for.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_SHAREDBYTES_H
#define NM_SCHEDULE_SHAREDBYTES_H

#include "nm/Schedule/GpuChip.h"
#include "nm/Schedule/ScheduleFields.h"

namespace nm {

/// A line of shared memory, in bytes, at which buffers start: accesses of 16
/// bytes by a warp start at bank 0.
inline constexpr int64_t kLineBytes = 128;
/// Sums that a line of a tile of C is off the banks of the one before it, where
/// slices of k or blocks of a cluster add up theirs.
inline constexpr int64_t kSumPadding = 4;

/// Bytes that a buffer of `bytes` bytes takes.
inline int64_t countBufferBytes(int64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

/// Bytes of the sums of a block's slices of k, which take the place of its
/// tiles.
inline int64_t countSumBytes(const ScheduleFields &fields) {
  return fields.sliceK * fields.blockM * (fields.blockN + kSumPadding) * 4;
}

/// Blocks that a multiprocessor has room for, of `threads` threads with so many
/// registers, and of so much shared memory.
int64_t countResidentBlocks(const GpuChip &chip, int64_t threads,
                            int64_t registers, int64_t sharedBytes);

} // namespace nm

#endif // NM_SCHEDULE_SHAREDBYTES_H
