//===- SimtTiles.cpp - The tiles of strategy simt -------------------------===//
//
// The tiles that strategy simt has for a product, and the choice among them by
// the time that they are estimated to take.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtModel.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
/// How a block's warps, a warp's lanes and a thread's registers share a tile.
struct Shape {
  int64_t warpsM, warpsN, lanesM, lanesN, threadM, threadN;
};
} // namespace

// A thread's tile of 16 x 8 reads the fewest words of shared memory for each
// multiplication, and takes nearly all registers; smaller ones let more blocks
// share a chip where there are few. Eight lanes along m and four along n give a
// warp 32 columns, which share an index from vectors of 32 on.
static constexpr Shape kShapes[] = {
    {1, 8, 8, 4, 16, 8}, {2, 4, 8, 4, 16, 8}, {1, 4, 8, 4, 16, 8},
    {2, 2, 8, 4, 16, 8}, {1, 2, 8, 4, 16, 8}, {2, 4, 8, 4, 8, 8},
    {1, 4, 8, 4, 8, 8},  {2, 2, 8, 4, 8, 8},  {1, 2, 8, 4, 8, 8},
    {1, 4, 8, 4, 8, 4},  {2, 2, 8, 4, 4, 4},  {1, 4, 8, 4, 4, 4},
    {1, 2, 8, 4, 4, 4},
};

// Lanes with indices of their own read A once for each four columns or fewer:
// 16 x 4 has the fewest words of weights beside them, and leaves registers for
// warps enough to hide how long that takes.
static constexpr Shape kGatherShapes[] = {
    {1, 16, 8, 4, 16, 4}, {1, 8, 8, 4, 16, 4}, {1, 4, 8, 4, 16, 4},
    {1, 16, 8, 4, 8, 8},  {2, 8, 8, 4, 8, 8},  {1, 8, 8, 4, 16, 8},
    {1, 8, 8, 4, 8, 8},   {1, 8, 8, 4, 8, 4},
};

// Where rows of A stay as they are, their copies hold no registers, and warps
// of small tiles are many enough without.
static constexpr Shape kRowShapes[] = {{1, 16, 8, 4, 8, 4}, {2, 8, 8, 4, 8, 4}};

static constexpr int64_t kMaxStages = 3;

