//===- SimtPassage.h - A's way to its tile in strategy simt -----*- C++ -*-===//
//
// A row-major tile of A is transposed on its way to shared memory, as the
// multiplication reads rows of k. It can go through registers, or by way of a
// passage: a buffer in shared memory that asynchronous copies fill with pieces
// of A as it is, and that each warp empties by matrix loads, which hand every
// lane words of one column. The passage takes no registers while copies are
// under way, and a fourth of the instructions, but memory.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_SIMTPASSAGE_H
#define NM_SCHEDULE_SIMTPASSAGE_H

#include <cstdint>

namespace nm {

/// A piece of A that a warp takes through the passage: rows of 128 bytes, whole
/// lines of memory, as many as four matrix loads take.
inline constexpr int64_t kPassageRows = 16, kPassageColumns = 32;

/// A row-major tile of A, [m x k] in f32, and the block that multiplies it.
struct PassageTile {
  int64_t m = 0, k = 0;
  /// Columns of the weights, and rows of a slice.
  int64_t n = 0, keptRows = 0;
  int64_t warps = 0;
  int64_t stages = 0;
  /// Whether rows of A are left out.
  bool isSparse = false;
  /// Whether rows of A are aligned to 16 bytes.
  bool isAligned = false;
  /// Whether the lanes of a warp read the same rows of k.
  bool isShared = false;
  /// What else the block has in shared memory, in all stages.
  int64_t otherBytes = 0;

  int64_t pieces() const { return m / kPassageRows * (k / kPassageColumns); }
  int64_t piecesPerWarp() const { return pieces() / warps; }
  /// Of shared memory. There is one passage, however many stages: a warp
  /// refills what it has emptied.
  int64_t bytes() const { return 4 * m * k; }
};

/// Whether the tile goes by way of a passage, in a block that has `maxBytes` of
/// shared memory.
bool usesPassage(const PassageTile &tile, int64_t maxBytes);

} // namespace nm

#endif // NM_SCHEDULE_SIMTPASSAGE_H
