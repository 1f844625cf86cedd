//===- Checksum.cpp - Telling damaged bytes -------------------------------===//

#include "nm/Support/Checksum.h"

#include <array>
#include <cstdio>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

/// The state behind `bytes`, by the tables.
static uint32_t addByTables(uint32_t sum, std::string_view bytes) {
  const auto *data = reinterpret_cast<const unsigned char *>(bytes.data());
  size_t size = bytes.size();
  for (; size >= kSlices; size -= kSlices, data += kSlices)
    sum = addWord(sum ^ readWord(data), 0) ^ addWord(readWord(data + 4), 4) ^
          addWord(readWord(data + 8), 8) ^ addWord(readWord(data + 12), 12);
  for (; size > 0; --size, ++data)
    sum = sum >> 8 ^ kTables[0][(sum ^ *data) & 0xff];
  return sum;
}

#if defined(__x86_64__)

/// Bytes that are folded at once, in lanes of 16.
static constexpr size_t kLanes = 4, kFolded = kLanes * sizeof(__m128i);

/// What stands in place of `lane` that many bytes further on, as `factors` have
/// it, added to what is there. Gopal et al., Fast CRC Computation for Generic
/// Polynomials Using PCLMULQDQ Instruction, 2009.
[[gnu::target("pclmul")]] static __m128i fold(__m128i lane, __m128i factors,
                                              __m128i there) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(lane, factors, 0x00),
                                     _mm_clmulepi64_si128(lane, factors, 0x11)),
                       there);
}

/// The state behind the first bytes of `bytes`, which are removed from it; it
/// has at least kFolded of them.
[[gnu::target("pclmul")]] static uint32_t addFolded(uint32_t sum,
                                                    std::string_view &bytes) {
  // x^(512 + 32), x^(512 - 32), x^(128 + 32) and x^(128 - 32) by the
  // polynomial, with bits in the order of CRC-32.
  const __m128i fourLanes = _mm_set_epi64x(0x1c6e41596, 0x154442bd4),
                oneLane = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  auto load = [&](size_t lane) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes.data()) +
                           lane);
  };
  std::array<__m128i, kLanes> lanes;
  for (size_t i = 0; i < kLanes; ++i)
    lanes[i] = load(i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
  for (bytes.remove_prefix(kFolded); bytes.size() >= kFolded;
       bytes.remove_prefix(kFolded))
    for (size_t i = 0; i < kLanes; ++i)
      lanes[i] = fold(lanes[i], fourLanes, load(i));
  for (size_t i = 1; i < kLanes; ++i)
    lanes[i] = fold(lanes[i - 1], oneLane, lanes[i]);
  std::array<char, sizeof(__m128i)> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i *>(rest.data()), lanes.back());
  return addByTables(0, {rest.data(), rest.size()});
}

void Crc32::add(std::string_view bytes) {
  if (bytes.size() >= kFolded && __builtin_cpu_supports("pclmul"))
    state = addFolded(state, bytes);
  state = addByTables(state, bytes);
}

#else

void Crc32::add(std::string_view bytes) { state = addByTables(state, bytes); }

#endif

std::string nm::formatChecksum(uint32_t sum) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}
