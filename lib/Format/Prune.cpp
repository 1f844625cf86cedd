//===- Prune.cpp - Magnitude pruning to a pattern -------------------------===//

#include "nm/Format/Prune.h"

#include "WindowScan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

using namespace nm;
using namespace nm::detail;

namespace {
/// Reads elements of a type that C++ has.
template <typename Number>
struct NativeReader {
  template <typename Word>
  Number operator()(Word word) const {
    static_assert(sizeof(Word) == sizeof(Number));
    Number number;
    std::memcpy(&number, &word, sizeof(number));
    return number;
  }
};

/// Reads elements of a type that C++ has not.
struct SmallFloatReader {
  ElementType type;

  template <typename Word>
  double operator()(Word word) const {
    return loadAsDouble(&word, type, 0);
  }
};

/// Prunes the windows of one matrix one after the other.
template <typename Word, typename Reader>
class Pruner {
public:
  Pruner(const DenseView &dense, const Pattern &pattern, Reader read,
         void *result)
      : dense(dense), pattern(pattern), read(read),
        result(static_cast<Word *>(result)),
        mask(nonZeroMask<Word>(dense.type)), energies(pattern.m),
        sorted(pattern.m) {}

  PruneReport run() {
    WindowScan<Word>(dense, pattern)
        .forEach([&](const WindowSlice<Word> &slice) {
          for (int64_t b = 0; b < slice.blocks; ++b)
            pruneWindow(slice, b);
        });
    if (totalEnergy != 0)
      report.droppedEnergy = static_cast<double>(droppedEnergy / totalEnergy);
    return report;
  }

private:
  // The squares of an f64 may not fit in a double.
  using Energy =
      std::conditional_t<std::is_same_v<Reader, NativeReader<double>>,
                         long double, double>;

  void pruneWindow(const WindowSlice<Word> &slice, int64_t block) {
    for (int64_t u = 0; u < slice.units; ++u)
      energies[u] = unitEnergy(slice, block, u);
    Energy least = leastKept(slice.units);
    // Units above the least kept energy are all kept; of those at it, the
    // lowest ones.
    int64_t above =
        std::count_if(energies.begin(), energies.begin() + slice.units,
                      [&](Energy e) { return e > least; });
    int64_t ties = pattern.n - above;
    for (int64_t u = 0; u < slice.units; ++u) {
      // No branches: which unit is kept is as good as random.
      bool tie = energies[u] == least;
      bool kept = (energies[u] > least) | (tie & (ties > 0));
      ties -= tie;
      droppedEnergy += kept ? Energy(0) : energies[u];
      copyUnit(slice, block, u, kept);
    }
  }

  /// The N-th largest energy of the window.
  Energy leastKept(int64_t units) {
    if (units <= pattern.n)
      return 0;
    auto end = std::copy_n(energies.begin(), units, sorted.begin());
    auto nth = sorted.begin() + pattern.n - 1;
    std::nth_element(sorted.begin(), nth, end, std::greater<Energy>());
    return *nth;
  }

  Energy unitEnergy(const WindowSlice<Word> &slice, int64_t block, int64_t u) {
    const Word *unit =
        slice.rows + u * pattern.bk * slice.rowStride + block * pattern.bn;
    Energy sum = 0;
    for (int64_t r = 0; r < pattern.bk; ++r)
      for (int64_t c = 0; c < pattern.bn; ++c) {
        Energy value = read(unit[r * slice.rowStride + c]);
        sum += value * value;
      }
    totalEnergy += sum;
    return std::isnan(sum) ? std::numeric_limits<Energy>::infinity() : sum;
  }

  void copyUnit(const WindowSlice<Word> &slice, int64_t block, int64_t u,
                bool kept) {
    int64_t row = u * pattern.bk, column = block * pattern.bn;
    int64_t k = slice.window * pattern.windowRows() + row;
    int64_t n = slice.firstBlock * pattern.bn + column;
    int64_t rows = std::min(pattern.bk, dense.k - k);
    int64_t columns = std::min(pattern.bn, dense.n - n);
    Word keep = kept ? static_cast<Word>(~Word(0)) : Word(0);
    const Word *from = slice.rows + row * slice.rowStride + column;
    Word *to = result + k * dense.strideK + n * dense.strideN;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) {
        Word word = from[r * slice.rowStride + c];
        bool nonZero = word & mask;
        report.nonZeros += nonZero;
        report.dropped += nonZero & !kept;
        to[r * dense.strideK + c * dense.strideN] = word & keep;
      }
  }

  DenseView dense;
  Pattern pattern;
  Reader read;
  Word *result;
  Word mask;
  std::vector<Energy> energies;
  std::vector<Energy> sorted;
  Energy totalEnergy = 0, droppedEnergy = 0;
  PruneReport report;
};
} // namespace

template <typename Word, typename Reader>
static PruneReport pruneWith(const DenseView &dense, const Pattern &pattern,
                             Reader read, void *result) {
  return Pruner<Word, Reader>(dense, pattern, read, result).run();
}

PruneReport nm::prune(const DenseView &dense, const Pattern &pattern,
                      void *result) {
  switch (dense.type) {
  case ElementType::F64:
    return pruneWith<uint64_t>(dense, pattern, NativeReader<double>(), result);
  case ElementType::F32:
    return pruneWith<uint32_t>(dense, pattern, NativeReader<float>(), result);
  case ElementType::I64:
    return pruneWith<uint64_t>(dense, pattern, NativeReader<int64_t>(), result);
  case ElementType::I32:
    return pruneWith<uint32_t>(dense, pattern, NativeReader<int32_t>(), result);
  case ElementType::I8:
    return pruneWith<uint8_t>(dense, pattern, NativeReader<int8_t>(), result);
  case ElementType::F16:
  case ElementType::BF16:
    return pruneWith<uint16_t>(dense, pattern, SmallFloatReader{dense.type},
                               result);
  case ElementType::F8E4M3:
    return pruneWith<uint8_t>(dense, pattern, SmallFloatReader{dense.type},
                              result);
  }
  return {};
}
