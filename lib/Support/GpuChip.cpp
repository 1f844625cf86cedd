//===- GpuChip.cpp - What the compiler knows of a GPU ---------------------===//

#include "nm/Support/GpuChip.h"

#include <string>

using namespace nm;

// From the CUDA programming guide's table of compute capabilities and the data
// sheets of A100, RTX 3090, RTX 4090, H200, B200 and RTX 5090.
static constexpr GpuChip kChips[] = {
    {"sm_80", 70, 108, 64, 1.41, 1555, 166912, 167936, false},
    {"sm_86", 71, 82, 128, 1.70, 936, 101376, 102400, false},
    {"sm_89", 78, 128, 128, 2.52, 1008, 101376, 102400, false},
    {"sm_90", 80, 132, 128, 1.98, 4800, 232448, 233472, true},
    {"sm_100", 86, 148, 128, 1.97, 8000, 232448, 233472, true},
    {"sm_120", 87, 170, 128, 2.41, 1792, 101376, 102400, true},
};

Result<GpuChip> GpuChip::get(std::string_view name) {
  std::string_view family = name;
  if (!family.empty() && (family.back() == 'a' || family.back() == 'f'))
    family.remove_suffix(1);
  std::string known;
  for (const GpuChip &chip : kChips) {
    if (chip.name == family)
      return chip;
    known += known.empty() ? "" : ", ";
    known += chip.name;
  }
  return Error{"expected a chip of " + known + ", but got '" +
               std::string(name) + "'"};
}
