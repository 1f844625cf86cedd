//===- GpuChip.cpp - What the compiler knows of a GPU ---------------------===//

#include "nm/Schedule/GpuChip.h"

#include <string>

using namespace nm;

/// Sets the fields of a new chip. Each file of Chips is the body of one.
using Describe = void (*)(GpuChip &chip);

static GpuChip makeSm90() {
  GpuChip chip;
#include "Chips/sm_90.inc"
  return chip;
}

/// The chips, in the order in which errors list them.
static constexpr Describe kChips[] = {
    [](GpuChip &chip) {
#include "Chips/sm_80.inc"
    },
    [](GpuChip &chip) {
#include "Chips/sm_86.inc"
    },
    [](GpuChip &chip) {
#include "Chips/sm_89.inc"
    },
    [](GpuChip &chip) { chip = makeSm90(); },
    [](GpuChip &chip) {
#include "Chips/sm_100.inc"
    },
    [](GpuChip &chip) {
#include "Chips/sm_120.inc"
    },
};

namespace {
struct Variant {
  std::string_view name;
  int64_t ptxVersion;
  bool hasWgmma = false;
};
} // namespace

// The PTX versions that, by the PTX ISA's table of .target, first have code
// with the features of one chip (a) or of its family (f), and no older than
// that of the chip.
static constexpr Variant kVariants[] = {
    {"sm_90a", 84, /*hasWgmma=*/true},
    {"sm_100a", 86},
    {"sm_100f", 88},
    {"sm_120a", 87},
    {"sm_120f", 88},
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
  for (Describe describe : kChips) {
    GpuChip chip;
    describe(chip);
    if (isKnown(chip.name))
      return chip;
    for (const Variant &variant : kVariants) {
      if (!isOfChip(variant.name, chip) || !isKnown(variant.name))
        continue;
      chip.ptxVersion = variant.ptxVersion;
      chip.hasWgmma = variant.hasWgmma;
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
