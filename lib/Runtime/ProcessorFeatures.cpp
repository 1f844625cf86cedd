//===- ProcessorFeatures.cpp - What this processor can do -----------------===//

#include "ProcessorFeatures.h"

#include "nm/Support/ProcessorTiles.h"

using namespace nm;

std::optional<bool> nm::processorHas(std::string_view feature) {
#if defined(__x86_64__)
// __builtin_cpu_supports takes a literal only.
#define NM_FEATURE(NAME)                                                       \
  if (feature == NAME)                                                         \
    return __builtin_cpu_supports(NAME);
  NM_FEATURE("sse4.2")
  NM_FEATURE("avx")
  NM_FEATURE("avx2")
  NM_FEATURE("fma")
  NM_FEATURE("bmi2")
  NM_FEATURE("avx512f")
  NM_FEATURE("avx512bw")
  NM_FEATURE("avx512dq")
  NM_FEATURE("avx512vl")
  NM_FEATURE("avx512vbmi")
  NM_FEATURE("avx512vnni")
  NM_FEATURE("avx512bf16")
#undef NM_FEATURE
  // The compiler takes both or none.
  if (feature == "amx-tile" || feature == "amx-bf16")
    return takeProcessorTiles();
#endif
  return std::nullopt;
}
