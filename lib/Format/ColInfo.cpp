//===- ColInfo.cpp - Lists of the rows that columns use -------------------===//

#include "ColInfo.h"

#include <array>

using namespace nm;
using namespace nm::detail;

namespace {
/// The indices and the list of one window of a tile of columns.
class TileWindow {
public:
  TileWindow(const Pattern &pattern, const PanelPacking &packing, int64_t k,
             int64_t n, int64_t tile, int64_t window)
      : pattern(pattern), packing(packing), groups(packing.groups(pattern)),
        rows(pattern.unitRows(k)), blocks(pattern.blockColumns(n)),
        panels(packing.panelsOfTile()), tile(tile),
        firstRow(window * pattern.n) {}

  /// Calls `fn(packed, condensed)` with both places of every index.
  template <typename Fn>
  void forEachIndex(Fn fn) const {
    for (int64_t panel = 0; panel < panels; ++panel) {
      int64_t column = (tile * panels + panel) * packing.panel;
      int64_t block = column / pattern.bn;
      int64_t inside = std::min(groups, blocks - block);
      for (int64_t unit = 0; unit < pattern.n; ++unit)
        for (int64_t group = 0; group < inside; ++group)
          fn(place(panel, unit, group),
             (firstRow + unit) * blocks + block + group);
    }
  }

  int64_t entries() const { return packing.unitsOfList(pattern); }
  int64_t offsetOfEntry(int64_t entry) const {
    int64_t inPanel = entry / panels;
    return place(entry % panels, inPanel / groups, inPanel % groups);
  }

private:
  int64_t place(int64_t panel, int64_t unit, int64_t group) const {
    return ((tile * panels + panel) * rows + firstRow + unit) * groups + group;
  }

  const Pattern &pattern;
  const PanelPacking &packing;
  int64_t groups, rows, blocks, panels, tile, firstRow;
};
} // namespace

template <typename Fn>
static void forEachTileWindow(const Pattern &pattern,
                              const PanelPacking &packing, int64_t k, int64_t n,
                              Fn fn) {
  int64_t tiles = packing.indexShape(pattern, k, n)[0] / packing.panelsOfTile();
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t window = 0; window < pattern.windows(k); ++window)
      fn(TileWindow(pattern, packing, k, n, tile, window));
}

void nm::detail::packIndicesAndLists(const CondensedView &from,
                                     const PanelPacking &packing,
                                     uint8_t *packed, uint8_t *lists) {
  auto packWindow = [&](const TileWindow &window) {
    std::array<bool, 256> isUsed = {};
    window.forEachIndex([&](int64_t, int64_t condensed) {
      isUsed[from.indices[condensed]] = true;
    });
    std::array<uint8_t, 256> entryOf = {};
    int64_t count = 0;
    uint8_t last = 0;
    for (int64_t position = 0; position < from.pattern.m; ++position) {
      if (!isUsed[position])
        continue;
      last = static_cast<uint8_t>(position);
      entryOf[position] = static_cast<uint8_t>(count);
      lists[window.offsetOfEntry(count++)] = last;
    }
    // Entries that no index names are read all the same.
    for (; count < window.entries(); ++count)
      lists[window.offsetOfEntry(count)] = last;
    window.forEachIndex([&](int64_t place, int64_t condensed) {
      packed[place] = entryOf[from.indices[condensed]];
    });
  };
  forEachTileWindow(from.pattern, packing, from.k, from.n, packWindow);
}

void nm::detail::unpackIndicesAndLists(const uint8_t *packed,
                                       const uint8_t *lists,
                                       const PanelPacking &packing,
                                       const Pattern &pattern, int64_t k,
                                       int64_t n, uint8_t *indices) {
  forEachTileWindow(pattern, packing, k, n, [&](const TileWindow &window) {
    window.forEachIndex([&](int64_t place, int64_t condensed) {
      indices[condensed] = lists[window.offsetOfEntry(packed[place])];
    });
  });
}
