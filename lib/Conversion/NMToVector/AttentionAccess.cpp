//===- AttentionAccess.cpp - Elements of nm.attention's operands ----------===//

#include "AttentionAccess.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

bool AttentionAccess::runsAlong(Operand operand, unsigned loop) {
  return findDim(operand, loop).has_value();
}

bool AttentionAccess::isContiguousAlong(Operand operand, unsigned loop) {
  auto type = cast<MemRefType>(valueOf(operand).getType());
  return findDim(operand, loop) == type.getRank() - 1 &&
         type.isLastDimUnitStride();
}

Value AttentionAccess::sizeOf(unsigned loop) {
  auto [operand, dim] = findSize(loop);
  return e.dim(operand, dim);
}

Value AttentionAccess::countKeys(const Place &place) {
  Value all = sizeOf(loops.keys);
  if (!op.getLengths())
    return all;
  return e.min(loadLength(e.b, e.b.getLoc(), place), all);
}

Value AttentionAccess::leftOf(unsigned loop, Value at) {
  int64_t size = getStaticSize(loop);
  if (!ShapedType::isDynamic(size) && size % e.lanes == 0)
    return e.index(e.lanes);
  return e.sub(sizeOf(loop), at);
}

Value AttentionAccess::load(Operand operand, const Place &place) {
  return e.loadScalar(valueOf(operand), indicesOf(operand, place));
}

Value AttentionAccess::loadAlong(Operand operand, Place place, unsigned loop,
                                 Value width) {
  if (isContiguousAlong(operand, loop))
    return e.maskedLoad(valueOf(operand), indicesOf(operand, place), width);
  if (!runsAlong(operand, loop))
    return e.broadcast(load(operand, place));
  return e.extend(e.loadAlong(valueOf(operand), indicesOf(operand, place),
                              findDim(operand, loop), width));
}

void AttentionAccess::storeOutput(Value vector, const Place &place,
                                  Value width) {
  if (getElement() != e.accumulator)
    vector = arith::TruncFOp::create(
        e.b, VectorType(e.vectorType).clone(getElement()), vector);
  SmallVector<Value> indices = indicesOf(O, place);
  if (isContiguousAlong(O, loops.width))
    return e.maskedStore(vector, valueOf(O), indices, width);
  auto map = AffineMap::get(unsigned(indices.size()), 0,
                            e.b.getAffineDimExpr(*findDim(O, loops.width)),
                            e.b.getContext());
  vector::TransferWriteOp::create(e.b, vector, valueOf(O), indices,
                                  AffineMapAttr::get(map), e.mask(width),
                                  e.b.getBoolArrayAttr({true}));
}
