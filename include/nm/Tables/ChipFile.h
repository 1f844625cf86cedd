//===- ChipFile.h - Rates of the GPU at hand --------------------*- C++ -*-===//
//
// What the cost models know of a GPU that nobody fitted them to: its clocks,
// memory and rates, as nm-bench --probe measures them. A file is text, of one
// YAML document a device.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TABLES_CHIPFILE_H
#define NM_TABLES_CHIPFILE_H

#include "nm/Schedule/GpuChip.h"
#include "nm/Tables/ScheduleTable.h"

#include <functional>

namespace nm {

/// The version of the form of chip files.
inline constexpr int64_t kChipFileVersion = 1;

struct ProbedChip {
  int64_t version = kChipFileVersion;
  TableDevice device;
  GpuRates rates;

  /// `chip` with this device's multiprocessors, clock, memory and rates; what
  /// they are 0 of stays.
  GpuChip appliedTo(GpuChip chip) const;
};

/// Calls `body` with the name that files have for each rate, and the rate.
void forEachRate(const GpuRates &rates,
                 const std::function<void(const char *, double)> &body);

/// The documents of `text`, which errors call `name`.
Result<std::vector<ProbedChip>> readChips(std::string_view text,
                                          const std::string &name);
Result<std::vector<ProbedChip>> readChipFile(const std::string &path);
std::string writeChips(const std::vector<ProbedChip> &chips);

/// Adds a device to the file, which need not be there, in the place of what was
/// known of it.
Status addToChipFile(const std::string &path, const ProbedChip &chip);

/// The file that a probe writes unless told another, and that compilations
/// read: chips.yaml beside userTable's; empty where the user has no home.
std::string userChips();

} // namespace nm

#endif // NM_TABLES_CHIPFILE_H
