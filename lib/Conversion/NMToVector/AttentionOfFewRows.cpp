//===- AttentionOfFewRows.cpp - Attention of few rows of queries ----------===//

#include "AttentionSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

// A step of decoding has a row or a few for each head, and reads all keys and
// values once. So lanes run along what is contiguous in them, and a tile of
// keys stays in the cache while the rows that share it take turns.

namespace {
/// The attention of all rows of one head of keys.
class FewRowsTask {
public:
  using Place = AttentionAccess::Place;
  using Vectors = SmallVector<Value>;

  FewRowsTask(AttentionAccess &access, Place place)
      : access(access), e(access.e), softmax(e), loops(access.loops),
        place(std::move(place)), vectors(getVectors(access)) {}

  void emit();

private:
  static constexpr int64_t kKeys = 64;

  static int64_t getVectors(AttentionAccess &access) {
    constexpr int64_t kMost = 8;
    int64_t width = access.getStaticSize(access.loops.width);
    return ShapedType::isDynamic(width)
               ? kMost
               : std::min(kMost,
                          int64_t(llvm::divideCeil(width, access.e.lanes)));
  }

  void takeRow(Value row);
  void loadQuery(Value row);
  void emitKeys(Value row);
  Value emitScores(Value row);
  Value adjust(Value score, Value key);
  void emitSums(Value row, Value factor);
  void storeOutput(Value row);

  AttentionAccess &access;
  VectorEmitter &e;
  SoftmaxEmitter softmax;
  const AttentionLoops &loops;
  Place place;
  /// Vectors of sums that are in registers together.
  const int64_t vectors;
  Value firstKey, count, depth, width;
  /// Scratch memory: for each row the scaled query, the sums, and the largest
  /// score and the sum of exponentials; and the scores of one.
  Value queries, sums, state, scores;
};
} // namespace

/// The values of the loops of rows, of which `row` counts the last fastest.
void FewRowsTask::takeRow(Value row) {
  for (size_t i = loops.rows.size(); i-- > 0;) {
    Value size = access.sizeOf(loops.rows[i]);
    place[loops.rows[i]] =
        i == 0 ? row : e.b.createOrFold<arith::RemUIOp>(row, size);
    row = e.b.createOrFold<arith::DivUIOp>(row, size);
  }
}

void FewRowsTask::loadQuery(Value row) {
  takeRow(row);
  Value scale = softmax.vector(access.op.getScale().convertToFloat());
  e.loop(e.index(0), depth, e.lanes, [&](Value at) {
    Place from = place;
    from[loops.depth] = at;
    Value query = access.loadAlong(AttentionAccess::Q, from, loops.depth,
                                   access.leftOf(loops.depth, at));
    e.store(softmax.multiply(query, scale), queries, {row, at});
  });
  e.loop(e.index(0), e.dim(sums, 1), e.lanes,
         [&](Value at) { e.store(e.zeroVector(), sums, {row, at}); });
  Type f32 = e.accumulator;
  memref::StoreOp::create(e.b, softmax.constant(f32, SoftmaxEmitter::kNone),
                          state, ValueRange{row, e.index(0)});
  memref::StoreOp::create(e.b, softmax.constant(f32, 0), state,
                          ValueRange{row, e.index(1)});
}

/// Scores of `lanes` keys from `key` on with the mask and the order of keys;
/// those behind the last key are hidden.
Value FewRowsTask::adjust(Value score, Value key) {
  Value at = e.add(firstKey, key), left = e.sub(count, key);
  if (access.hasMask()) {
    Place from = place;
    from[loops.keys] = at;
    score = e.addElements(
        score, access.loadAlong(AttentionAccess::Mask, from, loops.keys, left));
  }
  if (access.op.getCausal())
    score = softmax.hideLater(score, softmax.repeat(place[access.getRow()]),
                              softmax.countFrom(at));
  return e.select(e.mask(left), score, softmax.vector(SoftmaxEmitter::kNone));
}

/// Stores the scores of the tile's keys, and returns the largest in each lane.
Value FewRowsTask::emitScores(Value row) {
  Value last = e.sub(count, e.index(1));
  auto addKeys = [&](Value key, ArrayRef<Value> carried) -> Vectors {
    Vectors zeros(e.lanes, e.zeroVector());
    Vectors products =
        e.loop(e.index(0), depth, e.lanes, zeros,
               [&](Value at, ArrayRef<Value> arguments) {
                 Vectors results(arguments);
                 Value query = e.load(queries, {row, at});
                 for (int64_t k = 0; k < e.lanes; ++k) {
                   Place from = place;
                   from[loops.keys] =
                       e.add(firstKey, e.min(e.add(key, k), last));
                   from[loops.depth] = at;
                   results[k] = e.multiplyAdd(
                       query,
                       access.loadAlong(AttentionAccess::K, from, loops.depth,
                                        access.leftOf(loops.depth, at)),
                       results[k]);
                 }
                 return results;
               });
    Vectors parts = e.transpose(products);
    while (parts.size() > 1) {
      size_t half = parts.size() / 2;
      parts = e.addAll(ArrayRef(parts).take_front(half),
                       ArrayRef(parts).drop_front(half));
    }
    Value score = adjust(parts.front(), key);
    e.store(score, scores, {key});
    return {softmax.larger(carried.front(), score)};
  };
  return e
      .loop(e.index(0), count, e.lanes, {softmax.vector(SoftmaxEmitter::kNone)},
            addKeys)
      .front();
}

