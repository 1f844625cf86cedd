//===- TensorBoxes.h - Rows of a tensor copy's boxes ------------*- C++ -*-===//

#ifndef NM_SCHEDULE_TENSORBOXES_H
#define NM_SCHEDULE_TENSORBOXES_H

#include <cstdint>

namespace nm {

/// The most rows of a tensor map's box (PTX ISA, `cp.async.bulk.tensor`; CUDA
/// driver API, cuTensorMapEncodeTiled).
inline constexpr int64_t kMaxBoxRows = 256;

/// The most pixels from one place of a convolution's output to the next in a
/// tensor map of pixels (CUDA driver API, cuTensorMapEncodeIm2col).
inline constexpr int64_t kMaxPixelStep = 8;

/// The channels of one tap that a box of an image's pixels has, in bytes.
inline constexpr int64_t kPixelBytes = 128;

/// The most rows, and the fewest, of a box of a tile that A may end in. With
/// boxes of all of a tile's rows, 777 rows of A in f16 and 4096x4096 weights of
/// 2:4 take 58 us on an H200, for most rows of the last tile are filled with
/// zeros.
inline constexpr int64_t kMaxPartialBoxRows = 64, kLeastBoxRows = 8;

/// The rows of a box of tiles of `blockRows` of an A of `rows` rows, or of an
/// unknown number, which is negative; 0 where all tiles are whole. An A of 5
/// rows has boxes of 8, not of 64 that are mostly zeros.
constexpr int64_t chooseBoxRows(int64_t rows, int64_t blockRows) {
  if (rows >= 0 && rows % blockRows == 0)
    return 0;
  int64_t boxRows = kLeastBoxRows;
  while (boxRows < kMaxPartialBoxRows && (rows < 0 || boxRows < rows))
    boxRows *= 2;
  return boxRows;
}

} // namespace nm

#endif // NM_SCHEDULE_TENSORBOXES_H
