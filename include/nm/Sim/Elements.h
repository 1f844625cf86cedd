//===- Elements.h - What tensor cores multiply ------------------*- C++ -*-===//

#ifndef NM_SIM_ELEMENTS_H
#define NM_SIM_ELEMENTS_H

#include "nm/Sim/Abi.h"

namespace nm::sim {

/// Bits of an element in a register.
constexpr int getBits(NmSimElement type) {
  if (type == NM_SIM_TF32)
    return 32;
  return type == NM_SIM_F16 || type == NM_SIM_BF16 ? 16 : 8;
}

constexpr bool isInteger(NmSimElement type) {
  return type == NM_SIM_S8 || type == NM_SIM_U8;
}

/// Whether one instruction multiplies them with each other.
constexpr bool canMultiply(NmSimElement a, NmSimElement b) {
  return a == b ||
         (getBits(a) == 8 && getBits(b) == 8 && isInteger(a) == isInteger(b));
}

} // namespace nm::sim

#endif // NM_SIM_ELEMENTS_H
