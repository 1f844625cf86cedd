//===- AttentionScores.cpp - Exponentials of attention --------------------===//

#include "GPU/Attention/AttentionScores.h"

#include "nm/Dialect/NM/IR/Exp2.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

Value mlir::nm::emitInverse(ThreadEmitter &emitter, Value total) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       total, emitter.f32(0));
  return arith::SelectOp::create(
      builder, loc, isNone, emitter.f32(0),
      arith::DivFOp::create(builder, loc, emitter.f32(1), total));
}

/// Whether scores need no mask and no scale before the largest is found.
static bool areRaw(AttentionOp op) {
  return !op.getMask() && op.getScale().convertToDouble() > 0;
}

AttentionScores::AttentionScores(ThreadEmitter &emitter, AttentionPlace &place,
                                 const AttentionTiles &tiles)
    : e(emitter), builder(emitter.builder), loc(emitter.loc), place(place),
      tiles(tiles), isRaw(areRaw(place.op)),
      factor(isRaw ? place.op.getScale().convertToDouble() * M_LOG2E : 1) {}

AttentionState AttentionScores::clear() {
  int64_t sums =
      tiles.countSquares() * place.getWidth() / kMatrixSide * kMmaSums;
  return {Values(sums, e.f32(0)), Values(countRows(), e.f32(-INFINITY)),
          Values(countRows(), e.f32(0))};
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The key of score `i` of `values`, where the warp's first one is `first`.
Value AttentionScores::keyOf(Value first, size_t i, size_t values) {
  size_t ofSquare = values / size_t(tiles.countSquares());
  return tiles.keyOf(e, first, int64_t(i % ofSquare));
}

/// Hides scores of keys that there are not, or that come later than their row,
/// in a tile of keys of which the warp has those from `own` on.
void AttentionScores::hide(Values &scores, Value tile, Value own) {
  Value some = e.less(rows.endKey, e.add(tile, tiles.countKeys()));
  if (place.op.getCausal()) {
    AttentionPlace::Place unused = place.createPlace();
    Value row = place.putRow(unused, rows.first);
    some = e.either(some, e.less(row, e.add(tile, tiles.countKeys() - 1)));
  }
  scores = e.choose(
      some,
      [&] {
        Values seen;
        for (auto [i, score] : llvm::enumerate(scores)) {
          Value key = keyOf(own, i, scores.size());
          Value isSeen = e.less(key, rows.endKey);
          if (place.op.getCausal())
            isSeen = e.both(
                isSeen,
                e.less(key, e.add(rows.numbers[rowOf(i, scores.size())], 1)));
          seen.push_back(arith::SelectOp::create(builder, loc, isSeen, score,
                                                 e.f32(-INFINITY)));
        }
        return seen;
      },
      scores);
}

Value AttentionScores::readMask(int64_t row, Value key) {
  AttentionPlace::Place at = rows.places[row];
  // A key behind the last one is hidden, whatever its mask is.
  at[place.loops.keys] =
      e.toIndex(e.least(key, e.sub(e.toI32(place.keys), e.i32(1))));
  return memref::LoadOp::create(builder, loc,
                                place.valueOf(AttentionPlace::Mask),
                                place.indicesOf(AttentionPlace::Mask, at));
}

/// Makes scores exponents of two, with the mask.
void AttentionScores::applyMask(Values &scores, Value first) {
  Value scale = e.f32(place.op.getScale().convertToDouble() * M_LOG2E);
  for (auto [i, score] : llvm::enumerate(scores)) {
    score = times(score, scale);
    if (!place.op.getMask())
      continue;
    Value element =
        readMask(rowOf(i, scores.size()), keyOf(first, i, scores.size()));
    if (element.getType().isInteger(1)) {
      score = arith::SelectOp::create(builder, loc, element, score,
                                      e.f32(-INFINITY));
      continue;
    }
    if (!element.getType().isF32())
      element =
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), element);
    // The least number hides a key where others are seen, but is no -infinity.
    Value hidden = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, element, e.f32(-INFINITY));
    score = math::FmaOp::create(builder, loc, element, e.f32(M_LOG2E), score);
    score = arith::SelectOp::create(builder, loc, hidden, score,
                                    larger(score, e.f32(-FLT_MAX)));
  }
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value AttentionScores::overQuad(
    Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t offset : {1, 2}) {
    Value word = gpu::ShuffleOp::create(
                     builder, loc, e.bitcast(builder.getI32Type(), value),
                     e.i32(offset), e.i32(kWarpSize), gpu::ShuffleMode::XOR)
                     .getShuffleResult();
    Value other = e.bitcast(builder.getF32Type(), word);
    value = combine(value, other);
  }
  return value;
}

Value AttentionScores::baseOf(Value most) {
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       most, e.f32(-INFINITY));
  Value base = arith::SelectOp::create(builder, loc, isNone, e.f32(0), most);
  return times(base, e.f32(-factor));
}

Value AttentionScores::power(Value a, Value base) {
  return emitExp2(builder, loc,
                  math::FmaOp::create(builder, loc, a, e.f32(factor), base));
}

SmallVector<Value> AttentionScores::add(const AttentionState &before,
                                        Values &scores, Value tile, Value own,
                                        AttentionState &after) {
  if (!isRaw)
    applyMask(scores, own);
  hide(scores, tile, own);
  Values factors, bases;
  for (int64_t row = 0; row < countRows(); ++row) {
    Value most;
    for (size_t i = 0; i < scores.size(); ++i)
      if (rowOf(i, scores.size()) == row)
        most = most ? larger(most, scores[i]) : scores[i];
    most = overQuad(most, [&](Value a, Value b) { return larger(a, b); });
    after.most.push_back(larger(before.most[row], most));
    bases.push_back(baseOf(after.most.back()));
    factors.push_back(power(before.most[row], bases.back()));
    after.totals.push_back(times(before.totals[row], factors.back()));
  }
  for (auto [i, score] : llvm::enumerate(scores)) {
    int64_t row = rowOf(i, scores.size());
    score = power(score, bases[row]);
    after.totals[row] =
        arith::AddFOp::create(builder, loc, after.totals[row], score);
  }
  return factors;
}

void AttentionScores::scale(Values &sums, ArrayRef<Value> factors) {
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = times(sum, factors[rowOf(i, sums.size())]);
}
