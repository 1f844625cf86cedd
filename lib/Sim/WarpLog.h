//===- WarpLog.h - What the lanes of a warp access together -----*- C++ -*-===//
//
// Lanes run one after the other. Each logs what it accesses up to where it
// waits; then the n-th executions of an instruction by all lanes are what a GPU
// would execute as one.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SIM_WARPLOG_H
#define NM_LIB_SIM_WARPLOG_H

#include "SharedShadow.h"
#include "nm/Sim/Report.h"

#include <array>
#include <cstdint>
#include <vector>

namespace nm::sim {

/// What a request of a warp costs. `addresses` are those of the lanes in
/// `mask`, which access `bytes` each, a power of two up to 16.
struct RequestCost {
  uint32_t passes = 0;
  uint32_t conflicts = 0;
};
using LaneAddresses = std::array<uint64_t, kWarp>;
RequestCost countSharedPasses(const LaneAddresses &addresses, uint32_t mask,
                              int bytes);
/// Sectors of 32 bytes.
uint32_t countSectors(const LaneAddresses &addresses, uint32_t mask, int bytes);

class WarpLog {
public:
  explicit WarpLog(size_t numSites) : numSites(numSites) {}

  /// `key` is the site with the space in its low bit, which a generic pointer
  /// has only when it is used.
  void add(int lane, uint32_t site, bool isShared, uint64_t address) {
    sites[lane].push_back(site << 1 | uint32_t(isShared));
    addresses[lane].push_back(address);
  }

  /// Counts what has been logged and forgets it.
  void flush(const NmSimSite *table, Counts &counts);

private:
  void flushUniform(const NmSimSite *table, Counts &counts, uint32_t mask);
  void flushDivergent(const NmSimSite *table, Counts &counts);

  size_t numSites;
  std::array<std::vector<uint32_t>, kWarp> sites;
  std::array<std::vector<uint64_t>, kWarp> addresses;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_WARPLOG_H
