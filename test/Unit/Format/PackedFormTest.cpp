//===- PackedFormTest.cpp -------------------------------------------------===//

#include "nm/Format/PackedForm.h"

#include "DrawMatrix.h"
#include "nm/Format/MatrixDescriptor.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace nm;
using namespace nm::test;

/// The field by its definition, one bit at a time.
static int64_t fieldByBits(const uint8_t *row, int64_t bits, int64_t group) {
  int64_t field = 0;
  for (int64_t i = 0; i < bits; ++i) {
    int64_t bit = group * bits + i;
    field |= int64_t(row[bit / 8] >> (bit % 8) & 1) << i;
  }
  return field;
}

TEST(PackedForm, FieldsOfEveryWidth) {
  Random random(1);
  for (int64_t bits = 1; bits <= 8; ++bits)
    for (int64_t groups = 1; groups <= 33; ++groups) {
      std::vector<uint8_t> row((groups * bits + 7) / 8);
      std::vector<uint8_t> fields(groups);
      for (int64_t g = 0; g < groups; ++g) {
        fields[g] = draw(random, 0, (1 << bits) - 1);
        storeIndexField(row.data(), bits, g, fields[g]);
      }
      for (int64_t g = 0; g < groups; ++g) {
        ASSERT_EQ(fieldByBits(row.data(), bits, g), fields[g]);
        ASSERT_EQ(loadIndexField(row.data(), bits, g), fields[g]);
      }
    }
}

TEST(PackedForm, FieldsAreLittleEndian) {
  uint8_t row[2] = {0, 0};
  storeIndexField(row, 3, 0, 5);
  storeIndexField(row, 3, 2, 6);
  EXPECT_EQ(row[0], 0x85);
  EXPECT_EQ(row[1], 0x01);
}

TEST(PackedForm, Sizes) {
  Pattern elements{2, 4, 1, 1};
  PanelPacking packing{16, 2};
  EXPECT_EQ(packing.groups(elements), 16);
  EXPECT_EQ(packing.bytesPerIndexRow(elements), 4);
  EXPECT_EQ(packing.valueShape(elements, 10, 33),
            (std::array<int64_t, 3>{3, 6, 16}));
  EXPECT_EQ(packing.indexShape(elements, 10, 33),
            (std::array<int64_t, 3>{3, 6, 4}));
  // A panel that is half a block has one group; one of two blocks has two.
  Pattern blocks{8, 32, 2, 32};
  EXPECT_EQ((PanelPacking{16, 5}).groups(blocks), 1);
  EXPECT_EQ((PanelPacking{16, 5}).valueShape(blocks, 64, 33),
            (std::array<int64_t, 3>{4, 16, 16}));
  EXPECT_EQ((PanelPacking{16, 5}).indexShape(blocks, 64, 33),
            (std::array<int64_t, 3>{4, 8, 1}));
  EXPECT_EQ((PanelPacking{64, 5}).groups(blocks), 2);
  EXPECT_EQ((PanelPacking{64, 5}).indexShape(blocks, 64, 33),
            (std::array<int64_t, 3>{1, 8, 2}));
}

static std::string errorOf(PanelPacking packing, const Pattern &pattern) {
  Status status = packing.verify(pattern);
  return status ? "" : status.error().message;
}

