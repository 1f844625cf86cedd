//===- ImageCase.cpp - An image that a drawn product reads ----------------===//

#include "ImageCase.h"

#include <algorithm>

using namespace nm;
using namespace nm::test;

ImageCase ImageCase::draw(Random &random, bool hasChannelsLast,
                          bool mayBeNarrow) {
  ImageCase image;
  image.hasChannelsLast = hasChannelsLast;
  image.batch = random.integer(1, 2);
  image.channels = random.oneOf({4, 5, 8, 16, 32});
  for (int axis : {0, 1}) {
    image.outputs[axis] = random.integer(2, 12);
    image.taps[axis] = random.integer(2, 3);
    image.strides[axis] = random.chance(0.6) ? 1 : 2;
    image.dilations[axis] = random.chance(0.7) ? 1 : 2;
    image.low[axis] = random.integer(0, 2);
    image.high[axis] = random.integer(0, 1);
    int64_t least =
        mayBeNarrow ? 1
                    : std::max({int64_t(1), image.low[axis], image.high[axis]});
    while (image.size(axis) < least)
      ++image.outputs[axis];
  }
  return image;
}

int64_t ImageCase::size(int axis) const {
  return (outputs[axis] - 1) * strides[axis] +
         (taps[axis] - 1) * dilations[axis] + 1 - low[axis] - high[axis];
}

std::vector<int64_t> ImageCase::shape(bool isPadded) const {
  int64_t sides[2];
  for (int axis : {0, 1})
    sides[axis] = size(axis) + (isPadded ? low[axis] + high[axis] : 0);
  if (hasChannelsLast)
    return {batch, sides[0], sides[1], channels};
  return {batch, channels, sides[0], sides[1]};
}

std::vector<double> ImageCase::patches(const Tensor &image) const {
  auto elementAt = [&](int64_t entry, int64_t y, int64_t x, int64_t channel) {
    if (y < 0 || y >= size(0) || x < 0 || x >= size(1))
      return 0.0;
    int64_t at =
        hasChannelsLast
            ? ((entry * size(0) + y) * size(1) + x) * channels + channel
            : ((entry * channels + channel) * size(0) + y) * size(1) + x;
    return loadAsDouble(image.data, image.type, at);
  };
  std::vector<double> matrix;
  for (int64_t entry = 0; entry < batch; ++entry)
    for (int64_t y = 0; y < outputs[0]; ++y)
      for (int64_t x = 0; x < outputs[1]; ++x)
        for (int64_t row = 0; row < k(); ++row) {
          int64_t all = taps[0] * taps[1];
          int64_t tap = hasChannelsLast ? row / channels : row % all;
          matrix.push_back(elementAt(
              entry, y * strides[0] + tap / taps[1] * dilations[0] - low[0],
              x * strides[1] + tap % taps[1] * dilations[1] - low[1],
              hasChannelsLast ? row % channels : row / all));
        }
  return matrix;
}

//===----------------------------------------------------------------------===//
// IR
//===----------------------------------------------------------------------===//

static std::string typeText(const std::vector<int64_t> &shape,
                            ElementType type) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + std::string(elementName(type)) + ">";
}

static std::string listText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

static std::string pairText(const int64_t (&numbers)[2]) {
  return "dense<" + listText({numbers[0], numbers[1]}) + "> : tensor<2xi64>";
}

std::string ImageCase::text(ElementType type, int64_t n,
                            const std::string &weight, const std::string &start,
                            const std::string &output) const {
  std::string element(elementName(type)), padded = typeText(shape(true), type);
  size_t first = hasChannelsLast ? 1 : 2;
  std::vector<int64_t> before(4), behind(4);
  for (size_t axis : {0, 1}) {
    before[first + axis] = low[axis];
    behind[first + axis] = high[axis];
  }
  std::vector<int64_t> rows =
      hasChannelsLast ? std::vector<int64_t>{taps[0], taps[1], channels, n}
                      : std::vector<int64_t>{channels, taps[0], taps[1], n};
  std::string expanded = typeText(rows, type), filter = expanded, name = "%v";
  std::string zero = type == ElementType::I8 ? "0" : "0.0";
  std::string lines =
      "  %pad = arith.constant " + zero + " : " + element +
      "\n  %p = tensor.pad %a low" + listText(before) + " high" +
      listText(behind) +
      " {\n  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
      "    tensor.yield %pad : " +
      element + "\n  } : " + typeText(shape(false), type) + " to " + padded +
      "\n  %v = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape " +
      listText(rows) + " : " + weight + " into " + expanded + "\n";
  if (!hasChannelsLast) {
    filter = typeText({n, channels, taps[0], taps[1]}, type);
    name = "%f";
    lines += "  %fe = tensor.empty() : " + filter +
             "\n  %f = linalg.transpose ins(%v : " + expanded +
             ") outs(%fe : " + filter + ") permutation = [3, 0, 1, 2]\n";
  }
  std::string op = hasChannelsLast ? "conv_2d_nhwc_hwcf" : "conv_2d_nchw_fchw";
  return lines + "  %r = linalg." + op + " {strides = " + pairText(strides) +
         ", dilations = " + pairText(dilations) + "} ins(%p, " + name + " : " +
         padded + ", " + filter + ") outs(" + start + " : " + output + ") -> " +
         output + "\n";
}
