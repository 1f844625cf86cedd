//===- RandomData.h - Large random operands, quickly ------------*- C++ -*-===//
//
// nm-run draws every number by itself, which takes seconds for a large layer. A
// benchmark of a thousand cases repeats a short run of random numbers instead:
// a product takes no longer or shorter for it.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_BENCH_RANDOMDATA_H
#define NM_LIB_BENCH_RANDOMDATA_H

#include "nm/Runtime/Weight.h"

#include <cstdint>
#include <vector>

namespace nm {

/// Fills a row-major tensor on the host with numbers in [-1, 1), or integers
/// in [-8, 8).
void fillQuickly(const Tensor &tensor, uint64_t seed);

/// A condensed weight of the encoded `type`, k first, with a random pattern.
Result<Weight> drawWeight(const TensorType &type, uint64_t seed);

/// A weight of integers, scales for each column and so many of k, and the
/// condensed weight that they stand for.
struct QuantizedWeight {
  Weight integers;
  /// [groups x n], of the weight's type.
  Buffer scales;
  Weight floats;
};
/// Draws integers of 4 bits with a random pattern, which those of 8 hold, too,
/// and scales. `type` is that of the floats, k first.
Result<QuantizedWeight> drawQuantized(const TensorType &type, int64_t group,
                                      uint64_t seed);

/// Writes the dense matrix of a condensed weight to `dense`, of the same
/// element type, of any strides, and all zero. Faster than decompressWeight, on
/// all threads.
void scatterWeight(const TensorType &type, const Weight &weight,
                   const Tensor &dense);

/// The transpose of a weight, [n x k], as compressed rows, of square blocks
/// where the pattern has them and they fit. On the host.
struct CompressedRows {
  /// Rows and columns of a block.
  int64_t block = 1;
  /// Where each row of blocks begins, and the column of each block, in i32.
  Buffer offsets, columns;
  /// Block after block, each row-major.
  Buffer values;
};
Result<CompressedRows> compressRows(const TensorType &type,
                                    const Weight &weight);

/// Rows of `m` that results are checked in: all of them, or, where there are
/// more than `most`, one drawn from each of as many equal parts.
std::vector<int64_t> sampleRows(int64_t m, int64_t most);

/// The elements of such rows of a row-major matrix on the host, row after row;
/// a vector is one row.
std::vector<double> takeRows(const Tensor &matrix,
                             const std::vector<int64_t> &rows);

/// The sum of the rows of a row-major matrix on the host, or of a vector as
/// the one row that it is, each times 1 or -1 at random; in float64.
///
/// Such a sum over the rows of C is what A's sum gives times B. Its error,
/// relative to it, is on average that of all of C, and takes m times less to
/// compute; an element that is wrong is wrong in it, too.
std::vector<double> sumRows(const Tensor &matrix);
/// What sumRows gives for `rows` rows of ones.
double sumOfSigns(int64_t rows);

/// `row` times a condensed weight, in float64.
std::vector<double> multiplyRow(const std::vector<double> &row,
                                const TensorType &type, const Weight &weight);

/// How much further than usual the `products` of drawn floats cancel that
/// `outputs` are summed of; at least 1. Few outputs do so by chance, and what
/// rounding adds is then as much larger beside them.
double measureCancellation(const std::vector<double> &outputs, double products);

/// ‖got - expected‖ / ‖expected‖; a NaN where either has one.
double relativeDifference(const std::vector<double> &got,
                          const std::vector<double> &expected);

} // namespace nm

#endif // NM_LIB_BENCH_RANDOMDATA_H
