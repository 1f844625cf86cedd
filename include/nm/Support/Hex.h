//===- Hex.h - Bytes as hexadecimal digits ----------------------*- C++ -*-===//

#ifndef NM_SUPPORT_HEX_H
#define NM_SUPPORT_HEX_H

#include <string>
#include <string_view>

namespace nm {

/// Two digits for each byte, the higher four bits first.
inline std::string toHex(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (unsigned char byte : bytes)
    for (unsigned digit : {byte >> 4, byte & 15})
      digits += "0123456789abcdef"[digit];
  return digits;
}

} // namespace nm

#endif // NM_SUPPORT_HEX_H
