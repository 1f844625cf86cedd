//===- ImageBytes.h - Copies of parts of images -----------------*- C++ -*-===//
//
// Sizes of the parts of an image that blocks of strategy mma_image have in
// shared memory. The strategy's model and its kernels share these sizes.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_IMAGEBYTES_H
#define NM_SCHEDULE_IMAGEBYTES_H

#include "nm/Schedule/PatchRows.h"

namespace nm {

/// Rows of the planes of an image, and elements in front of them and behind
/// that taps outside of the image lead to.
struct ImageCopy {
  int64_t guard = 0, elements = 0;

  /// The copy of `rows` rows of each plane of `part`: taps are at most `reach`
  /// rows away from those that are copied, and two along the rows
  /// (findImagePart).
  static ImageCopy of(const ImagePart &part, int64_t rows) {
    constexpr int64_t kAligned = 8;
    int64_t around = (part.reach + 2) * part.rowElements;
    ImageCopy copy;
    copy.guard = (around + kAligned - 1) / kAligned * kAligned;
    copy.elements = 2 * copy.guard + part.planes * rows * part.rowElements;
    return copy;
  }
};

/// Words of the list that a block has of each kept row of k: how far it is from
/// where a place begins, and the bits of its taps.
inline constexpr int64_t kImageRowWords = 2;
/// Kept rows of an instruction, which the list is filled up to.
inline constexpr int64_t kImageStep = 16;

} // namespace nm

#endif // NM_SCHEDULE_IMAGEBYTES_H
