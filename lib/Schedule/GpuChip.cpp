//===- GpuChip.cpp - What the compiler knows of a GPU ---------------------===//

#include "nm/Schedule/GpuChip.h"

#include <string>

using namespace nm;

// From the CUDA programming guide's table of compute capabilities and the data
// sheets of A100, RTX 3090, RTX 4090, H200, B200 and RTX 5090. movmatrix is in
// PTX from 7.8 on, and mma of 8-bit floats from 8.4 on.
static constexpr GpuChip kChips[] = {
    {"sm_80", 78, 108, 64, 1.41, 1555, 166912, 167936, false},
    {"sm_86", 78, 82, 128, 1.70, 936, 101376, 102400, false},
    {"sm_89", 84, 128, 128, 2.52, 1008, 101376, 102400, false},
    {"sm_90", 84, 132, 128, 1.98, 4800, 232448, 233472, true},
    {"sm_100", 86, 148, 128, 1.97, 8000, 232448, 233472, true},
    {"sm_120", 87, 170, 128, 2.41, 1792, 101376, 102400, true},
};

namespace {
struct Variant {
  std::string_view name;
  int64_t ptxVersion;
};
} // namespace

// The PTX versions that, by the PTX ISA's table of .target, first have code
// with the features of one chip (a) or of its family (f), and no older than
// that of the chip.
static constexpr Variant kVariants[] = {
    {"sm_90a", 84},  {"sm_100a", 86}, {"sm_100f", 88},
    {"sm_120a", 87}, {"sm_120f", 88},
};

/// The chip that `name`, with its suffix or without, is of.
static bool isOfChip(std::string_view name, const GpuChip &chip) {
  return name.substr(0, chip.name.size()) == chip.name &&
         name.size() <= chip.name.size() + 1;
}

Result<GpuChip> GpuChip::get(std::string_view name) {
  std::string known;
  auto isKnown = [&](std::string_view candidate) {
    known += (known.empty() ? "" : ", ") + std::string(candidate);
    return candidate == name;
  };
  for (GpuChip chip : kChips) {
    if (isKnown(chip.name))
      return chip;
    for (const Variant &variant : kVariants) {
      if (!isOfChip(variant.name, chip) || !isKnown(variant.name))
        continue;
      chip.ptxVersion = variant.ptxVersion;
      chip.hasWgmma = name == "sm_90a";
      return chip;
    }
  }
  return Error{"expected a chip of " + known + ", but got '" +
               std::string(name) + "'"};
}

/// The newest that LLVM 22 writes.
static constexpr int64_t kNewestPtx = 90;

Status GpuChip::checkPtxVersion(int64_t version) const {
  // 7.8 comes before 8.0.
  if (version >= ptxVersion && version <= kNewestPtx && version % 10 != 9)
    return Status::success();
  return Error{"expected a PTX version between " + std::to_string(ptxVersion) +
               ", the oldest for the chip, and " + std::to_string(kNewestPtx) +
               " other than 79 and 89, which there are not" + ", but got " +
               std::to_string(version)};
}
