//===- Bitmap.cpp - Weights as bits and the kept ones ---------------------===//

#include "nm/Format/Bitmap.h"

#include "nm/Format/SparseOperand.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace nm;

using Run = BitmapForm::Run<int64_t>;

int64_t BitmapForm::rowsOfRun(const Pattern &pattern) {
  int64_t rows = pattern.windowRows();
  return rows == 2 * kWordRows || rows == 4 * kWordRows ? rows : kWordRows;
}

BitmapForm BitmapForm::of(const Pattern &pattern, int64_t bytes) {
  int64_t rows = rowsOfRun(pattern);
  return {mostKeptOfRows(pattern, rows), rows, bytes};
}

Status BitmapForm::verify(const Pattern &pattern, ElementType type) {
  if (!isSparseOperandType(type))
    return Error{"expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a "
                 "bitmap, but got " +
                 std::string(elementName(type))};
  BitmapForm form = of(pattern, elementSize(type));
  if (form.slots > form.mostSlots())
    return Error{"expected a pattern that keeps at most " +
                 std::to_string(form.mostSlots()) + " of each " +
                 std::to_string(form.runRows) + " rows for a bitmap, but " +
                 pattern.str() + " may keep " + std::to_string(form.slots)};
  if (form.bytes == 1 && form.slots % 2 != 0)
    return Error{"expected a pattern that keeps an even number of each " +
                 std::to_string(form.runRows) + " rows for a bitmap of " +
                 std::string(elementName(type)) + ", but " + pattern.str() +
                 " may keep " + std::to_string(form.slots)};
  return Status::success();
}

uint32_t BitmapForm::bitsBefore(int64_t count) const {
  uint32_t mask = 0;
  for (int64_t i = 0; i < count * kQuadRows; ++i) {
    auto [byte, shift] = bitOf<int64_t>({0, 0}, i);
    mask |= uint32_t(1) << (8 * byte + shift);
  }
  return mask;
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
           step * BitmapForm::rowsOfStep(pattern), column,
           Run{column % BitmapForm::kColumns, number});
}

static constexpr int64_t kNone = -1;

/// The condensed rows that a column keeps of the run of `form` that begins at
/// row `first`, in the order of their numbers; kNone where a row is not kept.
static std::vector<int64_t> listKept(const CondensedView &from,
                                     const BitmapForm &form, int64_t first,
                                     int64_t column) {
  std::vector<int64_t> rows(form.runRows, kNone);
  const Pattern &pattern = from.pattern;
  int64_t end = first + form.runRows;
  int64_t windowEnd =
      std::min((end - 1) / pattern.windowRows() + 1, pattern.windows(from.k));
  for (int64_t unit = first / pattern.windowRows() * pattern.n;
       unit < windowEnd * pattern.n; ++unit) {
    int64_t index =
        from.indices[unit * pattern.blockColumns(from.n) + column / pattern.bn];
    int64_t k = unit / pattern.n * pattern.windowRows() + index * pattern.bk;
    for (int64_t r = 0; r < pattern.bk; ++r)
      if (k + r >= first && k + r < end)
        rows[form.numberOf<int64_t>((k + r) % form.stepRows())] =
            unit * pattern.bk + r;
  }
  return rows;
}

void nm::packBitmap(const CondensedView &from, void *values, uint8_t *bits) {
  const Pattern &pattern = from.pattern;
  BitmapForm form = BitmapForm::of(pattern, elementSize(from.type));
  const auto *in = static_cast<const char *>(from.values);
  auto *out = static_cast<char *>(values);
  int64_t steps =
      BitmapForm::blocks(pattern, from.n) * BitmapForm::steps(pattern, from.k);
  std::fill_n(out, steps * form.valuesOfStep() * form.bytes, char(0));
  std::fill_n(bits, steps * form.stepBytes(), uint8_t(0));
  forEachRun(
      pattern, from.k, from.n,
      [&](int64_t step, int64_t first, int64_t column, const Run &run) {
        std::vector<int64_t> kept =
            listKept(from, form, first + run.number * form.runRows, column);
        int64_t slot = 0;
        for (int64_t i = 0; i < form.runRows; ++i) {
          if (kept[i] == kNone)
            continue;
          int64_t to =
                      step * form.valuesOfStep() + form.positionOf(run, slot++),
                  source = kept[i] * pattern.paddedColumns(from.n) + column;
          std::copy_n(in + source * form.bytes, form.bytes,
                      out + to * form.bytes);
          auto [byte, shift] = form.bitOf(run, i);
          bits[step * form.stepBytes() + byte] |=
              static_cast<uint8_t>(1 << shift);
        }
      });
}

void nm::unpackBitmap(const void *values, const uint8_t *bits,
                      const Pattern &pattern, ElementType type, int64_t k,
                      int64_t n, void *dense) {
  BitmapForm form = BitmapForm::of(pattern, elementSize(type));
  const auto *in = static_cast<const char *>(values);
  auto *out = static_cast<char *>(dense);
  std::fill_n(out, k * n * form.bytes, char(0));
  forEachRun(pattern, k, n,
             [&](int64_t step, int64_t first, int64_t column, const Run &run) {
               int64_t slot = 0;
               for (int64_t i = 0; i < form.runRows; ++i) {
                 auto [byte, shift] = form.bitOf(run, i);
                 if ((bits[step * form.stepBytes() + byte] >> shift & 1) == 0)
                   continue;
                 int64_t place =
                     step * form.valuesOfStep() + form.positionOf(run, slot++);
                 // Rows and columns past the end are padding.
                 if (int64_t row = first + form.rowOf(run.number, i);
                     row < k && column < n)
                   std::copy_n(in + place * form.bytes, form.bytes,
                               out + (row * n + column) * form.bytes);
               }
             });
}
