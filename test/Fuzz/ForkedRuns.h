//===- ForkedRuns.h - Work in a child that may die --------------*- C++ -*-===//

#ifndef NM_TEST_FUZZ_FORKEDRUNS_H
#define NM_TEST_FUZZ_FORKEDRUNS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// How a child has ended.
struct Ending {
  enum Kind { Done, Died, TookTooMuch };
  Kind kind = Done;
  /// The last number that it was at.
  uint64_t number = 0;
  /// For how many of the numbers the work returned true.
  uint64_t accepted = 0;
  /// What it died of: a signal, or an exit.
  std::string cause;
  /// The functions that it died in, from the innermost on, as far as their
  /// names are known.
  std::vector<std::string> stack;
};

/// Runs `work` on numbers from `first` to before `end` in a forked child, one
/// after the other, until one ends it. Each has 10 seconds of the processor,
/// and all have 8 GiB of memory.
Ending runForked(uint64_t first, uint64_t end,
                 const std::function<bool(uint64_t)> &work);

#endif // NM_TEST_FUZZ_FORKEDRUNS_H
