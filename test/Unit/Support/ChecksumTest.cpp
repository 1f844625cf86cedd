//===- ChecksumTest.cpp - Telling damaged bytes ---------------------------===//

#include "nm/Support/Checksum.h"

#include <gtest/gtest.h>

using namespace nm;

static uint32_t checksum(std::string_view bytes) {
  Crc32 sum;
  sum.add(bytes);
  return sum.value();
}

TEST(ChecksumTest, IsThatOfZlib) {
  EXPECT_EQ(checksum(""), 0u);
  EXPECT_EQ(checksum("123456789"), 0xcbf43926u);
  // python3 -c 'import zlib; print(hex(zlib.crc32(bytes(range(256)) * 3)))'
  std::string bytes;
  for (int i = 0; i < 3 * 256; ++i)
    bytes += char(i);
  EXPECT_EQ(checksum(bytes), 0xb0c0df2au);
  EXPECT_EQ(formatChecksum(0x00c0ffee), "00c0ffee");
}

TEST(ChecksumTest, DoesNotDependOnParts) {
  std::string bytes;
  for (int i = 0; i < 100; ++i)
    bytes += char(i * 37);
  for (size_t at = 0; at <= bytes.size(); ++at) {
    Crc32 sum;
    sum.add(std::string_view(bytes).substr(0, at));
    sum.add(std::string_view(bytes).substr(at));
    EXPECT_EQ(sum.value(), checksum(bytes)) << at;
  }
}

// Of long texts 64 bytes are folded at once, of single bytes none.
TEST(ChecksumTest, DoesNotDependOnHowManyBytesAreTakenAtOnce) {
  std::string bytes;
  for (int i = 0; i < 400; ++i)
    bytes += char(i * i * 37 >> 3);
  for (size_t first : {0, 1, 7}) {
    Crc32 sum;
    for (size_t i = first; i < bytes.size(); ++i) {
      sum.add(std::string_view(bytes).substr(i, 1));
      EXPECT_EQ(checksum(std::string_view(bytes).substr(first, i + 1 - first)),
                sum.value())
          << first << " to " << i;
    }
  }
}
