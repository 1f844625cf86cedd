//===- AttentionParts.cpp - Parts of an attention's keys ------------------===//

#include "GPU/Attention/AttentionParts.h"

#include "GPU/Attention/AttentionScores.h"
#include "GPU/Tile/CreateLaunch.h"

#include "nm/Dialect/NM/IR/Exp2.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

static constexpr int64_t kFloatBytes = 4;

Value AttentionParts::larger(Value a, Value b) {
  return arith::MaximumFOp::create(e.builder, e.loc, a, b);
}

Value AttentionParts::baseOf(Value most) {
  Value isNone = arith::CmpFOp::create(
      e.builder, e.loc, arith::CmpFPredicate::OEQ, most, e.f32(-INFINITY));
  return arith::SelectOp::create(e.builder, e.loc, isNone, e.f32(0), most);
}

Value AttentionParts::power(Value exponent, Value base) {
  return emitExp2(e.builder, e.loc,
                  arith::SubFOp::create(e.builder, e.loc, exponent, base));
}

AttentionParts::AttentionParts(ThreadEmitter &emitter, AttentionPlace &place,
                               Value splits)
    : e(emitter), place(place), splits(splits) {
  if (isWhole())
    return;
  Value rows =
      e.builder.createOrFold<arith::MulIOp>(e.loc, place.heads, place.allRows);
  auto allocate = [&](int64_t columns) -> Value {
    return memref::AllocOp::create(
        e.builder, e.loc,
        MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic, columns},
                        e.builder.getF32Type()),
        ValueRange{splits, rows});
  };
  sumsOf = allocate(place.getWidth());
  mostOf = allocate(1);
  totalsOf = allocate(1);
}

bool AttentionParts::isWhole() const { return isOnePart(place.op); }

int64_t AttentionParts::getBytes(int64_t width) {
  return kWarps * kRows * (width + 2) * kFloatBytes;
}

Value AttentionParts::numberOf(Value head, Value row) {
  return e.add(
      arith::MulIOp::create(e.builder, e.loc, e.toIndex(head), place.allRows)
          .getResult(),
      e.toIndex(row));
}

Value AttentionParts::shuffle(Value value, Value from, bool isIndex) {
  Value word = gpu::ShuffleOp::create(
                   e.builder, e.loc, e.bitcast(e.builder.getI32Type(), value),
                   from, e.i32(kWarpSize),
                   isIndex ? gpu::ShuffleMode::IDX : gpu::ShuffleMode::XOR)
                   .getShuffleResult();
  return e.bitcast(e.builder.getF32Type(), word);
}

Value AttentionParts::overWarp(
    Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t offset = 1; offset < kWarpSize; offset *= 2)
    value = combine(value, shuffle(value, e.i32(offset), /*isIndex=*/false));
  return value;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Stores what a lane has to the block's memory.
void AttentionParts::shareSums(const MmaLane &lane, ArrayRef<Value> sums,
                               ArrayRef<Value> most, ArrayRef<Value> totals) {
  Value warp = e.toIndex(lane.warp), pair = e.toIndex(e.mul(lane.pair, 2));
  auto store = [&](Value value, Value to, Value row, Value column) {
    memref::StoreOp::create(e.builder, e.loc, value, to,
                            ValueRange{warp, row, column});
  };
  for (int64_t half : {0, 1}) {
    Value row = e.toIndex(e.add(lane.row, half * kMatrixSide));
    for (int64_t i = 0; i < place.getWidth() / kMatrixSide; ++i)
      for (int64_t k : {0, 1})
        store(sums[i * kMmaSums + 2 * half + k], shared, row,
              e.add(pair, i * kMatrixSide + k));
    e.onlyIf(e.less(lane.pair, e.i32(1)), [&] {
      store(most[half], stats, row, e.index(0));
      store(totals[half], stats, row, e.index(1));
    });
  }
}

