//===- SimtPassage.cpp - A's way to its tile in strategy simt -------------===//

#include "nm/Schedule/SimtPassage.h"

#include "nm/Schedule/SimtLimits.h"

#include <algorithm>

using namespace nm;

/// Kept rows among whose multiplications a tile can be moved: a piece is read,
/// stored and refilled in turn, a row or more each, and is to arrive in those
/// that are left.
static constexpr int64_t kMinRows = 8;

/// Multiply-adds of a slice of the tile for which the same holds of their time:
/// with the 128 a clock of all chips, 768 clocks, most of which a copy takes
/// under way. On an H200 shorter tiles take up to 10 % longer by way of a
/// passage; so do slices of shorter ones, which share the multipliers.
static constexpr int64_t kMinMultiplications = 128 * 768;

/// Warps of a multiprocessor that keep each other's latencies out of sight: two
/// for each of its schedulers.
static constexpr int64_t kEnoughWarps = 8;

/// Whether the tile is all pieces, and warps take as many each: which refills a
/// piece must be the one that has emptied it, and without a branch.
static bool hasWholePieces(const PassageTile &tile) {
  return tile.m % kPassageRows == 0 && tile.k % kPassageColumns == 0 &&
         tile.pieces() % tile.warps == 0;
}

/// Whether memory that the passage takes is no other warps'. A block that has
/// all that a block can have is alone on its multiprocessor.
static bool leavesWarps(const PassageTile &tile, int64_t maxBytes) {
  auto countWarps = [&](int64_t bytes) {
    return maxBytes / std::max<int64_t>(1, bytes) * tile.warps;
  };
  return countWarps(tile.otherBytes + tile.bytes()) >=
         std::clamp<int64_t>(countWarps(tile.otherBytes), 1, kEnoughWarps);
}

bool nm::usesPassage(const PassageTile &tile, int64_t maxBytes) {
  // With one buffer there are no multiplications to move the next tile beside,
  // and a loop over kept rows has no places for it.
  bool hasPlaces = tile.stages > 1 && tile.keptRows >= kMinRows &&
                   tile.keptRows <= kMaxUnrolledRows &&
                   tile.m * tile.n * tile.keptRows >= kMinMultiplications;
  // Lanes that gather rows of A wait for shared memory, which a passage has
  // more to do with. Tiles that are multiplied whole, as units that are staged
  // by themselves are, took 7 % longer on an H200.
  return hasPlaces && tile.isSparse && tile.isShared && tile.isAligned &&
         hasWholePieces(tile) && leavesWarps(tile, maxBytes);
}
