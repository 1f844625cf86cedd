//===- GpuChip.cpp - What the compiler knows of a GPU ---------------------===//

#include "nm/Schedule/GpuChip.h"

#include <array>
#include <string>

using namespace nm;

// A file sets the fields of `chip`.

static GpuChip makeSm90() {
  GpuChip chip;
#include "Chips/sm_90.inc"
  return chip;
}

static GpuChip makeSm80() {
  GpuChip chip;
#include "Chips/sm_80.inc"
  return chip;
}

static GpuChip makeSm86() {
  GpuChip chip;
#include "Chips/sm_86.inc"
  return chip;
}

static GpuChip makeSm89() {
  GpuChip chip;
#include "Chips/sm_89.inc"
  return chip;
}

static GpuChip makeSm100() {
  GpuChip chip;
#include "Chips/sm_100.inc"
  return chip;
}

static GpuChip makeSm120() {
  GpuChip chip;
#include "Chips/sm_120.inc"
  return chip;
}

static const std::array<GpuChip, 6> &allChips() {
  static const std::array<GpuChip, 6> chips = {
      makeSm80(), makeSm86(), makeSm89(), makeSm90(), makeSm100(), makeSm120()};
  return chips;
}

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
  for (GpuChip chip : allChips()) {
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
