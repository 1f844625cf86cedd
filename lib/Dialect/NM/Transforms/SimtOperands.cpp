//===- SimtOperands.cpp - Where strategy simt has its operands ------------===//

#include "nm/Dialect/NM/Transforms/SimtOperands.h"

#include "nm/Dialect/NM/Transforms/AccessWidth.h"
#include "nm/Support/SimtLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether a panel of the weights has one unit, and a warp's columns one panel.
static bool warpsShareUnits(SpMMOp op, const GpuTile &tile) {
  PackingAttr packing = op.getPackingAttr();
  return isa<SimtScheduleAttr>(op.getScheduleAttr()) && packing &&
         packing.getIndexBits() == 8 &&
         packing.getPanel() <= op.getPattern().getPattern().bn &&
         packing.getPanel() % tile.warpN == 0;
}

bool mlir::nm::readsIndicesInPlace(SpMMOp op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  // A window of one unit has one position.
  if (pattern.m == 1 && pattern.bk % RowInterleave::kGroup == 0)
    return isa<SimtScheduleAttr>(op.getScheduleAttr());
  auto simt = dyn_cast<SimtScheduleAttr>(op.getScheduleAttr());
  if (!simt || !simt.prefetchesIndices())
    return false;
  int64_t units = tile.k / pattern.windowRows() * pattern.n;
  auto type = cast<MemRefType>(op.getIndices().getType());
  // Registers have no address: which unit is meant must be constant. A ragged
  // tile lacks positions, which a copy fills up.
  return warpsShareUnits(op, tile) &&
         units * pattern.bk <= ::nm::kMaxUnrolledRows * tile.sliceK &&
         type.hasStaticShape() && type.getDimSize(0) * pattern.bn >= tile.n &&
         type.getDimSize(1) == units;
}

bool mlir::nm::interleavesRows(SpMMOp op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  return warpsShareUnits(op, tile) && !op.getTransposeA() &&
         llvm::isPowerOf2_64(pattern.m) && llvm::isPowerOf2_64(pattern.bk) &&
         tile.k % RowInterleave::kGroup == 0 &&
         tile.m % RowInterleave::kSide == 0;
}

bool mlir::nm::rowsOfAStay(SpMMOp op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  // Words of rows that start within 128 bytes would go to shared memory apart.
  auto [strides, offset] =
      cast<MemRefType>(op.getA().getType()).getStridesAndOffset();
  bool isAligned = !ShapedType::isDynamic(strides[0]) &&
                   strides[0] % ChunkSwizzle::kGroup == 0;
  return isa<SimtScheduleAttr>(op.getScheduleAttr()) && isAligned &&
         !cast<SimtScheduleAttr>(op.getScheduleAttr()).packsRows() &&
         !op.getTransposeA() && pattern.bn < tile.warpN &&
         pattern.bk % ChunkSwizzle::kChunk == 0 &&
         tile.k % ChunkSwizzle::kGroup == 0 &&
         tile.m % ChunkSwizzle::kGroup == 0 &&
         getAccessWidth(op.getA(), {tile.m, tile.k}) == ChunkSwizzle::kChunk;
}

Value ChunkSwizzle::place(OpBuilder &builder, Location loc, Value row,
                          Value column) {
  // Four rows are a lane's.
  Value lane = builder.createOrFold<arith::AndIOp>(
      loc, row, arith::ConstantIndexOp::create(builder, loc, kGroup - kChunk));
  return builder.createOrFold<arith::XOrIOp>(loc, column, lane);
}

Value RowInterleave::place(OpBuilder &builder, Location loc, Value k) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto mask = [&](Value value, int64_t bits) -> Value {
    return builder.createOrFold<arith::AndIOp>(loc, value, constant(bits));
  };
  Value group = mask(k, ~(kGroup - 1));
  Value quad = mask(builder.createOrFold<arith::ShRUIOp>(loc, k, constant(2)),
                    kAhead - 1);
  Value inQuad =
      builder.createOrFold<arith::ShLIOp>(loc, mask(k, kSide - 1), constant(3));
  return builder.createOrFold<arith::AddIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, group, quad), inQuad);
}

Value RowInterleave::placeBytes(OpBuilder &builder, Location loc, Value rows,
                                int64_t bound) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  auto mask = [&](Value value, int64_t byte) -> Value {
    return arith::AndIOp::create(
        builder, loc, value,
        constant(static_cast<int32_t>(0x01010101u * uint32_t(byte))));
  };
  Value quad =
      mask(arith::ShRUIOp::create(builder, loc, rows, constant(2)), kAhead - 1);
  Value inQuad = mask(arith::ShLIOp::create(builder, loc, rows, constant(3)),
                      (kSide - 1) * kAhead);
  Value places = arith::OrIOp::create(builder, loc, quad, inQuad);
  if (bound <= kGroup)
    return places;
  Value group = mask(rows, 256 - kGroup);
  return arith::OrIOp::create(builder, loc, places, group);
}
