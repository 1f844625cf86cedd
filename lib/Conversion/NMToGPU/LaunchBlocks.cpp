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

/// The loop's induction variables in the block, or cluster, with linear id
/// `block`.
static SmallVector<Value> getInductionVars(OpBuilder &builder,
                                           scf::ForallOp loop,
                                           ArrayRef<Value> trips, Value block) {
  Location loc = loop.getLoc();
  SmallVector<Value> lower = loop.getLowerBound(builder),
                     step = loop.getStep(builder), ivs(loop.getRank());
  SmallVector<size_t> order = getOrder(loop);
  for (size_t dim : order) {
    Value index = block;
    if (dim != order.back()) {
      index = arith::RemUIOp::create(builder, loc, block, trips[dim]);
      block = arith::DivUIOp::create(builder, loc, block, trips[dim]);
    }
    Value offset = builder.createOrFold<arith::MulIOp>(loc, index, step[dim]);
    ivs[dim] = builder.createOrFold<arith::AddIOp>(loc, offset, lower[dim]);
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

/// Where the buffers start, in bytes, and how many they take.
static std::pair<SmallVector<int64_t>, int64_t>
layOutBuffers(ArrayRef<memref::AllocOp> buffers) {
  SmallVector<int64_t> offsets;
  int64_t tiles = 0, most = 0;
  for (memref::AllocOp buffer : buffers) {
    int64_t size = getWorkgroupBytes(buffer.getType());
    bool isLater = buffer->hasAttr(kReusesTiles);
    offsets.push_back(isLater ? 0 : tiles);
    tiles += isLater ? 0 : size;
    most = std::max(most, isLater ? size : tiles);
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
  SmallVector<Value> ivs = getInductionVars(rewriter, loop, trips, iteration);
  rewriter.eraseOp(loop.getTerminator());
  auto terminator = gpu::TerminatorOp::create(rewriter, loc);
  rewriter.inlineBlockBefore(loop.getBody(), terminator, ivs);
  rewriter.eraseOp(loop);
}
