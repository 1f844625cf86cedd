//===- ChipFile.cpp - Rates of the GPU at hand ----------------------------===//

#include "nm/Tables/ChipFile.h"

#include "TableText.h"

#include <algorithm>
#include <cmath>

#include <unistd.h>

using namespace nm;

LLVM_YAML_IS_DOCUMENT_LIST_VECTOR(nm::ProbedChip)

namespace {
/// A rate, by its name in files.
struct NamedRate {
  const char *name;
  double GpuRates::*rate;
};
} // namespace

static constexpr NamedRate kRates[] = {
    {"tensor", &GpuRates::tensor},
    {"mma", &GpuRates::mma},
    {"shared", &GpuRates::shared},
    {"received", &GpuRates::received},
    {"stored", &GpuRates::stored},
    {"launch", &GpuRates::launch},
    {"early_launch", &GpuRates::earlyLaunch},
    {"start", &GpuRates::start},
    {"barrier", &GpuRates::barrier},
    {"latency", &GpuRates::latency},
    {"loaded_clock", &GpuRates::loadedClock},
    {"reached_memory", &GpuRates::reachedMemory},
};

namespace llvm::yaml {
template <>
struct MappingTraits<GpuRates> {
  static void mapping(IO &io, GpuRates &rates) {
    for (const NamedRate &named : kRates)
      io.mapRequired(named.name, rates.*named.rate);
  }
  static std::string validate(IO &, GpuRates &rates) {
    // Written so that a NaN is refused.
    for (const NamedRate &named : kRates)
      if (!(rates.*named.rate > 0 && std::isfinite(rates.*named.rate)))
        return std::string("expected a rate ") + named.name + " greater than 0";
    return rates.loadedClock <= 1.5 && rates.reachedMemory <= 1.5
               ? ""
               : "expected loaded_clock and reached_memory as shares of the "
                 "device's";
  }
};

template <>
struct MappingTraits<ProbedChip> {
  static void mapping(IO &io, ProbedChip &chip) {
    io.mapRequired("version", chip.version);
    // The fields of a later version are not known.
    if (!io.outputting() && chip.version != kChipFileVersion) {
      io.setError("expected a chip file of version " +
                  llvm::Twine(kChipFileVersion) + ", but got " +
                  llvm::Twine(chip.version));
      return;
    }
    io.mapRequired("device", chip.device);
    io.mapRequired("rates", chip.rates);
  }
};
} // namespace llvm::yaml

void nm::forEachRate(const GpuRates &rates,
                     const std::function<void(const char *, double)> &body) {
  for (const NamedRate &named : kRates)
    body(named.name, rates.*named.rate);
}

GpuChip ProbedChip::appliedTo(GpuChip chip) const {
  chip.multiprocessors = device.units;
  if (device.clock > 0)
    chip.clockGHz = device.clock;
  if (device.bandwidth > 0)
    chip.memoryGBs = device.bandwidth;
  chip.rates = rates;
  return chip;
}

Result<std::vector<ProbedChip>> nm::readChips(std::string_view text,
                                              const std::string &name) {
  return readDocuments<ProbedChip>(text, name, "chip");
}

Result<std::vector<ProbedChip>> nm::readChipFile(const std::string &path) {
  Result<std::string> text = readWholeFile(path);
  if (!text)
    return text.error();
  return readChips(*text, path);
}

std::string nm::writeChips(const std::vector<ProbedChip> &chips) {
  return writeDocuments(chips);
}

Status nm::addToChipFile(const std::string &path, const ProbedChip &chip) {
  std::vector<ProbedChip> chips;
  if (access(path.c_str(), F_OK) == 0) {
    Result<std::vector<ProbedChip>> read = readChipFile(path);
    if (!read)
      return read.error();
    chips = std::move(*read);
  }
  auto known =
      std::find_if(chips.begin(), chips.end(), [&](const ProbedChip &old) {
        return old.device == chip.device;
      });
  if (known == chips.end())
    chips.push_back(chip);
  else
    *known = chip;
  return replaceFile(path, writeChips(chips));
}

std::string nm::userChips() {
  std::string table = userTable();
  size_t end = table.rfind('/');
  return end == std::string::npos ? "" : table.substr(0, end) + "/chips.yaml";
}
