//===- PixelCopiesTest.cpp - Copies of pixels of images -------------------===//
//
// Boxes in im2col mode, against a convolution's places counted one by one.
//
//===----------------------------------------------------------------------===//

#include "RunKernel.h"

#include <gtest/gtest.h>

namespace {
constexpr int kMapWords = 32, kThreads = 32;
constexpr int32_t kUint32 = 2;

/// A convolution of images of u32 [images x pixels... x channels], sizes
/// innermost first, and a box of its patches.
struct Convolution {
  std::vector<uint64_t> sizes;
  /// For each dimension of pixels: in front of the first, how far places are
  /// apart, and their number.
  std::vector<int32_t> padding, steps, places;
  uint32_t channels, pixels;
  /// The place that the box begins at, the image it is of, its first channel,
  /// and the tap's distance.
  std::vector<int32_t> at;
  int32_t image = 0, channel = 0;
  std::vector<int32_t> tap;

  size_t dims() const { return sizes.size() - 2; }
  int64_t words() const {
    int64_t words = 1;
    for (uint64_t size : sizes)
      words *= int64_t(size);
    return words;
  }
};

/// What the kernel does otherwise.
struct Mutation {
  int32_t beside = 0, asBoxes = 0;
};

struct Arguments {
  const Convolution *convolution;
  Mutation mutation;
  uint32_t *map, *result;
};
} // namespace

static int32_t encode(const Convolution &of, void *map, void *base,
                      int32_t swizzle = 0) {
  std::vector<uint64_t> strides;
  std::vector<int32_t> lower, upper;
  std::vector<uint32_t> steps = {1};
  uint64_t stride = 4;
  for (size_t d = 0; d + 1 < of.sizes.size(); ++d)
    strides.push_back(stride *= of.sizes[d]);
  for (size_t d = 0; d < of.dims(); ++d) {
    lower.push_back(-of.padding[d]);
    upper.push_back(lower[d] + of.steps[d] * (of.places[d] - 1) -
                    int32_t(of.sizes[d + 1] - 1));
    steps.push_back(uint32_t(of.steps[d]));
  }
  steps.push_back(1);
  return nmSimEncodePixelMap(map, kUint32, uint32_t(of.sizes.size()), base,
                             of.sizes.data(), strides.data(), lower.data(),
                             upper.data(), of.channels, of.pixels, steps.data(),
                             0, swizzle, 0, 0);
}

static void load(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Convolution &of = *args.convolution;
  auto words = int32_t(of.channels * of.pixels);
  int32_t tid = getThreadId(thread);
  char *barrier = makeMbarrier(thread, 4 * words);
  if (tid == 0) {
    nmSimArriveMbarrier(thread, Arrive, barrier, 1, 4 * words);
    int32_t at[5] = {of.channel}, tap[3] = {};
    for (size_t d = 0; d < of.dims(); ++d) {
      at[d + 1] = of.at[d] * of.steps[d] - of.padding[d];
      tap[d] = of.tap[d];
    }
    at[1] += args.mutation.beside;
    at[of.dims() + 1] = of.image;
    nmSimLoadTensor(thread, BulkLoad, getShared(thread), args.map, barrier,
                    int32_t(of.sizes.size()), at[0], at[1], at[2], at[3], at[4],
                    !args.mutation.asBoxes, tap[0], tap[1], tap[2], 0);
  }
  nmSimWaitMbarrier(thread, Arrive, barrier, 0);
  storeResult(thread, args.result, words, kThreads);
}

/// The image's word of `channel` that place `number` of the box takes, counted
/// from 1; 0 for none.
static uint32_t findWord(const Convolution &of, int32_t number,
                         int32_t channel) {
  std::vector<int32_t> place = of.at;
  int32_t image = of.image;
  for (; number > 0; --number) {
    size_t d = 0;
    while (d < of.dims() && ++place[d] == of.places[d])
      place[d++] = 0;
    image += d == of.dims();
  }
  int64_t word = of.channel + channel, stride = int64_t(of.sizes[0]);
  if (word >= stride || image >= int32_t(of.sizes.back()))
    return 0;
  for (size_t d = 0; d < of.dims(); ++d) {
    int32_t pixel = place[d] * of.steps[d] - of.padding[d] + of.tap[d];
    if (pixel < 0 || pixel >= int32_t(of.sizes[d + 1]))
      return 0;
    word += pixel * stride;
    stride *= int64_t(of.sizes[d + 1]);
  }
  return uint32_t(word + image * stride + 1);
}

