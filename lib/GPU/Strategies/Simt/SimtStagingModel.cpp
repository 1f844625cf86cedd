//===- SimtStagingModel.cpp - Tiles of strategy simt in shared memory -----===//

#include "GPU/Strategies/Simt/SimtStagingModel.h"

#include "nm/Schedule/SumChains.h"

#include <algorithm>
#include <numeric>

using namespace nm;

PanelPacking nm::getPacking(const GpuSchedule &tile) {
  PanelPacking packing = tile.packing;
  if (tile.pack)
    packing.colInfo = tile.blockN;
  return packing;
}

int64_t nm::stagedRows(const Pattern &pattern, const GpuSchedule &tile) {
  if (!tile.pack)
    return tile.blockK;
  return tile.blockK / pattern.m * getPacking(tile).unitsOfList(pattern);
}

int64_t nm::countThreads(const GpuSchedule &tile) {
  return tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * tile.sliceK *
         kWarpSize;
}

int64_t nm::partBytes(const GpuSchedule &tile) {
  return 4 * tile.blockM * tile.blockN * tile.sliceK;
}

bool nm::wantsPromotion(const GpuProduct &product) {
  return product.promote.value_or(product.pattern.condensedRows(product.k) >
                                  kLongSumRows);
}

int64_t nm::unitColumns(const Pattern &pattern, const GpuSchedule &tile) {
  return std::min(pattern.bn, tile.packing.panel);
}

/// Whether a tile is of one kept unit, or a part of one; see
/// forEachGathering.
static bool gathersUnits(const SimtBlock &block, const GpuProduct &product,
                         const GpuSchedule &tile, int64_t rows) {
  return block.panel == block.pattern.bn && block.n == block.pattern.bn &&
         tile.packing.indexBits == 8 && !tile.pack && tile.splitK == 1 &&
         tile.blockK < product.pattern.windowRows() &&
         canGatherUnits(block.pattern) &&
         canGatherUnits({1, 2, rows, block.pattern.bn});
}

/// Whether all blocks make as many tiles of `tiles` along k: a cluster may have
/// some that make none.
static bool hasFullParts(int64_t tiles, int64_t tilesOfBlock,
                         int64_t clusterK) {
  return tiles ==
         tilesOfBlock * alignTo(ceilDiv(tiles, tilesOfBlock), clusterK);
}

static void setRows(const GpuProduct &product, const GpuSchedule &tile,
                    SimtBlock &block) {
  int64_t windowRows = product.pattern.windowRows();
  int64_t rows = std::gcd(product.pattern.bk, tile.blockK);
  if (gathersUnits(block, product, tile, rows)) {
    block.pattern.n = block.pattern.m = 1;
    block.pattern.bk = rows;
    // The last window's units are ragged.
    block.k = product.k % windowRows == 0 ? rows : alignTo(tile.blockK, rows);
    block.hasLoop = product.pattern.condensedRows(product.k) > rows;
    return;
  }
  block.k = std::min(alignTo(tile.blockK, windowRows),
                     alignTo(std::max<int64_t>(1, product.k), windowRows));
  int64_t tiles = std::max<int64_t>(1, ceilDiv(product.k, block.k));
  int64_t tilesOfBlock = ceilDiv(tiles, tile.splitK);
  block.hasLoop = tilesOfBlock > 1;
  bool hasFullRows = (product.k % block.k == 0 || product.k < block.k) &&
                     hasFullParts(tiles, tilesOfBlock, tile.clusterK);
  // Lists fill up the panels of the last tile.
  bool hasFullColumns =
      tile.pack || product.n % block.n == 0 ||
      (product.n < block.n &&
       alignTo(product.n, std::max<int64_t>(1, block.panel)) >= block.n);
  block.hasFullTiles = hasFullRows && hasFullColumns;
}

SimtBlock nm::describeBlock(const GpuProduct &product,
                            const GpuSchedule &tile) {
  SimtBlock block;
  block.pattern = product.pattern;
  block.panel = product.isPacked ? tile.packing.panel : 0;
  if (block.panel != 0)
    block.pattern.bn = unitColumns(product.pattern, tile);
  block.m = tile.blockM;
  block.n = alignTo(tile.blockN, std::max(block.pattern.bn, block.panel));
  block.warpN = tile.warpN;
  block.threadM = tile.threadM;
  block.threadN = tile.threadN;
  block.stages = tile.stages;
  block.sliceK = tile.sliceK;
  block.totalBytes = tile.promote ? 4 * block.m * block.n * tile.sliceK : 0;
  block.threads =
      block.m / tile.warpM * (block.n / tile.warpN) * tile.sliceK * kWarpSize;
  block.isMMajor = product.isMMajor;
  block.packsRows = tile.pack;
  setRows(product, tile, block);
  block.stagedRows = block.k;
  if (tile.pack) {
    PanelPacking packing = tile.packing;
    packing.colInfo = block.n;
    block.stagedRows =
        block.k / product.pattern.m * packing.unitsOfList(product.pattern);
  }
  block.strideOfA = product.strideOfA ? product.strideOfA : product.k;
  block.widthOfA =
      std::gcd(std::gcd(kAccessWords, block.stagedRows), block.strideOfA);
  // Rows that are neighbours in a list need not be in A, but for a unit's.
  if (tile.pack)
    block.widthOfA = std::gcd(block.widthOfA, product.pattern.bk);
  return block;
}

void nm::completeSimtCopies(const GpuProduct &product, const GpuChip &chip,
                            const GivenFields &given, GpuSchedule &tile) {
  describeBlock(product, tile).choose(given, chip.sharedPerBlock, tile);
}

void nm::completeSimtTile(const GpuProduct &product, const GpuChip &chip,
                          const GivenFields &given, GpuSchedule &tile) {
  tile.promote = wantsPromotion(product);
  completeSimtCopies(product, chip, given, tile);
  if (product.promote || sharedBytes(product, tile) <= chip.sharedPerBlock)
    return;
  tile.promote = false;
  completeSimtCopies(product, chip, given, tile);
}

Status nm::verifySimtCopies(const GpuProduct &product,
                            const GpuSchedule &tile) {
  return describeBlock(product, tile).verify(tile);
}

int64_t nm::sharedBytes(const GpuProduct &product, const GpuSchedule &tile) {
  SimtBlock block = describeBlock(product, tile);
  int64_t bytes = block.stageBytes(tile) * tile.stages + block.totalBytes;
  if (tile.copyA == CopyKind::Matrices)
    bytes += block.stagingBytes();
  bool hasParts = tile.clusterK * tile.sliceK > 1;
  return hasParts ? std::max(bytes, partBytes(tile)) : bytes;
}
