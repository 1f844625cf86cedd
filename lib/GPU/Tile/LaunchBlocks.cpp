//===- LaunchBlocks.cpp - Tiles mapped to blocks to a launch --------------===//
//
// Upstream's transform.gpu.map_forall_to_blocks wants constant trip counts; m
// may be dynamic here. The grid has one dimension, the only one of CUDA's that
// can be larger than 65535.
//
//===----------------------------------------------------------------------===//

#include "GPU/Tile/LaunchBlocks.h"

#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/BufferAlignment.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/GPU/Tile/BlockOrder.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// The bytes that `buffer` starts at a multiple of.
static int64_t getAlignment(memref::AllocOp buffer) {
  return std::max<int64_t>(buffer.getAlignment().value_or(1),
                           getBufferAlignment(buffer.getType()));
}

/// Replaces a workgroup buffer by a view of `memory` at `offset` bytes, which
/// carries an alignment that not all buffers have.
static void placeBuffer(RewriterBase &rewriter, memref::AllocOp buffer,
                        Value memory, int64_t offset) {
  Location loc = buffer.getLoc();
  MemRefType type = buffer.getType();
  rewriter.setInsertionPoint(buffer);
  auto flat = MemRefType::get(
      {getWorkgroupBytes(type) * 8 / type.getElementTypeBitWidth()},
      type.getElementType(), MemRefLayoutAttrInterface(),
      type.getMemorySpace());
  Value shift = arith::ConstantIndexOp::create(rewriter, loc, offset);
  auto view = memref::ViewOp::create(rewriter, loc, flat, memory, shift,
                                     /*sizes=*/ValueRange());
  if (int64_t alignment = getAlignment(buffer); alignment > kLineBytes)
    view->setAttr(kAlignmentAttr, rewriter.getI64IntegerAttr(alignment));
  auto [strides, ignored] = type.getStridesAndOffset();
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      buffer, type, view, /*offset=*/0, type.getShape(), strides);
}

static SmallVector<memref::AllocOp> getWorkgroupBuffers(scf::ForallOp loop) {
  return collectOps<memref::AllocOp>(loop, [](memref::AllocOp alloc) {
    return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(alloc.getType());
  });
}

/// Where the buffers start in shared memory, in bytes, and how many bytes they
/// take. Tiles of 4096 and 2048 bytes start at 0 and 4096; a buffer of 5000
/// that overlays them starts at 0, too, and all take 6144.
static std::pair<SmallVector<int64_t>, int64_t>
layOutBuffers(ArrayRef<memref::AllocOp> buffers) {
  SmallVector<int64_t> offsets;
  int64_t tiles = 0, most = 0;
  for (memref::AllocOp buffer : buffers) {
    int64_t size = getWorkgroupBytes(buffer.getType());
    bool isOverlay = buffer->hasAttr(kOverlaysTiles);
    if (!isOverlay)
      tiles = llvm::alignTo(tiles, getAlignment(buffer));
    offsets.push_back(isOverlay ? 0 : tiles);
    tiles += isOverlay ? 0 : size;
    most = std::max(most, isOverlay ? size : tiles);
  }
  return {offsets, most};
}

/// Returns the bytes that the buffers take.
static int64_t placeBuffers(RewriterBase &rewriter, scf::ForallOp loop) {
  SmallVector<memref::AllocOp> buffers = getWorkgroupBuffers(loop);
  if (buffers.empty())
    return 0;
  rewriter.setInsertionPointToStart(loop.getBody());
  Value memory = getLaunchMemory(rewriter, loop.getLoc());
  auto [offsets, bytes] = layOutBuffers(buffers);
  for (auto [buffer, offset] : llvm::zip(buffers, offsets))
    placeBuffer(rewriter, buffer, memory, offset);
  return bytes;
}

void mlir::nm::launchBlocks(RewriterBase &rewriter, scf::ForallOp loop,
                            int64_t threads, ScheduleAttrInterface schedule) {
  Location loc = loop.getLoc();
  int64_t cluster = schedule ? schedule.getTiling().clusterK : 1;
  int64_t bytes = placeBuffers(rewriter, loop);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> trips = countBlockTrips(rewriter, loop);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1), blocks = one;
  for (Value count : trips)
    blocks = rewriter.createOrFold<arith::MulIOp>(loc, blocks, count);
  if (cluster > 1)
    blocks = rewriter.createOrFold<arith::MulIOp>(
        loc, blocks, arith::ConstantIndexOp::create(rewriter, loc, cluster));
  gpu::LaunchOp launch =
      createLaunch(rewriter, loc, blocks, threads, bytes, cluster);
  Value iteration = launch.getBlockIds().x;
  if (cluster > 1)
    iteration = arith::DivUIOp::create(
        rewriter, loc, iteration,
        arith::ConstantIndexOp::create(rewriter, loc, cluster));
  // Blocks that take turns at tiles have one dimension.
  BlockGroups groups;
  if (schedule && loop.getRank() > 1)
    groups = {schedule.getTiling().groupM, schedule.getTiling().groupN};
  SmallVector<Value> ivs =
      getBlockInductionVars(rewriter, loop, trips, iteration, groups);
  rewriter.eraseOp(loop.getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(),
                             launch.getBody().front().getTerminator(), ivs);
  rewriter.eraseOp(loop);
}

LogicalResult mlir::nm::launchTiles(RewriterBase &rewriter, scf::ForallOp loop,
                                    int64_t threads,
                                    ScheduleAttrInterface schedule,
                                    int64_t maxSharedMemory) {
  int64_t bytes = layOutBuffers(getWorkgroupBuffers(loop)).second;
  if (bytes > maxSharedMemory)
    return loop.emitOpError()
           << "expected tiles of at most " << maxSharedMemory
           << " bytes of shared memory, but those of its schedule take "
           << bytes;
  launchBlocks(rewriter, loop, threads, schedule);
  return success();
}