/// Adds up what the warps have of `row`, as part `part` of row `number` of all.
void AttentionParts::addRow(const MmaLane &lane, Value row, Value part,
                            Value number) {
  OpBuilder &b = e.builder;
  auto load = [&](Value from, int64_t warp, Value column) -> Value {
    return memref::LoadOp::create(b, e.loc, from,
                                  ValueRange{e.index(warp), row, column});
  };
  auto store = [&](Value value, Value to, Value column) {
    memref::StoreOp::create(b, e.loc, value, to,
                            ValueRange{part, number, column});
  };
  Values all, factors;
  for (int64_t warp = 0; warp < kWarps; ++warp)
    all.push_back(load(stats, warp, e.index(0)));
  Value largest = all[0];
  for (Value other : ArrayRef(all).drop_front())
    largest = larger(largest, other);
  Value base = baseOf(largest), total = e.f32(0);
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    factors.push_back(power(all[warp], base));
    total = math::FmaOp::create(b, e.loc, load(stats, warp, e.index(1)),
                                factors[warp], total);
  }
  int64_t width = place.getWidth();
  Values results;
  for (int64_t first = 0; first < width; first += kWarpSize) {
    Value column = e.add(lane.lane, first), sum = e.f32(0);
    if (first + kWarpSize > width)
      column = e.least(column, e.i32(width - 1));
    for (int64_t warp = 0; warp < kWarps; ++warp)
      sum = math::FmaOp::create(b, e.loc, load(shared, warp, e.toIndex(column)),
                                factors[warp], sum);
    results.push_back(sum);
  }
  Value own = e.toIndex(lane.lane);
  if (isWhole()) {
    Value inverse = emitInverse(e, total);
    for (Value &result : results)
      result = arith::MulFOp::create(b, e.loc, result, inverse);
    return storeRow(own, number, results);
  }
  store(largest, mostOf, e.index(0));
  store(total, totalsOf, e.index(0));
  forEachColumn(
      own, [&](size_t i, Value column) { store(results[i], sumsOf, column); });
}

