//===- AttentionAlongRows.cpp - Attention with lanes along rows -----------===//

#include "AttentionSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;

// Lanes are rows, so that the largest score, the sum of exponentials and their
// rescaling need no arithmetic across lanes, and keys and values are read as
// scalars where they are. What is transposed is Q, once, and O.

namespace {
/// The attention of a tile of rows of one head.
class RowsTask {
public:
  using Operand = AttentionAccess::Operand;
  using Place = AttentionAccess::Place;
  using Vectors = SmallVector<Value>;

  RowsTask(AttentionAccess &access, Place place)
      : access(access), e(access.e), softmax(e), loops(access.loops),
        place(std::move(place)), block(e.lanes == 16 ? 8 : 4) {}

  static constexpr int64_t kVectors = 2;
  static int64_t getRows(const VectorEmitter &e) { return kVectors * e.lanes; }

  void emit();

private:
  static constexpr int64_t kKeys = 64;

  /// Where tile row `vector` * lanes + `lane` is; a row behind the last one is
  /// that.
  Value rowAt(Value rowInTile);
  bool areTilesWhole() {
    int64_t count = access.getStaticSize(access.getRow());
    return !ShapedType::isDynamic(count) && count % getRows(e) == 0;
  }
  Value lanesOf(int64_t vector) { return e.index(vector * e.lanes); }
  Value keysCopy(Operand operand, unsigned along, Value count, Value memory);
  Value read(Operand operand, Value copy, unsigned along, Value key,
             Value other);
  Vectors loadRows(Value memory, Value at);
  void storeRows(ArrayRef<Value> vectors, Value memory, Value at);
  void transposeQueries();
  void clearSums();
  void transposeMask(Value count);
  Vectors emitKeys(Value first, ArrayRef<Value> state);
  void emitScores(Value copy, Value count);
  void storeScores(ArrayRef<Value> sums, Value key);
  Value adjust(Value score, Value key, int64_t vector, Value added);
  Vectors emitPowers(Value count, ArrayRef<Value> bases);
  void emitSums(Value copy, Value count, ArrayRef<Value> factors);
  void storeOutput(ArrayRef<Value> totals);

  AttentionAccess &access;
  VectorEmitter &e;
  SoftmaxEmitter softmax;
  const AttentionLoops &loops;
  Place place;
  /// Keys, or widths, whose sums are in registers together.
  const int64_t block;
  Value firstRow, firstKey, rows, keys, depth, width;
  /// Scratch memory: Q and O transposed, the scores, and the mask transposed.
  Value queries, scores, sums, bias;
  Vectors numbers;
};
} // namespace

Value RowsTask::rowAt(Value rowInTile) {
  Value row = e.add(firstRow, rowInTile);
  return areTilesWhole() ? row : e.min(row, e.sub(rows, e.index(1)));
}

RowsTask::Vectors RowsTask::loadRows(Value memory, Value at) {
  Vectors vectors;
  for (int64_t v = 0; v < kVectors; ++v)
    vectors.push_back(e.load(memory, {at, lanesOf(v)}));
  return vectors;
}

void RowsTask::storeRows(ArrayRef<Value> vectors, Value memory, Value at) {
  for (int64_t v = 0; v < kVectors; ++v)
    e.store(vectors[v], memory, {at, lanesOf(v)});
}

void RowsTask::transposeQueries() {
  Value scale = softmax.vector(access.op.getScale().convertToFloat());
  e.loop(e.index(0), depth, e.lanes, [&](Value at) {
    for (int64_t v = 0; v < kVectors; ++v) {
      Vectors lines;
      for (int64_t lane = 0; lane < e.lanes; ++lane) {
        Place row = place;
        row[access.getRow()] = rowAt(e.index(v * e.lanes + lane));
        row[loops.depth] = at;
        lines.push_back(access.loadAlong(AttentionAccess::Q, row, loops.depth,
                                         access.leftOf(loops.depth, at)));
      }
      for (auto [i, line] : llvm::enumerate(e.transpose(lines)))
        e.store(softmax.multiply(line, scale), queries,
                {e.add(at, int64_t(i)), lanesOf(v)});
    }
  });
}

