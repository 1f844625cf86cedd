//===- Offsets.h - Where few unstructured weights are -----------*- C++ -*-===//
//
// The places of unstructured weights B[k x n] as bytes, where a bitmap
// (Unstructured.h) would be larger: n + 1 offsets of four bytes, little-endian,
// then gaps of one byte. Offset c says where among the gaps those of column c
// begin, and offset n how many gaps there are.
//
// A gap g below 255 passes over g rows, and the row behind them is kept. A gap
// of 255 passes over 255 rows and keeps none; another one follows. A column
// begins at row 0, and ends with a row that is kept. For example, a column that
// keeps rows 2, 3 and 290 has gaps 2, 0, 255, 31.
//
// Values are those of a bitmap, in the same order: only the indices differ.
// They are [s x 1], the bytes of a bitmap [1 x n * ceil(k/8)], so that the
// shape of indices tells which form they have.
//
// With a share d of weights at random, a bitmap takes 1/8 byte of each of all
// weights, and offsets take d (1 + q/(1 - q)), q = (1 - d)^255, for gaps of
// 255: fewer where less than an eighth is kept. docs/Patterns.md has a table.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_OFFSETS_H
#define NM_FORMAT_OFFSETS_H

#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace nm {

/// How the indices of unstructured weights say where they are.
enum class IndexForm { Bitmap, Offsets };

/// The form of indices of so many rows.
inline IndexForm indexFormOf(int64_t rows) {
  return rows == 1 ? IndexForm::Bitmap : IndexForm::Offsets;
}

/// The bytes of an offset, and those of the offsets of n columns, behind which
/// the gaps are.
inline constexpr int64_t kOffsetBytes = 4;
inline int64_t bytesOfOffsets(int64_t n) { return (n + 1) * kOffsetBytes; }

/// The bytes that offsets and gaps of the weights of a bitmap take.
int64_t offsetsBytes(const uint8_t *bits, int64_t k, int64_t n);

/// Whether offsets of four bytes reach all gaps of so many bytes of both.
inline bool offsetsReach(int64_t bytes, int64_t n) {
  return bytes - bytesOfOffsets(n) <= int64_t(UINT32_MAX);
}

/// The form of the fewest bytes for the weights of a bitmap: the one place
/// where a form is chosen. A bitmap where both take as many, and where offsets
/// of four bytes do not reach.
IndexForm chooseIndexForm(const uint8_t *bits, int64_t k, int64_t n);

/// The shape of indices of `form` for the weights of a bitmap.
std::array<int64_t, 2> indexShapeOf(IndexForm form, const uint8_t *bits,
                                    int64_t k, int64_t n);

/// Writes the offsets and gaps of a bitmap, offsetsBytes of them, which must
/// satisfy offsetsReach.
void bitmapToOffsets(const uint8_t *bits, int64_t k, int64_t n,
                     uint8_t *offsets);
/// The inverse. The offsets must satisfy verifyOffsets.
void offsetsToBitmap(const uint8_t *offsets, int64_t k, int64_t n,
                     uint8_t *bits);

/// Checks `bytes` bytes of offsets and gaps that came from outside: offsets
/// ascend from 0 to the number of gaps, gaps stay below k, a column's last gap
/// keeps a row, and there are at most as many kept rows as `pattern` says, in
/// whole units. The error tells `name` and the column.
Status verifyOffsets(const uint8_t *offsets, int64_t bytes,
                     const Pattern &pattern, int64_t k, int64_t n,
                     std::string_view name);

} // namespace nm

#endif // NM_FORMAT_OFFSETS_H
