//===- DrawElements.cpp - Operands of tensor cores ------------------------===//

#include "DrawElements.h"

#include <cstring>

using namespace nm;

std::string list(const char *prefix, int first, int count) {
  std::string text = "{";
  for (int i = first; i < first + count; ++i)
    text += (i == first ? "%" : ", %") + (prefix + std::to_string(i));
  return text + "}";
}

uint32_t drawElement(NmSimElement type, std::mt19937 &random) {
  auto make = [&](int exponentBits, int mantissaBits) {
    uint32_t middle = (1u << (exponentBits - 1)) - 1;
    uint32_t exponent = middle - 3 + random() % 6;
    return (random() & 1) << (exponentBits + mantissaBits) |
           exponent << mantissaBits | (random() & ((1u << mantissaBits) - 1));
  };
  switch (type) {
  case NM_SIM_F16:
    return uint32_t(make(5, 10));
  case NM_SIM_BF16:
    return uint32_t(make(8, 7));
  case NM_SIM_TF32:
    return uint32_t(make(8, 23));
  case NM_SIM_E4M3:
    return uint32_t(make(4, 3));
  case NM_SIM_E5M2:
    return uint32_t(make(5, 2));
  case NM_SIM_S8:
  case NM_SIM_U8:
    return uint32_t(random() & 0xff);
  }
  return 0;
}

uint32_t drawMetadata(const MmaShape &shape, std::mt19937 &random) {
  uint32_t word = 0;
  for (int nibble = 0; nibble < 8; ++nibble) {
    int first = int(random() % 3);
    int second = first + 1 + int(random() % uint32_t(3 - first));
    int bits = shape.bits == 32 ? encodeMmaSingle(int(random() % 2))
                                : encodeMmaPair(first, second);
    word |= uint32_t(bits) << 4 * nibble;
  }
  return word;
}

float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
