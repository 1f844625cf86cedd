//===- Report.h - What simulated launches did -------------------*- C++ -*-===//

#ifndef NM_SIM_REPORT_H
#define NM_SIM_REPORT_H

#include "nm/Sim/Abi.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nm::sim {

/// Instructions of warps that access memory, of one kind.
struct AccessCounts {
  uint64_t requests = 0;
  /// Passes through shared memory, or sectors of 32 bytes of global memory.
  uint64_t passes = 0;
  /// Passes that would not be, were no bank needed twice. Shared memory only.
  uint64_t conflicts = 0;
  /// What the threads asked for.
  uint64_t bytes = 0;

  void add(const AccessCounts &other);
};

/// Counts of a launch, each by instructions of warps as Nsight Compute has
/// them. Indexed by NmSimKind.
struct Counts {
  std::array<AccessCounts, 5> shared, global;
  /// Barriers of warps.
  uint64_t barriers = 0;
  /// Instructions that lanes execute as one.
  uint64_t collectives = 0;
  /// Groups of asynchronous copies that threads committed.
  uint64_t copyGroups = 0;

  void add(const Counts &other);
};

struct LaunchReport {
  std::string kernel;
  std::array<int64_t, 3> grid, block, cluster;
  int64_t sharedBytes = 0;
  double seconds = 0;
  Counts counts;
  uint64_t faults = 0;

  /// Lines for a user.
  NM_SIM_API std::string str() const;
};

/// The reports of the process's launches since the last call, at most
/// `kMaxReports` of them.
NM_SIM_API std::vector<LaunchReport> takeReports();
inline constexpr size_t kMaxReports = 256;

} // namespace nm::sim

#endif // NM_SIM_REPORT_H
