//===- SumChainsTest.cpp - Tests of the parts of long sums ----------------===//

#include "nm/Schedule/SumChains.h"

#include <gtest/gtest.h>

using namespace nm;

TEST(SumChains, AChainHasNoParts) {
  EXPECT_EQ(itemsPerPart(1, 1), 0);
  EXPECT_EQ(itemsPerPart(kChainRows, 1), 0);
  EXPECT_EQ(itemsPerPart(kChainRows / 2, 2), 0);
}

TEST(SumChains, PartsGrowWithTheSum) {
  constexpr int64_t chain = kChainRows;
  EXPECT_EQ(itemsPerPart(chain + 1, 1), chain);
  EXPECT_EQ(itemsPerPart(chain * chain, 1), chain);
  EXPECT_EQ(itemsPerPart(chain * chain + 1, 1), chain * chain);
  EXPECT_EQ(itemsPerPart(chain, 2), chain / 2);
}

TEST(SumChains, TilesOfAThreadMakeChains) {
  EXPECT_EQ(tilesPerSharedChain(8), 12);
  EXPECT_EQ(tilesPerSharedChain(40), 2);
  EXPECT_EQ(tilesPerSharedChain(96), 1);
  EXPECT_EQ(tilesPerSharedChain(200), 1);
}

TEST(SumChains, ItemsLongerThanAChainAreNotCut) {
  constexpr int64_t chain = kChainRows;
  EXPECT_EQ(itemsPerPart(2, chain), 1);
  EXPECT_EQ(itemsPerPart(2, chain + 1), 0);
  EXPECT_EQ(itemsPerPart(chain, chain + 1), chain * chain / (chain + 1));
}
