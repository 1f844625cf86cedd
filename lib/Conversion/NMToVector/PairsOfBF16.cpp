//===- PairsOfBF16.cpp - Products of pairs of bf16 by vectors -------------===//

#include "PairsOfBF16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Lanes of f32 of a part of a vector that VPUNPCKLWD does not leave.
static constexpr int64_t kPartLanes = 4;

static bool isBF16(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType().isBF16();
}

bool mlir::nm::multipliesPairs(const VectorEmitter &e, const ProductTile &tile,
                               int64_t rows) {
  return e.target.bf16Pairs && e.target.bits == 512 && rows > e.lanes &&
         !tile.image && isBF16(tile.a) && isBF16(tile.values);
}

/// Lanes of 32 bits as twice as many of 16.
static Value toHalves(VectorEmitter &e, Value vector) {
  return vector::BitCastOp::create(
      e.b, VectorType::get({2 * e.lanes}, e.b.getI16Type()), vector);
}

static Value toWords(VectorEmitter &e, Value halves) {
  int64_t lanes = cast<VectorType>(halves.getType()).getNumElements();
  return vector::BitCastOp::create(
      e.b, VectorType::get({lanes / 2}, e.b.getI32Type()), halves);
}

Value mlir::nm::packPair(VectorEmitter &e, Value low, Value high) {
  // The upper half of a float is the bf16.
  SmallVector<int64_t> lanes;
  for (int64_t part = 0; part < e.lanes; part += kPartLanes)
    for (int64_t source : {int64_t(0), 2 * e.lanes})
      for (int64_t lane = part; lane < part + kPartLanes; ++lane)
        lanes.push_back(source + 2 * lane + 1);
  Value packed = vector::ShuffleOp::create(e.b, toHalves(e, low),
                                           toHalves(e, high), lanes);
  return vector::BitCastOp::create(e.b, e.vectorType, packed);
}

SmallVector<Value, 2> mlir::nm::interleavePairs(VectorEmitter &e, Value first,
                                                Value second) {
  Value left = toHalves(e, first),
        right = toHalves(e, second ? second : e.zeroVector());
  SmallVector<Value, 2> pairs;
  for (int64_t half : {int64_t(0), kPartLanes}) {
    SmallVector<int64_t> lanes;
    for (int64_t part = 0; part < 2 * e.lanes; part += 2 * kPartLanes)
      for (int64_t lane = part + half; lane < part + half + kPartLanes; ++lane)
        lanes.append({lane, 2 * e.lanes + lane});
    pairs.push_back(
        toWords(e, vector::ShuffleOp::create(e.b, left, right, lanes)));
  }
  return pairs;
}

static Value toWord(VectorEmitter &e, Value scalar) {
  Value bits = arith::BitcastOp::create(e.b, e.b.getI16Type(), scalar);
  return arith::ExtUIOp::create(e.b, e.b.getI32Type(), bits);
}

Value mlir::nm::broadcastPair(VectorEmitter &e, Value first, Value second) {
  Value word = toWord(e, first);
  if (second) {
    Value sixteen = arith::ConstantIntOp::create(e.b, 16, /*width=*/32);
    word = arith::OrIOp::create(
        e.b, word, arith::ShLIOp::create(e.b, toWord(e, second), sixteen));
  }
  return vector::BroadcastOp::create(
      e.b, VectorType::get({e.lanes}, e.b.getI32Type()), word);
}

SmallVector<Value> mlir::nm::broadcastPairs(VectorEmitter &e, Value first,
                                            Value second) {
  auto halves = VectorType::get({kPartLanes}, e.b.getI16Type());
  Value left = vector::BitCastOp::create(e.b, halves, first), right;
  if (second)
    right = vector::BitCastOp::create(e.b, halves, second);
  else
    right = arith::ConstantOp::create(e.b,
                                      cast<TypedAttr>(e.b.getZeroAttr(halves)));
  SmallVector<int64_t> interleaved;
  for (int64_t lane = 0; lane < kPartLanes; ++lane)
    interleaved.append({lane, kPartLanes + lane});
  Value words =
      toWords(e, vector::ShuffleOp::create(e.b, left, right, interleaved));
  return e.broadcastEach(words);
}

Value mlir::nm::multiplyPairs(VectorEmitter &e, Value a, Value weights,
                              Value sum) {
  // Not by LLVM's intrinsic: a processor that has it for LLVM rounds to bf16 by
  // instructions that take subnormal numbers for zero.
  return LLVM::InlineAsmOp::create(
             e.b, e.vectorType, ValueRange{sum, weights, a},
             /*asm_string=*/"vdpbf16ps $3, $2, $0",
             /*constraints=*/"=v,0,v,v", /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr{}, ArrayAttr{})
      .getResult(0);
}
