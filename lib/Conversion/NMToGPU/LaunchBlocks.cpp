//===- LaunchBlocks.cpp - Tiles mapped to blocks to a launch --------------===//
//
// Upstream's transform.gpu.map_forall_to_blocks wants constant trip counts; m
// may be dynamic here. The grid has one dimension, the only one of CUDA's that
// can be larger than 65535.
//
//===----------------------------------------------------------------------===//

#include "LaunchBlocks.h"

#include "nm/Dialect/NM/GPUTransforms/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// The loop's dimensions, the one that runs fastest first.
static SmallVector<size_t> getOrder(scf::ForallOp loop) {
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, loop.getRank()));
  ArrayAttr mapping = *loop.getMapping();
  llvm::sort(order, [&](size_t lhs, size_t rhs) {
    auto id = [&](size_t dim) {
      return cast<gpu::GPUBlockMappingAttr>(mapping[dim]).getMappingId();
    };
    return id(lhs) < id(rhs);
  });
  return order;
}

/// The trip count of each dimension.
static SmallVector<Value> countTrips(OpBuilder &builder, scf::ForallOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> trips;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLowerBound(builder), loop.getUpperBound(builder),
                 loop.getStep(builder))) {
    Value range = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    trips.push_back(builder.createOrFold<arith::CeilDivUIOp>(loc, range, step));
  }
  return trips;
}

/// Numbers of iterations in the dimension that runs fastest and the one after
/// it, of block `tile` of these, where `groupM` of the latter take turns; see
/// #nm.simt.
static std::pair<Value, Value> splitGrouped(OpBuilder &builder, Location loc,
                                            Value tile, Value fastTrips,
                                            Value slowTrips, int64_t groupM) {
  Value rows = arith::ConstantIndexOp::create(builder, loc, groupM);
  Value inGroup = builder.createOrFold<arith::MulIOp>(loc, rows, fastTrips);
  Value first = builder.createOrFold<arith::MulIOp>(
      loc, arith::DivUIOp::create(builder, loc, tile, inGroup), rows);
  Value inside = arith::RemUIOp::create(builder, loc, tile, inGroup);
  // The last group may have fewer.
  Value left = arith::SubIOp::create(builder, loc, slowTrips, first);
  rows = arith::MinUIOp::create(builder, loc, rows, left);
  return {arith::DivUIOp::create(builder, loc, inside, rows),
          arith::AddIOp::create(
              builder, loc, first,
              arith::RemUIOp::create(builder, loc, inside, rows))};
}

/// The loop's induction variables in the block, or cluster, with linear id
/// `block`. The two dimensions that run fastest are in groups of `groupM`.
static SmallVector<Value> getInductionVars(OpBuilder &builder,
                                           scf::ForallOp loop,
                                           ArrayRef<Value> trips, Value block,
                                           int64_t groupM) {
  Location loc = loop.getLoc();
  SmallVector<Value> lower = loop.getLowerBound(builder),
                     step = loop.getStep(builder), ivs(loop.getRank());
  // Takes the number of one of `count` iterations off the block's.
  auto take = [&](Value count, bool isLast) {
    Value index = block;
    if (!isLast) {
      index = arith::RemUIOp::create(builder, loc, block, count);
      block = arith::DivUIOp::create(builder, loc, block, count);
    }
    return index;
  };
  auto set = [&](size_t dim, Value index) {
    Value offset = builder.createOrFold<arith::MulIOp>(loc, index, step[dim]);
    ivs[dim] = builder.createOrFold<arith::AddIOp>(loc, offset, lower[dim]);
  };
  SmallVector<size_t> order = getOrder(loop);
  for (size_t i = 0; i < order.size(); ++i) {
    bool isGrouped = groupM > 1 && i == 0 && i + 1 < order.size();
    if (!isGrouped) {
      set(order[i], take(trips[order[i]], i + 1 == order.size()));
      continue;
    }
    size_t fast = order[i], slow = order[++i];
    Value tiles =
        builder.createOrFold<arith::MulIOp>(loc, trips[fast], trips[slow]);
    auto [fastIndex, slowIndex] =
        splitGrouped(builder, loc, take(tiles, i + 1 == order.size()),
                     trips[fast], trips[slow], groupM);
    set(fast, fastIndex);
    set(slow, slowIndex);
  }
  return ivs;
}