TEST(PackedForm, VerifiesAgainstThePattern) {
  EXPECT_EQ(errorOf({16, 2}, {2, 4, 1, 1}), "");
  EXPECT_EQ(errorOf({16, 5}, {8, 32, 1, 32}), "");
  EXPECT_EQ(errorOf({96, 8}, {8, 32, 1, 32}), "");
  EXPECT_EQ(errorOf({1, 1}, {1, 1, 1, 1}), "");
  EXPECT_EQ(errorOf({12, 5}, {8, 32, 1, 32}),
            "expected a panel of at most 65536 columns that is a multiple or a "
            "divisor of the block's 32, but got 12");
  EXPECT_EQ(errorOf({0, 5}, {8, 32, 1, 32}),
            "expected a panel of at most 65536 columns that is a multiple or a "
            "divisor of the block's 32, but got 0");
  EXPECT_EQ(errorOf({kMaxBlock * 2, 5}, {8, 32, 1, 32}),
            "expected a panel of at most 65536 columns that is a multiple or a "
            "divisor of the block's 32, but got 131072");
  EXPECT_EQ(errorOf({16, 2}, {2, 5, 1, 1}),
            "expected 3 to 8 index bits for M = 5, but got 2");
  EXPECT_EQ(errorOf({16, 9}, {2, 5, 1, 1}),
            "expected 3 to 8 index bits for M = 5, but got 9");
  EXPECT_EQ(errorOf({16, 0}, {1, 1, 1, 1}),
            "expected index_rows of whole windows of at most 32 units, of "
            "which there are more than one row, and no tile_rows for "
            "index_bits = 0, but got panel = 16, index_bits = 0 of 1:1");
  EXPECT_EQ(errorOf({16, 0, 1, 1, 8}, {8, 32, 1, 1}), "");
  EXPECT_NE(errorOf({16, 0, 1, 1, 8}, {16, 32, 1, 1}), "");
  EXPECT_NE(errorOf({16, 0, 1, 1, 8}, {8, 33, 1, 1}), "");
}

/// A panel that suits the block: a multiple or a divisor of its columns.
static int64_t drawPanel(Random &random, const Pattern &pattern) {
  if (draw(random, 0, 1))
    return pattern.bn * draw(random, 1, 20);
  int64_t panel;
  do
    panel = draw(random, 1, pattern.bn);
  while (pattern.bn % panel);
  return panel;
}

/// The bytes of a group's string, put together from its words.
static std::vector<uint8_t> stringOf(const uint8_t *row, int64_t bytes,
                                     int64_t groups, int64_t group) {
  std::vector<uint8_t> string;
  int64_t wordsBegin = 0;
  for (int64_t word : {16, 8, 4, 2, 1})
    while (bytes - int64_t(string.size()) >= word) {
      const uint8_t *from = row + wordsBegin + group * word;
      string.insert(string.end(), from, from + word);
      wordsBegin += groups * word;
    }
  return string;
}

/// The position of the bit of a window that `before` others stand before.
static int64_t positionByBits(const uint8_t *string, int64_t firstBit,
                              int64_t before) {
  int64_t bit = firstBit;
  for (;; ++bit)
    if (fieldByBits(string, 1, bit) == 1 && before-- == 0)
      return bit - firstBit;
}

static void expectIndices(const Condensed &form, const PanelPacking &packing,
                          const std::vector<uint8_t> &indices) {
  const Pattern &p = form.pattern;
  auto [panels, rows, bytes] = packing.indexShape(p, form.k, form.n);
  int64_t groups = packing.groups(p), set = 0, expectedSet = 0;
  for (uint8_t byte : indices)
    set += __builtin_popcount(byte);
  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t u = 0; u < p.unitRows(form.k); ++u)
      for (int64_t g = 0; g < groups; ++g) {
        const uint8_t *row =
            indices.data() + (panel * rows + u / packing.indexRows) * bytes;
        int64_t block = panel * packing.panel / p.bn + g;
        if (packing.hasBitmaps()) {
          if (block >= p.blockColumns(form.n))
            continue;
          auto string = stringOf(row, packing.bytesPerGroup(p), groups, g);
          int64_t window = u % packing.indexRows / p.n;
          ASSERT_EQ(positionByBits(string.data(), window * p.m, u % p.n),
                    form.indices[u * p.blockColumns(form.n) + block]);
          ++expectedSet;
          continue;
        }
        int64_t expected =
            block < p.blockColumns(form.n)
                ? form.indices[u * p.blockColumns(form.n) + block]
                : 0;
        int64_t field =
            packing.indexRows == 1
                ? fieldByBits(row, packing.indexBits, g)
                : fieldByBits(
                      stringOf(row, packing.bytesPerGroup(p), groups, g).data(),
                      packing.indexBits, u % packing.indexRows);
        ASSERT_EQ(field, expected);
        expectedSet += __builtin_popcount(expected);
      }
  // Bits that no group owns are zero.
  ASSERT_EQ(set, expectedSet);
}

