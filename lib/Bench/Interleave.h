//===- Interleave.h - Timing two things in turns ----------------*- C++ -*-===//
//
// A small harness of our own: Google Benchmark times one function after the
// other, so that a change of clock or load in between falls on one of the two,
// and it gives no way to take turns and to compare medians.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_BENCH_INTERLEAVE_H
#define NM_LIB_BENCH_INTERLEAVE_H

#include <cstddef>
#include <functional>
#include <vector>

namespace nm {

/// Times of one contender, in seconds.
struct Timings {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  size_t runs = 0;

  static Timings of(std::vector<double> seconds);
};

/// Calls each of `contenders` in turns of some milliseconds for about `seconds`
/// in all, and at least five turns each. Between turns it waits, so that
/// threads of one which still spin do not slow down the other; the first call
/// of a turn, which wakes them again, is not counted.
std::vector<Timings>
timeInTurns(const std::vector<std::function<void()>> &contenders,
            double seconds);

} // namespace nm

#endif // NM_LIB_BENCH_INTERLEAVE_H
