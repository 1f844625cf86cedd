//===- Unstructured.h - Weights kept anywhere, condensed --------*- C++ -*-===//
//
// B[k x n] of Pattern::unstructured() in condensed form is a bitmap, its
// indices, and the kept weights, its values, each an array of one row. Columns
// of B follow one another, as rows of a PyTorch-style W[n x k] do. The bits of
// a column begin at a byte, ceil(k/8) bytes behind those of the column before:
// bit r%8 of byte r/8 says whether row r is kept. Values are those of the first
// column in the order of k, then those of the second one, and so on. There are
// as many places as the pattern says are kept at most; those behind the last
// value are zero. Of a pattern with a block, a unit of which any weight is not
// zero is kept whole: all of its weights have bits and values, also those that
// are zero.
//
// A bitmap takes an eighth of a byte for a weight, kept or not. Where less than
// that is kept, weights are stored with offsets instead (Offsets.h), and become
// a bitmap where a function or a routine of this header takes them.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_UNSTRUCTURED_H
#define NM_FORMAT_UNSTRUCTURED_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nm {

/// Bytes that a column's bits take.
inline int64_t bitmapColumnBytes(int64_t k) { return (k + 7) / 8; }
/// Places for values, and bytes of the bitmap, of k x n weights.
int64_t unstructuredPlaces(const Pattern &pattern, int64_t k, int64_t n);
int64_t unstructuredBytes(int64_t k, int64_t n);

/// compress, decompress and verifyIndices of unstructured weights.
Status compressUnstructured(const DenseView &dense, const Pattern &pattern,
                            std::string_view name, void *values, uint8_t *bits);
void decompressUnstructured(const CondensedView &from, void *dense,
                            int64_t strideK, int64_t strideN);
Status verifyBitmap(const uint8_t *bits, const Pattern &pattern, int64_t k,
                    int64_t n, std::string_view name);

/// The elements of `dense` that are not zero: -0.0 is one, and NaN is not.
int64_t countNonZeros(const DenseView &dense);
/// Those in units of the block of `pattern` that are not all zero.
int64_t countKept(const DenseView &dense, const Pattern &pattern);

/// For each M of `windows`, the largest number of units of the block of
/// `pattern` that a window of M of a block column keeps.
std::vector<int64_t> mostKeptOf(const DenseView &dense,
                                const std::vector<int64_t> &windows,
                                const Pattern &pattern = Pattern());

/// An N:M pattern of single weights that all but a few windows obey.
struct NearPattern {
  Pattern pattern;
  /// The non-zeros that stand in the way: those beyond N, of all windows.
  int64_t excess = 0;
};

/// The sparsest pattern that at most `share` of the non-zeros stand in the way
/// of, if there is one of less than M of M, M of 4, 8, 16 and 32.
std::optional<NearPattern> findNearPattern(const DenseView &dense,
                                           double share = 0.02);

} // namespace nm

#endif // NM_FORMAT_UNSTRUCTURED_H
