//===- BitmapStrings.cpp - Weights kept anywhere, as bits -----------------===//

#include "nm/Format/BitmapStrings.h"

#include "Shares.h"
#include "WindowScan.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace nm;
using namespace nm::detail;

Status BitmapStrings::verify(ElementType type) {
  if (type == ElementType::F16 || type == ElementType::BF16)
    return Status::success();
  return Error{"expected weights of f16 or bf16 for a bitmap of pattern 1:1, "
               "but got " +
               std::string(elementName(type))};
}

namespace {
/// Packs one step of a slice.
struct Step {
  const CondensedView &from;
  int64_t firstRow, firstColumn;
  uint16_t *values;
  uint8_t *bits;

  int64_t packRun(int64_t column, int64_t run, int64_t slot) const;
  void pack() const;
};
} // namespace

/// Stores a run from slot `slot` on, and returns the slot behind it.
int64_t Step::packRun(int64_t column, int64_t run, int64_t slot) const {
  if (firstColumn + column >= from.n)
    return slot;
  auto mask = nonZeroMask<uint16_t>(from.type);
  for (int64_t i = 0; i < BitmapStrings::kRunRows; ++i) {
    int64_t row = firstRow + BitmapStrings::rowOf(run, i);
    if (row >= from.k)
      continue;
    uint16_t value = static_cast<const uint16_t *>(
        from.values)[row * from.n + firstColumn + column];
    if ((value & mask) == 0)
      continue;
    values[BitmapStrings::positionOf(column, run, slot++)] = value;
    auto [byte, shift] = BitmapStrings::bitOf(column, run, i);
    bits[byte] |= static_cast<uint8_t>(1 << shift);
  }
  return slot;
}

void Step::pack() const {
  int64_t most = 0;
  for (int64_t column = 0; column < BitmapForm::kColumns; ++column)
    for (int64_t run = 0; run < BitmapForm::kRuns; ++run) {
      int64_t slot = 0;
      for (int64_t block = 0; block < BitmapStrings::kBlocks; ++block)
        slot = packRun(block * BitmapForm::kColumns + column, run, slot);
      most = std::max(most, slot);
    }
  bits[BitmapStrings::kCountByte] = static_cast<uint8_t>(most);
}

void nm::packBitmapStrings(const CondensedView &from, void *values,
                           uint8_t *bits) {
  int64_t slices = BitmapStrings::slices(from.n),
          steps = BitmapStrings::steps(from.k);
  std::memset(values, 0,
              slices * steps * BitmapStrings::kStepValues *
                  BitmapStrings::kValueBytes);
  std::memset(bits, 0, slices * steps * BitmapStrings::kStepBytes);
  forEachShare(slices, BitmapStrings::kColumns * from.k,
               [&](int64_t first, int64_t end) {
                 for (int64_t i = first * steps; i < end * steps; ++i)
                   Step{from, i % steps * BitmapStrings::kStepRows,
                        i / steps * BitmapStrings::kColumns,
                        static_cast<uint16_t *>(values) +
                            i * BitmapStrings::kStepValues,
                        bits + i * BitmapStrings::kStepBytes}
                       .pack();
               });
}
