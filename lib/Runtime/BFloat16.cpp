//===- BFloat16.cpp - bf16 for processors without it ----------------------===//
//
// LLVM calls this where a processor has no instruction for it, also to move a
// bf16 through a register. GCC's libraries have it from version 13 on.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Export.h"

#include <cstdint>
#include <cstring>

/// Rounds to the nearest bf16, ties to even. The calling conventions of x86-64
/// and AArch64 return a bf16 in the low bits of the register of a float.
extern "C" NM_RUNTIME_API float __truncsfbf2(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  // A NaN stays one: its payload may be in the bits that are cut off.
  uint32_t rounded =
      isNaN ? (bits | 0x400000u) : bits + 0x7fffu + ((bits >> 16) & 1);
  rounded >>= 16;
  float result;
  std::memcpy(&result, &rounded, sizeof(result));
  return result;
}
