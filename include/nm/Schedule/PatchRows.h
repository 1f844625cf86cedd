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

/// The rows of an image in planes that places of a convolution's output take:
/// of a 3x3 filter over 64 channels of 56 x 56, 64 planes of 56 rows of 56
/// elements, where 56 places are at the same rows, and reach over three.
struct ImagePart {
  /// The dimensions of the image that planes, and their rows, are along.
  int64_t planeDim = 0, rowDim = 0;
  /// The planes that k goes over, the rows of each, and the elements of a row;
  /// no planes where such rows are not known.
  int64_t planes = 0, rows = 0, rowElements = 0;
  /// The places of m, one after another, that are at the same rows, and how
  /// many rows further the next ones are.
  int64_t placesOfRow = 1, step = 1;
  /// The rows that the taps of a place reach over, and the row that the first
  /// place begins at, a negative one in padding.
  int64_t reach = 1, first = 0;

  /// The rows of each plane that a tile of `places` takes, wherever it is.
  int64_t rowsOf(int64_t places) const;
  bool operator==(const ImagePart &other) const {
    return planeDim == other.planeDim && rowDim == other.rowDim &&
           planes == other.planes && rows == other.rows &&
           rowElements == other.rowElements &&
           placesOfRow == other.placesOfRow && step == other.step &&
           reach == other.reach && first == other.first;
  }
};

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
