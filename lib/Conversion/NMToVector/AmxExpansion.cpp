//===- AmxExpansion.cpp - Tiles of weights from bitmaps -------------------===//

#include "AmxExpansion.h"
#include "AmxTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

int64_t mlir::nm::windowsOfBitmap(const ProductTile &tile) {
  return tile.packing.getIndexRows() / tile.pattern.n;
}

/// The bits of the columns of a unit, one for each row of a step.
static Value loadBits(VectorEmitter &e, Value bitmaps, ArrayRef<Value> place) {
  constexpr int64_t kBytes = kAmxStep / 8;
  Value bytes = vector::LoadOp::create(
      e.b, VectorType::get({kBytes}, e.b.getI8Type()), bitmaps, place);
  return vector::BitCastOp::create(
      e.b, VectorType::get({kAmxStep}, e.b.getI1Type()), bytes);
}

/// `kept` weights of a column, as integers, and what may be anything behind.
static Value loadKept(VectorEmitter &e, Value values, ArrayRef<Value> place,
                      int64_t kept) {
  auto type = VectorType::get({kept}, e.b.getBF16Type());
  Value loaded = vector::BitCastOp::create(
      e.b, type.clone(e.b.getI16Type()),
      vector::LoadOp::create(e.b, type, values, place));
  SmallVector<int64_t> lanes(kAmxStep, vector::ShuffleOp::kPoisonIndex);
  for (int64_t lane = 0; lane < kept; ++lane)
    lanes[lane] = lane;
  return vector::ShuffleOp::create(e.b, loaded, loaded, lanes);
}

/// `values` in turn at the places that `bits` have, and zeros at the others.
static Value expandOne(VectorEmitter &e, Value values, Value bits) {
  auto type = cast<VectorType>(values.getType());
  Value zero =
      arith::ConstantOp::create(e.b, cast<TypedAttr>(e.b.getZeroAttr(type)));
  StringAttr name = e.b.getStringAttr("llvm.x86.avx512.mask.expand");
  return LLVM::CallIntrinsicOp::create(e.b, type, name,
                                       ValueRange{values, zero, bits})
      .getResult(0);
}

void mlir::nm::expandWeights(VectorEmitter &emitter, const ProductTile &tile,
                             const WeightsOfStep &of, Value to, Value step) {
  VectorEmitter &e = emitter;
  int64_t kept = tile.packing.getChunkRows(), unitColumns = tile.pattern.bn;
  auto expanded = VectorType::get({kAmxStep}, e.b.getBF16Type());
  Value bits;
  for (int64_t i = 0; i < of.columns; ++i) {
    int64_t column = of.firstColumn + i;
    if (i % unitColumns == 0)
      bits = loadBits(
          e, tile.indices,
          {of.panel, of.step, e.index(column / unitColumns * kAmxStep / 8)});
    Value values = loadKept(e, tile.values,
                            {of.panel, of.step, e.index(column * kept)}, kept);
    Value row =
        vector::BitCastOp::create(e.b, expanded, expandOne(e, values, bits));
    e.store(row, to, {e.index(0), step, e.index(column * kAmxStep)});
  }
}
