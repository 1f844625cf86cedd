//===- MmaFragmentsTest.cpp - Matrices in the lanes' registers ------------===//
//
// Compares the maps with the PTX ISA's formulas, shape by shape, as its section
// "Warp-level matrix instructions" writes them: groupID is the lane / 4 and
// threadID_in_group the lane % 4; i counts the elements of a fragment.
//
//===----------------------------------------------------------------------===//

#include "nm/Format/MmaFragments.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

using namespace nm;

static void expectSame(FragmentOffset got, int row, int column) {
  EXPECT_EQ(got.row, row);
  EXPECT_EQ(got.column, column);
}

/// Calls `check` with each element's number i in the fragment, and its place.
template <typename GetPlace, typename Check>
static void forEachElement(int registers, int perRegister, GetPlace getPlace,
                           Check check) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < registers * perRegister; ++i)
      check(lane / 4, lane % 4, i,
            getPlace(lane, i / perRegister, i % perRegister));
}

template <typename Check>
static void forA(const MmaShape &shape, Check check) {
  forEachElement(
      shape.aRegisters(), shape.perRegister(),
      [&](int lane, int r, int i) { return shape.aOffset(lane, r, i); }, check);
}

template <typename Check>
static void forB(const MmaShape &shape, Check check) {
  forEachElement(
      shape.bRegisters(), shape.perRegister(),
      [&](int lane, int r, int i) { return shape.bOffset(lane, r, i); }, check);
}

TEST(MmaFragmentsTest, K16OfHalves) {
  MmaShape shape{16, 16};
  EXPECT_EQ(shape.aRegisters(), 4);
  EXPECT_EQ(shape.bRegisters(), 2);
  forA(shape, [](int group, int thread, int i, FragmentOffset place) {
    bool isFirst = i < 2 || (4 <= i && i < 6);
    expectSame(place, isFirst ? group : group + 8,
               i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8);
  });
  forB(shape, [](int group, int thread, int i, FragmentOffset place) {
    expectSame(place, i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8,
               group);
  });
}

TEST(MmaFragmentsTest, K8OfTf32) {
  MmaShape shape{8, 32};
  EXPECT_EQ(shape.aRegisters(), 4);
  EXPECT_EQ(shape.bRegisters(), 2);
  forA(shape, [](int group, int thread, int i, FragmentOffset place) {
    expectSame(place, i == 0 || i == 2 ? group : group + 8,
               i < 2 ? thread : thread + 4);
  });
  forB(shape, [](int group, int thread, int i, FragmentOffset place) {
    expectSame(place, i == 0 ? thread : thread + 4, group);
  });
}

TEST(MmaFragmentsTest, K32OfBytes) {
  MmaShape shape{32, 8};
  EXPECT_EQ(shape.aRegisters(), 4);
  EXPECT_EQ(shape.bRegisters(), 2);
  forA(shape, [](int group, int thread, int i, FragmentOffset place) {
    bool isFirst = i < 4 || (8 <= i && i < 12);
    expectSame(place, isFirst ? group : group + 8,
               i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16);
  });
  forB(shape, [](int group, int thread, int i, FragmentOffset place) {
    expectSame(place, i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16,
               group);
  });
}

TEST(MmaFragmentsTest, Sums) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      expectSame(getMmaSumOffset(lane, i), i < 2 ? lane / 4 : lane / 4 + 8,
                 lane % 4 * 2 + (i & 1));
}

/// A holds the elements of columns firstcol to lastcol, two of each four.
TEST(MmaFragmentsTest, SparseK32OfHalves) {
  MmaShape shape{32, 16, /*isSparse=*/true};
  EXPECT_EQ(shape.aRegisters(), 4);
  EXPECT_EQ(shape.bRegisters(), 4);
  forA(shape, [](int group, int thread, int i, FragmentOffset place) {
    bool isFirst = i < 2 || (4 <= i && i < 6);
    int firstcol = i < 4 ? thread * 4 : thread * 4 + 16;
    expectSame(place, isFirst ? group : group + 8, firstcol / 2 + (i & 1));
  });
  forB(shape, [](int group, int thread, int i, FragmentOffset place) {
    expectSame(place, thread * 2 + (i & 1) + i / 2 * 8, group);
  });
}

