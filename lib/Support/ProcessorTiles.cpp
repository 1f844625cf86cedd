//===- ProcessorTiles.cpp - Leave to use a CPU's tiles --------------------===//

#include "nm/Support/ProcessorTiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Bits of edx of CPUID leaf 7 (Intel 64 and IA-32 SDM, volume 2A, "CPUID").
static constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
/// ARCH_REQ_XCOMP_PERM, and the number of the tiles' state (Linux,
/// Documentation/arch/x86/xstate.rst).
static constexpr long kRequestPermission = 0x1023, kTileData = 18;

bool nm::takeProcessorTiles() {
  unsigned eax, ebx, ecx, edx;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      (edx & kAmxBf16) == 0 || (edx & kAmxTile) == 0)
    return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool nm::takeProcessorTiles() { return false; }
#endif
