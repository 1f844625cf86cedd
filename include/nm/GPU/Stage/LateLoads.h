//===- LateLoads.h - When tiles are loaded to registers ---------*- C++ -*-===//
//
// Tiles that go to shared memory through registers are loaded while the tile
// before is multiplied. Loads in front of that tile's barrier, which ptxas
// moves no load past, are in flight during all of its product; loads behind it
// ptxas puts off to save registers, until too late. They stand there where a
// thread has too few registers to hold what it loads.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STAGE_LATELOADS_H
#define NM_GPU_STAGE_LATELOADS_H

#include <cstdint>

namespace nm {

/// Bytes of A that a thread may have in flight while it multiplies: they hold
/// 32 of its registers.
inline constexpr int64_t kMaxEarlyBytes = 128;
/// A thread of a larger block has 128 registers at most, and warps beside it
/// that hide what loads take.
inline constexpr int64_t kMaxThreadsLoadingEarly = 256;

/// Bytes that each of `threads` threads loads of a tile of `elements` elements
/// of `elementBytes`, of which it takes `atOnce` at once.
constexpr int64_t bytesOfLoads(int64_t elements, int64_t atOnce,
                               int64_t elementBytes, int64_t threads) {
  int64_t ofAll = elements / atOnce;
  return (ofAll + threads - 1) / threads * atOnce * elementBytes;
}

/// Whether threads that load `bytes` bytes each do so behind the barrier.
constexpr bool wantsLateLoads(int64_t threads, int64_t bytes) {
  return threads > kMaxThreadsLoadingEarly || bytes > kMaxEarlyBytes;
}

} // namespace nm

#endif // NM_GPU_STAGE_LATELOADS_H
