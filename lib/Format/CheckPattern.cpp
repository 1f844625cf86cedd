//===- CheckPattern.cpp - Does a matrix obey its pattern ------------------===//

#include "nm/Format/CheckPattern.h"

#include "WindowScan.h"
#include "nm/Format/Unstructured.h"

#include <algorithm>
#include <vector>

using namespace nm;
using namespace nm::detail;

/// `column 3` or `columns 0..31`, last included.
static std::string range(const char *what, int64_t begin, int64_t end) {
  std::string text = what;
  if (end - begin == 1)
    return text + " " + std::to_string(begin);
  return text + "s " + std::to_string(begin) + ".." + std::to_string(end - 1);
}

void PatternReport::moveAlongK(int64_t rows) {
  if (holds)
    return;
  kBegin += rows;
  kEnd += rows;
}

void PatternReport::add(const PatternReport &part) {
  bool isEarlier = !part.holds &&
                   (holds || part.blockColumn < blockColumn ||
                    (part.blockColumn == blockColumn && part.kBegin < kBegin));
  PatternReport sum = isEarlier ? part : *this;
  sum.violations = violations + part.violations;
  sum.windows = windows + part.windows;
  sum.nonZeros = nonZeros + part.nonZeros;
  sum.negativeZeros = negativeZeros + part.negativeZeros;
  *this = sum;
}

std::string PatternReport::describe(std::string_view name) const {
  std::string tensor = "'" + std::string(name) + "'";
  if (holds)
    return tensor + " obeys pattern " + pattern.str();
  bool isSingle = pattern.bk == 1 && pattern.bn == 1;
  std::string blocks =
      std::to_string(pattern.bk) + "x" + std::to_string(pattern.bn) + " blocks";
  if (pattern.isUnstructured())
    return "expected " + tensor + " to have at most " +
           std::to_string(pattern.n) +
           (isSingle ? " non-zeros" : " weights in non-zero " + blocks) +
           " (pattern " + pattern.str() + "), but got " + std::to_string(count);
  std::string unit = isSingle ? "non-zeros" : "non-zero " + blocks;
  std::string text = "expected " + tensor + " to have at most " +
                     std::to_string(pattern.n) + " " + unit + " in every " +
                     std::to_string(pattern.m) + " along k (pattern " +
                     pattern.str() + "), but got " + std::to_string(count) +
                     " in " + range("column", columnBegin, columnEnd) + ", k " +
                     std::to_string(kBegin) + ".." + std::to_string(kEnd - 1);
  if (violations > 1)
    text += "; " + std::to_string(violations) + " of " +
            std::to_string(windows) + " windows break it";
  return text;
}

/// Adds the non-zeros and the -0.0 of `count` words.
template <typename Word>
static void countZeros(const Word *words, int64_t count, Word mask,
                       PatternReport &report) {
  Word sign = static_cast<Word>(~mask);
  uint32_t nonZeros = 0, negativeZeros = 0;
  for (int64_t i = 0; i < count; ++i) {
    nonZeros += (words[i] & mask) != 0;
    negativeZeros += sign != 0 && words[i] == sign;
  }
  report.nonZeros += nonZeros;
  report.negativeZeros += negativeZeros;
}

static void recordViolation(PatternReport &report, const DenseView &dense,
                            int64_t window, int64_t block, int64_t count) {
  const Pattern &pattern = report.pattern;
  int64_t kBegin = window * pattern.windowRows();
  bool first = report.holds || block < report.blockColumn ||
               (block == report.blockColumn && kBegin < report.kBegin);
  report.holds = false;
  ++report.violations;
  if (!first)
    return;
  report.blockColumn = block;
  report.columnBegin = block * pattern.bn;
  report.columnEnd = std::min(dense.n, report.columnBegin + pattern.bn);
  report.kBegin = kBegin;
  report.kEnd = std::min(dense.k, kBegin + pattern.windowRows());
  report.count = count;
}

template <typename Word>
static PatternReport checkWords(const DenseView &dense,
                                const Pattern &pattern) {
  PatternReport report;
  report.pattern = pattern;
  report.windows = pattern.windows(dense.k) * pattern.blockColumns(dense.n);
  Word mask = nonZeroMask<Word>(dense.type);
  WindowScan<Word> scan(dense, pattern);
  std::vector<uint8_t> occupied(pattern.m * scan.sliceBlocks());
  std::vector<uint16_t> counts(scan.sliceBlocks());
  scan.forEach([&](const WindowSlice<Word> &slice) {
    for (int64_t r = 0; r < slice.units * pattern.bk; ++r)
      countZeros(slice.rows + r * slice.rowStride, slice.blocks * pattern.bn,
                 mask, report);
    findOccupied(slice, pattern, mask, occupied.data());
    countOccupied(occupied.data(), slice.units, slice.blocks, counts.data());
    for (int64_t b = 0; b < slice.blocks; ++b)
      if (counts[b] > pattern.n)
        recordViolation(report, dense, slice.window, slice.firstBlock + b,
                        counts[b]);
  });
  return report;
}

/// The report of unstructured weights, all of which are one window.
static PatternReport checkUnstructured(const DenseView &dense,
                                       const Pattern &pattern) {
  // Pattern 1:1 holds for every matrix; the check counts the weights.
  PatternReport report = checkPattern(dense, Pattern());
  report.pattern = pattern;
  report.windows = 1;
  // Units are kept whole.
  int64_t kept = pattern.bk * pattern.bn == 1 ? report.nonZeros
                                              : countKept(dense, pattern);
  if (kept <= unstructuredPlaces(pattern, dense.k, dense.n))
    return report;
  report.holds = false;
  report.violations = 1;
  report.columnEnd = dense.n;
  report.kEnd = dense.k;
  report.count = kept;
  return report;
}

PatternReport nm::checkPattern(const DenseView &dense, const Pattern &pattern) {
  if (pattern.isUnstructured())
    return checkUnstructured(dense, pattern);
  return dispatchWord(dense.type, [&](auto word) {
    return checkWords<decltype(word)>(dense, pattern);
  });
}
