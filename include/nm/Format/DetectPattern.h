//===- DetectPattern.h - The sparsest pattern that holds --------*- C++ -*-===//

#ifndef NM_FORMAT_DETECTPATTERN_H
#define NM_FORMAT_DETECTPATTERN_H

#include "nm/Format/Condensed.h"
#include "nm/Format/Pattern.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nm {

/// What detectPattern looks for: every M with every block.
struct DetectOptions {
  std::vector<int64_t> windowUnits = {2, 4, 5, 8, 10, 12, 16, 32};
  /// bk x bn.
  std::vector<std::pair<int64_t, int64_t>> blocks = {
      {1, 1}, {1, 2}, {1, 4}, {1, 8}, {1, 16}, {1, 32},  {1, 64},  {1, 128},
      {2, 2}, {4, 1}, {4, 4}, {8, 1}, {8, 8},  {16, 16}, {32, 32}, {64, 64}};
  /// Patterns that are less sparse than this are not taken.
  double minSparsity = 0;
  /// The share of zeros from which weights are taken as unstructured that no
  /// pattern suits: above 1 for never.
  double leastUnstructured = 2;
};

struct Detection {
  /// The sparsest pattern that holds, if one was found.
  std::optional<Pattern> pattern;
  /// Why it was taken, or why none was: one clause, lower case.
  std::string reason;
};

/// Searches for the pattern of highest sparsity that holds in every window of
/// `dense`. Of equally sparse ones it takes the coarser block, then the smaller
/// M. A window must fit in k and a block in n, for else padding alone would
/// make a dense matrix look sparse. An all-zero matrix keeps one unit a window.
Detection detectPattern(const DenseView &dense,
                        const DetectOptions &options = {});

} // namespace nm

#endif // NM_FORMAT_DETECTPATTERN_H
