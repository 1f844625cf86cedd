//===- AttentionKernel.cpp - The kernel of an attention -------------------===//
//
// Tri Dao's FlashAttention-2 for mma.sync: a warp has 16 rows, and each quad of
// lanes two of them, so that a row's largest score takes two shuffles, and the
// sums of the first product have the places of the second one's operand.
//
//===----------------------------------------------------------------------===//

#include "GPU/Attention/AttentionKernel.h"

#include "GPU/Attention/AttentionParts.h"
#include "GPU/Attention/AttentionPlace.h"
#include "GPU/Attention/AttentionTiles.h"
#include "GPU/Tile/CreateLaunch.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

namespace {
class AttentionKernel {
public:
  AttentionKernel(OpBuilder &builder, AttentionOp op)
      : builder(builder), loc(op.getLoc()), e{builder, loc}, place(e, op),
        hasFewRows(isFew()), squares(countSquares()), tiles(e, place, squares),
        isRaw(!op.getMask() && op.getScale().convertToDouble() > 0),
        factor(isRaw ? op.getScale().convertToDouble() * M_LOG2E : 1) {}

  void launch();

private:
  static constexpr int64_t kWarps = AttentionTiles::kWarps,
                           kThreads = AttentionTiles::kThreads;
  using Operand = AttentionPlace::Operand;
  using Values = SmallVector<Value>;

  /// The state that a lane keeps from tile to tile: the sums of its results,
  /// and for each of its rows the largest score and the lane's part of the sum
  /// of exponentials.
  struct State {
    Values sums, most, totals;

    Values flatten() const {
      Values all(sums);
      llvm::append_range(all, most);
      llvm::append_range(all, totals);
      return all;
    }
    static State get(ValueRange all, size_t rows) {
      return {Values(all.drop_back(2 * rows)),
              Values(all.take_back(2 * rows).take_front(rows)),
              Values(all.take_back(rows))};
    }
  };

  bool isFew();
  int64_t countSquares();
  int64_t getBlockRows() const {
    return hasFewRows ? kSquareSide : kSquareSide * squares * kWarps;
  }
  /// Rows of a lane.
  int64_t getRows() const { return 2 * squares; }
  /// The lane's row of value `i` of `values` scores or sums.
  int64_t rowOf(size_t i, size_t values) const {
    size_t ofSquare = values / size_t(squares);
    return int64_t(i / ofSquare * 2 + i % kMmaSums / 2);
  }
  int64_t getWarpKeys() const {
    return hasFewRows ? tiles.countKeys() / kWarps : tiles.countKeys();
  }
  Value f32(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(float(value)));
  }
  /// a / b, rounded up; b is not zero.
  Value ceilDiv(Value a, Value b) {
    return builder.createOrFold<arith::DivUIOp>(
        loc, e.sub(e.add(a, b), e.constant(b, 1)), b);
  }
  Value splitKeys();
  void placeBlock(Value block);
  void placeRows();
  void findKeys();
  State clear();
  State runTiles();
  State addTile(const State &before, Value tile, Value stage);
  void hide(Values &scores, Value tile, Value own);
  void applyMask(Values &scores, Value firstKey);
  Value readMask(int64_t row, Value key);
  Value overQuad(Value value, llvm::function_ref<Value(Value, Value)> combine);
  Value larger(Value a, Value b) {
    return arith::MaximumFOp::create(builder, loc, a, b);
  }
  Value times(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  /// 2^(a * factor - base).
  Value power(Value a, Value base);
  Value baseOf(Value most);
  void store(const State &state);

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  AttentionPlace place;
  const bool hasFewRows;
  /// Squares of 16 rows that a warp has.
  const int64_t squares;
  AttentionTiles tiles;
  /// Whether scores are kept without the scale: one that is positive commutes
  /// with the largest score.
  const bool isRaw;
  /// The factor that makes a score an exponent of two.
  const double factor;
  Value splits, blockTiles;
  /// In the kernel: the block's, all i32.
  Value firstRow, split, head, firstKey, endKey;
  std::optional<MmaLane> lane;
  /// The lane's rows in the list, among those of their groups, and their
  /// places.
  Values listed, numbers;
  SmallVector<AttentionPlace::Place> places;
};
} // namespace

