//===- LaunchReport.cpp - What simulated launches did ---------------------===//

#include "nm/Sim/Report.h"

#include <cstdio>

using namespace nm::sim;

void AccessCounts::add(const AccessCounts &other) {
  requests += other.requests;
  passes += other.passes;
  conflicts += other.conflicts;
  bytes += other.bytes;
}

void Counts::add(const Counts &other) {
  for (size_t kind = 0; kind < shared.size(); ++kind) {
    shared[kind].add(other.shared[kind]);
    global[kind].add(other.global[kind]);
  }
  barriers += other.barriers;
  collectives += other.collectives;
  copyGroups += other.copyGroups;
}

static const char *const kKinds[] = {"", "loads", "stores", "atomics",
                                     "asynchronous copies"};

static std::string perRequest(uint64_t count, uint64_t requests) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", double(count) / double(requests));
  return text;
}

static std::string describeShared(const char *kind,
                                  const AccessCounts &counts) {
  return "  shared " + std::string(kind) + ": " +
         std::to_string(counts.requests) + " requests, " +
         std::to_string(counts.passes) + " wavefronts (" +
         perRequest(counts.passes, counts.requests) + " a request), " +
         std::to_string(counts.conflicts) + " bank conflicts (" +
         perRequest(counts.conflicts, counts.requests) + "), " +
         std::to_string(counts.bytes) + " bytes\n";
}

static std::string describeGlobal(const char *kind,
                                  const AccessCounts &counts) {
  return "  global " + std::string(kind) + ": " +
         std::to_string(counts.requests) + " requests, " +
         std::to_string(counts.passes) + " sectors (" +
         perRequest(counts.passes, counts.requests) + " a request), " +
         std::to_string(counts.bytes) + " bytes\n";
}

static std::string describe(const std::array<int64_t, 3> &size) {
  std::string text = std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1)
    text += "x" + std::to_string(size[1]);
  if (size[2] != 1)
    text += "x" + std::to_string(size[2]);
  return text;
}

std::string LaunchReport::str() const {
  char time[32];
  std::snprintf(time, sizeof time, "%.3f", seconds);
  std::string text =
      "simulated " + kernel + ": " + describe(grid) + " blocks of " +
      describe(block) + " threads" +
      (describe(cluster) == "1" ? "" : " in clusters of " + describe(cluster)) +
      ", " + std::to_string(sharedBytes) + " bytes of shared memory, in " +
      time + " s\n";
  for (size_t kind = 1; kind < counts.shared.size(); ++kind)
    if (counts.shared[kind].requests)
      text += describeShared(kKinds[kind], counts.shared[kind]);
  for (size_t kind = 1; kind < counts.global.size(); ++kind)
    if (counts.global[kind].requests)
      text += describeGlobal(kKinds[kind], counts.global[kind]);
  text += "  " + std::to_string(counts.barriers) + " barriers of warps, " +
          std::to_string(counts.collectives) + " collective instructions, " +
          std::to_string(counts.copyGroups) + " groups of copies\n";
  return text;
}
