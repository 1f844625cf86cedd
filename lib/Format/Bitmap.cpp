//===- Bitmap.cpp - Weights as bits and the kept ones ---------------------===//

#include "nm/Format/Bitmap.h"

#include "nm/Format/SparseOperand.h"

#include <algorithm>
#include <array>
#include <string>

using namespace nm;

using Run = BitmapForm::Run<int64_t>;

BitmapForm BitmapForm::of(const Pattern &pattern) {
  return {mostKeptOfRows(pattern, kRunRows)};
}

Status BitmapForm::verify(const Pattern &pattern, ElementType type) {
  if (type != ElementType::F16 && type != ElementType::BF16)
    return Error{"expected weights of f16 or bf16 for a bitmap, but got " +
                 std::string(elementName(type))};
  if (int64_t slots = of(pattern).slots; slots > kMostSlots)
    return Error{"expected a pattern that keeps at most " +
                 std::to_string(kMostSlots) + " of each " +
                 std::to_string(kRunRows) + " rows for a bitmap, but " +
                 pattern.str() + " may keep " + std::to_string(slots)};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Calls `fn(step, first, column, run)` for each run of each column that is no
/// padding: the number of its step among those of all blocks, its step's first
/// row, its column of B, and the run in its block.
template <typename Fn>
static void forEachRun(const Pattern &pattern, int64_t k, int64_t n, Fn fn) {
  int64_t steps = BitmapForm::steps(pattern, k);
  for (int64_t column = 0; column < pattern.paddedColumns(n); ++column)
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t number = 0; number < BitmapForm::kRuns; ++number)
        fn(column / BitmapForm::kColumns * steps + step,
           step * BitmapForm::kStepRows, column,
           Run{column % BitmapForm::kColumns, number});
}

namespace {
/// The condensed rows that a column keeps of a run's rows, in the order of
/// their numbers; none where a row is not kept.
struct KeptOfRun {
  static constexpr int64_t kNone = -1;
  std::array<int64_t, BitmapForm::kRunRows> rows;

  KeptOfRun(const CondensedView &from, int64_t first, int64_t column);
};
} // namespace

KeptOfRun::KeptOfRun(const CondensedView &from, int64_t first, int64_t column) {
  rows.fill(kNone);
  const Pattern &pattern = from.pattern;
  int64_t end = first + BitmapForm::kRunRows;
  int64_t windowEnd =
      std::min((end - 1) / pattern.windowRows() + 1, pattern.windows(from.k));
  for (int64_t unit = first / pattern.windowRows() * pattern.n;
       unit < windowEnd * pattern.n; ++unit) {
    int64_t index =
        from.indices[unit * pattern.blockColumns(from.n) + column / pattern.bn];
    int64_t k = unit / pattern.n * pattern.windowRows() + index * pattern.bk;
    for (int64_t r = 0; r < pattern.bk; ++r)
      if (k + r >= first && k + r < end)
        rows[BitmapForm::numberOf<int64_t>((k + r) % BitmapForm::kStepRows)] =
            unit * pattern.bk + r;
  }
}

void nm::packBitmap(const CondensedView &from, void *values, uint8_t *bits) {
  const auto *in = static_cast<const uint16_t *>(from.values);
  auto *out = static_cast<uint16_t *>(values);
  const Pattern &pattern = from.pattern;
  BitmapForm form = BitmapForm::of(pattern);
  int64_t steps =
      BitmapForm::blocks(pattern, from.n) * BitmapForm::steps(pattern, from.k);
  std::fill_n(out, steps * form.valuesOfStep(), uint16_t(0));
  std::fill_n(bits, steps * BitmapForm::kStepBytes, uint8_t(0));
  forEachRun(pattern, from.k, from.n,
             [&](int64_t step, int64_t first, int64_t column, const Run &run) {
               KeptOfRun kept(from, first + run.number * BitmapForm::kRunRows,
                              column);
               int64_t slot = 0;
               for (int64_t i = 0; i < BitmapForm::kRunRows; ++i) {
                 if (kept.rows[i] == KeptOfRun::kNone)
                   continue;
                 out[step * form.valuesOfStep() +
                     BitmapForm::positionOf(run, slot++)] =
                     in[kept.rows[i] * pattern.paddedColumns(from.n) + column];
                 auto [byte, shift] = BitmapForm::bitOf(run, i);
                 bits[step * BitmapForm::kStepBytes + byte] |=
                     static_cast<uint8_t>(1 << shift);
               }
             });
}

void nm::unpackBitmap(const void *values, const uint8_t *bits,
                      const Pattern &pattern, int64_t k, int64_t n,
                      void *dense) {
  const auto *in = static_cast<const uint16_t *>(values);
  auto *out = static_cast<uint16_t *>(dense);
  BitmapForm form = BitmapForm::of(pattern);
  std::fill_n(out, k * n, uint16_t(0));
  forEachRun(
      pattern, k, n,
      [&](int64_t step, int64_t first, int64_t column, const Run &run) {
        int64_t slot = 0;
        for (int64_t i = 0; i < BitmapForm::kRunRows; ++i) {
          auto [byte, shift] = BitmapForm::bitOf(run, i);
          if ((bits[step * BitmapForm::kStepBytes + byte] >> shift & 1) == 0)
            continue;
          uint16_t value = in[step * form.valuesOfStep() +
                              BitmapForm::positionOf(run, slot++)];
          // Rows and columns past the end are padding.
          if (int64_t row = first + BitmapForm::rowOf(run.number, i);
              row < k && column < n)
            out[row * n + column] = value;
        }
      });
}