static std::string runLoad(const Convolution &of,
                           const Mutation &mutation = {}) {
  auto count = size_t(of.channels * of.pixels);
  std::vector<uint32_t> memory(size_t(kMapWords + of.words()) + count);
  for (int64_t i = 0; i < of.words(); ++i)
    memory[size_t(kMapWords + i)] = uint32_t(i + 1);
  EXPECT_EQ(encode(of, memory.data(), memory.data() + kMapWords), 0);
  Arguments arguments{&of, mutation, memory.data(),
                      memory.data() + kMapWords + of.words()};
  std::string text =
      runKernel(load, &arguments, kThreads, int64_t(4 * count + 16), memory);
  for (size_t i = 0; i < count && text.empty(); ++i)
    EXPECT_EQ(arguments.result[i],
              findWord(of, int32_t(i / of.channels), int32_t(i % of.channels)))
        << i;
  return text;
}

/// 3x3 of 5 x 6 pixels, padding 1.
static const Convolution kImage{{16, 6, 5, 3}, {1, 1}, {1, 1}, {6, 5}, 8, 20,
                                {2, 1},        0,      8,      {2, 0}};

TEST(PixelCopiesTest, Loads) {
  EXPECT_EQ(runLoad(kImage), "");
  // Steps of 2, padding on one side, and the next image.
  EXPECT_EQ(
      runLoad(
          {{8, 9, 7, 2}, {0, 1}, {2, 2}, {4, 4}, 4, 24, {3, 2}, 0, 4, {1, 2}}),
      "");
  // One and three dimensions of pixels.
  EXPECT_EQ(runLoad({{4, 31, 2}, {3}, {3}, {11}, 4, 16, {4}, 1, 0, {5}}), "");
  EXPECT_EQ(runLoad({{4, 3, 4, 5, 2},
                     {1, 0, 2},
                     {1, 2, 1},
                     {3, 2, 6},
                     4,
                     40,
                     {1, 1, 3},
                     0,
                     0,
                     {2, 0, 1}}),
            "");
  // Places behind the last image.
  EXPECT_EQ(
      runLoad(
          {{16, 6, 5, 3}, {1, 1}, {1, 1}, {6, 5}, 8, 20, {3, 4}, 2, 0, {1, 1}}),
      "");
}

TEST(PixelCopiesTest, LoadsThatGoWrong) {
  Mutation beside, asBoxes;
  beside.beside = 7;
  expectFault(runLoad(kImage, beside), "operand out of range: bulk-load",
              "expected the coordinates of a place between the map's corners");
  asBoxes.asBoxes = 1;
  expectFault(runLoad(kImage, asBoxes), "operand out of range: bulk-load",
              "expected a tensor map of boxes, but got one of pixels");
}

TEST(PixelCopiesTest, MapsThatTheDriverRefuses) {
  alignas(64) char map[128];
  auto isRight = [&](void (*change)(Convolution &), int32_t swizzle = 0) {
    Convolution other = kImage;
    change(other);
    return encode(other, map, map, swizzle) == 0;
  };
  EXPECT_TRUE(isRight([](Convolution &) {}));
  EXPECT_TRUE(isRight([](Convolution &) {}, 1));
  EXPECT_FALSE(isRight([](Convolution &) {}, 2));
  EXPECT_FALSE(isRight([](Convolution &of) { of.steps[0] = 9; }));
  EXPECT_FALSE(isRight([](Convolution &of) { of.padding[1] = 129; }));
  EXPECT_FALSE(isRight([](Convolution &of) { of.places[0] = 200; }));
  EXPECT_FALSE(isRight([](Convolution &of) { of.places[1] = 0; }));
  EXPECT_FALSE(isRight([](Convolution &of) { of.pixels = 1025; }));
  EXPECT_FALSE(isRight([](Convolution &of) { of.channels = 2; }));
  EXPECT_FALSE(isRight([](Convolution &of) {
    of.sizes.pop_back();
    of.sizes.pop_back();
  }));
}
