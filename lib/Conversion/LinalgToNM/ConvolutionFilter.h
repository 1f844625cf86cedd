//===- ConvolutionFilter.h - A filter as a matrix ---------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_CONVOLUTIONFILTER_H
#define NM_LIB_CONVERSION_LINALGTONM_CONVOLUTIONFILTER_H

#include "Convolution.h"

#include "nm/Format/Pattern.h"

namespace mlir::nm {

/// The filter of a convolution, or of one of its groups, as a matrix.
struct FilterMatrix {
  Value matrix;
  /// The dimension of the matrix that is k.
  int64_t kDim = 0;
  /// The loops along k, the outermost first.
  SmallVector<unsigned> reduced;
};

/// The slice of `value` at `entry` of dimension `dim`, without that dimension.
tensor::ExtractSliceOp takeEntry(OpBuilder &builder, Location loc, Value value,
                                 int64_t dim, int64_t entry);

/// A value with an encoding that is reshaped, and perhaps transposed, to
/// `filter`; null if there is none.
Value findEncodedFilter(Value filter);

/// The matrix of the encoded weight behind the filter of `convolution`, or why
/// it is none of this convolution.
::nm::Result<FilterMatrix> readEncodedFilter(const Convolution &convolution);

/// The pattern of a filter, and the loops along k, the outermost first, in
/// whose order it holds.
struct FilterPattern {
  ::nm::Pattern pattern;
  SmallVector<unsigned> reduced;
};

/// The pattern of a filter with an encoding, or with `detects` the sparsest one
/// that holds in a constant filter; none of others.
std::optional<FilterPattern> findPattern(const Convolution &convolution,
                                         bool detects);

/// The matrix B[k x n] of a filter without an encoding, of group `group`. k is
/// taps, then channels; with `detects`, it is channels, then taps where a
/// sparser pattern holds in that order of a constant.
FilterMatrix createFilterMatrix(OpBuilder &builder,
                                const Convolution &convolution, int64_t group,
                                bool detects);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_CONVOLUTIONFILTER_H
