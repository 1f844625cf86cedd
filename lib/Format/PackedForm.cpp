//===- PackedForm.cpp - Condensed weights re-laid for a kernel ------------===//

#include "nm/Format/PackedForm.h"

#include "ColInfo.h"
#include "Shares.h"
#include "WindowScan.h"

#include "nm/Format/QuantizedSquares.h"
#include "nm/Format/SplitFloats.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

using namespace nm;
using namespace nm::detail;

Status PanelPacking::verify(const Pattern &pattern) const {
  if (panel < 1 || panel > kMaxBlock ||
      (panel % pattern.bn != 0 && pattern.bn % panel != 0))
    return Error{"expected a panel of at most " + std::to_string(kMaxBlock) +
                 " columns that is a multiple or a divisor of the block's " +
                 std::to_string(pattern.bn) + ", but got " +
                 std::to_string(panel)};
  if (isQuantized())
    return verifyQuantized(pattern);
  if (chunkColumns < 1 || panel % chunkColumns != 0)
    return Error{"expected the columns of a chunk to divide the panel's " +
                 std::to_string(panel) + ", but got " +
                 std::to_string(chunkColumns)};
  if (indexRows < 1 || indexRows > kMaxBlock)
    return Error{"expected 1 to " + std::to_string(kMaxBlock) +
                 " unit rows in an index row, but got " +
                 std::to_string(indexRows)};
  if (chunkRows < 1 || indexRows * pattern.bk % chunkRows != 0)
    return Error{"expected the rows of a chunk to divide an index row's " +
                 std::to_string(indexRows * pattern.bk) + ", but got " +
                 std::to_string(chunkRows)};
  if (Status status = verifyIndexBits(pattern); !status)
    return status;
  if (Status status = verifySplits(); !status)
    return status;
  if (Status status = verifyLaneWords(pattern); !status)
    return status;
  if (tileRows != 0)
    return verifyTileRows(pattern);
  return colInfo == 0 ? Status::success() : verifyColInfo(pattern);
}

Status PanelPacking::verifyIndexBits(const Pattern &pattern) const {
  if (hasBitmaps()) {
    if (indexRows > 1 && indexRows % pattern.n == 0 && pattern.m <= kMaxBits &&
        tileRows == 0)
      return Status::success();
    return Error{"expected index_rows of whole windows of at most " +
                 std::to_string(kMaxBits) +
                 " units, of which there are more than one row, and no "
                 "tile_rows for index_bits = 0, but got " +
                 str() + " of " + pattern.str()};
  }
  int64_t needed = std::max<int64_t>(1, pattern.indexBits());
  if (indexBits >= needed && indexBits <= 8)
    return Status::success();
  return Error{"expected " + std::to_string(needed) +
               " to 8 index bits for M = " + std::to_string(pattern.m) +
               ", but got " + std::to_string(indexBits)};
}

Status PanelPacking::verifyTileRows(const Pattern &pattern) const {
  if (panel % kTilePanel != 0 || chunkRows != 1 || chunkColumns != 1 ||
      colInfo != 0)
    return Error{
        "expected panels of a multiple of " + std::to_string(kTilePanel) +
        " columns without chunks or col_info for tile_rows, but got " + str()};
  if (tileRows < 1 || tileRows > kMaxBlock)
    return Error{"expected tile_rows of at most " + std::to_string(kMaxBlock) +
                 ", but got " + std::to_string(tileRows)};
  if (indexRows != 1 && tileRows % (indexRows * pattern.bk) != 0)
    return Error{"expected index_rows of whole units that divide a tile's " +
                 std::to_string(tileRows) + " rows, but got " + str()};
  return Status::success();
}

Status PanelPacking::verifySplits() const {
  if (splits < 1 || splits > kMaxSplits)
    return Error{"expected 1 to " + std::to_string(kMaxSplits) +
                 " splits, but got " + std::to_string(splits)};
  if (splits > 1 && tileRows == 0)
    return Error{"expected tile_rows with splits, but got " + str()};
  return Status::success();
}

