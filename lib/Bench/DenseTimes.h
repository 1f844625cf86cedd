//===- DenseTimes.h - Whether measurements repeat ---------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_DENSETIMES_H
#define NM_LIB_BENCH_DENSETIMES_H

#include "BenchCase.h"

#include <algorithm>
#include <map>
#include <string>

namespace nm {

/// What the dense product of each shape took so far. It is the same in all
/// cases of a shape, so that one which takes longer was measured while the
/// machine did something else.
class DenseTimes {
public:
  /// How much longer than the least a time may be.
  static constexpr double kMostAbove = 1.15;

  /// Adds a time, and says whether another of the shape agrees with it: none
  /// does with the first.
  bool add(const ProductShape &shape, double seconds) {
    auto [it, isFirst] = least.insert({shape.str(), seconds});
    if (isFirst)
      return false;
    bool agrees = seconds <= kMostAbove * it->second;
    it->second = std::min(it->second, seconds);
    return agrees;
  }

private:
  std::map<std::string, double> least;
};

} // namespace nm

#endif // NM_LIB_BENCH_DENSETIMES_H