static void expectPacked(const Condensed &form, const PanelPacking &packing) {
  const Pattern &p = form.pattern;
  auto [panels, rows, width] = packing.valueShape(p, form.k, form.n);
  auto [indexPanels, indexRows, bytes] = packing.indexShape(p, form.k, form.n);
  int64_t size = elementSize(form.type);
  std::vector<char> values(panels * rows * width * size, 0x5a);
  std::vector<uint8_t> indices(indexPanels * indexRows * bytes, 0xa5);
  packValues(form.view(), packing, values.data());
  packIndices(form.view(), packing, indices.data());

  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t r = 0; r < rows * packing.chunkRows; ++r)
      for (int64_t c = 0; c < packing.panel; ++c) {
        int64_t column = panel * packing.panel + c;
        int64_t chunk = c / packing.chunkColumns;
        int64_t inChunk = r % packing.chunkRows * packing.chunkColumns +
                          c % packing.chunkColumns;
        int64_t place = (panel * rows + r / packing.chunkRows) * width +
                        chunk * packing.chunkRows * packing.chunkColumns +
                        inChunk;
        double expected =
            column < p.paddedColumns(form.n) && r < p.condensedRows(form.k)
                ? form.value(r, column)
                : 0;
        ASSERT_EQ(loadAsDouble(values.data(), form.type, place), expected);
      }
  expectIndices(form, packing, indices);

  Condensed back(p, form.type, form.k, form.n);
  unpackValues(values.data(), packing, p, form.type, form.k, form.n,
               back.values.data());
  unpackIndices(indices.data(), packing, p, form.k, form.n,
                back.indices.data());
  ASSERT_EQ(back.values, form.values);
  ASSERT_EQ(back.indices, form.indices);
}

/// Chunks and index rows that suit the pattern and the panel.
static void drawChunks(Random &random, const Pattern &pattern,
                       PanelPacking &packing) {
  packing.indexRows = draw(random, 1, 40);
  // Bitmaps, where whole windows have more than one row.
  int64_t windows = draw(random, 0, 3);
  if (pattern.m <= PanelPacking::kMaxBits && windows * pattern.n > 1) {
    packing.indexBits = 0;
    packing.indexRows = windows * pattern.n;
  }
  do
    packing.chunkRows = draw(random, 1, 16);
  while (packing.indexRows * pattern.bk % packing.chunkRows);
  do
    packing.chunkColumns = draw(random, 1, 4);
  while (packing.panel % packing.chunkColumns);
}

TEST(PackedForm, ChunksAndIndexRows) {
  Pattern pattern{8, 32, 1, 1};
  PanelPacking packing{32, 5, 4, 1, 32};
  EXPECT_EQ(packing.bytesPerGroup(pattern), 20);
  EXPECT_EQ(packing.valueShape(pattern, 4096, 64),
            (std::array<int64_t, 3>{2, 256, 128}));
  EXPECT_EQ(packing.indexShape(pattern, 4096, 64),
            (std::array<int64_t, 3>{2, 32, 640}));
  EXPECT_EQ(packing.windowStep(pattern), 4);
  EXPECT_EQ(packing.str(),
            "panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 32");
  // The 16-byte words of all groups come before the 4-byte ones.
  EXPECT_EQ(packing.byteOfGroup(pattern, 3, 15), 3 * 16 + 15);
  EXPECT_EQ(packing.byteOfGroup(pattern, 3, 16), 32 * 16 + 3 * 4);
  // Rows fill up the last index row: 24 of 32.
  EXPECT_EQ(packing.valueShape(pattern, 96, 64),
            (std::array<int64_t, 3>{2, 8, 128}));
  // Strings of 3 bytes take a word, of 2 two bytes.
  EXPECT_EQ((PanelPacking{32, 3, 1, 1, 8}).bytesPerGroup(pattern), 4);
  EXPECT_EQ((PanelPacking{32, 2, 1, 1, 8}).bytesPerGroup(pattern), 2);
  // Bitmaps of four windows of 32, and of one.
  EXPECT_EQ((PanelPacking{32, 0, 1, 1, 32}).bytesPerGroup(pattern), 16);
  EXPECT_EQ((PanelPacking{32, 0, 1, 1, 8}).bytesPerGroup(pattern), 4);
  EXPECT_EQ(errorOf({32, 5, 3, 1, 32}, pattern),
            "expected the rows of a chunk to divide an index row's 32, but got "
            "3");
  EXPECT_EQ(errorOf({32, 5, 4, 3, 32}, pattern),
            "expected the columns of a chunk to divide the panel's 32, but got "
            "3");
  EXPECT_EQ(errorOf({32, 5, 4, 1, 0}, pattern),
            "expected 1 to 65536 unit rows in an index row, but got 0");
}

