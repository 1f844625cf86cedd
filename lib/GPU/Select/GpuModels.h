//===- GpuModels.h - What the GPU cost models share -------------*- C++ -*-===//
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_SELECT_GPUMODELS_H
#define NM_LIB_GPU_SELECT_GPUMODELS_H

#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/SharedBytes.h"
#include "nm/Support/EarlyStart.h"
#include "nm/Support/Warp.h"

namespace nm {

/// Sets the least times that the chip allows for the product.
void setFloors(const GpuProduct &product, const GpuChip &chip,
               GpuSchedule &schedule);

/// The microseconds of so many multiply-adds with all CUDA cores busy.
inline double microsecondsOfFmas(double fmas, const GpuChip &chip) {
  return fmas / (chip.multiprocessors * chip.fmaPerClock * chip.clockGHz) /
         1000;
}

/// The microseconds of `clocks` at the clock that a chip keeps under load.
inline double microsecondsUnderLoad(double clocks, const GpuChip &chip) {
  return clocks / (chip.clockGHz * chip.rates.loadedClock) / 1000;
}

/// The microseconds from a copy to its bytes under load.
inline double microsecondsOfLatency(const GpuChip &chip) {
  return microsecondsUnderLoad(chip.rates.latency, chip);
}

/// Bytes that a multiprocessor receives a clock, measured on an H200: where
/// other blocks want the same ones, or more than four warps copy; and where
/// weights come from memory to 64 rows of warpgroups, n and k of 4096, 50 and
/// 75 %, cold in cache, or four warps copy.
inline constexpr double kSharedIngress = 54, kLoneIngress = 36;

/// Microseconds of a library's kernel before the first and after the last tile.
inline constexpr double kStartMicroseconds = 2.75;

/// The part of the lesser of two streams, as of multiplications and loads, that
/// the greater does not hide.
inline constexpr double kNotHidden = 0.2;

/// The share of a rate at which rows of A arrive that do not start with a line
/// of 128 bytes: m-major ones of 500 to 3000 rows take 1.4 to 1.8 times as long
/// as copies whose rows do (an H200, 2026-11-23).
inline constexpr double kUnalignedShare = 0.6;

/// Microseconds from a load to its value with the memory busy.
inline constexpr double kBusyLatency = 1;

/// What may take more memory, or let zeros meet infinite activations, is to
/// take at most this share of another's time.
inline constexpr double kWorthIt = 0.9;

/// Accesses of the second-level cache that take the time of a partial sum's
/// store and load.
inline constexpr double kSumAccesses = 2.6;

/// Whether a grid of `blocks` starts while the kernel before it ends.
inline bool startsEarly(int64_t blocks, const GpuChip &chip) {
  return chip.startsEarly() &&
         gainsFromEarlyStart(blocks, chip.multiprocessors);
}

/// Whether so few blocks run beside those of the kernel before.
inline bool runsBeside(int64_t blocks, const GpuChip &chip) {
  return chip.startsEarly() && 2 * blocks <= chip.multiprocessors;
}

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t alignTo(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

/// Columns of a row of C that one block of the kernel behind adds up: four for
/// each of 64 threads.
inline constexpr int64_t kSumColumns = 256;

/// The microseconds from the end of a product whose k has parts to the first of
/// them in the kernel that adds them up. That of 8 x 4096 sums has 128 blocks,
/// which are launched while the product runs, and that of 16 x 4096 is not.
inline double microsecondsToSums(const GpuProduct &product,
                                 const GpuChip &chip) {
  int64_t blocks = product.allRows() * ceilDiv(product.n, kSumColumns);
  return startsEarly(blocks, chip)
             ? chip.rates.earlyLaunch + microsecondsOfLatency(chip)
             : chip.rates.launch +
                   microsecondsUnderLoad(chip.rates.start, chip);
}

/// Clocks of `blocks` blocks on multiprocessors with room for `resident` each.
/// They run in waves: of 300 blocks on 100 multiprocessors with room for two, a
/// wave has two on each, and the next one the 100 that are left.
/// `waveClocks(count)` are those of a wave with `count` blocks on a
/// multiprocessor.
template <typename WaveClocks>
double clocksOfWaves(int64_t blocks, int64_t resident, int64_t multiprocessors,
                     WaveClocks waveClocks) {
  int64_t wave = resident * multiprocessors;
  double clocks = double(blocks / wave) * waveClocks(resident);
  if (int64_t left = ceilDiv(blocks % wave, multiprocessors); left > 0)
    clocks += waveClocks(left);
  return clocks;
}

} // namespace nm

#endif // NM_LIB_GPU_SELECT_GPUMODELS_H
