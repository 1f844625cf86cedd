//===- SimtStaging.cpp - Tiles of strategy simt in shared memory ----------===//

#include "SimtStaging.h"

#include "nm/Schedule/SimtLimits.h"

#include <algorithm>

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

/// Bytes of shared memory of one stage.
static int64_t stageBytes(const Pattern &pattern, const GpuSchedule &tile) {
  int64_t windows = tile.blockK / pattern.windowRows();
  int64_t a = stagedRows(pattern, tile) * (tile.blockM + kRowPadding) * 4;
  int64_t values = windows * pattern.keptRows() * tile.blockN * 4;
  int64_t indices = windows * pattern.n * tile.blockN /
                    std::min(pattern.bn, tile.packing.panel);
  return alignTo(a, 128) + alignTo(values, 128) + alignTo(indices, 128);
}

int64_t nm::countThreads(const GpuSchedule &tile) {
  return tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * tile.sliceK *
         kWarp;
}

int64_t nm::partBytes(const GpuSchedule &tile) {
  return 4 * tile.blockM * tile.blockN * tile.sliceK;
}

int64_t nm::unitColumns(const Pattern &pattern, const GpuSchedule &tile) {
  return std::min(pattern.bn, tile.packing.panel);
}

std::optional<PassageTile> nm::getPassage(const GpuProduct &product,
                                          const GpuChip &chip,
                                          const GpuSchedule &tile) {
  const Pattern &pattern = product.pattern;
  PassageTile passage;
  passage.m = tile.blockM;
  passage.k = tile.blockK;
  passage.n = tile.blockN;
  passage.keptRows =
      tile.blockK / pattern.windowRows() * pattern.keptRows() / tile.sliceK;
  passage.warps = countThreads(tile) / kWarp;
  passage.stages = tile.stages;
  passage.isSparse = pattern.m > 1;
  passage.isAligned = product.k % kChunk == 0;
  passage.isShared = unitColumns(pattern, tile) % tile.warpN == 0;
  passage.otherBytes = stageBytes(pattern, tile) * tile.stages;
  if (product.isKMajor || tile.pack ||
      !usesPassage(passage, chip.sharedPerBlock))
    return std::nullopt;
  return passage;
}

int64_t nm::sharedBytes(const GpuProduct &product, const GpuChip &chip,
                        const GpuSchedule &tile) {
  std::optional<PassageTile> passage = getPassage(product, chip, tile);
  int64_t bytes = stageBytes(product.pattern, tile) * tile.stages +
                  (passage ? passage->bytes() : 0);
  bool hasParts = tile.clusterK * tile.sliceK > 1;
  return hasParts ? std::max(bytes, partBytes(tile)) : bytes;
}
