//===- CheckWays.cpp - Which ways the drawn cases took --------------------===//
//
// usage: NMGpuCheckWays FOLDER...
//
// FOLDERs are those that NMGpuRunCases has run all parts of the cases in.
// Prints how many cases took each way, and fails where none took one that the
// generator is meant to reach.
//
//===----------------------------------------------------------------------===//

#include "GpuWays.h"

#include <cstdio>

using namespace nm::test;

int main(int argc, char **argv) {
  WayCounts ways;
  for (int i = 1; i < argc; ++i)
    if (!addWays(argv[i], ways)) {
      std::fprintf(stderr, "%s: expected ways.txt of NMGpuRunCases\n", argv[i]);
      return 2;
    }
  printWays(ways);
  int missing = 0;
  for (const std::string &way : expectedWays()) {
    if (ways.count(way))
      continue;
    std::printf("no case took the way '%s'\n", way.c_str());
    ++missing;
  }
  return missing != 0;
}
