//===- ShortRows.cpp - Ops whose rows are stored at once ------------------===//
//
// What makes elements of their positions alone, as what dequantizes packed
// weights, reads where it likes. A thread that makes a whole row of few
// elements has one store of it, and one load of what they have in common: the
// loads are in one block, where CSE finds those that are equal.
//
//===----------------------------------------------------------------------===//

#include "GPU/Tile/ShortRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

bool mlir::nm::makesShortRows(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureBufferSemantics() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().front().isIdentity())
    return false;
  auto type = cast<MemRefType>(op.getOutputs()[0].getType());
  // Of a contiguous array, so that rows begin at multiples of their length.
  if (!type.getLayout().isIdentity() || type.getRank() < 2 ||
      type.isDynamicDim(type.getRank() - 1) ||
      !type.getElementType().isIntOrFloat())
    return false;
  // A vector of bits would be packed, where memory has a byte for each.
  if (type.getElementTypeBitWidth() < 8)
    return false;
  int64_t size = type.getShape().back(),
          bits = size * type.getElementTypeBitWidth();
  return size > 1 && (bits == 32 || bits == 64 || bits == 128);
}

/// Clones the body of `op` for the element at `at`.
static Value makeElement(OpBuilder &builder, linalg::GenericOp op,
                         ArrayRef<Value> at) {
  IRMapping mapping;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), at[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
}

scf::ParallelOp mlir::nm::createRowLoops(OpBuilder &builder,
                                         linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value target = op.getOutputs()[0];
  auto type = cast<MemRefType>(target.getType());
  int64_t last = type.getRank() - 1, size = type.getDimSize(last);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < last; ++dim)
    sizes.push_back(builder.createOrFold<memref::DimOp>(loc, target, dim));
  return scf::ParallelOp::create(
      builder, loc, SmallVector<Value>(last, zero), sizes,
      SmallVector<Value>(last, one),
      [&](OpBuilder &body, Location loc, ValueRange ivs) {
        SmallVector<Value> elements, at(ivs);
        at.push_back(zero);
        for (int64_t i = 0; i < size; ++i) {
          at.back() = arith::ConstantIndexOp::create(body, loc, i);
          elements.push_back(makeElement(body, op, at));
        }
        at.back() = zero;
        auto row = VectorType::get(size, type.getElementType());
        Value made = vector::FromElementsOp::create(body, loc, row, elements);
        vector::StoreOp::create(
            body, loc, made, target, at, /*nontemporal=*/false,
            llvm::MaybeAlign(size * type.getElementTypeBitWidth() / 8));
      });
}