TEST(PackedForm, ListsOfRows) {
  // Two blocks of two columns, which keep positions 1 and 3, and 3 and 6, of a
  // window of 8, and 0 and 7, and 0 and 7, of the next.
  Pattern pattern{2, 8, 1, 2};
  PanelPacking packing{2, 8};
  packing.colInfo = 4;
  EXPECT_EQ(packing.str(), "panel = 2, index_bits = 8, col_info = 4");
  EXPECT_EQ(packing.unitsOfList(pattern), 4);
  EXPECT_EQ(packing.indexShape(pattern, 16, 4),
            (std::array<int64_t, 3>{2, 4, 1}));
  // Tiles are whole: a third block makes another of them.
  EXPECT_EQ(packing.indexShape(pattern, 16, 5),
            (std::array<int64_t, 3>{4, 4, 1}));
  EXPECT_EQ(packing.valueShape(pattern, 16, 5),
            (std::array<int64_t, 3>{3, 4, 2}));
  uint8_t indices[] = {1, 3, 3, 6, 0, 0, 7, 7};
  std::vector<uint8_t> packed(8, 0xa5), lists(8, 0xa5);
  packIndices({nullptr, indices, ElementType::F32, pattern, 16, 4}, packing,
              packed.data(), lists.data());
  EXPECT_EQ(packed, (std::vector<uint8_t>{// Places of the first block's units.
                                          0, 1, 0, 1,
                                          // Of the second's.
                                          1, 2, 0, 1}));
  // {1, 3, 6, 6} and {0, 7, 7, 7}, by turns in both panels.
  EXPECT_EQ(lists, (std::vector<uint8_t>{1, 6, 0, 7, 3, 6, 7, 7}));
}

TEST(PackedForm, VerifiesListsOfRows) {
  Pattern pattern{3, 32, 1, 32};
  auto errorOfLists = [&](int64_t colInfo, PanelPacking packing) {
    packing.colInfo = colInfo;
    return errorOf(packing, pattern);
  };
  EXPECT_EQ(errorOfLists(128, {32, 8}), "");
  EXPECT_EQ(errorOfLists(320, {32, 8}), "");
  EXPECT_EQ(errorOfLists(48, {32, 8}),
            "expected col_info of at most 65536 columns in whole panels of 32, "
            "but got 48");
  EXPECT_EQ(errorOfLists(-32, {32, 8}),
            "expected col_info of at most 65536 columns in whole panels of 32, "
            "but got -32");
  EXPECT_EQ(errorOfLists(64, {32, 5}),
            "expected index_bits = 8 without chunks or index rows for "
            "col_info, but got panel = 32, index_bits = 5, col_info = 64");
  EXPECT_EQ(errorOfLists(64, {32, 8, 1, 1, 2}),
            "expected index_bits = 8 without chunks or index rows for "
            "col_info, but got panel = 32, index_bits = 8, index_rows = 2, "
            "col_info = 64");
  EXPECT_EQ(errorOfLists(352, {32, 8}),
            "expected the 352 columns of col_info to keep fewer than the 32 "
            "units of a window between them, but 11 units of columns that keep "
            "3 each may keep 33: no rows of A would be left out");
}