TEST(MmaFragmentsTest, SparseK64OfBytes) {
  MmaShape shape{64, 8, /*isSparse=*/true};
  EXPECT_EQ(shape.aRegisters(), 4);
  EXPECT_EQ(shape.bRegisters(), 4);
  forA(shape, [](int group, int thread, int i, FragmentOffset place) {
    bool isFirst = i < 4 || (8 <= i && i < 12);
    int firstcol = thread * 8 + (i & 3) / 2 * 4 + (i < 8 ? 0 : 32);
    expectSame(place, isFirst ? group : group + 8, firstcol / 2 + (i & 1));
  });
}

/// The metadata of elements of 16 bits: lane 4 r + c holds row r's columns from
/// 16 c on in its low half, and row r + 8's in the high one; k = 32 takes two
/// lanes, which the selector says.
TEST(MmaFragmentsTest, MetadataOfHalves) {
  MmaShape wide{32, 16, true}, narrow{16, 16, true};
  EXPECT_EQ(wide.selectors(), 2);
  EXPECT_EQ(narrow.selectors(), 4);
  for (int row = 0; row < 16; ++row)
    for (int group = 0; group < wide.groups(); ++group)
      for (int selector = 0; selector < 2; ++selector) {
        MmaMetadataOffset place =
            getMmaMetadataOffset(wide, row, group, selector);
        EXPECT_EQ(place.lane, row % 8 * 4 + selector * 2 + group / 4);
        EXPECT_EQ(place.nibble, group % 4 + (row < 8 ? 0 : 4));
      }
  EXPECT_EQ(getMmaMetadataOffset(narrow, 9, 3, 2).lane, 6);
  EXPECT_EQ(getMmaMetadataOffset(narrow, 9, 3, 2).nibble, 7);
}

/// The metadata of 8-bit elements: a word is 32 columns of one row, r or r + 8
/// in turn.
TEST(MmaFragmentsTest, MetadataOfBytes) {
  MmaShape wide{64, 8, true}, narrow{32, 8, true};
  EXPECT_EQ(wide.selectors(), 1);
  EXPECT_EQ(narrow.selectors(), 2);
  for (int lane = 0; lane < 32; ++lane)
    for (int nibble = 0; nibble < 8; ++nibble) {
      int row = lane / 4 + 8 * (lane & 1);
      int column = 32 * (lane / 2 & 1) + 4 * nibble;
      MmaMetadataOffset place = getMmaMetadataOffset(wide, row, column / 4, 0);
      EXPECT_EQ(place.lane, lane);
      EXPECT_EQ(place.nibble, nibble);
    }
  EXPECT_EQ(getMmaMetadataOffset(narrow, 8, 0, 1).lane, 3);
}

TEST(MmaFragmentsTest, EachGroupHasMetadataOfItsOwn) {
  for (MmaShape shape :
       {MmaShape{16, 16, true}, MmaShape{32, 16, true}, MmaShape{8, 32, true},
        MmaShape{16, 32, true}, MmaShape{32, 8, true}, MmaShape{64, 8, true}}) {
    std::set<std::pair<int, int>> places;
    for (int selector = 0; selector < shape.selectors(); ++selector)
      for (int row = 0; row < 16; ++row)
        for (int group = 0; group < shape.groups(); ++group) {
          MmaMetadataOffset place =
              getMmaMetadataOffset(shape, row, group, selector);
          EXPECT_TRUE(place.lane < 32 && place.nibble < 8);
          EXPECT_TRUE(places.insert({place.lane, place.nibble}).second);
        }
    EXPECT_EQ(places.size(), 256u);
  }
  EXPECT_EQ(encodeMmaPair(1, 3), 0b1101);
}

TEST(MmaFragmentsTest, LoadedMatrices) {
  expectSame(getMatrixOffset(13, 1, /*isTransposed=*/false), 3, 3);
  expectSame(getMatrixOffset(13, 1, /*isTransposed=*/true), 3, 3);
  expectSame(getMatrixOffset(14, 0, /*isTransposed=*/false), 3, 4);
  expectSame(getMatrixOffset(14, 0, /*isTransposed=*/true), 4, 3);
}
