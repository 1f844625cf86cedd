//===- SimtCopies.h - How operands of strategy simt are staged --*- C++ -*-===//
//
// Strategy simt multiplies tiles in shared memory. How operands get there, and
// in which order they lie, are fields of #nm.simt: the cost model chooses them,
// and nm-stage-shared-memory checks that they fit what it finds.
//
// An m-major tile of A is copied as it is. The multiplication reads columns of
// A, so that a row-major tile is transposed, unless it stays row-major: through
// registers, by elements or by 4 x 4 squares; or by matrix loads from a staging
// buffer in shared memory, which asynchronous copies fill and which each warp
// empties for itself. The staging buffer takes no registers while copies are in
// flight, and a fourth of the instructions, but memory.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STRATEGIES_SIMT_SIMTCOPIES_H
#define NM_GPU_STRATEGIES_SIMT_SIMTCOPIES_H

#include "nm/Format/Pattern.h"
#include "nm/Schedule/ScheduleFields.h"
#include "nm/Support/Error.h"

#include <cstdint>

namespace nm {

/// What a warp takes of a staging buffer at once: rows of 128 bytes, whole
/// lines of memory, as many as four matrix loads take.
inline constexpr int64_t kFragmentRows = 16, kFragmentColumns = 32;

/// The side of the squares that a thread transposes in its registers: a row is
/// one 16-byte load, a column one 16-byte store.
inline constexpr int64_t kSquare = 4;
/// Rows of squares that a warp takes at once.
inline constexpr int64_t kSquareRowsOfWarp = 4;

/// Rows of a group in TileOrder::Interleaved: eight times each fourth row.
inline constexpr int64_t kInterleavedRows = 32, kInterleavedSide = 4;

/// A block's tile, [m x n] from k rows of A, and what is known of its operands,
/// which are f32.
struct SimtBlock {
  /// The pattern of the weights, with units no wider than their panels.
  Pattern pattern;
  int64_t m = 0, n = 0, k = 0;
  /// Rows of A's tile: fewer than k where rows are packed.
  int64_t stagedRows = 0;
  int64_t warpN = 1, threadM = 1, threadN = 1;
  int64_t threads = 32;
  int64_t stages = 1, sliceK = 1;
  /// Shared memory of the promoted sums of long sums; see SumChains.h.
  int64_t totalBytes = 0;
  bool isMMajor = false;
  /// Whether only the rows of A that the columns use are staged.
  bool packsRows = false;
  /// Columns of the panels that the weights are packed in, with indices of
  /// bytes; 0 for other weights.
  int64_t panel = 0;
  /// Elements between rows of a row-major A, and those of a row that one access
  /// can take, up to 16 bytes.
  int64_t strideOfA = 1, widthOfA = 1;
  /// Whether the block makes more than one tile along k.
  bool hasLoop = false;
  /// Whether all tiles of the indices are known to be full.
  bool hasFullTiles = false;

  int64_t warps() const { return threads < 32 ? 1 : threads / 32; }
  /// Kept rows of the tile.
  int64_t keptRows() const {
    return k / pattern.windowRows() * pattern.keptRows();
  }
  /// Fragments of a staging buffer that each warp takes.
  int64_t fragmentsPerWarp() const {
    return m / kFragmentRows * (k / kFragmentColumns) / warps();
  }
  /// Whether the columns of a warp share one unit.
  bool sharesUnits() const {
    return panel != 0 && panel <= pattern.bn && panel % warpN == 0;
  }
  /// Whether lanes of a warp read rows of A of their own.
  bool gathers() const { return pattern.bn < warpN; }
  /// Whether no thread reads indices: a window of one unit has one position.
  bool hasUnreadIndices() const;
  /// Bytes of shared memory of one stage.
  int64_t stageBytes(const ScheduleFields &copies) const;
  /// Bytes of a staging buffer. There is one, however many stages: a warp
  /// refills what it has emptied.
  int64_t stagingBytes() const { return 4 * m * k; }

  /// Whether the fields fit the tile; says what does not.
  Status verify(const ScheduleFields &copies) const;
  /// Sets those that are given, and others as they were fastest on an H200, for
  /// blocks of up to `maxBytes` of shared memory.
  void choose(const GivenFields &given, int64_t maxBytes,
              ScheduleFields &copies) const;

private:
  bool usesStagingBuffer(const ScheduleFields &copies, int64_t maxBytes) const;
  CopyKind chooseCopy(const ScheduleFields &copies, int64_t maxBytes) const;
  TileOrder chooseLayout(const GivenFields &given, const ScheduleFields &copies,
                         int64_t maxBytes) const;
  bool isWorthDeferring(TileOrder layoutA) const;
  bool loadsIndices(const ScheduleFields &copies) const;
  bool isWorthLoadingLate(const ScheduleFields &copies) const;
};

} // namespace nm

#endif // NM_GPU_STRATEGIES_SIMT_SIMTCOPIES_H