/// Indices by what they and the lists say, and lists that are as short and as
/// sorted as they can be.
static void expectLists(const Condensed &form, const PanelPacking &packing,
                        const std::vector<uint8_t> &packed,
                        const std::vector<uint8_t> &lists) {
  const Pattern &p = form.pattern;
  auto [panels, rows, groups] = packing.indexShape(p, form.k, form.n);
  int64_t ofTile = packing.colInfo / packing.panel;
  int64_t blocks = p.blockColumns(form.n);
  for (int64_t tile = 0; tile < panels / ofTile; ++tile)
    for (int64_t u0 = 0; u0 < rows; u0 += p.n) {
      std::vector<int64_t> list, places;
      for (int64_t i = 0; i < p.n * groups; ++i)
        for (int64_t panel = 0; panel < ofTile; ++panel)
          list.push_back(
              lists[((tile * ofTile + panel) * rows + u0) * groups + i]);
      for (int64_t panel = 0; panel < ofTile; ++panel)
        for (int64_t i = 0; i < p.n * groups; ++i) {
          int64_t place =
              packed[((tile * ofTile + panel) * rows + u0) * groups + i];
          int64_t block =
              (tile * ofTile + panel) * packing.panel / p.bn + i % groups;
          if (block >= blocks) {
            ASSERT_EQ(place, 0);
            continue;
          }
          ASSERT_EQ(list[place],
                    form.indices[(u0 + i / groups) * blocks + block]);
          places.push_back(place);
        }
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      for (size_t i = 0; i < list.size(); ++i) {
        if (i < places.size())
          ASSERT_EQ(places[i], int64_t(i));
        if (i > 0)
          ASSERT_TRUE(i < places.size() ? list[i] > list[i - 1]
                                        : list[i] == list[i - 1]);
      }
    }
}

