//===- ImageCase.h - An image that a drawn product reads --------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_IMAGECASE_H
#define NM_TEST_INTEGRATION_CPU_IMAGECASE_H

#include "Random.h"

#include "nm/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace nm::test {

/// A convolution in two dimensions, as the product that it is: rows of A are
/// the places of the output, and k are the channels and taps of each.
struct ImageCase {
  /// Whether channels are side by side (NHWC), rather than pixels (NCHW).
  bool hasChannelsLast = false;
  int64_t batch = 1, channels = 1;
  /// Along y and x: of the output, of the filter, and between places, between
  /// taps, and of the padding on either side.
  int64_t outputs[2] = {1, 1}, taps[2] = {1, 1};
  int64_t strides[2] = {1, 1}, dilations[2] = {1, 1};
  int64_t low[2] = {0, 0}, high[2] = {0, 0};

  /// With `mayBeNarrow`, sides may be shorter than their padding.
  static ImageCase draw(Random &random, bool hasChannelsLast,
                        bool mayBeNarrow = true);

  int64_t k() const { return channels * taps[0] * taps[1]; }
  /// The sizes of the output but for its channels, as a product's rows.
  std::vector<int64_t> rows() const { return {batch, outputs[0], outputs[1]}; }
  /// That of the image along y or x, without its padding.
  int64_t size(int axis) const;
  /// The image's shape, and with its padding.
  std::vector<int64_t> shape(bool isPadded) const;
  /// A [rows x k] of the image's elements, zeros of the padding included. k is
  /// (channel, y, x), or (y, x, channel) where channels are last.
  std::vector<double> patches(const Tensor &image) const;
  /// The lines of a function that make `%r` of `%a`, `%w` [k x n], of types
  /// `weight`, and `start` of type `output`.
  std::string text(ElementType type, int64_t n, const std::string &weight,
                   const std::string &start, const std::string &output) const;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_IMAGECASE_H
