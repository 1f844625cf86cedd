//===- SimtLayouts.cpp - The orders of A's tile in strategy simt ----------===//

#include "nm/GPU/Strategies/Simt/SimtLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

::nm::TileLayout mlir::nm::getWordSwizzle() {
  return {{{}, {}},
          {{/*dim=*/1, /*bit=*/2, /*fromDim=*/0, /*fromBit=*/2, /*count=*/3}}};
}

::nm::TileLayout mlir::nm::getRowInterleave() {
  return {{{2, 3, 4, 0, 1}, {}}, {}};
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
