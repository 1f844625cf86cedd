//===- MatrixDescriptorTest.cpp - wgmma's operands in shared memory -------===//

#include "nm/Format/MatrixDescriptor.h"

#include <gtest/gtest.h>

#include <set>

using namespace nm;

static constexpr MatrixSwizzle kSwizzles[] = {
    MatrixSwizzle::None, MatrixSwizzle::Bytes32, MatrixSwizzle::Bytes64,
    MatrixSwizzle::Bytes128};

TEST(MatrixDescriptorTest, Bits) {
  MatrixDescriptor descriptor{0x12340, 8192, 1024, 5, MatrixSwizzle::Bytes128};
  EXPECT_EQ(descriptor.encode(),
            0x1234ull | 512ull << 16 | 64ull << 32 | 5ull << 49 | 1ull << 62);
  MatrixDescriptor other = MatrixDescriptor::decode(descriptor.encode());
  EXPECT_EQ(other.start, 0x12340);
  EXPECT_EQ(other.leading, 8192);
  EXPECT_EQ(other.stride, 1024);
  EXPECT_EQ(other.base, 5);
  EXPECT_EQ(other.swizzle, MatrixSwizzle::Bytes128);
  // The last 16 bytes of 256 KB.
  EXPECT_EQ((MatrixDescriptor{0x3fff0}.encode()), 0x3fffull);
}

TEST(MatrixDescriptorTest, SwizzleBytes) {
  EXPECT_EQ(getSwizzleBytes(MatrixSwizzle::None), 16);
  EXPECT_EQ(getSwizzleBytes(MatrixSwizzle::Bytes32), 32);
  EXPECT_EQ(getSwizzleBytes(MatrixSwizzle::Bytes64), 64);
  EXPECT_EQ(getSwizzleBytes(MatrixSwizzle::Bytes128), 128);
}

/// In rows of 128 bytes: row r has chunk c where chunk c ^ r was; of 64 bytes,
/// two rows share a line, and of 32, four.
TEST(MatrixDescriptorTest, SwizzledRows) {
  for (int row = 0; row < 8; ++row)
    for (int chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(swizzleAddress(MatrixSwizzle::Bytes128,
                               1024 + 128 * row + 16 * chunk),
                1024 + 128 * row + 16 * (chunk ^ row));
  for (int row = 0; row < 8; ++row)
    for (int chunk = 0; chunk < 4; ++chunk)
      EXPECT_EQ(swizzleAddress(MatrixSwizzle::Bytes64, 64 * row + 16 * chunk),
                64 * row + 16 * (chunk ^ row / 2));
  for (int row = 0; row < 8; ++row)
    for (int chunk = 0; chunk < 2; ++chunk)
      EXPECT_EQ(swizzleAddress(MatrixSwizzle::Bytes32, 32 * row + 16 * chunk),
                32 * row + 16 * (chunk ^ row / 4));
  EXPECT_EQ(swizzleAddress(MatrixSwizzle::None, 1008), 1008);
}

TEST(MatrixDescriptorTest, MMajor) {
  // Weights of 2:4: chunk c of row r at 1024 c + 128 (r / 8) + 16 (r % 8).
  MatrixDescriptor plain{4096, 1024, 128, 0, MatrixSwizzle::None};
  EXPECT_EQ(plain.getKMajorOffset(0, 0), 4096);
  EXPECT_EQ(plain.getKMajorOffset(13, 1), 4096 + 1024 + 128 + 80);
  MatrixDescriptor wide{4096, 0, 1024, 0, MatrixSwizzle::Bytes128};
  EXPECT_EQ(wide.getKMajorOffset(13, 1), 4096 + 1024 + 5 * 128 + (1 ^ 5) * 16);
  // The next 32 bytes of the same rows: bits of the start are exchanged too.
  wide.start += 32;
  EXPECT_EQ(wide.getKMajorOffset(13, 1), 4096 + 1024 + 5 * 128 + (3 ^ 5) * 16);
}

TEST(MatrixDescriptorTest, MNMajor) {
  // Tiles of 64 elements by 64 rows of k, eight rows 1024 bytes apart.
  MatrixDescriptor wide{0, 8192, 1024, 0, MatrixSwizzle::Bytes128};
  EXPECT_EQ(wide.getMNMajorOffset(0, 0), 0);
  EXPECT_EQ(wide.getMNMajorOffset(3, 2), 3 * 128 + (2 ^ 3) * 16);
  EXPECT_EQ(wide.getMNMajorOffset(11, 10),
            8192 + 1024 + 3 * 128 + (2 ^ 3) * 16);
  MatrixDescriptor plain{0, 4096, 128, 0, MatrixSwizzle::None};
  EXPECT_EQ(plain.getMNMajorOffset(11, 10), 4096 + 10 * 128 + 3 * 16);
}

/// A pattern that starts elsewhere is moved as a whole.
TEST(MatrixDescriptorTest, BaseOffset) {
  MatrixDescriptor at0{0, 0, 1024, 0, MatrixSwizzle::Bytes128};
  MatrixDescriptor at3{3 * 128, 0, 1024, 3, MatrixSwizzle::Bytes128};
  for (int row = 0; row < 16; ++row)
    for (int chunk = 0; chunk < 2; ++chunk)
      EXPECT_EQ(at3.getKMajorOffset(row, chunk),
                3 * 128 + at0.getKMajorOffset(row, chunk));
}

/// No two chunks share a place.
TEST(MatrixDescriptorTest, PlacesAreDistinct) {
  for (MatrixSwizzle swizzle : kSwizzles) {
    int line = getSwizzleBytes(swizzle);
    bool isPlain = swizzle == MatrixSwizzle::None;
    MatrixDescriptor k{0, isPlain ? 1024 : 0, isPlain ? 128 : 8 * line, 0,
                       swizzle};
    MatrixDescriptor mn{0, isPlain ? 2048 : 16 * line, isPlain ? 128 : 8 * line,
                        0, swizzle};
    std::set<int> kPlaces, mnPlaces;
    for (int row = 0; row < 64; ++row)
      for (int chunk = 0; chunk < 2; ++chunk)
        kPlaces.insert(k.getKMajorOffset(row, chunk));
    for (int row = 0; row < 16; ++row)
      for (int chunk = 0; chunk < 16; ++chunk)
        mnPlaces.insert(mn.getMNMajorOffset(row, chunk));
    EXPECT_EQ(kPlaces.size(), 128u) << line;
    EXPECT_EQ(mnPlaces.size(), 256u) << line;
    EXPECT_EQ(*mnPlaces.rbegin(), 256 * 16 - 16) << line;
  }
}