/// Whether all rows of a head of keys are certainly a warp's.
bool AttentionKernel::isFew() {
  int64_t count = 1;
  for (unsigned loop : place.loops.rows) {
    int64_t size = place.getStaticSize(loop);
    if (ShapedType::isDynamic(size))
      return false;
    count *= size;
  }
  return count <= kSquareSide;
}

/// Two where results are so wide that a warp's reads of keys and values bound
/// it, which more rows share, and blocks are enough all the same.
int64_t AttentionKernel::countSquares() {
  constexpr int64_t kWide = 64, kBlocks = 512;
  if (hasFewRows || std::max(place.getDepth(), place.getWidth()) <= kWide)
    return 1;
  int64_t rows = 1;
  for (ArrayRef<unsigned> over :
       {ArrayRef(place.loops.batches), ArrayRef(place.loops.rows)})
    for (unsigned loop : over) {
      int64_t size = place.getStaticSize(loop);
      if (ShapedType::isDynamic(size))
        return 1;
      rows *= size;
    }
  return rows >= kBlocks * 2 * kSquareSide * kWarps ? 2 : 1;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// In how many parts blocks have the keys of a head.
Value AttentionKernel::splitKeys() {
  if (!hasFewRows)
    return e.index(1);
  // Two for each of an H100's multiprocessors; and tiles of two, at least.
  constexpr int64_t kBlocks = 264, kLeast = 128;
  Value one = e.index(1);
  Value heads = arith::MaxUIOp::create(builder, loc, place.heads, one);
  Value wanted = ceilDiv(e.index(kBlocks), heads);
  Value most = e.ceilDiv(place.keys, kLeast);
  Value count = e.least(e.least(wanted, most), e.index(AttentionParts::kMost));
  return arith::MaxUIOp::create(builder, loc, count, one);
}

void AttentionKernel::placeBlock(Value block) {
  Value number = e.toI32(block), count = e.toI32(blockTiles);
  Value tile = arith::RemUIOp::create(builder, loc, number, count);
  number = arith::DivUIOp::create(builder, loc, number, count);
  Value heads = e.toI32(place.heads);
  head = arith::RemUIOp::create(builder, loc, number, heads);
  split = arith::DivUIOp::create(builder, loc, number, heads);
  // Blocks whose rows see the most keys begin first.
  if (place.op.getCausal())
    tile = e.sub(e.sub(count, e.i32(1)), tile);
  firstRow = e.mul(tile, getBlockRows());
}

void AttentionKernel::placeRows() {
  Value last = e.sub(e.toI32(place.allRows), e.i32(1));
  Value first = firstRow;
  if (!hasFewRows)
    first = e.add(first, e.mul(lane->warp, squares * kSquareSide));
  for (int64_t number = 0; number < getRows(); ++number) {
    Value row = e.add(e.add(first, lane->row), number * kMatrixSide);
    listed.push_back(row);
    AttentionPlace::Place own = place.createPlace();
    place.putHead(own, head);
    // A row behind the last one does as that, but stores nothing.
    numbers.push_back(place.putRow(own, e.least(row, last)));
    places.push_back(own);
  }
}

/// The keys that the block goes over.
void AttentionKernel::findKeys() {
  firstKey = e.i32(0);
  endKey = e.toI32(place.keys);
  if (place.op.getCausal()) {
    AttentionPlace::Place unused = place.createPlace();
    Value last = e.least(e.add(firstRow, getBlockRows() - 1),
                         e.sub(e.toI32(place.allRows), e.i32(1)));
    endKey = e.least(endKey, e.add(place.putRow(unused, last), 1));
  }
  if (!hasFewRows)
    return;
  Value parts = e.toI32(splits);
  Value part = ceilDiv(endKey, parts);
  part = e.mul(e.ceilDiv(part, tiles.countKeys()), tiles.countKeys());
  firstKey = e.least(
      arith::MulIOp::create(builder, loc, part, split).getResult(), endKey);
  endKey = e.least(endKey, e.add(firstKey, part));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Hides scores of keys that there are not, or that come later than their row,
/// in a tile of keys of which the warp has those from `own` on.
void AttentionKernel::hide(Values &scores, Value tile, Value own) {
  Value some = e.less(endKey, e.add(tile, tiles.countKeys()));
  if (place.op.getCausal()) {
    AttentionPlace::Place unused = place.createPlace();
    Value row = place.putRow(unused, firstRow);
    some = e.either(some, e.less(row, e.add(tile, tiles.countKeys() - 1)));
  }
  scores = e.choose(
      some,
      [&] {
        Values seen;
        for (auto [i, score] : llvm::enumerate(scores)) {
          int64_t at = int64_t(i);
          Value key = tiles.keyOf(own, at, getWarpKeys());
          Value isSeen = e.less(key, endKey);
          if (place.op.getCausal())
            isSeen =
                e.both(isSeen,
                       e.less(key, e.add(numbers[rowOf(i, scores.size())], 1)));
          seen.push_back(arith::SelectOp::create(builder, loc, isSeen, score,
                                                 f32(-INFINITY)));
        }
        return seen;
      },
      scores);
}

Value AttentionKernel::readMask(int64_t row, Value key) {
  AttentionPlace::Place at = places[row];
  // A key behind the last one is hidden, whatever its mask is.
  at[place.loops.keys] =
      e.toIndex(e.least(key, e.sub(e.toI32(place.keys), e.i32(1))));
  return memref::LoadOp::create(builder, loc,
                                place.valueOf(AttentionPlace::Mask),
                                place.indicesOf(AttentionPlace::Mask, at));
}

/// Makes scores exponents of two, with the mask.
void AttentionKernel::applyMask(Values &scores, Value first) {
  Value scale = f32(place.op.getScale().convertToDouble() * M_LOG2E);
  for (auto [i, score] : llvm::enumerate(scores)) {
    int64_t at = int64_t(i);
    score = times(score, scale);
    if (!place.op.getMask())
      continue;
    Value element = readMask(rowOf(i, scores.size()),
                             tiles.keyOf(first, at, getWarpKeys()));
    if (element.getType().isInteger(1)) {
      score =
          arith::SelectOp::create(builder, loc, element, score, f32(-INFINITY));
      continue;
    }
    if (!element.getType().isF32())
      element =
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), element);
    score = math::FmaOp::create(builder, loc, element, f32(M_LOG2E), score);
  }
}

