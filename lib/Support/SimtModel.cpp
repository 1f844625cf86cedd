//===- SimtModel.cpp - Tile sizes and times of strategy simt --------------===//
//
// How long a product with N:M-sparse weights takes on a chip's CUDA cores, and
// the tiles for which that is least.
//
//===----------------------------------------------------------------------===//

#include "GpuModels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

using namespace nm;

//===----------------------------------------------------------------------===//
// Candidates
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
    {1, 4, 8, 4, 16, 8}, {2, 2, 8, 4, 16, 8}, {1, 2, 8, 4, 16, 8},
    {2, 4, 8, 4, 8, 8},  {1, 4, 8, 4, 8, 8},  {2, 2, 8, 4, 8, 8},
    {1, 2, 8, 4, 8, 8},  {1, 4, 8, 4, 8, 4},  {2, 2, 8, 4, 4, 4},
    {1, 4, 8, 4, 4, 4},  {1, 2, 8, 4, 4, 4},
};

/// Rows of A's tile are this much further apart than they are long; see
/// nm-stage-shared-memory.
static constexpr int64_t kRowPadding = 4;
static constexpr int64_t kMaxStages = 3;
static constexpr int64_t kRegisters = 65536;
static constexpr int64_t kMaxRegisters = 255;
static constexpr int64_t kMaxThreadsPerMultiprocessor = 2048;
/// Shared memory that the driver keeps of every block.
static constexpr int64_t kReservedShared = 1024;

/// Bytes of shared memory of one stage.
static int64_t stageBytes(const Pattern &pattern, const GpuSchedule &tile) {
  int64_t windows = tile.blockK / pattern.windowRows();
  int64_t a = tile.blockK * (tile.blockM + kRowPadding) * 4;
  int64_t values = windows * pattern.keptRows() * tile.blockN * 4;
  int64_t indices = windows * pattern.n * tile.blockN /
                    std::min(pattern.bn, tile.packing.panel);
  return alignTo(a, 128) + alignTo(values, 128) + alignTo(indices, 128);
}

static GpuSchedule makeTile(const GpuProduct &product, const Shape &shape,
                            int64_t windows) {
  GpuSchedule tile;
  tile.threadM = shape.threadM;
  tile.threadN = shape.threadN;
  tile.warpM = shape.lanesM * shape.threadM;
  tile.warpN = shape.lanesN * shape.threadN;
  tile.blockM = shape.warpsM * tile.warpM;
  tile.blockN = shape.warpsN * tile.warpN;
  tile.blockK = windows * product.pattern.windowRows();
  tile.packing.panel = choosePanel(product.pattern, tile.blockN);
  tile.packing.indexBits = 8;
  return tile;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {
/// Estimates one candidate.
class Estimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip,
           const GpuSchedule &tile)
      : product(product), chip(chip), tile(tile),
        threads(tile.blockM / tile.warpM * (tile.blockN / tile.warpN) * kWarp),
        keptRows(tile.blockK / product.pattern.windowRows() *
                 product.pattern.keptRows()) {}

  /// Negative if the chip cannot run it.
  double microseconds() const;

private:
  double warps() const { return double(threads) / kWarp; }
  double readsPerRow() const;
  double multiplyClocks() const;
  double sharedClocks() const;
  double issueClocks() const;
  int64_t blocksPerMultiprocessor() const;

  const GpuProduct &product;
  const GpuChip &chip;
  const GpuSchedule &tile;
  int64_t threads, keptRows;
};
} // namespace

/// 16-byte loads from shared memory of a thread for one kept row.
double Estimate::readsPerRow() const {
  int64_t unit = std::min(product.pattern.bn, tile.packing.panel);
  // The columns of a thread that have positions of their own.
  double rowsOfA = tile.threadN / double(std::min(unit, kChunk));
  if (unit >= kChunk)
    rowsOfA = std::max(1.0, std::min(rowsOfA, double(tile.warpN) / unit));
  return rowsOfA * tile.threadM / kChunk + double(tile.threadN) / kChunk;
}

double Estimate::multiplyClocks() const {
  return double(tile.blockM) * tile.blockN * keptRows / chip.fmaPerClock;
}

