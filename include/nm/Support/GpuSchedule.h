//===- GpuSchedule.h - Tile sizes and times on a GPU ------------*- C++ -*-===//
//
// The cost model of strategy `simt`: how long a product with N:M-sparse weights
// takes on a chip's CUDA cores, and the tiles for which that is least.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_GPUSCHEDULE_H
#define NM_SUPPORT_GPUSCHEDULE_H

#include "nm/Support/Error.h"
#include "nm/Support/PackedForm.h"
#include "nm/Support/Pattern.h"

#include <cstdint>
#include <string>
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

  /// Finds the chip `sm_90`, `sm_90a` etc.; the error lists those there are.
  static Result<GpuChip> get(std::string_view name);
};

struct GpuProduct {
  /// m where it is not known.
  static constexpr int64_t kUnknown = -1;
  /// The m that an unknown one is scheduled for.
  static constexpr int64_t kTypicalRows = 1024;

  Pattern pattern;
  int64_t m = kUnknown;
  int64_t n = 0;
  int64_t k = 0;

  int64_t rows() const { return m == kUnknown ? kTypicalRows : m; }
};

struct GpuSchedule {
  int64_t blockM = 0, blockN = 0, blockK = 0;
  int64_t warpM = 0, warpN = 0;
  int64_t threadM = 0, threadN = 0;
  int64_t stages = 1;
  PanelPacking packing;
  /// Shared memory of a block, in bytes.
  int64_t sharedBytes = 0;
  /// The estimate, and the least that the chip's multipliers and its memory
  /// allow.
  double microseconds = 0;
  double fmaFloor = 0;
  double memoryFloor = 0;
};

/// The fastest schedule by estimate. The error says what does not fit.
Result<GpuSchedule> selectGpuSchedule(const GpuProduct &product,
                                      const GpuChip &chip);

/// The panel that columns of `blockN` are packed in for a pattern: a unit's
/// columns where 16-byte accesses fit in, else the whole tile.
int64_t choosePanel(const Pattern &pattern, int64_t blockN);

} // namespace nm

#endif // NM_SUPPORT_GPUSCHEDULE_H
