//===- PatchRows.h - Rows of patches that a task makes ----------*- C++ -*-===//

#ifndef NM_SCHEDULE_PATCHROWS_H
#define NM_SCHEDULE_PATCHROWS_H

#include <cstdint>
#include <vector>

namespace nm {

/// The patches of an image, which a product takes as its A.
struct PatchRows {
  /// The sizes of what makes up m, the innermost last: images, rows and pixels.
  std::vector<int64_t> places;
  /// Bytes of k at one place.
  int64_t rowBytes = 0;

  /// Whether a tile of `rows` is whole in all places but the outermost that it
  /// cuts, and tiles begin at multiples of it.
  bool isTile(int64_t rows) const;
};

/// The rows of a tile that `patches` are made by: as many as fill vectors of
/// `lanes`, stay in a core's L2, and give `threads` equal numbers of tasks, of
/// which there are `others` for each tile of rows.
int64_t choosePatchRows(const PatchRows &patches, int64_t lanes,
                        int64_t threads, int64_t others);

} // namespace nm

#endif // NM_SCHEDULE_PATCHROWS_H