Status PanelPacking::verifyLaneWords(const Pattern &pattern) const {
  if (laneWords < 1 || laneWords > kMaxBlock)
    return Error{"expected lane_words in 1.." + std::to_string(kMaxBlock) +
                 ", but got " + std::to_string(laneWords)};
  if (laneWords == 1)
    return Status::success();
  int64_t block = kLanes * kLaneRows * laneWords;
  if (pattern.bk != 1 || indexRows != kLaneRows || tileRows == 0 ||
      tileRows % block != 0)
    return Error{"expected units of one row, index_rows = 4 and tile_rows of a "
                 "multiple of " +
                 std::to_string(block) + " for lane_words, but got " + str() +
                 " of " + pattern.str()};
  return Status::success();
}

Status PanelPacking::verifyQuantized(const Pattern &pattern) const {
  if (bits != 4 && bits != 8)
    return Error{"expected quantized values of 4 or 8 bits, but got " +
                 std::to_string(bits)};
  if (panel < kSquare || (panel & (panel - 1)) != 0)
    return Error{
        "expected panels of 16, 32, 64, ... columns for bits, but got " +
        str()};
  PanelPacking wanted{panel, indexBits, chunkRows};
  wanted.bits = bits;
  if ((chunkRows != kSquare && chunkRows != 2) || *this != wanted)
    return Error{"expected chunk_rows of 2 or 16, and no chunk_columns, "
                 "index_rows, col_info, tile_rows, splits or lane_words, for "
                 "bits, but got " +
                 str()};
  if (chunkRows == 2 && pattern.keptRows() % 2 != 0)
    return Error{"expected windows that keep an even number of rows for bits "
                 "with chunk_rows = 2, but got " +
                 pattern.str()};
  return verifyIndexBits(pattern);
}

Status PanelPacking::verifyColInfo(const Pattern &pattern) const {
  if (colInfo < 0 || colInfo > kMaxBlock || colInfo % panel != 0)
    return Error{"expected col_info of at most " + std::to_string(kMaxBlock) +
                 " columns in whole panels of " + std::to_string(panel) +
                 ", but got " + std::to_string(colInfo)};
  if (indexBits != 8 || !isRowWise())
    return Error{"expected index_bits = 8 without chunks or index rows for "
                 "col_info, but got " +
                 str()};
  if (unitsOfList(pattern) >= pattern.m)
    return Error{"expected the " + std::to_string(colInfo) +
                 " columns of col_info to keep fewer than the " +
                 std::to_string(pattern.m) +
                 " units of a window between them, but " +
                 std::to_string(unitsOfList(pattern) / pattern.n) +
                 " units of columns that keep " + std::to_string(pattern.n) +
                 " each may keep " + std::to_string(unitsOfList(pattern)) +
                 ": no rows of A would be left out"};
  return Status::success();
}

std::string PanelPacking::str() const {
  std::string text = "panel = " + std::to_string(panel) +
                     ", index_bits = " + std::to_string(indexBits);
  auto append = [&](const char *name, int64_t value) {
    if (value != 1)
      text += std::string(", ") + name + " = " + std::to_string(value);
  };
  append("chunk_rows", chunkRows);
  append("chunk_columns", chunkColumns);
  append("index_rows", indexRows);
  if (colInfo != 0)
    text += ", col_info = " + std::to_string(colInfo);
  if (tileRows != 0)
    text += ", tile_rows = " + std::to_string(tileRows);
  append("splits", splits);
  append("lane_words", laneWords);
  if (isQuantized())
    text += ", bits = " + std::to_string(bits);
  return text;
}

int64_t PanelPacking::windowStep(const Pattern &pattern) const {
  if (isQuantized())
    return squareWindows(pattern);
  if (tileRows != 0)
    return tileRows / std::gcd(tileRows, pattern.keptRows());
  return indexRows / std::gcd(indexRows, pattern.n);
}