static GpuSchedule makeTile(const GpuProduct &product, const Shape &shape,
                            int64_t windows, bool packs, bool isPromoted) {
  GpuSchedule tile;
  tile.threadM = shape.threadM;
  tile.threadN = shape.threadN;
  tile.warpM = shape.lanesM * shape.threadM;
  tile.warpN = shape.lanesN * shape.threadN;
  tile.blockM = shape.warpsM * tile.warpM;
  tile.blockN = shape.warpsN * tile.warpN;
  tile.blockK = windows * product.pattern.windowRows();
  tile.packing.panel = choosePanel(product.pattern, tile.blockN, tile.warpN);
  tile.packing.indexBits = 8;
  tile.pack = packs;
  tile.promote = isPromoted;
  return tile;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Rows of A's tile beyond which a longer one saves nothing.
static constexpr int64_t kMaxTileRows = 128;

/// Parts of k that partial sums are worth for, and those of a cluster.
static constexpr int64_t kMaxSplitK = 16;
static constexpr int64_t kMaxCluster = 8;

/// Threads of a block that are worth slicing a tile for: two warps a scheduler.
static constexpr int64_t kMaxSlicedThreads = 256;

/// The shapes for a pattern.
static std::vector<Shape> getShapes(const Pattern &pattern) {
  std::vector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  for (const Shape &shape : kGatherShapes)
    if (pattern.bn < shape.lanesN * shape.threadN)
      shapes.push_back(shape);
  for (const Shape &shape : kRowShapes)
    if (pattern.bn < shape.lanesN * shape.threadN &&
        pattern.bk % kAccessWords == 0)
      shapes.push_back(shape);
  return shapes;
}

/// Whether candidates are to be packed, as far as lists leave rows out, and
/// whether they are not to.
static std::vector<bool> packingChoices(const GpuProduct &product) {
  switch (product.rowPacking) {
  case RowPacking::Never:
    return {false};
  case RowPacking::WhereFaster:
    return {false, true};
  case RowPacking::Always:
    return {true};
  }
  return {};
}

/// The blocks of clusters that sums were measured of.
static int64_t mostBlocksOfCluster(const GpuChip &chip) {
  return chip.hasClusters() ? kMaxCluster : 1;
}

/// Calls `visit` with `tile` in every number of parts of k, and of those that a
/// cluster sums, that fits.
template <typename Visit>
static void forEachSplit(const GpuProduct &product, const GpuChip &chip,
                         GpuSchedule tile, Visit visit) {
  int64_t tiles = ceilDiv(product.k, tile.blockK);
  for (tile.clusterK = 1; tile.clusterK <= mostBlocksOfCluster(chip);
       tile.clusterK *= 2) {
    for (tile.splitK = tile.clusterK; tile.splitK <= kMaxSplitK;
         tile.splitK *= 2) {
      // Whole parts: a shorter last one would leave blocks idle.
      if (tiles % tile.splitK != 0)
        continue;
      completeSimtCopies(product, chip, /*given=*/{}, tile);
      tile.sharedBytes = sharedBytes(product, tile);
      if (tile.sharedBytes <= chip.sharedPerBlock)
        visit(tile);
    }
  }
}

/// Calls `visit` with `tile` in every number of stages and parts of k that
/// fits.
template <typename Visit>
static void forEachPipeline(const GpuProduct &product, const GpuChip &chip,
                            GpuSchedule tile, Visit visit) {
  if (tile.pack && !getPacking(tile).verify(product.pattern))
    return;
  for (tile.stages = kMaxStages; tile.stages >= 1; --tile.stages)
    forEachSplit(product, chip, tile, visit);
}

/// Calls `visit` with `tile` in every number of slices along k.
template <typename Visit>
static void forEachSlicing(const GpuProduct &product, GpuSchedule tile,
                           Visit visit) {
  int64_t units =
      tile.blockK / product.pattern.windowRows() * product.pattern.n;
  // Neither packed tiles nor lanes with units of their own were measured.
  bool isKnown = !tile.pack && product.pattern.bn >= tile.warpN;
  for (tile.sliceK = 1;
       tile.sliceK == 1 || (isKnown && countThreads(tile) <= kMaxSlicedThreads);
       tile.sliceK *= 2)
    if (units % tile.sliceK == 0)
      visit(tile);
}

/// Calls `visit` with every candidate that fits, with promotion or without.
template <typename Visit>
static void forEachCandidate(const GpuProduct &product, const GpuChip &chip,
                             bool isPromoted, Visit visit) {
  int64_t windowRows = product.pattern.windowRows();
  int64_t most = std::max<int64_t>(1, kMaxTileRows / windowRows);
  most =
      std::min(most, std::max<int64_t>(1, product.pattern.windows(product.k)));
  for (const Shape &shape : getShapes(product.pattern))
    for (int64_t windows = most; windows >= 1; windows /= 2)
      for (bool packs : packingChoices(product))
        forEachSlicing(product,
                       makeTile(product, shape, windows, packs, isPromoted),
                       [&](const GpuSchedule &tile) {
                         forEachPipeline(product, chip, tile, visit);
                       });
}

/// Fewer rows would not pay for a barrier, nor take whole lines of A.
static constexpr int64_t kMinGatheredRows = 32;

bool nm::canGatherUnits(const Pattern &pattern) {
  return pattern.bk % kMinGatheredRows == 0 && pattern.m > 1;
}

/// Calls `visit` with every candidate whose tiles are kept units or parts of
/// one, which a block's columns must share: a dense product of the kept rows.
template <typename Visit>
static void forEachGathering(const GpuProduct &product, const GpuChip &chip,
                             bool isPromoted, Visit visit) {
  const Pattern &pattern = product.pattern;
  if (!canGatherUnits(pattern) || product.rowPacking == RowPacking::Always)
    return;
  for (int64_t rows : {pattern.bk, kMinGatheredRows}) {
    GpuProduct kept = product;
    kept.rowPacking = RowPacking::Never;
    kept.pattern = {1, 1, rows, pattern.bn};
    kept.k = pattern.condensedRows(product.k);
    kept.strideOfA = product.k;
    forEachCandidate(kept, chip, isPromoted, [&](GpuSchedule tile) {
      if (tile.blockN == pattern.bn && tile.blockK == rows && tile.splitK == 1)
        visit(kept, tile);
    });
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Sums of a thread, and columns, in packed blocks of images.
static constexpr int64_t kMeasuredSumsOfImages = 64,
                         kMeasuredColumnsOfImages = 64;

/// Whether estimates hold for a packed tile: times were measured of blocks with
/// one row of at least four warps and the largest tiles a thread. Smaller ones
/// take up to twice as long. Of images, whose copies are what takes time,
/// narrow blocks were measured, with 8 x 8 sums a thread.
static bool isKnownPacked(const GpuProduct &product, const GpuSchedule &tile) {
  if (product.hasImage)
    return product.pattern.bk == 1 && tile.blockN <= kMeasuredColumnsOfImages &&
           tile.stages == 2 &&
           tile.threadM * tile.threadN == kMeasuredSumsOfImages;
  // Shorter copies of an m-major A would be as many as its elements.
  bool isAligned = !product.isMMajor || (product.m != GpuProduct::kUnknown &&
                                         product.m % kAccessWords == 0);
  return isAligned && tile.blockM == tile.warpM &&
         tile.blockN >= 4 * tile.warpN && tile.threadM == 16 &&
         product.pattern.bk == 1 && product.pattern.bn >= tile.warpN;
}

/// What tiles are compared by.
static double getCost(const GpuSchedule &tile) {
  return tile.microseconds * (tile.clusterK > 1 ? kMarginOfSimt : 1);
}

namespace {
/// What is asked of tiles besides that they fit.
struct Demands {
  /// Long sums are made in chains, with promotion.
  bool isPrecise;
  /// Threads do not spill, and the time is known.
  bool mustNotSpill;
};
} // namespace

/// In the order in which they are given up: rather a tile that may spill than
/// one whose sums lose digits, and rather that than none.
static constexpr Demands kDemands[] = {
    {true, true}, {true, false}, {false, true}, {false, false}};

/// The best tile of those that meet `demands`.
static std::optional<GpuSchedule>
findBest(const GpuProduct &product, const GpuChip &chip, Demands demands) {
  std::optional<GpuSchedule> best;
  auto consider = [&](const GpuProduct &estimated, GpuSchedule tile) {
    bool mustKnow =
        demands.mustNotSpill || product.rowPacking == RowPacking::WhereFaster;
    if (tile.pack && mustKnow && !isKnownPacked(product, tile))
      return;
    SimtEstimate estimate(estimated, chip, tile);
    if (!estimate.fits(/*spares=*/demands.mustNotSpill))
      return;
    // A cluster waits for room for all its blocks, as long as others end.
    if (tile.clusterK > 1 && !estimate.isOneWave())
      return;
    setFloors(product, chip, tile);
    tile.microseconds = estimate.microseconds();
    if (!best || getCost(tile) < getCost(*best))
      best = tile;
  };
  bool isPromoted = demands.isPrecise && wantsPromotion(product);
  forEachCandidate(product, chip, isPromoted,
                   [&](GpuSchedule tile) { consider(product, tile); });
  forEachGathering(product, chip, isPromoted, consider);
  return best;
}

Result<GpuSchedule> nm::selectSimtSchedule(const GpuProduct &product,
                                           const GpuChip &chip) {
  if (product.isVector)
    return Error{"expected nm.spmm, the product that strategy simt has"};
  if (product.type != ElementType::F32 ||
      product.outputType != ElementType::F32)
    return Error{"expected f32 operands for strategy simt"};
  for (Demands demands : kDemands)
    if (std::optional<GpuSchedule> best = findBest(product, chip, demands))
      return *best;
  if (product.rowPacking == RowPacking::Always)
    return Error{"expected a tile whose columns keep fewer than all units of a "
                 "window between them, to pack rows of A, but none is of " +
                 product.pattern.str()};
  return Error{
      "expected a window to fit in " + std::to_string(chip.sharedPerBlock) +
      " bytes of shared memory, but one of " + product.pattern.str() +
      " spans " + std::to_string(product.pattern.windowRows()) + " rows"};
}
