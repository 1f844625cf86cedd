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

//===----------------------------------------------------------------------===//
// Images that products read
//===----------------------------------------------------------------------===//

/// Vectors of the pixels that A is laid out for at a time, at most: their sums
/// are in registers, beside two operands.
inline constexpr int64_t kImageVectors = 8;

/// A tile of an image's pixels: whole rows, or a part of one.
struct ImageRows {
  int64_t rows = 1;
  int64_t pixels = 1;
  int64_t vectors = 1;

  static ImageRows of(int64_t rows, int64_t width, int64_t lanes);
};

/// The tiles of at most `most` vectors that make `rows` rows of `width` pixels
/// with least work.
ImageRows chooseImageRows(int64_t width, int64_t rows, int64_t lanes,
                          int64_t most);

/// A product whose A are patches of an image that it reads.
struct ImageProduct {
  PatchRows patches;
  /// All weights that are not zero, and rows of k.
  double kept = 0;
  int64_t k = 1;
  int64_t n = 1;
  int64_t lanes = 16;
  int64_t threads = 1;
  int64_t batches = 1;
};

/// The rows and columns of C that a task computes, and the vectors of pixels in
/// a tile of these rows.
struct ImageTasks {
  int64_t blockM = 0;
  int64_t blockN = 0;
  int64_t vectors = 1;
};

/// Rows of k that are laid out at a time, of `rowBytes` each.
int64_t imageTileRows(int64_t rowBytes);

/// The tasks, of all columns or of `blockN`, that end first.
ImageTasks chooseImageTasks(const ImageProduct &product, int64_t blockN);

} // namespace nm

#endif // NM_SCHEDULE_PATCHROWS_H