int64_t nm::indexWordBytes(int64_t bytes, int64_t offset) {
  int64_t word = 16;
  while (word > bytes - offset)
    word /= 2;
  return word;
}

int64_t PanelPacking::byteOfGroup(const Pattern &pattern, int64_t group,
                                  int64_t byte) const {
  int64_t bytes = bytesPerGroup(pattern), begin = 0, word;
  while (begin + (word = indexWordBytes(bytes, begin)) <= byte)
    begin += word;
  return groups(pattern) * begin + group * word + byte - begin;
}

// Rows that are re-laid together: a panel's lines of one row are far apart on
// one side, so both sides are walked by as many rows as stay in the cache.
static constexpr int64_t kRowsTogether = 32;

namespace {
/// Panels of a matrix that a thread does.
struct PanelRange {
  int64_t first, end;
};
} // namespace

/// Calls `fn(condensed, packed, count)` for runs of values of some panels that
/// are contiguous on both sides, with their places there. A stored value has
/// `bytes`.
template <typename Fn>
static void forEachRun(const Pattern &pattern, const PanelPacking &packing,
                       int64_t bytes, int64_t k, int64_t n, PanelRange range,
                       Fn fn) {
  int64_t rows = pattern.condensedRows(k), columns = pattern.paddedColumns(n);
  auto [unused, chunkRows, width] = packing.valueShape(pattern, k, n);
  int64_t together = std::lcm(kRowsTogether, packing.chunkRows);
  // Chunks of one row stand side by side.
  int64_t run = packing.tileRows != 0    ? 1
                : packing.chunkRows == 1 ? packing.panel
                                         : packing.chunkColumns;
  for (int64_t r0 = 0; r0 < rows; r0 += together)
    for (int64_t p = range.first; p < range.end; ++p)
      for (int64_t r = r0; r < std::min(rows, r0 + together); ++r) {
        int64_t packed = (p * chunkRows + r / packing.chunkRows) * width;
        auto place = [&, chunkRows = chunkRows, width = width](int64_t c) {
          return packing.tileRows != 0
                     ? p * chunkRows * width +
                           packing.positionInTiles(r, c, bytes)
                     : packed + packing.positionInChunkRow(r, c);
        };
        int64_t begin = p * packing.panel;
        int64_t inside = std::min(packing.panel, columns - begin);
        for (int64_t c = 0; c < inside; c += run)
          fn(r * columns + begin + c, place(c), std::min(run, inside - c));
      }
}

/// All panels of a matrix of n columns.
static PanelRange allPanels(const Pattern &pattern, const PanelPacking &packing,
                            int64_t n) {
  return {0, packing.panels(pattern, n)};
}

/// Zeros what `packed` has for some panels of a packed array of `shape`, and
/// calls `fn(panels)`; on several threads where the array is large. Panels that
/// are padding belong to the last ones.
template <typename Word, typename Fn>
static void packPanels(Word *packed, std::array<int64_t, 3> shape,
                       int64_t panels, Fn fn) {
  int64_t size = shape[1] * shape[2];
  forEachShare(panels, size, [&](int64_t first, int64_t end) {
    int64_t last = end == panels ? shape[0] : end;
    std::fill(packed + first * size, packed + last * size, Word(0));
    fn(PanelRange{first, end});
  });
}

static void packSplits(const CondensedView &from, const PanelPacking &packing,
                       uint16_t *packed) {
  auto *values = static_cast<const float *>(from.values);
  packPanels(packed, packing.valueShape(from.pattern, from.k, from.n),
             packing.panels(from.pattern, from.n), [&](PanelRange range) {
               forEachRun(
                   from.pattern, packing, sizeof *packed, from.k, from.n, range,
                   [&](int64_t from, int64_t to, int64_t) {
                     auto splits = splitFloat(values[from], packing.splits);
                     for (int64_t split = 0; split < packing.splits; ++split)
                       packed[to + split * packing.splitStep()] = splits[split];
                   });
             });
}

