//===- Prune.cpp - Magnitude pruning to a pattern -------------------------===//

#include "nm/Support/Prune.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace nm;

namespace {
/// Prunes the windows of one matrix one after the other.
class Pruner {
public:
  Pruner(const DenseView &dense, const Pattern &pattern, void *result)
      : dense(dense), pattern(pattern), result(result), energy(pattern.m),
        order(pattern.m) {}

  PruneReport run() {
    int64_t windows = pattern.windows(dense.k);
    int64_t blocks = pattern.blockColumns(dense.n);
    if (std::llabs(dense.strideN) <= std::llabs(dense.strideK)) {
      for (int64_t w = 0; w < windows; ++w)
        for (int64_t b = 0; b < blocks; ++b)
          pruneWindow(w, b);
    } else {
      for (int64_t b = 0; b < blocks; ++b)
        for (int64_t w = 0; w < windows; ++w)
          pruneWindow(w, b);
    }
    report.droppedEnergy =
        totalEnergy == 0 ? 0 : static_cast<double>(droppedEnergy / totalEnergy);
    return report;
  }

private:
  void pruneWindow(int64_t window, int64_t block) {
    int64_t kBegin = window * pattern.windowRows();
    int64_t units =
        std::min(pattern.m, (dense.k - kBegin + pattern.bk - 1) / pattern.bk);
    for (int64_t u = 0; u < units; ++u) {
      energy[u] = unitEnergy(kBegin + u * pattern.bk, block);
      order[u] = u;
    }
    if (units > pattern.n)
      std::nth_element(order.begin(), order.begin() + pattern.n,
                       order.begin() + units,
                       [&](int64_t a, int64_t b) { return before(a, b); });
    for (int64_t i = 0; i < units; ++i)
      copyUnit(kBegin + order[i] * pattern.bk, block, i < pattern.n);
    for (int64_t i = pattern.n; i < units; ++i)
      droppedEnergy += energy[order[i]];
  }

  /// Whether unit `a` is to be kept rather than unit `b`.
  bool before(int64_t a, int64_t b) const {
    bool aNan = std::isnan(energy[a]), bNan = std::isnan(energy[b]);
    if (aNan != bNan)
      return aNan;
    if (!aNan && energy[a] != energy[b])
      return energy[a] > energy[b];
    return a < b;
  }

  template <typename Fn>
  void forEachElement(int64_t k, int64_t block, Fn fn) {
    int64_t kEnd = std::min(dense.k, k + pattern.bk);
    int64_t cBegin = block * pattern.bn;
    int64_t cEnd = std::min(dense.n, cBegin + pattern.bn);
    for (int64_t r = k; r < kEnd; ++r)
      for (int64_t c = cBegin; c < cEnd; ++c)
        fn(r * dense.strideK + c * dense.strideN);
  }

  // The squares of an f64 may not fit in a double.
  long double unitEnergy(int64_t k, int64_t block) {
    long double sum = 0;
    forEachElement(k, block, [&](int64_t i) {
      long double value = loadAsDouble(dense.data, dense.type, i);
      sum += value * value;
    });
    totalEnergy += sum;
    return sum;
  }

  void copyUnit(int64_t k, int64_t block, bool kept) {
    int64_t size = elementSize(dense.type);
    const char *from = static_cast<const char *>(dense.data);
    char *to = static_cast<char *>(result);
    forEachElement(k, block, [&](int64_t i) {
      if (!isZero(dense.data, dense.type, i)) {
        ++report.nonZeros;
        report.dropped += !kept;
      }
      if (!kept)
        std::fill_n(to + i * size, size, 0);
      else if (to != from)
        std::copy_n(from + i * size, size, to + i * size);
    });
  }

  DenseView dense;
  Pattern pattern;
  void *result;
  std::vector<long double> energy;
  std::vector<int64_t> order;
  long double totalEnergy = 0, droppedEnergy = 0;
  PruneReport report;
};
} // namespace

PruneReport nm::prune(const DenseView &dense, const Pattern &pattern,
                      void *result) {
  return Pruner(dense, pattern, result).run();
}
