//===- WindowRanges.h - Parts of weights, worked on at once -----*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_WINDOWRANGES_H
#define NM_LIB_RUNTIME_WINDOWRANGES_H

#include "nm/Format/Condensed.h"
#include "nm/Runtime/ThreadPool.h"

#include <algorithm>
#include <cstdint>

namespace nm::detail {

/// Cuts weights along k into parts of whole windows, which share no unit and no
/// element of any form.
class WindowRanges {
public:
  WindowRanges(const DenseView &dense, const Pattern &pattern)
      : dense(dense), pattern(pattern), windows(pattern.windows(dense.k)) {
    constexpr int64_t kPartsPerThread = 4;
    int64_t parts = ThreadPool::global().numThreads() * kPartsPerThread;
    windowsPerPart = std::max<int64_t>((windows + parts - 1) / parts, 1);
  }

  int64_t count() const {
    return (windows + windowsPerPart - 1) / windowsPerPart;
  }

  /// Where part `i` begins.
  int64_t firstWindow(int64_t i) const { return i * windowsPerPart; }
  int64_t firstRow(int64_t i) const {
    return firstWindow(i) * pattern.windowRows();
  }

  DenseView part(int64_t i) const {
    DenseView view = dense;
    view.data = static_cast<const char *>(dense.data) +
                firstRow(i) * dense.strideK * elementSize(dense.type);
    view.k =
        std::min(windowsPerPart * pattern.windowRows(), dense.k - firstRow(i));
    return view;
  }

  /// Calls `fn(i)` for each part, several at once.
  template <typename Fn>
  void forEach(Fn fn) const {
    ThreadPool::global().parallelFor(
        count(), [](int64_t i, void *ctx) { (*static_cast<Fn *>(ctx))(i); },
        &fn);
  }

private:
  DenseView dense;
  Pattern pattern;
  int64_t windows;
  int64_t windowsPerPart;
};

} // namespace nm::detail

#endif // NM_LIB_RUNTIME_WINDOWRANGES_H