static void unpackSplits(const uint16_t *packed, const PanelPacking &packing,
                         const Pattern &pattern, int64_t k, int64_t n,
                         float *values) {
  forEachRun(pattern, packing, sizeof *packed, k, n,
             allPanels(pattern, packing, n),
             [&](int64_t to, int64_t from, int64_t) {
               uint16_t splits[kMaxSplits] = {};
               for (int64_t split = 0; split < packing.splits; ++split)
                 splits[split] = packed[from + split * packing.splitStep()];
               values[to] = joinFloat(splits, packing.splits);
             });
}

/// Calls `fn(condensed, byte, shift)` for every value of some panels that is no
/// padding: its number among the condensed ones, and where its lowest bit is.
template <typename Fn>
static void forEachQuantized(const Pattern &pattern,
                             const PanelPacking &packing, int64_t k, int64_t n,
                             PanelRange range, Fn fn) {
  QuantizedSquares squares(packing, pattern);
  int64_t rows = pattern.condensedRows(k), columns = pattern.paddedColumns(n);
  auto [unused, count, bytes] = packing.valueShape(pattern, k, n);
  int64_t perByte = squares.valuesOfByte();
  for (int64_t p = range.first; p < range.end; ++p) {
    int64_t inside = std::min(packing.panel, columns - p * packing.panel);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < inside; ++c) {
        auto [square, value] = squares.offsetOf<int64_t>({r, c});
        fn(r * columns + p * packing.panel + c,
           (p * count + square) * bytes + value / perByte,
           value % perByte * packing.bits);
      }
  }
}

/// The number that is added to a quantized value before its bits are stored.
static int64_t biasOf(const PanelPacking &packing) {
  return int64_t(1) << (packing.bits - 1);
}

/// Columns that fill the last panel up, and rows that fill the last square up,
/// are zeros.
static void packQuantized(const CondensedView &from,
                          const PanelPacking &packing, uint8_t *packed) {
  auto *values = static_cast<const uint8_t *>(from.values);
  int64_t bias = biasOf(packing), mask = 2 * bias - 1;
  auto shape = packing.valueShape(from.pattern, from.k, from.n);
  int64_t size = shape[1] * shape[2];
  auto zeros =
      static_cast<uint8_t>(packing.bits == 4 ? bias << 4 | bias : bias);
  packPanels(packed, shape, shape[0], [&](PanelRange range) {
    std::fill(packed + range.first * size, packed + range.end * size, zeros);
    forEachQuantized(from.pattern, packing, from.k, from.n, range,
                     [&](int64_t from, int64_t byte, int64_t shift) {
                       int64_t kept = packed[byte] & ~(mask << shift),
                               biased = (values[from] + bias) & mask;
                       packed[byte] =
                           static_cast<uint8_t>(kept | biased << shift);
                     });
  });
}

static void unpackQuantized(const uint8_t *packed, const PanelPacking &packing,
                            const Pattern &pattern, int64_t k, int64_t n,
                            uint8_t *values) {
  int64_t bias = biasOf(packing);
  forEachQuantized(pattern, packing, k, n, allPanels(pattern, packing, n),
                   [&](int64_t to, int64_t byte, int64_t shift) {
                     values[to] = static_cast<uint8_t>(
                         (packed[byte] >> shift & (2 * bias - 1)) - bias);
                   });
}

void nm::packValues(const CondensedView &from, const PanelPacking &packing,
                    void *packed) {
  if (packing.isQuantized())
    return packQuantized(from, packing, static_cast<uint8_t *>(packed));
  if (packing.splits > 1)
    return packSplits(from, packing, static_cast<uint16_t *>(packed));
  dispatchWord(from.type, [&](auto word) {
    using Word = decltype(word);
    const Word *values = static_cast<const Word *>(from.values);
    Word *out = static_cast<Word *>(packed);
    packPanels(out, packing.valueShape(from.pattern, from.k, from.n),
               packing.panels(from.pattern, from.n), [&](PanelRange range) {
                 forEachRun(from.pattern, packing, sizeof(Word), from.k, from.n,
                            range,
                            [&](int64_t from, int64_t to, int64_t count) {
                              std::copy_n(values + from, count, out + to);
                            });
               });
  });
}