void RowsTask::clearSums() {
  Vectors zeros(kVectors, e.zeroVector());
  e.loop(e.index(0), e.dim(sums, 0), 1,
         [&](Value at) { storeRows(zeros, sums, at); });
}

/// The mask of `count` keys, with rows along lanes.
void RowsTask::transposeMask(Value count) {
  e.loop(e.index(0), count, e.lanes, [&](Value at) {
    for (int64_t v = 0; v < kVectors; ++v) {
      Vectors lines;
      for (int64_t lane = 0; lane < e.lanes; ++lane) {
        Place row = place;
        row[access.getRow()] = rowAt(e.index(v * e.lanes + lane));
        row[loops.keys] = e.add(firstKey, at);
        lines.push_back(access.loadAlong(AttentionAccess::Mask, row, loops.keys,
                                         e.sub(count, at)));
      }
      for (auto [i, line] : llvm::enumerate(e.transpose(lines)))
        e.store(line, bias, {e.add(at, int64_t(i)), lanesOf(v)});
    }
  });
}

/// `count` keys as f32 and contiguous, where they are not; null where they are.
Value RowsTask::keysCopy(Operand operand, unsigned along, Value count,
                         Value memory) {
  if (!memory)
    return {};
  Value size = access.sizeOf(along);
  e.loop(e.index(0), count, 1, [&](Value key) {
    e.loop(e.index(0), size, e.lanes, [&](Value at) {
      Place from = place;
      from[loops.keys] = e.add(firstKey, key);
      from[along] = at;
      e.store(access.loadAlong(operand, from, along, access.leftOf(along, at)),
              memory, {key, at});
    });
  });
  return memory;
}

Value RowsTask::read(Operand operand, Value copy, unsigned along, Value key,
                     Value other) {
  if (copy)
    return e.broadcast(e.loadScalar(copy, {key, other}));
  Place at = place;
  at[loops.keys] = e.add(firstKey, key);
  at[along] = other;
  return e.broadcast(access.load(operand, at));
}

/// A score with the mask's element and the order of keys.
Value RowsTask::adjust(Value score, Value key, int64_t vector, Value added) {
  if (bias)
    added = e.load(bias, {key, lanesOf(vector)});
  if (added)
    score = e.addElements(score, added);
  if (access.op.getCausal())
    score = softmax.hideLater(score, numbers[vector],
                              softmax.repeat(e.add(firstKey, key)));
  return score;
}

void RowsTask::storeScores(ArrayRef<Value> products, Value key) {
  for (int64_t k = 0; k < block; ++k) {
    // Scores behind the last key are read by nothing.
    Value own = e.add(key, k);
    Value added;
    if (access.hasMask() && !bias) {
      Place at = place;
      at[loops.keys] = e.min(e.add(firstKey, own), e.sub(keys, e.index(1)));
      added = e.broadcast(access.load(AttentionAccess::Mask, at));
    }
    for (int64_t v = 0; v < kVectors; ++v)
      e.store(adjust(products[k * kVectors + v], own, v, added), scores,
              {own, lanesOf(v)});
  }
}

/// Q · K^T of `count` keys.
void RowsTask::emitScores(Value copy, Value count) {
  Value last = e.sub(count, e.index(1));
  e.loop(e.index(0), count, block, [&](Value key) {
    Vectors at;
    for (int64_t k = 0; k < block; ++k)
      at.push_back(e.min(e.add(key, k), last));
    auto addDepth = [&](Value d, ArrayRef<Value> carried) {
      Vectors products(carried), q = loadRows(queries, d);
      for (int64_t k = 0; k < block; ++k) {
        Value element = read(AttentionAccess::K, copy, loops.depth, at[k], d);
        for (int64_t v = 0; v < kVectors; ++v)
          products[k * kVectors + v] =
              e.multiplyAdd(q[v], element, products[k * kVectors + v]);
      }
      return products;
    };
    Vectors zeros(block * kVectors, e.zeroVector());
    storeScores(e.loop(e.index(0), depth, 1, zeros, addDepth), key);
  });
}

