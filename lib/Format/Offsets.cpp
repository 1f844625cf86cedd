//===- Offsets.cpp - Where few unstructured weights are -------------------===//

#include "nm/Format/Offsets.h"

#include "StoreNumber.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace nm;

/// The gap that keeps no row.
static constexpr int64_t kPass = 255;

static int64_t readOffset(const uint8_t *offsets, int64_t column) {
  int64_t value = 0;
  for (int64_t i = kOffsetBytes - 1; i >= 0; --i)
    value = value << 8 | offsets[column * kOffsetBytes + i];
  return value;
}

static void writeOffset(uint8_t *offsets, int64_t column, int64_t value) {
  detail::storeNumber(value, kOffsetBytes, offsets + column * kOffsetBytes);
}

/// Calls `fn(row)` for each row that a column's bits keep.
template <typename Fn>
static void forEachRow(const uint8_t *column, int64_t k, Fn fn) {
  for (int64_t byte = 0; byte < bitmapColumnBytes(k); ++byte)
    for (unsigned bits = column[byte]; bits != 0; bits &= bits - 1)
      fn(byte * 8 + __builtin_ctz(bits));
}

int64_t nm::offsetsBytes(const uint8_t *bits, int64_t k, int64_t n) {
  int64_t bytes = bytesOfOffsets(n);
  for (int64_t column = 0; column < n; ++column) {
    int64_t next = 0;
    forEachRow(bits + column * bitmapColumnBytes(k), k, [&](int64_t row) {
      bytes += (row - next) / kPass + 1;
      next = row + 1;
    });
  }
  return bytes;
}

IndexForm nm::chooseIndexForm(const uint8_t *bits, int64_t k, int64_t n) {
  int64_t bytes = offsetsBytes(bits, k, n);
  bool isSmaller = bytes < unstructuredBytes(k, n);
  return isSmaller && offsetsReach(bytes, n) ? IndexForm::Offsets
                                             : IndexForm::Bitmap;
}

std::array<int64_t, 2> nm::indexShapeOf(IndexForm form, const uint8_t *bits,
                                        int64_t k, int64_t n) {
  if (form == IndexForm::Bitmap)
    return {1, unstructuredBytes(k, n)};
  return {offsetsBytes(bits, k, n), 1};
}

void nm::bitmapToOffsets(const uint8_t *bits, int64_t k, int64_t n,
                         uint8_t *offsets) {
  uint8_t *first = offsets + bytesOfOffsets(n), *gap = first;
  for (int64_t column = 0; column < n; ++column) {
    writeOffset(offsets, column, gap - first);
    int64_t next = 0;
    forEachRow(bits + column * bitmapColumnBytes(k), k, [&](int64_t row) {
      int64_t passes = (row - next) / kPass;
      gap = std::fill_n(gap, passes, static_cast<uint8_t>(kPass));
      *gap++ = static_cast<uint8_t>((row - next) % kPass);
      next = row + 1;
    });
  }
  writeOffset(offsets, n, gap - first);
}

/// Calls `fn(row)` for each row that the gaps of a column keep, in order.
template <typename Fn>
static void walkGaps(const uint8_t *offsets, int64_t n, int64_t column, Fn fn) {
  const uint8_t *gaps = offsets + bytesOfOffsets(n);
  int64_t row = 0, end = readOffset(offsets, column + 1);
  for (int64_t i = readOffset(offsets, column); i < end; ++i) {
    row += gaps[i];
    if (gaps[i] != kPass)
      fn(row++);
  }
}

void nm::offsetsToBitmap(const uint8_t *offsets, int64_t k, int64_t n,
                         uint8_t *bits) {
  std::fill_n(bits, unstructuredBytes(k, n), uint8_t(0));
  for (int64_t column = 0; column < n; ++column) {
    uint8_t *to = bits + column * bitmapColumnBytes(k);
    walkGaps(offsets, n, column, [&](int64_t row) {
      to[row / 8] |= static_cast<uint8_t>(1 << row % 8);
    });
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static Error fault(std::string_view name, const std::string &what) {
  return Error{"offsets of '" + std::string(name) + "'" + what};
}

static Error faultOf(std::string_view name, int64_t column,
                     const std::string &what) {
  return fault(name, ", column " + std::to_string(column) + ": " + what);
}

/// Checks that the offsets ascend from 0 to the number of gaps.
static Status verifyColumns(const uint8_t *offsets, int64_t gaps, int64_t n,
                            std::string_view name) {
  int64_t before = 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t offset = readOffset(offsets, column);
    if (column == 0 && offset != 0)
      return faultOf(name, column,
                     "expected 0, but got " + std::to_string(offset));
    if (offset < before)
      return faultOf(name, column,
                     "expected at least the " + std::to_string(before) +
                         " before, but got " + std::to_string(offset));
    if (offset > gaps)
      return faultOf(name, column,
                     "expected at most " + std::to_string(gaps) +
                         ", the number of gaps, but got " +
                         std::to_string(offset));
    before = offset;
  }
  if (readOffset(offsets, n) == gaps)
    return Status::success();
  return fault(name, ": expected the last to be " + std::to_string(gaps) +
                         ", the number of gaps, but got " +
                         std::to_string(readOffset(offsets, n)));
}

/// Checks the gaps of each column, and counts the rows that they keep.
static Result<int64_t> countGaps(const uint8_t *offsets, int64_t k, int64_t n,
                                 std::string_view name) {
  int64_t count = 0;
  for (int64_t column = 0; column < n; ++column) {
    int64_t end = readOffset(offsets, column + 1);
    if (end > readOffset(offsets, column) &&
        offsets[bytesOfOffsets(n) + end - 1] == kPass)
      return faultOf(name, column,
                     "expected its last gap to keep a row, but got 255");
    int64_t last = -1;
    walkGaps(offsets, n, column, [&](int64_t row) {
      last = row;
      ++count;
    });
    if (last >= k)
      return faultOf(name, column,
                     "expected rows below k = " + std::to_string(k) +
                         ", but its gaps keep row " + std::to_string(last));
  }
  return count;
}

Status nm::verifyOffsets(const uint8_t *offsets, int64_t bytes,
                         const Pattern &pattern, int64_t k, int64_t n,
                         std::string_view name) {
  if (k > 0 && n > kMaxSize / k)
    return fault(name, ": expected at most " + std::to_string(kMaxSize) +
                           " weights, but got k x n = " + std::to_string(k) +
                           "x" + std::to_string(n));
  if (bytes < bytesOfOffsets(n))
    return fault(name, ": expected at least " +
                           std::to_string(bytesOfOffsets(n)) + " bytes for " +
                           std::to_string(n) + " columns, but got " +
                           std::to_string(bytes));
  if (Status status =
          verifyColumns(offsets, bytes - bytesOfOffsets(n), n, name);
      !status)
    return status;
  Result<int64_t> count = countGaps(offsets, k, n, name);
  if (!count)
    return count.error();
  int64_t places = unstructuredPlaces(pattern, k, n);
  if (*count > places)
    return fault(name, ": expected at most " + std::to_string(places) +
                           " kept, but got " + std::to_string(*count));
  if (pattern.bk == 1 && pattern.bn == 1)
    return Status::success();
  std::vector<uint8_t> bits(unstructuredBytes(k, n));
  offsetsToBitmap(offsets, k, n, bits.data());
  return verifyBitmap(bits.data(), pattern, k, n, name);
}