/// Replaces a workgroup buffer by a view of `memory` at `offset` bytes.
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
  Value view = memref::ViewOp::create(rewriter, loc, flat, memory, shift,
                                      /*sizes=*/ValueRange());
  auto [strides, ignored] = type.getStridesAndOffset();
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      buffer, type, view, /*offset=*/0, type.getShape(), strides);
}

static SmallVector<memref::AllocOp> getWorkgroupBuffers(scf::ForallOp loop) {
  SmallVector<memref::AllocOp> buffers;
  loop.walk([&](memref::AllocOp alloc) {
    if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(alloc.getType()))
      buffers.push_back(alloc);
  });
  return buffers;
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
    offsets.push_back(isOverlay ? 0 : tiles);
    tiles += isOverlay ? 0 : size;
    most = std::max(most, isOverlay ? size : tiles);
  }
  return {offsets, most};
}

int64_t mlir::nm::countSharedBytes(scf::ForallOp loop) {
  return layOutBuffers(getWorkgroupBuffers(loop)).second;
}

/// Returns the bytes that the buffers take.
static int64_t placeBuffers(RewriterBase &rewriter, scf::ForallOp loop) {
  SmallVector<memref::AllocOp> buffers = getWorkgroupBuffers(loop);
  if (buffers.empty())
    return 0;
  auto space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto bytesType = MemRefType::get({ShapedType::kDynamic}, rewriter.getI8Type(),
                                   MemRefLayoutAttrInterface(), space);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value memory =
      gpu::DynamicSharedMemoryOp::create(rewriter, loop.getLoc(), bytesType);
  auto [offsets, bytes] = layOutBuffers(buffers);
  for (auto [buffer, offset] : llvm::zip(buffers, offsets))
    placeBuffer(rewriter, buffer, memory, offset);
  return bytes;
}

static gpu::LaunchOp createLaunch(OpBuilder &builder, Location loc,
                                  Value blocks, Value threads, Value shared,
                                  int64_t cluster) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  if (cluster == 1)
    return gpu::LaunchOp::create(builder, loc, blocks, one, one, threads, one,
                                 one, shared);
  Value width = arith::ConstantIndexOp::create(builder, loc, cluster);
  auto launch = gpu::LaunchOp::create(
      builder, loc, blocks, one, one, threads, one, one, shared,
      /*asyncTokenType=*/nullptr, /*asyncDependencies=*/{},
      /*workgroupAttributions=*/{}, /*privateAttributions=*/{}, width, one,
      one);
  // The builder leaves out the cluster's ids and sizes.
  for (int64_t i = 0; i < 6; ++i)
    launch.getBody().addArgument(builder.getIndexType(), loc);
  return launch;
}

void mlir::nm::launchBlocks(RewriterBase &rewriter, scf::ForallOp loop,
                            int64_t threads, ScheduleAttrInterface schedule) {
  Location loc = loop.getLoc();
  int64_t cluster = schedule ? schedule.getTiling().clusterK : 1;
  int64_t bytes = placeBuffers(rewriter, loop);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> trips = countTrips(rewriter, loop);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1), blocks = one;
  for (Value count : trips)
    blocks = rewriter.createOrFold<arith::MulIOp>(loc, blocks, count);
  if (cluster > 1)
    blocks = rewriter.createOrFold<arith::MulIOp>(
        loc, blocks, arith::ConstantIndexOp::create(rewriter, loc, cluster));
  Value size = arith::ConstantIndexOp::create(rewriter, loc, threads);
  Value shared =
      bytes == 0
          ? Value()
          : arith::ConstantIntOp::create(rewriter, loc, bytes, 32).getResult();
  auto launch = createLaunch(rewriter, loc, blocks, size, shared, cluster);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  Value iteration = launch.getBlockIds().x;
  if (cluster > 1)
    iteration = arith::DivUIOp::create(
        rewriter, loc, iteration,
        arith::ConstantIndexOp::create(rewriter, loc, cluster));
  auto simt = dyn_cast_if_present<SimtScheduleAttr>(schedule);
  SmallVector<Value> ivs =
      getInductionVars(rewriter, loop, trips, iteration,
                       simt ? simt.getGroupM().value_or(1) : 1);
  rewriter.eraseOp(loop.getTerminator());
  auto terminator = gpu::TerminatorOp::create(rewriter, loc);
  rewriter.inlineBlockBefore(loop.getBody(), terminator, ivs);
  rewriter.eraseOp(loop);
}
