//===- Checksum.cpp - Telling damaged bytes -------------------------------===//

#include "nm/Support/Checksum.h"

#include <array>
#include <cstdio>

using namespace nm;

/// Bytes that are taken at once.
static constexpr size_t kSlices = 16;

using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

/// Table i has what a byte comes to with i bytes of zero behind it.
static constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    tables[0][byte] = sum;
  }
  for (size_t i = 1; i < kSlices; ++i)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t before = tables[i - 1][byte];
      tables[i][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  return tables;
}

static constexpr Tables kTables = makeTables();

/// The little-endian word there.
static uint32_t readWord(const unsigned char *data) {
  return data[0] | uint32_t(data[1]) << 8 | uint32_t(data[2]) << 16 |
         uint32_t(data[3]) << 24;
}

/// What a word comes to with as many bytes behind it as there are up to the end
/// of `kSlices`; it is the one at `slice`.
static uint32_t addWord(uint32_t word, size_t slice) {
  const auto *table = &kTables[kSlices - 4 - slice];
  return table[3][word & 0xff] ^ table[2][word >> 8 & 0xff] ^
         table[1][word >> 16 & 0xff] ^ table[0][word >> 24];
}

void Crc32::add(std::string_view bytes) {
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  size_t size = bytes.size();
  uint32_t sum = state;
  for (; size >= kSlices; size -= kSlices, data += kSlices)
    sum = addWord(sum ^ readWord(data), 0) ^ addWord(readWord(data + 4), 4) ^
          addWord(readWord(data + 8), 8) ^ addWord(readWord(data + 12), 12);
  for (; size > 0; --size, ++data)
    sum = sum >> 8 ^ kTables[0][(sum ^ *data) & 0xff];
  state = sum;
}

std::string nm::formatChecksum(uint32_t sum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}