/// Makes exponentials of the scores, and returns their sums.
RowsTask::Vectors RowsTask::emitPowers(Value count, ArrayRef<Value> bases) {
  Vectors zeros(kVectors, e.zeroVector());
  return e.loop(e.index(0), count, 1, zeros,
                [&](Value key, ArrayRef<Value> totals) {
                  Vectors powers = loadRows(scores, key);
                  for (auto [power, base] : llvm::zip(powers, bases))
                    power = softmax.power(power, base);
                  storeRows(powers, scores, key);
                  return e.addAll(totals, powers);
                });
}

/// O = O * factors + exponentials · V.
void RowsTask::emitSums(Value copy, Value count, ArrayRef<Value> factors) {
  Value last = e.sub(width, e.index(1));
  e.loop(e.index(0), width, block, [&](Value first) {
    Vectors at, carried;
    for (int64_t i = 0; i < block; ++i) {
      // Sums behind the last width are those of the last again.
      at.push_back(e.min(e.add(first, i), last));
      for (auto [sum, factor] :
           llvm::zip(loadRows(sums, e.add(first, i)), factors))
        carried.push_back(softmax.multiply(sum, factor));
    }
    Vectors added =
        e.loop(e.index(0), count, 1, carried,
               [&](Value key, ArrayRef<Value> arguments) {
                 Vectors results(arguments), powers = loadRows(scores, key);
                 for (int64_t i = 0; i < block; ++i) {
                   Value element =
                       read(AttentionAccess::V, copy, loops.width, key, at[i]);
                   for (int64_t v = 0; v < kVectors; ++v)
                     results[i * kVectors + v] = e.multiplyAdd(
                         powers[v], element, results[i * kVectors + v]);
                 }
                 return results;
               });
    for (int64_t i = 0; i < block; ++i)
      storeRows(ArrayRef(added).slice(i * kVectors, kVectors), sums,
                e.add(first, i));
  });
}

/// One tile of keys. `state` is the largest scores and the sums of
/// exponentials.
RowsTask::Vectors RowsTask::emitKeys(Value first, ArrayRef<Value> state) {
  firstKey = first;
  Value count = e.min(e.sub(keys, first), kKeys);
  bool isNarrow = access.getElement() != e.accumulator;
  auto scratch = [&](unsigned loop) {
    Value size = e.mul(e.ceilDiv(access.sizeOf(loop), e.lanes), e.lanes);
    return isNarrow ? e.allocate({e.index(kKeys), size}) : Value();
  };
  Value keysMemory = scratch(loops.depth), valuesMemory = scratch(loops.width);
  if (bias)
    transposeMask(count);
  emitScores(keysCopy(AttentionAccess::K, loops.depth, count, keysMemory),
             count);
  ArrayRef<Value> before = state.take_front(kVectors),
                  totals = state.drop_front(kVectors);
  Vectors most = e.loop(
      e.index(0), count, 1, before, [&](Value key, ArrayRef<Value> carried) {
        Vectors larger(carried);
        for (auto [value, score] : llvm::zip(larger, loadRows(scores, key)))
          value = softmax.larger(value, score);
        return larger;
      });
  Vectors bases, factors;
  for (auto [now, was] : llvm::zip(most, before)) {
    bases.push_back(softmax.baseOf(now));
    factors.push_back(softmax.power(was, bases.back()));
  }
  Vectors added = emitPowers(count, bases), results(most);
  for (auto [total, factor, sum] : llvm::zip(totals, factors, added))
    results.push_back(e.multiplyAdd(total, factor, sum));
  emitSums(keysCopy(AttentionAccess::V, loops.width, count, valuesMemory),
           count, factors);
  for (Value memory : {keysMemory, valuesMemory})
    if (memory)
      e.deallocate(memory);
  return results;
}