void AttentionParts::addWarps(const MmaLane &lane, Value memory, Value split,
                              Value head, ArrayRef<Value> sums,
                              ArrayRef<Value> most, ArrayRef<Value> totals) {
  OpBuilder &b = e.builder;
  int64_t width = place.getWidth();
  auto space = cast<MemRefType>(memory.getType()).getMemorySpace();
  auto view = [&](ArrayRef<int64_t> shape, int64_t first) -> Value {
    return memref::ViewOp::create(
        b, e.loc,
        MemRefType::get(shape, b.getF32Type(), MemRefLayoutAttrInterface(),
                        space),
        memory, e.index(first * kFloatBytes), ValueRange());
  };
  shared = view({kWarps, kRows, width}, 0);
  stats = view({kWarps, kRows, 2}, kWarps * kRows * width);
  // The last tile may still be read.
  gpu::BarrierOp::create(b, e.loc);
  shareSums(lane, sums, most, totals);
  gpu::BarrierOp::create(b, e.loc);
  // Warps take rows in turn, and lanes columns.
  for (int64_t turn = 0; turn < kRows / kWarps; ++turn) {
    Value row = e.add(e.mul(lane.warp, kRows / kWarps), turn);
    e.onlyIf(e.less(row, e.toI32(place.allRows)), [&] {
      addRow(lane, e.toIndex(row), e.toIndex(split), numberOf(head, row));
    });
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void AttentionParts::storePart(const MmaLane &lane, Value split, Value head,
                               Value row, ArrayRef<Value> sums, Value most,
                               Value total) {
  OpBuilder &b = e.builder;
  Value part = e.toIndex(split), number = numberOf(head, row);
  Value pair = e.toIndex(e.mul(lane.pair, 2));
  auto type = VectorType::get(2, b.getF32Type());
  for (size_t i = 0; i < sums.size(); i += 2) {
    Value both =
        vector::FromElementsOp::create(b, e.loc, type, sums.slice(i, 2));
    Value column = e.add(pair, int64_t(i / 2) * kMatrixSide);
    vector::StoreOp::create(
        b, e.loc, both, sumsOf, ValueRange{part, number, column},
        /*nontemporal=*/false, llvm::MaybeAlign(2 * kFloatBytes));
  }
  e.onlyIf(e.less(lane.pair, e.i32(1)), [&] {
    Values at = {part, number, e.index(0)};
    memref::StoreOp::create(b, e.loc, most, mostOf, at);
    memref::StoreOp::create(b, e.loc, total, totalsOf, at);
  });
}

Value AttentionParts::findWeight(Value lane, Value row) {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  Value own = e.least(lane, e.sub(splits, e.index(1)));
  auto load = [&](Value from) -> Value {
    return memref::LoadOp::create(b, loc, from,
                                  ValueRange{own, row, e.index(0)});
  };
  Value most = load(mostOf);
  Value base =
      baseOf(overWarp(most, [&](Value x, Value y) { return larger(x, y); }));
  Value weight = arith::SelectOp::create(b, loc, e.less(lane, splits),
                                         power(most, base), e.f32(0));
  Value total = overWarp(
      arith::MulFOp::create(b, loc, weight, load(totalsOf)).getResult(),
      [&](Value x, Value y) -> Value {
        return arith::AddFOp::create(b, loc, x, y);
      });
  return arith::MulFOp::create(b, loc, weight, emitInverse(e, total));
}

/// The sums of the lane's columns, of all parts. Loads of several parts are on
/// their way together; behind the last part weights are zero.
AttentionParts::Values AttentionParts::addParts(Value lane, Value row,
                                                Value weight) {
  constexpr int64_t kTogether = 8;
  OpBuilder &b = e.builder;
  int64_t width = place.getWidth();
  Values columns, sums;
  for (int64_t first = 0; first < width; first += kWarpSize) {
    columns.push_back(e.least(e.add(lane, first), e.index(width - 1)));
    sums.push_back(e.f32(0));
  }
  Value last = e.sub(splits, e.index(1));
  Value end = e.mul(e.ceilDiv(splits, kTogether), kTogether);
  auto loop =
      scf::ForOp::create(b, e.loc, e.index(0), end, e.index(kTogether), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values carried(loop.getRegionIterArgs());
  for (int64_t i = 0; i < kTogether; ++i) {
    Value part = e.add(loop.getInductionVar(), i);
    Value factor = shuffle(weight, e.toI32(part), /*isIndex=*/true);
    for (auto [sum, column] : llvm::zip(carried, columns)) {
      Value value = memref::LoadOp::create(
          b, e.loc, sumsOf, ValueRange{e.least(part, last), row, column});
      sum = math::FmaOp::create(b, e.loc, value, factor, sum);
    }
  }
  scf::YieldOp::create(b, e.loc, carried);
  return Values(loop.getResults());
}

/// Visits the lane's columns that there are.
void AttentionParts::forEachColumn(
    Value lane, llvm::function_ref<void(size_t, Value)> visit) {
  int64_t width = place.getWidth();
  for (int64_t first = 0; first < width; first += kWarpSize) {
    Value column = e.add(lane, first);
    Value exists =
        first + kWarpSize <= width ? Value() : e.less(column, e.index(width));
    e.onlyIf(exists, [&] { visit(size_t(first / kWarpSize), column); });
  }
}

void AttentionParts::storeRow(Value lane, Value row, ArrayRef<Value> results) {
  OpBuilder &b = e.builder;
  AttentionPlace::Place at = place.createPlace();
  place.putHead(at, arith::DivUIOp::create(b, e.loc, row, place.allRows));
  place.putRow(at, arith::RemUIOp::create(b, e.loc, row, place.allRows));
  forEachColumn(lane, [&](size_t i, Value column) {
    at[place.loops.width] = column;
    memref::StoreOp::create(
        b, e.loc,
        arith::TruncFOp::create(b, e.loc, place.getElement(), results[i]),
        place.valueOf(AttentionPlace::O),
        place.indicesOf(AttentionPlace::O, at));
  });
}

/// A warp for each row: lane i reads part i's largest score, and then all lanes
/// the sums of their columns.
void AttentionParts::launch() {
  if (isWhole())
    return;
  OpBuilder &b = e.builder;
  Value rows = b.createOrFold<arith::MulIOp>(e.loc, place.heads, place.allRows);
  {
    OpBuilder::InsertionGuard guard(b);
    gpu::LaunchOp launch = createLaunch(b, e.loc, rows, kWarpSize);
    Value row = launch.getBlockIds().x, lane = launch.getThreadIds().x;
    Value weight = findWeight(lane, row);
    storeRow(lane, row, addParts(lane, row, weight));
  }
  for (Value memory : {sumsOf, mostOf, totalsOf})
    memref::DeallocOp::create(b, e.loc, memory);
}