TEST(PackedForm, DrawnListsAgreeWithTheDefinition) {
  Random random(3);
  int64_t checked = 0;
  while (checked < 200) {
    Pattern pattern = drawPattern(random);
    PanelPacking packing{drawPanel(random, pattern), 8};
    packing.colInfo = packing.panel * draw(random, 1, 6);
    if (!packing.verify(pattern))
      continue;
    ++checked;
    Matrix matrix = drawMatrix(random, pattern, drawType(random),
                               drawK(random, pattern), draw(random, 1, 90));
    SCOPED_TRACE(describe(matrix, pattern) + ", " + packing.str());
    Condensed form = compressed(matrix, pattern);
    auto [panels, rows, bytes] = packing.indexShape(pattern, form.k, form.n);
    std::vector<uint8_t> packed(panels * rows * bytes, 0xa5), lists = packed;
    packIndices(form.view(), packing, packed.data(), lists.data());
    expectLists(form, packing, packed, lists);
    Condensed back(pattern, form.type, form.k, form.n);
    unpackIndices(packed.data(), packing, pattern, form.k, form.n,
                  back.indices.data(), lists.data());
    ASSERT_EQ(back.indices, form.indices);
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(PackedForm, DrawnFormsAgreeWithTheDefinition) {
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    Pattern pattern = drawPattern(random);
    Matrix matrix = drawMatrix(random, pattern, drawType(random),
                               drawK(random, pattern), draw(random, 1, 90));
    PanelPacking packing;
    packing.panel = drawPanel(random, pattern);
    packing.indexBits =
        draw(random, std::max<int64_t>(1, pattern.indexBits()), 8);
    if (draw(random, 0, 2))
      drawChunks(random, pattern, packing);
    SCOPED_TRACE(describe(matrix, pattern) + ", panel " +
                 std::to_string(packing.panel) + ", bits " +
                 std::to_string(packing.indexBits) + ", chunk " +
                 std::to_string(packing.chunkRows) + "x" +
                 std::to_string(packing.chunkColumns) + ", index rows " +
                 std::to_string(packing.indexRows));
    ASSERT_TRUE(bool(packing.verify(pattern)));
    expectPacked(compressed(matrix, pattern), packing);
    if (testing::Test::HasFailure())
      return;
  }
}

// Large enough for threads, of which each has panels of its own; the last panel
// is cut.
TEST(PackedForm, PacksByThreads) {
  Random random(9);
  for (Pattern pattern :
       {Pattern{2, 4, 1, 1}, Pattern{1, 2, 1, 16}, Pattern{1, 2, 4, 64}}) {
    Matrix matrix = drawMatrix(random, pattern, ElementType::F32, 2048, 1900);
    PanelPacking packing{32, 2};
    SCOPED_TRACE(describe(matrix, pattern));
    expectPacked(compressed(matrix, pattern), packing);
    packing.indexRows = 8;
    expectPacked(compressed(matrix, pattern), packing);
  }
}

TEST(PackedForm, TilesOfWgmma) {
  // 20 rows a tile, filled up to 32: of 45 rows there are three tiles.
  Pattern pattern{5, 20, 1, 128};
  PanelPacking packing;
  packing.panel = 128;
  packing.tileRows = 20;
  ASSERT_TRUE(bool(packing.verify(pattern)));
  EXPECT_EQ(packing.windowStep(pattern), 4);
  EXPECT_EQ(packing.valueShape(pattern, 180, 130),
            (std::array<int64_t, 3>{2, 96, 128}));
  EXPECT_EQ(packing.indexShape(pattern, 180, 130),
            (std::array<int64_t, 3>{2, 60, 1}));
  // Chunks are where wgmma's descriptor of the tile finds them.
  constexpr int kRowBytes = 128, kBytes = 2;
  MatrixDescriptor tile{0, 32 * kRowBytes, 8 * kRowBytes, 0,
                        MatrixSwizzle::Bytes128};
  for (int row = 0; row < 20; ++row)
    for (int column = 0; column < 128; ++column) {
      // A thread's second row of sums is the next column of C.
      int place = column / 16 * 16 + column % 2 * 8 + column % 16 / 2;
      EXPECT_EQ(packing.positionInTiles(row, column) * kBytes,
                tile.getMNMajorOffset(row, place / 8) + place % 8 * kBytes);
      EXPECT_EQ(packing.positionInTiles(20 + row, column),
                32 * 128 + packing.positionInTiles(row, column));
    }
}

TEST(PackedForm, TilesOfBytes) {
  // 96 rows a tile: of 200 rows there are three tiles.
  Pattern pattern{2, 8, 16, 128};
  PanelPacking packing;
  packing.panel = 128;
  packing.tileRows = 96;
  ASSERT_TRUE(bool(packing.verify(pattern)));
  EXPECT_EQ(packing.valueShape(pattern, 800, 130),
            (std::array<int64_t, 3>{2, 3 * 96, 128}));
  // Chunks of 16 bytes along k are where wgmma's descriptor finds them.
  MatrixDescriptor panel{0, 64 * 16, 8 * 16, 0, MatrixSwizzle::None};
  for (int row = 0; row < 96; ++row)
    for (int column = 0; column < 128; ++column) {
      int place = column / 16 * 16 + column % 2 * 8 + column % 16 / 2;
      EXPECT_EQ(packing.positionInTiles(row, column, /*bytes=*/1),
                place / 64 * 96 * 64 +
                    panel.getKMajorOffset(place % 64, row / 16) + row % 16);
      EXPECT_EQ(packing.positionInTiles(96 + row, column, /*bytes=*/1),
                96 * 128 + packing.positionInTiles(row, column, /*bytes=*/1));
    }
  int64_t k = 800, n = 130;
  int64_t count = pattern.condensedRows(k) * pattern.paddedColumns(n);
  std::vector<int8_t> values(count), again(count);
  for (int64_t j = 0; j < count; ++j)
    values[j] = int8_t(j % 126 + 1);
  CondensedView view{values.data(), nullptr, ElementType::I8, pattern, k, n};
  std::vector<int8_t> packed(2 * 3 * 96 * 128, 7);
  packValues(view, packing, packed.data());
  EXPECT_EQ(std::count(packed.begin(), packed.end(), 0),
            int64_t(packed.size()) - count);
  unpackValues(packed.data(), packing, pattern, ElementType::I8, k, n,
               again.data());
  EXPECT_EQ(values, again);
}

TEST(PackedForm, TilesComeBack) {
  Random random(7);
  for (int i = 0; i < 20; ++i) {
    Pattern pattern{int(draw(random, 1, 4)), 8, 1, 64};
    PanelPacking packing;
    packing.panel = 64;
    packing.tileRows = pattern.keptRows() * draw(random, 1, 6);
    int64_t k = draw(random, 1, 100), n = draw(random, 1, 150);
    int64_t count = pattern.condensedRows(k) * pattern.paddedColumns(n);
    std::vector<uint16_t> values(count), again(count);
    for (int64_t j = 0; j < count; ++j)
      values[j] = uint16_t(j + 1);
    CondensedView view{values.data(), nullptr, ElementType::F16, pattern, k, n};
    auto [panels, rows, width] = packing.valueShape(pattern, k, n);
    std::vector<uint16_t> packed(panels * rows * width, 7);
    packValues(view, packing, packed.data());
    int64_t zeros = std::count(packed.begin(), packed.end(), 0);
    EXPECT_EQ(zeros, panels * rows * width - count);
    unpackValues(packed.data(), packing, pattern, ElementType::F16, k, n,
                 again.data());
    EXPECT_EQ(values, again);
    // Indices of whole tiles; those past the last are zero.
    int64_t units = pattern.unitRows(k), blocks = pattern.blockColumns(n);
    std::vector<uint8_t> indices(units * blocks), found(units * blocks);
    for (uint8_t &index : indices)
      index = uint8_t(draw(random, 1, 7));
    view.indices = indices.data();
    auto [indexPanels, indexRows, bytes] = packing.indexShape(pattern, k, n);
    EXPECT_EQ(indexRows % packing.tileRows, 0);
    std::vector<uint8_t> lists(indexPanels * indexRows * bytes, 9);
    packIndices(view, packing, lists.data());
    EXPECT_EQ(std::count(lists.begin(), lists.end(), 0),
              int64_t(lists.size()) - units * blocks);
    unpackIndices(lists.data(), packing, pattern, k, n, found.data());
    EXPECT_EQ(indices, found);
  }
}

TEST(PackedForm, TilesOfSplits) {
  Pattern pattern{5, 20, 1, 128};
  PanelPacking packing;
  packing.panel = 128;
  packing.tileRows = 20;
  packing.splits = 3;
  ASSERT_TRUE(bool(packing.verify(pattern)));
  EXPECT_EQ(packing.str(),
            "panel = 128, index_bits = 8, tile_rows = 20, splits = 3");
  EXPECT_EQ(packing.storedType(ElementType::F32), ElementType::BF16);
  EXPECT_EQ(packing.valueShape(pattern, 180, 130),
            (std::array<int64_t, 3>{2, 3 * 96, 128}));
  // A tile has all its rows for each split.
  PanelPacking plain = packing;
  plain.splits = 1;
  for (int row = 0; row < 20; ++row)
    for (int column = 0; column < 128; ++column) {
      EXPECT_EQ(packing.positionInTiles(row, column),
                plain.positionInTiles(row, column));
      EXPECT_EQ(packing.positionInTiles(20 + row, column),
                3 * 32 * 128 + plain.positionInTiles(row, column));
    }
  EXPECT_EQ(packing.splitStep(), 32 * 128);
  packing.splits = 4;
  EXPECT_EQ(packing.verify(pattern).error().message,
            "expected 1 to 3 splits, but got 4");
  packing.splits = 2;
  packing.tileRows = 0;
  EXPECT_EQ(packing.verify(pattern).error().message,
            "expected tile_rows with splits, but got panel = 128, "
            "index_bits = 8, splits = 2");
}

TEST(PackedForm, SplitsComeBack) {
  Random random(8);
  for (int i = 0; i < 20; ++i) {
    Pattern pattern{int(draw(random, 1, 4)), 8, 1, 64};
    PanelPacking packing;
    packing.panel = 64;
    packing.tileRows = pattern.keptRows() * draw(random, 1, 6);
    packing.splits = 3;
    int64_t k = draw(random, 1, 100), n = draw(random, 1, 150);
    int64_t count = pattern.condensedRows(k) * pattern.paddedColumns(n);
    std::vector<float> values(count), again(count);
    for (int64_t j = 0; j < count; ++j)
      values[j] = 1.0f / float(j + 3);
    CondensedView view{values.data(), nullptr, ElementType::F32, pattern, k, n};
    auto [panels, rows, width] = packing.valueShape(pattern, k, n);
    std::vector<uint16_t> packed(panels * rows * width, 7);
    packValues(view, packing, packed.data());
    unpackValues(packed.data(), packing, pattern, ElementType::F32, k, n,
                 again.data());
    EXPECT_EQ(values, again);
  }
}