void RowsTask::storeOutput(ArrayRef<Value> totals) {
  e.loop(e.index(0), width, e.lanes, [&](Value at) {
    for (int64_t v = 0; v < kVectors; ++v) {
      Vectors lines;
      for (int64_t i = 0; i < e.lanes; ++i)
        lines.push_back(
            softmax.mean(e.load(sums, {e.add(at, i), lanesOf(v)}), totals[v]));
      for (auto [lane, line] : llvm::enumerate(e.transpose(lines))) {
        Place to = place;
        to[access.getRow()] = rowAt(e.index(v * e.lanes + int64_t(lane)));
        to[loops.width] = at;
        Value left = access.leftOf(loops.width, at);
        // A row behind the last one has no lanes.
        if (!areTilesWhole()) {
          Value row = e.add(firstRow, v * e.lanes + int64_t(lane));
          left = e.select(e.less(row, rows), left, e.index(0));
        }
        access.storeOutput(line, to, left);
      }
    }
  });
}

void RowsTask::emit() {
  firstRow = place[access.getRow()];
  rows = access.sizeOf(access.getRow());
  keys = access.countKeys(place);
  depth = access.sizeOf(loops.depth);
  width = access.sizeOf(loops.width);
  auto whole = [&](Value size) {
    return e.mul(e.ceilDiv(size, e.lanes), e.lanes);
  };
  Value lanes = e.index(getRows(e));
  queries = e.allocate({whole(depth), lanes});
  scores = e.allocate({e.index(kKeys), lanes});
  sums = e.allocate({whole(width), lanes});
  if (access.hasMask() &&
      access.runsAlong(AttentionAccess::Mask, access.getRow()))
    bias = e.allocate({e.index(kKeys), lanes});
  transposeQueries();
  clearSums();
  Value end = keys;
  if (access.op.getCausal()) {
    for (int64_t v = 0; v < kVectors; ++v)
      numbers.push_back(softmax.countFrom(e.add(firstRow, v * e.lanes)));
    // Tiles of later keys are hidden from all rows.
    end = e.min(end, e.add(firstRow, getRows(e)));
  }
  Vectors state(kVectors, softmax.vector(SoftmaxEmitter::kNone));
  state.append(kVectors, e.zeroVector());
  state = e.loop(e.index(0), end, kKeys, state,
                 [&](Value first, ArrayRef<Value> carried) {
                   return emitKeys(first, carried);
                 });
  storeOutput(ArrayRef(state).drop_front(kVectors));
  for (Value memory : {queries, scores, sums, bias})
    if (memory)
      e.deallocate(memory);
}

void mlir::nm::expandAttentionAlongRows(AttentionAccess &access) {
  VectorEmitter &e = access.e;
  SmallVector<unsigned> over(access.loops.batches);
  llvm::append_range(over, access.loops.rows);
  SmallVector<OpFoldResult> lower(over.size(), e.b.getIndexAttr(0)), upper,
      step(over.size(), e.b.getIndexAttr(1));
  for (unsigned loop : over)
    upper.push_back(getAsOpFoldResult(access.sizeOf(loop)));
  step.back() = e.b.getIndexAttr(RowsTask::getRows(e));
  auto forall = scf::ForallOp::create(e.b, lower, upper, step, ValueRange(),
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(forall.getBody());
  AttentionAccess::Place place = access.createPlace();
  for (auto [loop, value] : llvm::zip(over, forall.getInductionVars()))
    place[loop] = value;
  RowsTask(access, place).emit();
}
