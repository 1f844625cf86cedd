//===- WarpLog.cpp - What the lanes of a warp access together -------------===//

#include "WarpLog.h"

#include <algorithm>
#include <cstring>

using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// How many 4-byte words of the fullest of the 32 banks `lanes` need.
static uint32_t countBankPasses(const LaneAddresses &addresses, uint32_t lanes,
                                int bytes) {
  // Different words of each bank so far.
  uint64_t seen[32][32];
  uint8_t count[32] = {};
  uint32_t most = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t address = addresses[__builtin_ctz(lanes)];
    for (int i = 0; i < bytes; i += 4) {
      uint64_t word = (address + i) / 4;
      uint32_t bank = word % 32;
      uint64_t *end = seen[bank] + count[bank];
      if (std::find(seen[bank], end, word) != end)
        continue;
      *end = word;
      most = std::max<uint32_t>(most, ++count[bank]);
    }
  }
  return most;
}

/// Whether each lane in `lanes` accesses the same as the one whose number
/// differs in `bit`, if that takes part.
static bool arePairsEqual(const LaneAddresses &addresses, uint32_t mask,
                          uint32_t lanes, int bit) {
  for (; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes), other = lane ^ bit;
    if ((mask >> other & 1) && addresses[lane] != addresses[other])
      return false;
  }
  return true;
}

/// Accesses of 8 and 16 bytes are made by half and by quarter warps. Two
/// neighbours of a load are served together where the lanes of each pair, 1 or
/// 2 apart, want the same.
static bool canMerge(const LaneAddresses &addresses, uint32_t mask,
                     uint32_t lanes) {
  return arePairsEqual(addresses, mask, lanes, 1) ||
         arePairsEqual(addresses, mask, lanes, 2);
}

RequestCost nm::sim::countSharedPasses(const LaneAddresses &addresses,
                                       uint32_t mask, int bytes, bool isLoad) {
  int lanesPerPass = bytes <= 4 ? 32 : 128 / bytes;
  RequestCost cost;
  auto addGroup = [&](uint32_t lanes) {
    if (uint32_t passes = countBankPasses(addresses, lanes, bytes)) {
      cost.passes += passes;
      cost.conflicts += passes - 1;
    }
  };
  if (lanesPerPass == 32) {
    addGroup(mask);
    return cost;
  }
  for (int lane = 0; lane < kWarp; lane += 2 * lanesPerPass) {
    auto from = [&](int first, int count) {
      return uint32_t(((uint64_t(1) << count) - 1) << first) & mask;
    };
    uint32_t both = from(lane, 2 * lanesPerPass);
    if (isLoad && canMerge(addresses, mask, both)) {
      addGroup(both);
      continue;
    }
    addGroup(from(lane, lanesPerPass));
    addGroup(from(lane + lanesPerPass, lanesPerPass));
  }
  return cost;
}

uint32_t nm::sim::countSectors(const LaneAddresses &addresses, uint32_t mask,
                               int bytes) {
  uint64_t sectors[2 * kWarp];
  uint32_t count = 0;
  for (; mask; mask &= mask - 1) {
    uint64_t address = addresses[__builtin_ctz(mask)];
    for (uint64_t sector = address / 32; sector <= (address + bytes - 1) / 32;
         ++sector)
      // Neighbours are the common case: look at the latest first.
      if (count == 0 ||
          (sectors[count - 1] != sector &&
           std::find(sectors, sectors + count, sector) == sectors + count))
        sectors[count++] = sector;
  }
  return count;
}

