//===- Checksum.h - Telling damaged bytes -----------------------*- C++ -*-===//

#ifndef NM_SUPPORT_CHECKSUM_H
#define NM_SUPPORT_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nm {

/// CRC-32 as zlib, gzip and Python's zlib.crc32 have it (ISO 3309): of
/// "123456789" it is cbf43926. It finds every damage within 32 neighbouring
/// bits, and others but for one in 2^32.
class Crc32 {
public:
  void add(std::string_view bytes);
  uint32_t value() const { return ~state; }

private:
  uint32_t state = ~uint32_t(0);
};

/// Eight hexadecimal digits.
std::string formatChecksum(uint32_t sum);

} // namespace nm

#endif // NM_SUPPORT_CHECKSUM_H
