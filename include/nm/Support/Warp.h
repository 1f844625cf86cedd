//===- Warp.h - What every NVIDIA GPU has -----------------------*- C++ -*-===//

#ifndef NM_SUPPORT_WARP_H
#define NM_SUPPORT_WARP_H

#include <cstdint>

namespace nm {

/// Lanes of a warp.
inline constexpr int64_t kWarpSize = 32;
/// Threads of a warpgroup, four warps that share a wgmma.
inline constexpr int64_t kWarpgroupThreads = 128;
/// 32-bit words of the widest access, 16 bytes.
inline constexpr int64_t kAccessWords = 4;
/// Registers of a multiprocessor, and those that a thread has at most.
inline constexpr int64_t kRegisters = 65536, kMaxRegisters = 255;
/// Bytes of shared memory that CUDA takes of each block, beside the block's.
inline constexpr int64_t kReservedShared = 1024;

} // namespace nm

#endif // NM_SUPPORT_WARP_H