CopyCost nm::sim::countCopyCost(const LaneAddresses &to,
                                const LaneAddresses &from, uint32_t mask) {
  constexpr uint64_t kLine = 128, kUnit = 16;
  CopyCost cost;
  while (mask) {
    int first = __builtin_ctz(mask);
    auto isLike = [&](int lane) {
      auto move = [&](int i) { return (to[i] ^ from[i]) % kLine / kUnit; };
      return to[lane] / kLine == to[first] / kLine &&
             from[lane] / kLine == from[first] / kLine &&
             move(lane) == move(first);
    };
    uint32_t together = 0;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
      if (int lane = __builtin_ctz(lanes); isLike(lane))
        together |= 1u << lane;
    ++cost.passes;
    cost.sectors += countSectors(from, together, int(kUnit));
    mask &= ~together;
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

/// How many bytes the hardware accesses at once.
static int accessWidth(const NmSimSite &site) {
  return std::min(std::min(site.bytes, std::max(site.alignment, 1)), 16);
}

void WarpLog::countCopy(const NmSimSite &site, const LaneAddresses &addresses,
                        uint32_t mask, Counts &counts) {
  LaneAddresses to, from;
  uint32_t reading = 0;
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    int lane = __builtin_ctz(lanes);
    to[lane] = addresses[lane] & ((uint64_t(1) << kSharedBits) - 1);
    from[lane] = addresses[lane] >> kSharedBits;
    if (from[lane] != kNowhere)
      reading |= 1u << lane;
  }
  AccessCounts &shared = counts.shared[NM_SIM_COPY];
  AccessCounts &global = counts.global[NM_SIM_COPY];
  ++shared.requests;
  shared.bytes += uint64_t(site.bytes) * __builtin_popcount(mask);
  if (site.bytes == 16) {
    shared.passes += countCopyCost(to, from, mask).passes;
  } else {
    RequestCost cost =
        countSharedPasses(to, mask, site.bytes, /*isLoad=*/false);
    shared.passes += cost.passes;
    shared.conflicts += cost.conflicts;
  }
  if (!reading)
    return;
  ++global.requests;
  global.bytes += uint64_t(site.bytes) * __builtin_popcount(reading);
  global.passes += site.bytes == 16 ? countCopyCost(to, from, reading).sectors
                                    : countSectors(from, reading, site.bytes);
}

void WarpLog::count(const NmSimSite &site, bool isShared,
                    const LaneAddresses &addresses, uint32_t mask,
                    Counts &counts) {
  if (site.kind == NM_SIM_COPY)
    return countCopy(site, addresses, mask, counts);
  AccessCounts &entry = (isShared ? counts.shared : counts.global)[site.kind];
  int bytes = accessWidth(site);
  ++entry.requests;
  entry.bytes += uint64_t(bytes) * __builtin_popcount(mask);
  if (!isShared) {
    entry.passes += countSectors(addresses, mask, bytes);
    return;
  }
  RequestCost cost =
      countSharedPasses(addresses, mask, bytes, site.kind == NM_SIM_LOAD);
  entry.passes += cost.passes;
  entry.conflicts += cost.conflicts;
}

void WarpLog::flush(const NmSimSite *table, Counts &counts) {
  uint32_t mask = 0;
  int first = -1;
  bool isUniform = true;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (sites[lane].empty())
      continue;
    mask |= 1u << lane;
    if (first < 0)
      first = lane;
    else
      isUniform &= sites[lane] == sites[first];
  }
  if (mask == 0)
    return;
  if (isUniform)
    flushUniform(table, counts, mask);
  else
    flushDivergent(table, counts);
  for (int lane = 0; lane < kWarp; ++lane) {
    sites[lane].clear();
    addresses[lane].clear();
  }
}

void WarpLog::flushUniform(const NmSimSite *table, Counts &counts,
                           uint32_t mask) {
  const std::vector<uint32_t> &keys = sites[__builtin_ctz(mask)];
  LaneAddresses request;
  for (size_t i = 0; i < keys.size(); ++i) {
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
      request[__builtin_ctz(lanes)] = addresses[__builtin_ctz(lanes)][i];
    count(table[keys[i] >> 1], keys[i] & 1, request, mask, counts);
  }
}

namespace {
struct Request {
  uint32_t key = 0, mask = 0;
  LaneAddresses addresses;
};
} // namespace

void WarpLog::flushDivergent(const NmSimSite *table, Counts &counts) {
  // The requests of each instruction, in the order of execution.
  std::vector<Request> requests;
  std::vector<std::vector<uint32_t>> ofKey(2 * numSites);
  std::vector<uint32_t> executions(2 * numSites);
  for (int lane = 0; lane < kWarp; ++lane) {
    std::fill(executions.begin(), executions.end(), 0);
    for (size_t i = 0; i < sites[lane].size(); ++i) {
      uint32_t key = sites[lane][i], n = executions[key]++;
      if (n == ofKey[key].size()) {
        ofKey[key].push_back(uint32_t(requests.size()));
        requests.emplace_back().key = key;
      }
      Request &request = requests[ofKey[key][n]];
      request.mask |= 1u << lane;
      request.addresses[lane] = addresses[lane][i];
    }
  }
  for (const Request &request : requests)
    count(table[request.key >> 1], request.key & 1, request.addresses,
          request.mask, counts);
}
