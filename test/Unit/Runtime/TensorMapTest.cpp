//===- TensorMapTest.cpp - Maps of tensors for kernels' copies ------------===//

#include "../../RuntimeCalls.h"
#include "FakeCudaControl.h"

#include <algorithm>
#include <array>
#include <cstdio>

using ::testing::ExitedWithCode;

// Called by modules of ours.
extern "C" int32_t nmEncodeTensorMap(void *map, int32_t type, uint32_t rank,
                                     void *base, const uint64_t *sizes,
                                     const uint64_t *strides,
                                     const uint32_t *box,
                                     const uint32_t *elementStrides,
                                     int32_t interleave, int32_t swizzle,
                                     int32_t promotion, int32_t fill);

extern "C" int32_t nmEncodePixelMap(
    void *map, int32_t type, uint32_t rank, void *base, const uint64_t *sizes,
    const uint64_t *strides, const int32_t *lower, const int32_t *upper,
    uint32_t channels, uint32_t pixels, const uint32_t *elementStrides,
    int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill);

namespace {
class TensorMapTest : public ::testing::Test {
protected:
  FakeCuda cuda;
};

using Map = std::array<unsigned char, 128>;
} // namespace

static const uintptr_t kBase = 4096;

/// Encodes a map of [777 x 4096] of f16 at `base`, of boxes of [256 x 64].
static int32_t encode(Map &map, uintptr_t base) {
  const uint64_t sizes[] = {4096, 777}, strides[] = {8192};
  const uint32_t box[] = {64, 256}, elementStrides[] = {1, 1};
  return nmEncodeTensorMap(map.data(), /*type=*/1, /*rank=*/2,
                           reinterpret_cast<void *>(base), sizes, strides, box,
                           elementStrides, /*interleave=*/0, /*swizzle=*/3,
                           /*promotion=*/3, /*fill=*/0);
}

TEST_F(TensorMapTest, IsTheDrivers) {
  Map map = {};
  EXPECT_EQ(encode(map, kBase), 0);
  EXPECT_EQ(takeError(), "");
  EXPECT_TRUE(cuda.called("cuTensorMapEncodeTiled type 1 swizzle 3 promotion 3 "
                          "sizes 4096 in 64 by 777 in 256 at 8192; "))
      << cuda.log();
  EXPECT_TRUE(std::all_of(map.begin(), map.end(),
                          [](unsigned char byte) { return byte == 0xab; }));
}

TEST_F(TensorMapTest, IsTheDriversOfPixels) {
  Map map = {};
  // [2 x 28 x 30 x 128] of f16; 3x3, steps 1 and 2.
  const uint64_t sizes[] = {128, 30, 28, 2}, strides[] = {256, 7680, 215040};
  const int32_t lower[] = {-1, -1}, upper[] = {-2, -1};
  const uint32_t steps[] = {1, 2, 1, 1};
  EXPECT_EQ(nmEncodePixelMap(map.data(), /*type=*/1, /*rank=*/4,
                             reinterpret_cast<void *>(kBase), sizes, strides,
                             lower, upper, /*channels=*/64, /*pixels=*/96,
                             steps, /*interleave=*/0, /*swizzle=*/3,
                             /*promotion=*/3, /*fill=*/0),
            0);
  EXPECT_EQ(takeError(), "");
  EXPECT_TRUE(cuda.called("cuTensorMapEncodeIm2col type 1 swizzle 3 promotion "
                          "3 channels 64 of 128 pixels 96 from -1 to -2 of 30 "
                          "by 2 from -1 to -1 of 28 by 1; "))
      << cuda.log();
  EXPECT_TRUE(std::all_of(map.begin(), map.end(),
                          [](unsigned char byte) { return byte == 0xcd; }));
}

TEST_F(TensorMapTest, SaysWhatTheDriverRefused) {
  ::testing::internal::CaptureStderr();
  Map map = {};
  EXPECT_EQ(encode(map, kBase + 2), 1);
  EXPECT_EQ(takeError(),
            "cuTensorMapEncodeTiled of [777, 4096] elements, 8192 bytes apart, "
            "at 4098, which must be a multiple of 16 failed: "
            "CUDA_ERROR_INVALID_VALUE (1)");
  ::testing::internal::GetCapturedStderr();
}

/// In a process of its own: a driver that was found stays for its life.
static void encodeByOldDriver() {
  setDriver(NM_FAKE_CUDA_NO_LAUNCH_EX, "");
  Map map = {};
  int32_t code = encode(map, kBase);
  std::fprintf(stderr, "%s\n", takeError().c_str());
  std::exit(code == 1 ? 0 : 1);
}

TEST(OldDriver, HasNoTensorMaps) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      encodeByOldDriver(), ExitedWithCode(0),
      "expected a CUDA driver with cuTensorMapEncodeTiled, of CUDA 12.0 "
      "or newer, for a kernel with tensor copies");
}