Value AttentionKernel::overQuad(
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

Value AttentionKernel::baseOf(Value most) {
  Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                       most, f32(-INFINITY));
  Value base = arith::SelectOp::create(builder, loc, isNone, f32(0), most);
  return times(base, f32(-factor));
}

Value AttentionKernel::power(Value a, Value base) {
  return math::Exp2Op::create(
      builder, loc, math::FmaOp::create(builder, loc, a, f32(factor), base));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

AttentionKernel::State AttentionKernel::clear() {
  State state;
  state.sums.assign(squares * place.getWidth() / kMatrixSide * kMmaSums,
                    f32(0));
  state.most.assign(getRows(), f32(-INFINITY));
  state.totals.assign(getRows(), f32(0));
  return state;
}

AttentionKernel::State AttentionKernel::addTile(const State &before,
                                                Value first, Value stage) {
  Values scores = tiles.multiplyKeys(stage, getWarpKeys());
  Value own = first;
  if (hasFewRows)
    own = e.add(own, e.mul(lane->warp, getWarpKeys()));
  if (!isRaw)
    applyMask(scores, own);
  hide(scores, first, own);
  State after;
  Values factors, bases;
  for (int64_t row = 0; row < getRows(); ++row) {
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
  for (auto [i, sum] : llvm::enumerate(before.sums))
    after.sums.push_back(times(sum, factors[rowOf(i, before.sums.size())]));
  tiles.multiplyValues(stage, scores, after.sums);
  return after;
}

AttentionKernel::State AttentionKernel::runTiles() {
  AttentionPlace::Place ofHead = place.createPlace();
  place.putHead(ofHead, head);
  auto copy = [&](Value first, Value stage) {
    tiles.copyTile(AttentionPlace::K, ofHead, first, endKey, stage);
    tiles.copyTile(AttentionPlace::V, ofHead, first, endKey, stage);
  };
  e.onlyIf(e.less(firstKey, endKey), [&] { copy(firstKey, e.i32(0)); });
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  Values carried = clear().flatten();
  carried.push_back(e.i32(0));
  auto loop = scf::ForOp::create(builder, loc, firstKey, endKey,
                                 e.i32(tiles.countKeys()), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar(), stage = loop.getRegionIterArgs().back();
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  // All warps have the tile, and are done with the one before.
  gpu::BarrierOp::create(builder, loc);
  Value next = e.add(first, tiles.countKeys()), other = e.sub(e.i32(1), stage);
  e.onlyIf(e.less(next, endKey), [&] { copy(next, other); });
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  State state =
      addTile(State::get(loop.getRegionIterArgs().drop_back(), getRows()),
              first, stage);
  Values results = state.flatten();
  results.push_back(other);
  scf::YieldOp::create(builder, loc, results);
  return State::get(loop.getResults().drop_back(), getRows());
}

void AttentionKernel::store(const State &state) {
  int64_t pairs = place.getWidth() / kMatrixSide;
  for (int64_t row = 0; row < getRows(); ++row) {
    Value total = state.totals[row];
    Value isNone = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OEQ, total, f32(0));
    Value inverse = arith::SelectOp::create(
        builder, loc, isNone, f32(0),
        arith::DivFOp::create(builder, loc, f32(1), total));
    const Value *sums = &state.sums[row / 2 * pairs * kMmaSums + row % 2 * 2];
    e.onlyIf(e.less(listed[row], e.toI32(place.allRows)), [&] {
      for (int64_t i = 0; i < pairs; ++i)
        tiles.storePair(places[row], i,
                        {times(sums[i * kMmaSums], inverse),
                         times(sums[i * kMmaSums + 1], inverse)});
    });
  }
}

void AttentionKernel::launch() {
  OpBuilder::InsertionGuard guard(builder);
  splits = splitKeys();
  blockTiles = e.ceilDiv(place.allRows, getBlockRows());
  auto multiply = [&](Value a, Value b) {
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  };
  Value blocks = multiply(multiply(splits, place.heads), blockTiles);
  std::optional<AttentionParts> parts;
  if (hasFewRows)
    parts.emplace(e, place, splits);
  int64_t bytes =
      std::max(tiles.getBytes(),
               hasFewRows ? AttentionParts::getBytes(place.getWidth()) : 0);
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, kThreads, bytes);
  Value thread = launch.getThreadIds().x;
  lane.emplace(e, thread);
  placeBlock(launch.getBlockIds().x);
  placeRows();
  findKeys();
  tiles.begin(*lane, thread);
  tiles.loadQueries(places);
  State state = runTiles();
  for (Value &total : state.totals)
    total = overQuad(total, [&](Value a, Value b) {
      return arith::AddFOp::create(builder, loc, a, b);
    });
  if (!parts)
    return store(state);
  // In exponents of two, whatever scores are.
  for (Value &most : state.most)
    most = times(most, f32(factor));
  parts->addWarps(*lane, tiles.getMemory(), split, head, state.sums, state.most,
                  state.totals);
  builder.setInsertionPointAfter(launch);
  parts->launch();
}

void mlir::nm::launchAttention(OpBuilder &builder, AttentionOp op) {
  AttentionKernel(builder, op).launch();
}
