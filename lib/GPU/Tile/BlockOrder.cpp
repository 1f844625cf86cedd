//===- BlockOrder.cpp - How the tiles of C are numbered -------------------===//

#include "nm/GPU/Tile/BlockOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

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

SmallVector<Value> mlir::nm::countBlockTrips(OpBuilder &builder,
                                             scf::ForallOp loop) {
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

/// Numbers of iterations in the first dimension and in the second one, of block
/// `tile` of these, where `group` of the second take turns; see #nm.simt.
static std::pair<Value, Value> splitGrouped(OpBuilder &builder, Location loc,
                                            Value tile, Value fastTrips,
                                            Value slowTrips, int64_t group) {
  Value rows = arith::ConstantIndexOp::create(builder, loc, group);
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

SmallVector<Value> mlir::nm::getBlockInductionVars(OpBuilder &builder,
                                                   scf::ForallOp loop,
                                                   ArrayRef<Value> trips,
                                                   Value block,
                                                   BlockGroups groups) {
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
    bool isGrouped =
        (groups.m > 1 || groups.n > 1) && i == 0 && i + 1 < order.size();
    if (!isGrouped) {
      set(order[i], take(trips[order[i]], i + 1 == order.size()));
      continue;
    }
    size_t fast = order[i], slow = order[++i];
    Value tiles =
        builder.createOrFold<arith::MulIOp>(loc, trips[fast], trips[slow]);
    Value tile = take(tiles, i + 1 == order.size());
    int64_t group = groups.m;
    if (groups.n > 1) {
      group = groups.n;
      std::swap(fast, slow);
    }
    auto [fastIndex, slowIndex] =
        splitGrouped(builder, loc, tile, trips[fast], trips[slow], group);
    set(fast, fastIndex);
    set(slow, slowIndex);
  }
  return ivs;
}
