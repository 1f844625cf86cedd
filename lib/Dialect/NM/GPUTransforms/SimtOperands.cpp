//===- SimtOperands.cpp - Where strategy simt has its operands ------------===//

#include "nm/Dialect/NM/GPUTransforms/SimtOperands.h"

#include "nm/Dialect/NM/GPUTransforms/AccessWidth.h"
#include "nm/Schedule/SimtLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a 16-byte word, and of eight, which are swizzled together.
static constexpr int64_t kWord = 4, kWordGroup = 8 * kWord;

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
  bool isAligned =
      !ShapedType::isDynamic(strides[0]) && strides[0] % kWordGroup == 0;
  return isa<SimtScheduleAttr>(op.getScheduleAttr()) && isAligned &&
         !cast<SimtScheduleAttr>(op.getScheduleAttr()).packsRows() &&
         !op.getTransposeA() && pattern.bn < tile.warpN &&
         pattern.bk % kWord == 0 && tile.k % kWordGroup == 0 &&
         tile.m % kWordGroup == 0 &&
         getAccessWidth(op.getA(), {tile.m, tile.k}) == kWord;
}

::nm::TileLayout mlir::nm::getWordSwizzle() {
  return {{{}, {}},
          {{/*dim=*/1, /*bit=*/2, /*fromDim=*/0, /*fromBit=*/2, /*count=*/3}}};
}

::nm::TileLayout mlir::nm::getRowInterleave() {
  return {{{2, 3, 4, 0, 1}, {}}, {}};
}

/// The side of the squares that a thread transposes in its registers: a row is
/// one 16-byte load, a column one 16-byte store.
static constexpr int64_t kSquare = 4;
/// Rows of squares that a warp takes at once.
static constexpr int64_t kWarpRows = 4;
static constexpr int64_t kMaxThreadsWithSquares = 256;

bool mlir::nm::canTransposeSquares(ArrayRef<int64_t> extents, int64_t width,
                                   int64_t rowStride, int64_t threads,
                                   bool interleaves) {
  // Threads of a large block have 128 registers at most: a square would hold 16
  // of them at once, and take those that operands are read ahead to.
  if (!interleaves && threads > kMaxThreadsWithSquares)
    return false;
  // Interleaved rows are stored by whole warps.
  if (interleaves && extents[0] % (kWarpRows * kSquare) != 0)
    return false;
  // The destination's rows start at multiples of a square.
  return width == kSquare && extents[0] % kSquare == 0 &&
         rowStride % kSquare == 0;
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
