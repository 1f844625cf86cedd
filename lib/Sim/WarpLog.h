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
/// `mask`, which access `bytes` each, a power of two up to 16. As measured with
/// Nsight Compute on an H200: docs/Sim.md has the patterns.
struct RequestCost {
  uint32_t passes = 0;
  uint32_t conflicts = 0;
};
using LaneAddresses = std::array<uint64_t, kWarp>;
RequestCost countSharedPasses(const LaneAddresses &addresses, uint32_t mask,
                              int bytes, bool isLoad);
/// Sectors of 32 bytes.
uint32_t countSectors(const LaneAddresses &addresses, uint32_t mask, int bytes);

/// What an asynchronous copy of 16 bytes a lane takes, which bypasses L1. One
/// pass is of lanes that have the same lines of 128 bytes on either side, and
/// move their 16 bytes within the line in the same way: by the same exclusive
/// or. Lanes 0 to 7 that copy a line as it is take one pass, and two where lane
/// 0 and lane 1 alone change places.
struct CopyCost {
  uint32_t passes = 0;
  uint32_t sectors = 0;
};
CopyCost countCopyCost(const LaneAddresses &to, const LaneAddresses &from,
                       uint32_t mask);

class WarpLog {
public:
  explicit WarpLog(size_t numSites) : numSites(numSites) {}

  /// A load, store or atomic.
  void add(int lane, uint32_t site, bool isShared, uint64_t address) {
    // The space of a generic pointer is that of its address.
    sites[lane].push_back(site << 1 | uint32_t(isShared));
    addresses[lane].push_back(address);
  }
  /// An asynchronous copy; `from` is kNowhere where it only fills with zeros.
  void addCopy(int lane, uint32_t site, uint64_t to, uint64_t from) {
    sites[lane].push_back(site << 1);
    addresses[lane].push_back(from << kSharedBits | to);
  }
  static constexpr uint64_t kNowhere = (uint64_t(1) << 44) - 1;

  /// Counts what has been logged and forgets it.
  void flush(const NmSimSite *table, Counts &counts);

private:
  /// A block's shared memory has fewer bytes than that.
  static constexpr int kSharedBits = 20;

  void countCopy(const NmSimSite &site, const LaneAddresses &addresses,
                 uint32_t mask, Counts &counts);
  void count(const NmSimSite &site, bool isShared,
             const LaneAddresses &addresses, uint32_t mask, Counts &counts);
  void flushUniform(const NmSimSite *table, Counts &counts, uint32_t mask);
  void flushDivergent(const NmSimSite *table, Counts &counts);

  size_t numSites;
  std::array<std::vector<uint32_t>, kWarp> sites;
  std::array<std::vector<uint64_t>, kWarp> addresses;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_WARPLOG_H
