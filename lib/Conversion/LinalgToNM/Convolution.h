//===- Convolution.h - Roles of a convolution's loops -----------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_LINALGTONM_CONVOLUTION_H
#define NM_LIB_CONVERSION_LINALGTONM_CONVOLUTION_H

#include "nm/Support/Error.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// A linalg convolution that is a product of patches of its image with its
/// filter: each output channel sums over all taps and input channels. Loops are
/// named by their position in the op's iteration space.
struct Convolution {
  Operation *op;
  /// The loops of the output's dimensions but the channel, in the output's
  /// order: batches, and places in the image.
  SmallVector<unsigned> batches, places;
  SmallVector<unsigned> taps, inputChannels;
  unsigned outputChannel;
  /// The loop of groups, where there are some.
  std::optional<unsigned> group;
  /// Whether places follow the channel in the output, as in nchw.
  bool channelsFirst;

  /// Gives the reason if `op` is no such convolution.
  static ::nm::Result<Convolution> match(linalg::LinalgOp op);

  Value image, filter, init;
  AffineMap imageMap;
  /// The loops of the filter's, and of the output's dimensions.
  SmallVector<unsigned> filterLoops, outputLoops;

  /// The size of a loop of the filter.
  int64_t filterSize(unsigned loop) const;
  /// Whether the image's dimensions are those of the patches: taps are one, and
  /// strides too.
  bool takesImageWhole() const;
  /// Taps and input channels: the order of k of a filter that says none.
  SmallVector<unsigned> reducedLoops(bool channelsLast) const;
};

/// Whether `op` convolves, pools excepted.
bool isConvolution(linalg::LinalgOp op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_LINALGTONM_CONVOLUTION_H
