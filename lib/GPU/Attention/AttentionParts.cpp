//===- AttentionParts.cpp - Parts of an attention's keys ------------------===//

#include "GPU/Attention/AttentionParts.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

static constexpr int64_t kFloatBytes = 4;

Value AttentionParts::f32(double value) {
  return arith::ConstantOp::create(e.builder, e.loc,
                                   e.builder.getF32FloatAttr(float(value)));
}

Value AttentionParts::larger(Value a, Value b) {
  return arith::MaximumFOp::create(e.builder, e.loc, a, b);
}

Value AttentionParts::baseOf(Value most) {
  Value isNone = arith::CmpFOp::create(
      e.builder, e.loc, arith::CmpFPredicate::OEQ, most, f32(-INFINITY));
  return arith::SelectOp::create(e.builder, e.loc, isNone, f32(0), most);
}

Value AttentionParts::power(Value exponent, Value base) {
  return math::Exp2Op::create(
      e.builder, e.loc,
      arith::SubFOp::create(e.builder, e.loc, exponent, base));
}

AttentionParts::AttentionParts(ThreadEmitter &emitter, AttentionPlace &place,
                               Value splits)
    : e(emitter), place(place), splits(splits) {
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

int64_t AttentionParts::getBytes(int64_t width) {
  return kWarps * kRows * (width + 2) * kFloatBytes;
}

Value AttentionParts::numberOf(Value head, Value row) {
  return e.add(
      arith::MulIOp::create(e.builder, e.loc, e.toIndex(head), place.allRows)
          .getResult(),
      e.toIndex(row));
}

void AttentionParts::addWarps(const MmaLane &lane, Value memory,
                              ArrayRef<Value> listed, Value split, Value head,
                              ArrayRef<Value> sums, ArrayRef<Value> most,
                              ArrayRef<Value> totals) {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  int64_t width = place.getWidth();
  auto space = cast<MemRefType>(memory.getType()).getMemorySpace();
  auto view = [&](ArrayRef<int64_t> shape, int64_t first) -> Value {
    return memref::ViewOp::create(
        b, loc,
        MemRefType::get(shape, b.getF32Type(), MemRefLayoutAttrInterface(),
                        space),
        memory, e.index(first * kFloatBytes), ValueRange());
  };
  Value shared = view({kWarps, kRows, width}, 0);
  Value stats = view({kWarps, kRows, 2}, kWarps * kRows * width);
  // The last tile may still be read.
  gpu::BarrierOp::create(b, loc);
  Value warp = e.toIndex(lane.warp);
  for (int64_t half : {0, 1}) {
    Value row = e.toIndex(e.add(lane.row, half * kMatrixSide));
    for (int64_t i = 0; i < width / kMatrixSide; ++i)
      for (int64_t k : {0, 1}) {
        Value column =
            e.add(e.toIndex(e.mul(lane.pair, 2)), i * kMatrixSide + k);
        memref::StoreOp::create(b, loc, sums[i * kMmaSums + 2 * half + k],
                                shared, ValueRange{warp, row, column});
      }
    e.onlyIf(e.less(lane.pair, e.i32(1)), [&] {
      for (auto [i, value] : {std::pair(0, most[half]), {1, totals[half]}})
        memref::StoreOp::create(b, loc, value, stats,
                                ValueRange{warp, row, e.index(i)});
    });
  }
  gpu::BarrierOp::create(b, loc);
  // Warps take rows in turn, and lanes columns.
  for (int64_t turn = 0; turn < kRows / kWarps; ++turn) {
    Value row = e.add(e.mul(lane.warp, kRows / kWarps), turn);
    e.onlyIf(e.less(row, e.toI32(place.allRows)), [&] {
      Value at = e.toIndex(row);
      auto stat = [&](int64_t part, int64_t i) -> Value {
        return memref::LoadOp::create(
            b, loc, stats, ValueRange{e.index(part), at, e.index(i)});
      };
      SmallVector<Value> all;
      for (int64_t part = 0; part < kWarps; ++part)
        all.push_back(stat(part, 0));
      Value largest = all[0];
      for (Value other : ArrayRef(all).drop_front())
        largest = larger(largest, other);
      Value base = baseOf(largest), total = f32(0);
      SmallVector<Value> factors;
      for (int64_t part = 0; part < kWarps; ++part) {
        factors.push_back(power(all[part], base));
        total =
            math::FmaOp::create(b, loc, stat(part, 1), factors[part], total);
      }
      Value number = numberOf(head, row), part = e.toIndex(split);
      memref::StoreOp::create(b, loc, largest, mostOf,
                              ValueRange{part, number, e.index(0)});
      memref::StoreOp::create(b, loc, total, totalsOf,
                              ValueRange{part, number, e.index(0)});
      for (int64_t first = 0; first < width; first += kWarpSize) {
        Value column = e.add(lane.lane, first);
        e.onlyIf(
            first + kWarpSize <= width ? Value() : e.less(column, e.i32(width)),
            [&] {
              Value place = e.toIndex(column), sum = f32(0);
              for (int64_t i = 0; i < kWarps; ++i)
                sum = math::FmaOp::create(
                    b, loc,
                    memref::LoadOp::create(b, loc, shared,
                                           ValueRange{e.index(i), at, place}),
                    factors[i], sum);
              memref::StoreOp::create(b, loc, sum, sumsOf,
                                      ValueRange{part, number, place});
            });
      }
    });
  }
}

/// A warp for each row: lane i reads part i, and then all lanes all parts of
/// their columns.
void AttentionParts::launch() {
  OpBuilder &b = e.builder;
  Location loc = e.loc;
  int64_t width = place.getWidth();
  Value one = e.index(1);
  Value rows = b.createOrFold<arith::MulIOp>(loc, place.heads, place.allRows);
  auto launch = gpu::LaunchOp::create(b, loc, rows, one, one,
                                      e.index(kWarpSize), one, one);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&launch.getBody().front());
    gpu::TerminatorOp::create(b, loc);
    b.setInsertionPointToStart(&launch.getBody().front());
    Value row = launch.getBlockIds().x, thread = launch.getThreadIds().x;
    Value last = e.sub(splits, one), own = e.least(thread, last);
    Value isPart = e.less(thread, splits);
    Value most = memref::LoadOp::create(b, loc, mostOf,
                                        ValueRange{own, row, e.index(0)});
    Value total = memref::LoadOp::create(b, loc, totalsOf,
                                         ValueRange{own, row, e.index(0)});
    auto overWarp = [&](Value value, function_ref<Value(Value, Value)> merge) {
      for (int64_t offset = 1; offset < kWarpSize; offset *= 2) {
        Value word = gpu::ShuffleOp::create(
                         b, loc, e.bitcast(b.getI32Type(), value),
                         e.i32(offset), e.i32(kWarpSize), gpu::ShuffleMode::XOR)
                         .getShuffleResult();
        value = merge(value, e.bitcast(b.getF32Type(), word));
      }
      return value;
    };
    Value base =
        baseOf(overWarp(most, [&](Value x, Value y) { return larger(x, y); }));
    Value weight =
        arith::SelectOp::create(b, loc, isPart, power(most, base), f32(0));
    Value sum =
        overWarp(arith::MulFOp::create(b, loc, weight, total).getResult(),
                 [&](Value x, Value y) -> Value {
                   return arith::AddFOp::create(b, loc, x, y);
                 });
    Value isNone =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, f32(0));
    Value inverse = arith::SelectOp::create(
        b, loc, isNone, f32(0), arith::DivFOp::create(b, loc, f32(1), sum));
    weight = arith::MulFOp::create(b, loc, weight, inverse);
    int64_t columns = llvm::divideCeil(width, kWarpSize);
    SmallVector<Value> places, results(columns, f32(0));
    for (int64_t i = 0; i < columns; ++i)
      places.push_back(
          e.least(e.add(thread, i * kWarpSize), e.index(width - 1)));
    // Loads of several parts are on their way together. Behind the last part
    // weights are zero.
    constexpr int64_t kTogether = 4;
    Value end = e.mul(e.ceilDiv(splits, kTogether), kTogether);
    auto loop = scf::ForOp::create(b, loc, e.index(0), end, e.index(kTogether),
                                   results);
    {
      OpBuilder::InsertionGuard inLoop(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> carried(loop.getRegionIterArgs());
      for (int64_t i = 0; i < kTogether; ++i) {
        Value part = e.add(loop.getInductionVar(), i);
        Value word = gpu::ShuffleOp::create(
                         b, loc, e.bitcast(b.getI32Type(), weight),
                         e.toI32(part), e.i32(kWarpSize), gpu::ShuffleMode::IDX)
                         .getShuffleResult();
        Value factor = e.bitcast(b.getF32Type(), word);
        for (auto [result, column] : llvm::zip(carried, places)) {
          Value value = memref::LoadOp::create(
              b, loc, sumsOf, ValueRange{e.least(part, last), row, column});
          result = math::FmaOp::create(b, loc, value, factor, result);
        }
      }
      scf::YieldOp::create(b, loc, carried);
    }
    AttentionPlace::Place at = place.createPlace();
    Value allRows = place.allRows;
    place.putHead(at, arith::DivUIOp::create(b, loc, row, allRows));
    place.putRow(at, arith::RemUIOp::create(b, loc, row, allRows));
    Type element = place.getElement();
    for (int64_t i = 0; i < columns; ++i) {
      Value result = loop.getResult(unsigned(i));
      Value column = e.add(thread, i * kWarpSize);
      e.onlyIf((i + 1) * kWarpSize <= width ? Value()
                                            : e.less(column, e.index(width)),
               [&] {
                 at[place.loops.width] = column;
                 memref::StoreOp::create(
                     b, loc, arith::TruncFOp::create(b, loc, element, result),
                     place.valueOf(AttentionPlace::O),
                     place.indicesOf(AttentionPlace::O, at));
               });
    }
  }
  for (Value memory : {sumsOf, mostOf, totalsOf})
    memref::DeallocOp::create(b, loc, memory);
}
