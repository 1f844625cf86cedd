//===- Condensed.h - The condensed form of N:M weights ----------*- C++ -*-===//
//
// B[k x n] in condensed form is two row-major arrays: values [w x np], where w
// is Pattern::condensedRows(k) and np is Pattern::paddedColumns(n), and indices
// [w/bk x np/bn] of one byte. Index (u, b) is the position in its window of the
// unit whose values are rows u*bk .. u*bk+bk-1 and columns b*bn .. b*bn+bn-1.
// Positions ascend within a window. A window with fewer than N non-zero units
// is filled with zero units at its lowest unused positions.
//
// Unstructured weights have a bitmap as indices: see Unstructured.h.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_CONDENSED_H
#define NM_FORMAT_CONDENSED_H

#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <string_view>

namespace nm {

/// Dense weights B[k x n] in memory. A PyTorch-style W[n x k] is the same view
/// with its strides swapped.
struct DenseView {
  const void *data = nullptr;
  ElementType type = ElementType::F32;
  int64_t k = 0;
  int64_t n = 0;
  /// Elements between neighbours along k and along n. May be negative or zero.
  int64_t strideK = 0;
  int64_t strideN = 0;

  /// B[k x n], n contiguous.
  static DenseView rowMajor(const void *data, ElementType type, int64_t k,
                            int64_t n) {
    return {data, type, k, n, n, 1};
  }
  /// W[n x k], k contiguous.
  static DenseView transposed(const void *data, ElementType type, int64_t k,
                              int64_t n) {
    return {data, type, k, n, 1, k};
  }
};

/// Weights in condensed form; `k` and `n` are the sizes of the dense B.
struct CondensedView {
  const void *values = nullptr;
  const uint8_t *indices = nullptr;
  ElementType type = ElementType::F32;
  Pattern pattern;
  int64_t k = 0;
  int64_t n = 0;
};

/// Writes the condensed form of `dense` to `values`, of the pattern's
/// valueShape and the type of `dense`, and `indices`, bytes of its indexShape.
/// Non-zeros keep their bits, NaNs included; -0.0 is a zero and becomes +0.0.
/// Refuses a matrix that breaks `pattern`, telling `name`, the columns, the k
/// range, the units found and the units allowed; the outputs are then
/// unspecified.
Status compress(const DenseView &dense, const Pattern &pattern,
                std::string_view name, void *values, uint8_t *indices);

/// Writes the dense B[k x n] of `from`, zeros included, to `dense`, whose
/// neighbours along k and n are `strideK` and `strideN` elements apart. Units
/// that lie beyond k or n are dropped. The indices must satisfy verifyIndices.
void decompress(const CondensedView &from, void *dense, int64_t strideK,
                int64_t strideN);

/// Checks indices of the pattern's indexShape that came from outside: each
/// below M and above the one before it in its window. The error tells `name`,
/// the row and column of the index, the k range of its window and what is wrong
/// (outside its window, repeated, not ascending).
Status verifyIndices(const uint8_t *indices, const Pattern &pattern, int64_t k,
                     int64_t n, std::string_view name);

} // namespace nm

#endif // NM_FORMAT_CONDENSED_H
