//===- SimtModel.h - What a tile of strategy simt takes ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTMODEL_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTMODEL_H

#include "GPU/Strategies/Simt/SimtStagingModel.h"

#include "nm/GPU/Strategies/Simt/SimtLimits.h"

#include <cstdint>

namespace nm {

/// The margin by which clusters, and more buffers than two, must be faster to
/// be chosen, as far as 100 kernels tell.
inline constexpr double kMarginOfSimt = 1.02;

/// Estimates one candidate.
class SimtEstimate {
public:
  SimtEstimate(const GpuProduct &product, const GpuChip &chip,
               const GpuSchedule &tile)
      : product(product), chip(chip), tile(tile), threads(countThreads(tile)),
        keptRows(tile.blockK / product.pattern.windowRows() *
                 product.pattern.keptRows()),
        usesStagingBuffer(tile.copyA == CopyKind::Matrices) {}

  /// Whether the tile fits in registers and shared memory: surely where
  /// `spares` registers for what may be needed besides.
  bool fits(bool spares) const;
  double microseconds() const;
  /// Whether all blocks run at a time.
  bool isOneWave() const;

private:
  double warps() const { return double(threads) / kWarpSize; }
  /// Rows that a warp multiplies, and the warps that multiply a row.
  int64_t rowsOfSlice() const { return keptRows / tile.sliceK; }
  double promotedSums() const;
  double warpsOfSlice() const { return warps() / double(tile.sliceK); }
  int64_t unitColumns() const { return nm::unitColumns(product.pattern, tile); }
  /// Rows that are packed were measured without.
  bool defersRow() const { return tile.defer && !tile.pack; }
  /// Whether A's tile stays row-major.
  bool isRowMajor() const { return tile.layoutA == TileOrder::RowMajor; }
  /// Whether lanes of a warp read rows of A of their own.
  bool gathers() const { return unitColumns() < tile.warpN; }
  double readsPerRow() const;
  double loadClocks() const;
  double storeClocks() const;
  double notOverlapped() const;
  double multiplyClocks() const;
  double sharedClocks() const;
  double issueClocks() const;
  double imageCopies() const;
  double readOfRow() const;
  double cacheClocks() const;
  double tileClocks(double blocks) const;
  int64_t registers() const;
  int64_t spareRegisters() const;
  int64_t blocksPerMultiprocessor() const;
  int64_t blocks() const;
  double partClocks() const;
  int64_t multiprocessors() const;
  double sumMicroseconds() const;

  const GpuProduct &product;
  const GpuChip &chip;
  const GpuSchedule &tile;
  int64_t threads, keptRows;
  bool usesStagingBuffer;
};

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTMODEL_H