void nm::unpackValues(const void *packed, const PanelPacking &packing,
                      const Pattern &pattern, ElementType type, int64_t k,
                      int64_t n, void *values) {
  if (packing.isQuantized())
    return unpackQuantized(static_cast<const uint8_t *>(packed), packing,
                           pattern, k, n, static_cast<uint8_t *>(values));
  if (packing.splits > 1)
    return unpackSplits(static_cast<const uint16_t *>(packed), packing, pattern,
                        k, n, static_cast<float *>(values));
  dispatchWord(type, [&](auto word) {
    using Word = decltype(word);
    const Word *in = static_cast<const Word *>(packed);
    Word *out = static_cast<Word *>(values);
    forEachRun(pattern, packing, sizeof(Word), k, n,
               allPanels(pattern, packing, n),
               [&](int64_t to, int64_t from, int64_t count) {
                 std::copy_n(in + from, count, out + to);
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

/// Calls `fn(panel, unitRow, blockColumn, groups)` for each unit row of some
/// panels: its groups that are no padding begin with that of `blockColumn`.
template <typename Fn>
static void forEachGroupRow(const Pattern &pattern, const PanelPacking &packing,
                            int64_t k, int64_t n, PanelRange range, Fn fn) {
  int64_t units = pattern.unitRows(k);
  int64_t blocks = pattern.blockColumns(n);
  int64_t groups = packing.groups(pattern);
  for (int64_t u0 = 0; u0 < units; u0 += kRowsTogether)
    for (int64_t p = range.first; p < range.end; ++p) {
      int64_t block = p * packing.panel / pattern.bn;
      int64_t inside = std::min(groups, blocks - block);
      for (int64_t u = u0; u < std::min(units, u0 + kRowsTogether); ++u)
        fn(p, u, block, inside);
    }
}

namespace {
/// Reads and writes the fields of an index row.
class IndexRow {
public:
  IndexRow(const Pattern &pattern, const PanelPacking &packing)
      : pattern(pattern), packing(packing),
        groupBytes(packing.bytesPerGroup(pattern)) {
    if (packing.indexRows == 1)
      return;
    int64_t groups = packing.groups(pattern);
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t byte = 0; byte < groupBytes; ++byte)
        places.push_back(packing.byteOfGroup(pattern, g, byte));
  }

  uint8_t load(const uint8_t *row, int64_t unit, int64_t group) const {
    if (packing.hasBitmaps())
      return loadFromBitmap(row, unit, group);
    if (packing.indexRows == 1)
      return loadIndexField(row, packing.indexBits, group);
    uint8_t bytes[2] = {};
    Field field = fieldAt(unit, group);
    for (int64_t i = 0; i < field.bytes; ++i)
      bytes[i] = row[field.places[i]];
    unsigned word = bytes[0] | unsigned(bytes[1]) << 8;
    return static_cast<uint8_t>(word >> field.shift &
                                ((1u << packing.indexBits) - 1));
  }

  /// Stores the indices of the first `groups` groups of a unit row.
  void store(uint8_t *row, int64_t unit, const uint8_t *indices,
             int64_t groups) const {
    if (packing.hasBitmaps())
      return storeInBitmaps(row, unit, indices, groups);
    if (packing.indexRows == 1) {
      for (int64_t g = 0; g < groups; ++g)
        storeIndexField(row, packing.indexBits, g, indices[g]);
      return;
    }
    Field field = fieldAt(unit, 0);
    // Bytes may be anywhere, members among it: these are read once.
    const int64_t *place = field.places;
    int64_t step = groupBytes, shift = field.shift;
    if (field.bytes == 1) {
      for (int64_t g = 0; g < groups; ++g, place += step)
        row[*place] |= static_cast<uint8_t>(indices[g] << shift);
      return;
    }
    for (int64_t g = 0; g < groups; ++g, place += step) {
      unsigned word = unsigned(indices[g]) << shift;
      row[place[0]] |= static_cast<uint8_t>(word);
      row[place[1]] |= static_cast<uint8_t>(word >> 8);
    }
  }

private:
  struct Field {
    const int64_t *places;
    int64_t bytes, shift;
  };

  Field fieldAt(int64_t unit, int64_t group) const {
    int64_t bit = unit % packing.indexRows * packing.indexBits;
    int64_t shift = bit % 8;
    return {&places[group * groupBytes + bit / 8],
            shift + packing.indexBits > 8 ? 2 : 1, shift};
  }

  void storeInBitmaps(uint8_t *row, int64_t unit, const uint8_t *indices,
                      int64_t groups) const {
    int64_t first = packing.bitOfBitmap<int64_t>(pattern, unit, 0);
    const int64_t *place = places.data();
    int64_t step = groupBytes;
    for (int64_t g = 0; g < groups; ++g, place += step) {
      int64_t bit = first + indices[g];
      row[place[bit / 8]] |= static_cast<uint8_t>(1u << bit % 8);
    }
  }

  /// The position of the bit that as many others of the window stand before as
  /// units before `unit`; 0 if there is none.
  uint8_t loadFromBitmap(const uint8_t *row, int64_t unit,
                         int64_t group) const {
    int64_t before = unit % pattern.n;
    for (int64_t index = 0; index < pattern.m; ++index) {
      int64_t bit = packing.bitOfBitmap(pattern, unit, index);
      bool isKept = row[places[group * groupBytes + bit / 8]] >> bit % 8 & 1;
      if (isKept && before-- == 0)
        return static_cast<uint8_t>(index);
    }
    return 0;
  }

  Pattern pattern;
  PanelPacking packing;
  int64_t groupBytes;
  /// Where the bytes of each group's string lie.
  std::vector<int64_t> places;
};
} // namespace

void nm::packIndices(const CondensedView &from, const PanelPacking &packing,
                     uint8_t *packed, uint8_t *lists) {
  const Pattern &pattern = from.pattern;
  auto shape = packing.indexShape(pattern, from.k, from.n);
  auto [panels, rows, bytes] = shape;
  int64_t blocks = pattern.blockColumns(from.n);
  if (packing.hasLists()) {
    std::fill_n(packed, panels * rows * bytes, uint8_t(0));
    return packIndicesAndLists(from, packing, packed, lists);
  }
  IndexRow row(pattern, packing);
  auto store = [&, rows = rows, bytes = bytes](int64_t p, int64_t u,
                                               int64_t block, int64_t groups) {
    row.store(packed +
                  (p * rows + packing.storedRow(u) / packing.indexRows) * bytes,
              u, from.indices + u * blocks + block, groups);
  };
  packPanels(packed, shape, packing.panels(pattern, from.n),
             [&](PanelRange range) {
               forEachGroupRow(pattern, packing, from.k, from.n, range, store);
             });
}

void nm::unpackIndices(const uint8_t *packed, const PanelPacking &packing,
                       const Pattern &pattern, int64_t k, int64_t n,
                       uint8_t *indices, const uint8_t *lists) {
  if (packing.hasLists())
    return unpackIndicesAndLists(packed, lists, packing, pattern, k, n,
                                 indices);
  auto [panels, rows, bytes] = packing.indexShape(pattern, k, n);
  int64_t blocks = pattern.blockColumns(n);
  IndexRow row(pattern, packing);
  forEachGroupRow(pattern, packing, k, n, allPanels(pattern, packing, n),
                  [&, rows = rows, bytes = bytes](
                      int64_t p, int64_t u, int64_t block, int64_t groups) {
                    const uint8_t *stored =
                        packed +
                        (p * rows + packing.storedRow(u) / packing.indexRows) *
                            bytes;
                    for (int64_t g = 0; g < groups; ++g)
                      indices[u * blocks + block + g] = row.load(stored, u, g);
                  });
}
