//===- GpuTile.cpp - The tile that a thread block makes -------------------===//

#include "nm/GPU/Tile/GpuTile.h"
#include "nm/Dialect/NM/IR/BufferAlignment.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// CUDA's limit on the threads of a block.
static constexpr int64_t kMaxThreads = 1024;

bool mlir::nm::hasGpuSchedule(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  return schedule && schedule.isForGPU();
}

static LogicalResult verifyMultiple(Operation *op, StringRef name, int64_t size,
                                    StringRef partName, int64_t part) {
  if (size % part == 0)
    return success();
  return op->emitOpError() << "expected " << name << ", " << size
                           << ", to be a multiple of " << partName << ", "
                           << part;
}

static LogicalResult verifyTile(Operation *op, const GpuTile &tile) {
  if (failed(verifyMultiple(op, "the block tile's m", tile.m, "the warp's",
                            tile.warpM)) ||
      failed(verifyMultiple(op, "the block tile's n, in whole panels,", tile.n,
                            "the warp's", tile.warpN)) ||
      failed(verifyMultiple(op, "the warp tile's m", tile.warpM, "the thread's",
                            tile.threadM)) ||
      failed(verifyMultiple(op, "the warp tile's n", tile.warpN, "the thread's",
                            tile.threadN)))
    return failure();
  bool fewer = tile.leavesLanes && tile.warpsN() == 1;
  int64_t lanes = tile.lanesM * tile.lanesN();
  if (fewer ? lanes > kWarpSize : lanes != kWarpSize)
    return op->emitOpError()
           << "expected a warp tile of " << kWarpSize << " thread tiles, but "
           << tile.lanesM << " x " << tile.lanesN() << " fit";
  // Each factor first, for products that would not fit 64 bits.
  if (tile.warpsM() > kMaxThreads || tile.warpsN() > kMaxThreads ||
      tile.warpsM() * tile.warpsN() * tile.sliceK * kWarpSize > kMaxThreads)
    return op->emitOpError()
           << "expected at most " << kMaxThreads << " threads a block, but got "
           << tile.warpsM() << " x " << tile.warpsN() << " warps of "
           << kWarpSize << ", " << tile.sliceK << " times";
  return success();
}

/// Sets the tiles of warps and threads, and how many there are.
static LogicalResult setWarps(Operation *op, GpuTile &tile) {
  if (tile.threads == 0) {
    if (tile.lanesM != 0) {
      int64_t lanesN = kWarpSize / tile.lanesM;
      tile.threadM = std::max<int64_t>(1, tile.warpM / tile.lanesM);
      tile.threadN = std::max<int64_t>(1, tile.warpN / lanesN);
    }
    tile.lanesM = tile.warpM / tile.threadM;
    if (failed(verifyTile(op, tile)))
      return failure();
    tile.threads = tile.warpsM() * tile.warpsN() * tile.sliceK * kWarpSize;
    return success();
  }
  tile.warpM = tile.threadM = tile.m;
  tile.warpN = tile.threadN = tile.n;
  tile.lanesM = 1;
  if (tile.threads % kWarpSize == 0 && tile.threads <= kMaxThreads)
    return success();
  return op->emitOpError() << "expected a multiple of " << kWarpSize
                           << " threads a block, at most " << kMaxThreads
                           << ", but got " << tile.threads;
}

/// The rows of k that a tile has a multiple of: whole windows, in strategies
/// whose slices share a tile as many for each.
static int64_t getTileStep(SparseProductOpInterface op,
                           const BlockTiling &tiling) {
  int64_t rows = getRowStep(op.getPattern(), op.getPackingAttr());
  return tiling.hasSlicesOfWindows ? rows * tiling.sliceK : rows;
}

FailureOr<GpuTile> GpuTile::get(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!schedule)
    return op->emitOpError() << "expected a schedule, but it has none";
  BlockTiling tiling = schedule.getTiling();
  if (tiling.threads && !tiling.hasBlock())
    return op->emitOpError()
           << "expected a schedule with 'block', but got " << schedule;
  if (!tiling.threads && (!tiling.hasBlock() || tiling.warpM == 0 ||
                          (tiling.threadM == 0 && tiling.lanesM == 0)))
    return op->emitOpError() << "expected a schedule with 'block', 'warp' and "
                                "'thread', but got "
                             << schedule;
  GpuTile tile{tiling};
  tile.m = tiling.blockM;
  tile.n = llvm::alignTo(tiling.blockN,
                         getColumnStep(op.getPattern(), op.getPackingAttr()));
  int64_t rows = getTileStep(op, tiling);
  tile.k = llvm::alignTo(tiling.blockK, rows);
  if (!ShapedType::isDynamic(op.getStaticK()))
    tile.k = std::min<int64_t>(tile.k, llvm::alignTo(op.getStaticK(), rows));
  if (failed(setWarps(op, tile)))
    return failure();
  return tile;
}

int64_t mlir::nm::getWorkgroupBytes(MemRefType type) {
  return ::nm::countBufferBytes(getBufferBytes(type));
}

bool mlir::nm::isMappedToBlocks(scf::ForallOp loop) {
  std::optional<ArrayAttr> mapping = loop.getMapping();
  return mapping && !mapping->empty() &&
         llvm::all_of(*mapping, llvm::IsaPred<gpu::GPUBlockMappingAttr>);
}
