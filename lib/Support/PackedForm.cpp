//===- PackedForm.cpp - Condensed weights re-laid for the CPU -------------===//

#include "nm/Support/PackedForm.h"

#include "WindowScan.h"

#include <algorithm>
#include <string>

using namespace nm;
using namespace nm::detail;

Status PanelPacking::verify(const Pattern &pattern) const {
  if (panel < 1 || panel > kMaxBlock ||
      (panel % pattern.bn != 0 && pattern.bn % panel != 0))
    return Error{"expected a panel of at most " + std::to_string(kMaxBlock) +
                 " columns that is a multiple or a divisor of the block's " +
                 std::to_string(pattern.bn) + ", but got " +
                 std::to_string(panel)};
  int64_t needed = std::max<int64_t>(1, pattern.indexBits());
  if (indexBits < needed || indexBits > 8)
    return Error{"expected " + std::to_string(needed) +
                 " to 8 index bits for M = " + std::to_string(pattern.m) +
                 ", but got " + std::to_string(indexBits)};
  return Status::success();
}

// Rows that are re-laid together: a panel's lines of one row are far apart on
// one side, so both sides are walked in pieces that stay in the cache.
static constexpr int64_t kRowsTogether = 32;

namespace {
/// The places that one row of one panel has on both sides.
struct PanelRow {
  int64_t condensed;
  int64_t packed;
  /// Columns of the panel that are no padding.
  int64_t columns;
};
} // namespace

template <typename Fn>
static void forEachPanelRow(int64_t rows, int64_t columns, int64_t panel,
                            Fn fn) {
  int64_t panels = (columns + panel - 1) / panel;
  for (int64_t r0 = 0; r0 < rows; r0 += kRowsTogether)
    for (int64_t p = 0; p < panels; ++p)
      for (int64_t r = r0; r < std::min(rows, r0 + kRowsTogether); ++r)
        fn(PanelRow{r * columns + p * panel, (p * rows + r) * panel,
                    std::min(panel, columns - p * panel)});
}

void nm::packValues(const CondensedView &from, const PanelPacking &packing,
                    void *packed) {
  dispatchWord(from.type, [&](auto word) {
    using Word = decltype(word);
    const Word *values = static_cast<const Word *>(from.values);
    Word *out = static_cast<Word *>(packed);
    forEachPanelRow(
        from.pattern.condensedRows(from.k), from.pattern.paddedColumns(from.n),
        packing.panel, [&](PanelRow row) {
          std::copy_n(values + row.condensed, row.columns, out + row.packed);
          std::fill_n(out + row.packed + row.columns,
                      packing.panel - row.columns, Word(0));
        });
  });
}

void nm::unpackValues(const void *packed, const PanelPacking &packing,
                      const Pattern &pattern, ElementType type, int64_t k,
                      int64_t n, void *values) {
  dispatchWord(type, [&](auto word) {
    using Word = decltype(word);
    const Word *in = static_cast<const Word *>(packed);
    Word *out = static_cast<Word *>(values);
    forEachPanelRow(pattern.condensedRows(k), pattern.paddedColumns(n),
                    packing.panel, [&](PanelRow row) {
                      std::copy_n(in + row.packed, row.columns,
                                  out + row.condensed);
                    });
  });
}

uint8_t nm::loadIndexField(const uint8_t *row, int64_t bits, int64_t group) {
  int64_t bit = group * bits;
  int64_t shift = bit % 8;
  unsigned word = row[bit / 8];
  // A field spans two bytes at most; the second may not exist if it fits.
  if (shift + bits > 8)
    word |= unsigned(row[bit / 8 + 1]) << 8;
  return static_cast<uint8_t>(word >> shift & ((1u << bits) - 1));
}

void nm::storeIndexField(uint8_t *row, int64_t bits, int64_t group,
                         uint8_t index) {
  int64_t bit = group * bits;
  int64_t shift = bit % 8;
  unsigned word = unsigned(index) << shift;
  row[bit / 8] |= static_cast<uint8_t>(word);
  if (shift + bits > 8)
    row[bit / 8 + 1] |= static_cast<uint8_t>(word >> 8);
}

/// Calls `fn(panel, unitRow, group, blockColumn)` for every group that is no
/// padding.
template <typename Fn>
static void forEachGroup(const Pattern &pattern, const PanelPacking &packing,
                         int64_t k, int64_t n, Fn fn) {
  int64_t units = pattern.unitRows(k);
  int64_t blocks = pattern.blockColumns(n);
  int64_t groups = packing.groups(pattern);
  int64_t panels = packing.panels(pattern, n);
  for (int64_t u0 = 0; u0 < units; u0 += kRowsTogether)
    for (int64_t p = 0; p < panels; ++p) {
      int64_t block = p * packing.panel / pattern.bn;
      int64_t inside = std::min(groups, blocks - block);
      for (int64_t u = u0; u < std::min(units, u0 + kRowsTogether); ++u)
        for (int64_t g = 0; g < inside; ++g)
          fn(p, u, g, block + g);
    }
}

void nm::packIndices(const CondensedView &from, const PanelPacking &packing,
                     uint8_t *packed) {
  const Pattern &pattern = from.pattern;
  auto [panels, units, bytes] = packing.indexShape(pattern, from.k, from.n);
  int64_t blocks = pattern.blockColumns(from.n);
  std::fill_n(packed, panels * units * bytes, uint8_t(0));
  forEachGroup(pattern, packing, from.k, from.n,
               [&, units = units, bytes = bytes](int64_t p, int64_t u,
                                                 int64_t g, int64_t block) {
                 storeIndexField(packed + (p * units + u) * bytes,
                                 packing.indexBits, g,
                                 from.indices[u * blocks + block]);
               });
}

void nm::unpackIndices(const uint8_t *packed, const PanelPacking &packing,
                       const Pattern &pattern, int64_t k, int64_t n,
                       uint8_t *indices) {
  auto [panels, units, bytes] = packing.indexShape(pattern, k, n);
  int64_t blocks = pattern.blockColumns(n);
  forEachGroup(pattern, packing, k, n,
               [&, units = units, bytes = bytes](int64_t p, int64_t u,
                                                 int64_t g, int64_t block) {
                 indices[u * blocks + block] = loadIndexField(
                     packed + (p * units + u) * bytes, packing.indexBits, g);
               });
}