/// A 16-byte load of a warp takes four clocks; a 4-byte store one, or two where
/// the transposing copy meets a bank twice.
double Estimate::sharedClocks() const {
  double reads = warps() * keptRows * readsPerRow() * 4;
  double storesOfA = double(tile.blockM) * tile.blockK / kWarp * 2;
  double copies = double(keptRows) * tile.blockN * 4 / 128;
  return reads + storesOfA + copies;
}

/// Four schedulers issue an instruction a clock each.
double Estimate::issueClocks() const {
  double multiplications = double(tile.blockM) * tile.blockN * keptRows / kWarp;
  double reads = warps() * keptRows * (readsPerRow() + 4);
  double copies = double(tile.blockM) * tile.blockK / kWarp * 1.5 +
                  double(keptRows) * tile.blockN / kWarp / 2;
  return (multiplications + reads + copies) / 4;
}

int64_t Estimate::blocksPerMultiprocessor() const {
  // Sums, one row of operands, what a thread copies of the next tile of A while
  // it multiplies, and addresses.
  int64_t registers = tile.threadM * tile.threadN + tile.threadM +
                      tile.threadN + tile.blockM * tile.blockK / threads + 40;
  if (registers > kMaxRegisters)
    return 0;
  return std::min(
      {kRegisters / (alignTo(registers, 8) * threads),
       chip.sharedPerMultiprocessor / (tile.sharedBytes + kReservedShared),
       kMaxThreadsPerMultiprocessor / threads});
}

double Estimate::microseconds() const {
  int64_t resident = blocksPerMultiprocessor();
  if (resident < 1)
    return -1;
  double blocks = double(ceilDiv(product.rows(), tile.blockM)) *
                  ceilDiv(product.n, tile.blockN);
  double perMultiprocessor = std::ceil(blocks / chip.multiprocessors);
  // Eight warps keep the schedulers busy; fewer leave latency in sight.
  double concurrent = std::min<double>(resident, perMultiprocessor);
  double busy = std::min(1.0, 0.5 + concurrent * warps() / 16);
  double barrier = (tile.stages > 1 ? 60 : 900) / concurrent;
  double clocks = std::max({multiplyClocks(), sharedClocks(), issueClocks()});
  double tiles = double(ceilDiv(product.k, tile.blockK));
  double fill = 1500;
  double total = perMultiprocessor * tiles * (clocks / busy + barrier) + fill;
  return std::max(total / chip.clockGHz / 1000, tile.memoryFloor);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Rows of A's tile beyond which a longer one saves nothing.
static constexpr int64_t kMaxTileRows = 128;

/// Calls `visit` with every candidate that fits.
template <typename Visit>
static void forEachCandidate(const GpuProduct &product, const GpuChip &chip,
                             Visit visit) {
  int64_t windowRows = product.pattern.windowRows();
  int64_t most = std::max<int64_t>(1, kMaxTileRows / windowRows);
  most =
      std::min(most, std::max<int64_t>(1, product.pattern.windows(product.k)));
  for (const Shape &shape : kShapes)
    for (int64_t windows = most; windows >= 1; windows /= 2)
      for (int64_t stages = kMaxStages; stages >= 1; --stages) {
        GpuSchedule tile = makeTile(product, shape, windows);
        tile.stages = stages;
        tile.sharedBytes = stageBytes(product.pattern, tile) * stages;
        if (tile.sharedBytes <= chip.sharedPerBlock)
          visit(tile);
      }
}

Result<GpuSchedule> nm::selectSimtSchedule(const GpuProduct &product,
                                           const GpuChip &chip) {
  if (product.isVector)
    return Error{"expected nm.spmm, the product that strategy simt has"};
  if (product.type != ElementType::F32 ||
      product.outputType != ElementType::F32)
    return Error{"expected f32 operands for strategy simt"};
  std::optional<GpuSchedule> best;
  forEachCandidate(product, chip, [&](GpuSchedule &tile) {
    setFloors(product, chip, tile);
    tile.microseconds = Estimate(product, chip, tile).microseconds();
    if (tile.microseconds < 0)
      return;
    if (!best || tile.microseconds < best->microseconds)
      best = tile;
  });
  if (best)
    return *best;
  return Error{
      "expected a window to fit in " + std::to_string(chip.sharedPerBlock) +
      " bytes of shared memory, but one of " + product.pattern.str() +
      " spans " + std::to_string(product.pattern.windowRows()) + " rows"};
}