/// The sums of `row`, times `factor`, and those of the tile.
void FewRowsTask::emitSums(Value row, Value factor) {
  e.loop(e.index(0), width, vectors * e.lanes, [&](Value first) {
    Vectors at, carried;
    for (int64_t v = 0; v < vectors; ++v) {
      at.push_back(e.add(first, v * e.lanes));
      carried.push_back(
          softmax.multiply(e.load(sums, {row, at.back()}), factor));
    }
    Vectors added =
        e.loop(e.index(0), count, 1, carried,
               [&](Value key, ArrayRef<Value> arguments) {
                 Vectors results(arguments);
                 Value power = e.broadcast(e.loadScalar(scores, {key}));
                 for (int64_t v = 0; v < vectors; ++v) {
                   Place from = place;
                   from[loops.keys] = e.add(firstKey, key);
                   from[loops.width] = at[v];
                   results[v] = e.multiplyAdd(
                       power,
                       access.loadAlong(AttentionAccess::V, from, loops.width,
                                        access.leftOf(loops.width, at[v])),
                       results[v]);
                 }
                 return results;
               });
    for (int64_t v = 0; v < vectors; ++v)
      e.store(added[v], sums, {row, at[v]});
  });
}

/// The tile of keys from `firstKey` on, seen by one row.
void FewRowsTask::emitKeys(Value row) {
  takeRow(row);
  auto reduce = [&](vector::CombiningKind kind, Value vector) {
    return vector::ReductionOp::create(e.b, kind, vector,
                                       arith::FastMathFlags::reassoc)
        .getResult();
  };
  Value own = reduce(vector::CombiningKind::MAXNUMF, emitScores(row));
  SmallVector<Value> mostAt = {row, e.index(0)}, totalAt = {row, e.index(1)};
  Value before = e.loadScalar(state, mostAt);
  Value most = softmax.larger(before, own);
  Value base = softmax.baseOf(most), factor = softmax.power(before, base);
  Value sum = e.loop(e.index(0), count, e.lanes, {e.zeroVector()},
                     [&](Value key, ArrayRef<Value> carried) -> Vectors {
                       Value power = softmax.power(e.load(scores, {key}),
                                                   e.broadcast(base));
                       e.store(power, scores, {key});
                       return {e.addElements(carried.front(), power)};
                     })
                  .front();
  Value total =
      e.addElements(softmax.multiply(e.loadScalar(state, totalAt), factor),
                    reduce(vector::CombiningKind::ADD, sum));
  memref::StoreOp::create(e.b, most, state, mostAt);
  memref::StoreOp::create(e.b, total, state, totalAt);
  emitSums(row, e.broadcast(factor));
}

void FewRowsTask::storeOutput(Value row) {
  takeRow(row);
  Value total = e.broadcast(e.loadScalar(state, {row, e.index(1)}));
  e.loop(e.index(0), width, e.lanes, [&](Value at) {
    Place to = place;
    to[loops.width] = at;
    access.storeOutput(softmax.mean(e.load(sums, {row, at}), total), to,
                       access.leftOf(loops.width, at));
  });
}

void FewRowsTask::emit() {
  depth = access.sizeOf(loops.depth);
  width = access.sizeOf(loops.width);
  Value keys = access.countKeys(place), rows = e.index(1);
  for (unsigned loop : loops.rows)
    rows = e.b.createOrFold<arith::MulIOp>(rows, access.sizeOf(loop));
  auto whole = [&](Value size, int64_t part) {
    return e.mul(e.ceilDiv(size, part), part);
  };
  queries = e.allocate({rows, whole(depth, e.lanes)});
  sums = e.allocate({rows, whole(width, vectors * e.lanes)});
  state = e.allocate({rows, e.index(2)});
  scores = e.allocate({e.index(kKeys)});
  auto forRows = [&](llvm::function_ref<void(Value)> body) {
    e.loop(e.index(0), rows, 1, body);
  };
  forRows([&](Value row) { loadQuery(row); });
  e.loop(e.index(0), keys, kKeys, [&](Value first) {
    firstKey = first;
    count = e.min(e.sub(keys, first), kKeys);
    forRows([&](Value row) { emitKeys(row); });
  });
  forRows([&](Value row) { storeOutput(row); });
  for (Value memory : {queries, sums, state, scores})
    e.deallocate(memory);
}

void mlir::nm::expandAttentionOfFewRows(AttentionAccess &access) {
  VectorEmitter &e = access.e;
  ArrayRef<unsigned> over = access.loops.batches;
  AttentionAccess::Place place = access.createPlace();
  OpBuilder::InsertionGuard guard(e.b);
  if (!over.empty()) {
    SmallVector<OpFoldResult> lower(over.size(), e.b.getIndexAttr(0)), upper,
        step(over.size(), e.b.getIndexAttr(1));
    for (unsigned loop : over)
      upper.push_back(getAsOpFoldResult(access.sizeOf(loop)));
    auto forall = scf::ForallOp::create(e.b, lower, upper, step, ValueRange(),
                                        /*mapping=*/std::nullopt);
    e.b.setInsertionPointToStart(forall.getBody());
    for (auto [loop, value] : llvm::zip(over, forall.getInductionVars()))
      place[loop] = value;
  }
  FewRowsTask(access, place).emit();
}
