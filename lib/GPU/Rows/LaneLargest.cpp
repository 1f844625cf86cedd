//===- LaneLargest.cpp - Largest keys of the threads of a row -------------===//
//
// Each of `count` rounds takes the largest key of a warp's, and has its thread
// find the next one. A row of more than a warp first finds what its largest
// keys are not less than: of 32 groups of lanes, or more, the largest of each,
// and of those the one that is number `count` in their order. Few warps have
// keys that are not less, and seldom more than one or two. Each warp makes a
// sorted list of its own; the first warp of the block merges them, and where
// blocks of a cluster share a row, also those of the blocks.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/LaneLargest.h"

#include "GPU/Copies/ClusterBuffer.h"
#include "GPU/Rows/LaneSums.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

static constexpr int64_t kKeyBytes = 8;

/// Groups of lanes whose largest keys the first warp sorts: at least twice as
/// many as keys are found, where a row has so many lanes.
static int64_t countGroups(int64_t lanes, int64_t count) {
  return std::min<int64_t>(
      lanes, std::max<int64_t>(kWarpSize, llvm::PowerOf2Ceil(2 * count)));
}

LaneLargest::LaneLargest(OpBuilder &builder, Location loc, int64_t lanes,
                         int64_t cluster, Value thread, int64_t count,
                         int64_t firstByte)
    : e{builder, loc}, lanes(lanes), cluster(cluster), count(count),
      firstByte(firstByte) {
  std::tie(warp, lane) = e.split(thread, kWarpSize);
}

int64_t LaneLargest::getBytes(int64_t lanes, int64_t cluster, int64_t count) {
  if (lanes <= kWarpSize)
    return 0;
  int64_t lists = lanes / kWarpSize + 1 + (cluster > 1);
  return kKeyBytes * (countGroups(lanes, count) + 1 + lists * count);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Value mlir::nm::noKey(ThreadEmitter &e) {
  return arith::ConstantOp::create(
      e.builder, e.loc,
      e.builder.getI64IntegerAttr(std::numeric_limits<int64_t>::min()));
}

Value mlir::nm::largerKey(ThreadEmitter &e, Value a, Value b) {
  return arith::MaxSIOp::create(e.builder, e.loc, a, b);
}

Value LaneLargest::isEqual(Value a, Value b) {
  return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq, a,
                               b);
}

/// The largest word of a warp.
static Value reduceWord(ThreadEmitter &e, Value word, NVVM::ReduxKind kind) {
  return NVVM::ReduxOp::create(e.builder, e.loc, word.getType(), word, kind,
                               e.i32(-1));
}

Value mlir::nm::findLargestOfWarp(ThreadEmitter &e, Value key) {
  Type i32 = e.builder.getI32Type(), i64 = e.builder.getI64Type();
  Value half = arith::ConstantIntOp::create(e.builder, e.loc, 32, 64);
  Value high = arith::TruncIOp::create(
      e.builder, e.loc, i32,
      arith::ShRUIOp::create(e.builder, e.loc, key, half));
  Value low = arith::TruncIOp::create(e.builder, e.loc, i32, key);
  Value most = reduceWord(e, high, NVVM::ReduxKind::MAX);
  Value hasMost = arith::CmpIOp::create(e.builder, e.loc,
                                        arith::CmpIPredicate::eq, high, most);
  low = reduceWord(e, e.orZero(low, hasMost), NVVM::ReduxKind::UMAX);
  Value upper = arith::ShLIOp::create(
      e.builder, e.loc, arith::ExtUIOp::create(e.builder, e.loc, i64, most),
      half);
  return e.either(upper, arith::ExtUIOp::create(e.builder, e.loc, i64, low));
}

/// The largest key of the row's lanes in the warp.
Value LaneLargest::greatest(Value key) {
  if (lanes >= kWarpSize)
    return findLargestOfWarp(e, key);
  auto combine = [&](Value a, Value b) { return largerKey(e, a, b); };
  return combineLanes(e, combine, key, lanes);
}

void LaneLargest::onFirstLane(llvm::function_ref<void()> body) {
  e.onlyIf(isEqual(lane, e.index(0)), body);
}

void LaneLargest::onFirstWarp(llvm::function_ref<void()> body) {
  e.onlyIf(isEqual(warp, e.index(0)), body);
}

/// A loop of `rounds` that carries `values`, each but the first the number of
/// the round and they.
static SmallVector<Value>
repeat(ThreadEmitter &e, int64_t rounds, ValueRange values,
       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      e.builder, e.loc, e.index(0), e.index(rounds), e.index(1), values,
      [&](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  e.builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(e.builder, e.loc, next);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Rows that a warp has whole.
SmallVector<Value> LaneLargest::findInWarp(Value head, Next next) {
  Value first = greatest(head);
  if (count == 1)
    return {first};
  // The last key that was found, the thread's head, and all that were found.
  SmallVector<Value> carried = {first, head};
  carried.append(count - 1, noKey(e));
  carried = repeat(e, count - 1, carried, [&](Value round, ValueRange values) {
    Value below = next(values[0], values[1]);
    Value found = greatest(below);
    SmallVector<Value> after = {found, below};
    for (int64_t i = 0; i + 1 < count; ++i)
      after.push_back(arith::SelectOp::create(
          e.builder, e.loc, isEqual(round, e.index(i)), found, values[2 + i]));
    return after;
  });
  SmallVector<Value> found = {first};
  found.append(carried.begin() + 2, carried.end());
  return found;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The next buffer of `size` keys of shared memory.
Value LaneLargest::view(int64_t &byte, int64_t size) {
  Value memory = getLaunchMemory(e.builder, e.loc);
  Value buffer = viewLaunchMemory(e.builder, e.loc, memory, byte, {size},
                                  e.builder.getI64Type());
  byte += size * kKeyBytes;
  return buffer;
}

/// A key that at least `count` of the block's are not less than, of as many
/// groups of lanes; or that none is less than.
Value LaneLargest::findBound(Value head) {
  int64_t number = countGroups(lanes, count), ofGroup = lanes / number;
  auto combine = [&](Value a, Value b) { return largerKey(e, a, b); };
  Value largest = combineLanes(e, combine, head, ofGroup);
  Value thread = e.add(e.mul(warp, kWarpSize), lane);
  auto [group, place] = e.split(thread, ofGroup);
  Value target = group;
  e.onlyIf(isEqual(place, e.index(0)), [&] {
    memref::StoreOp::create(e.builder, e.loc, largest, groups, target);
  });
  gpu::BarrierOp::create(e.builder, e.loc);
  onFirstWarp([&] {
    SmallVector<Value> keys;
    for (int64_t i = 0; i < number; i += kWarpSize)
      keys.push_back(
          memref::LoadOp::create(e.builder, e.loc, groups, e.add(lane, i)));
    auto most = [&](ValueRange keys) {
      Value own = keys.front();
      for (Value key : keys.drop_front())
        own = largerKey(e, own, key);
      return greatest(own);
    };
    keys = repeat(e, count - 1, keys, [&](Value, ValueRange left) {
      Value taken = most(left);
      return llvm::map_to_vector(left, [&](Value key) -> Value {
        return arith::SelectOp::create(e.builder, e.loc, isEqual(key, taken),
                                       noKey(e), key);
      });
    });
    Value found = most(keys);
    onFirstLane([&] {
      memref::StoreOp::create(e.builder, e.loc, found, bound, e.index(0));
    });
  });
  gpu::BarrierOp::create(e.builder, e.loc);
  return memref::LoadOp::create(e.builder, e.loc, bound, e.index(0));
}

/// Has each warp list its keys that are not less than `least`, from the largest
/// one on, and behind them none.
void LaneLargest::listKeys(Value head, Value least, Next next) {
  Value zero = e.index(0), first = e.mul(warp, count);
  SmallVector<Value> carried = {zero, greatest(head), head};
  auto loop = scf::WhileOp::create(
      e.builder, e.loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange values) {
        Value isListed = arith::CmpIOp::create(
            e.builder, e.loc, arith::CmpIPredicate::sge, values[1], least);
        Value isKey = arith::CmpIOp::create(
            e.builder, e.loc, arith::CmpIPredicate::ne, values[1], noKey(e));
        Value goesOn =
            e.both(e.both(isListed, isKey), e.less(values[0], e.index(count)));
        scf::ConditionOp::create(e.builder, e.loc, goesOn, values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        onFirstLane([&] {
          memref::StoreOp::create(e.builder, e.loc, values[1], ofWarps,
                                  e.add(first, values[0]));
        });
        Value below = next(values[1], values[2]);
        SmallVector<Value> after = {e.add(values[0], 1), greatest(below),
                                    below};
        scf::YieldOp::create(e.builder, e.loc, after);
      });
  Value listed = loop.getResult(0);
  Value isShort = e.less(listed, e.index(count));
  e.onlyIf(e.both(isEqual(lane, zero), isShort), [&] {
    memref::StoreOp::create(e.builder, e.loc, noKey(e), ofWarps,
                            e.add(first, listed));
  });
}

/// Has the first warp merge sorted lists, of which each lane has one, into
/// `target`.
void LaneLargest::merge(int64_t lists, Load load, Value target) {
  onFirstWarp([&] {
    Value zero = e.index(0);
    Value head =
        e.choose(
             e.less(lane, e.index(lists)),
             [&] { return SmallVector<Value>{load(lane, zero)}; }, noKey(e))
            .front();
    repeat(e, count, {head, zero}, [&](Value round, ValueRange values) {
      Value most = greatest(values[0]);
      onFirstLane([&] {
        memref::StoreOp::create(e.builder, e.loc, most, target, round);
      });
      Value isKey = arith::CmpIOp::create(
          e.builder, e.loc, arith::CmpIPredicate::ne, most, noKey(e));
      Value isOwn = e.both(isEqual(values[0], most), isKey);
      Value at = arith::SelectOp::create(e.builder, e.loc, isOwn,
                                         e.add(values[1], 1), values[1]);
      Value hasMore = e.both(isOwn, e.less(at, e.index(count)));
      Value otherwise =
          arith::SelectOp::create(e.builder, e.loc, isOwn, noKey(e), values[0]);
      Value below =
          e.choose(
               hasMore, [&] { return SmallVector<Value>{load(lane, at)}; },
               otherwise)
              .front();
      return SmallVector<Value>{below, at};
    });
  });
}

SmallVector<Value> LaneLargest::find(Value head, Next next) {
  if (lanes <= kWarpSize)
    return findInWarp(head, next);
  int64_t byte = firstByte, warps = lanes / kWarpSize;
  groups = view(byte, countGroups(lanes, count));
  bound = view(byte, 1);
  ofWarps = view(byte, warps * count);
  ofBlock = view(byte, count);
  listKeys(head, findBound(head), next);
  gpu::BarrierOp::create(e.builder, e.loc);
  merge(
      warps,
      [&](Value list, Value at) -> Value {
        return memref::LoadOp::create(e.builder, e.loc, ofWarps,
                                      e.add(e.mul(list, count), at));
      },
      ofBlock);
  ClusterBuffer::meet(e.builder, e.loc, cluster);
  Value found = ofBlock;
  if (cluster > 1) {
    found = ofRow = view(byte, count);
    merge(
        cluster,
        [&](Value block, Value at) {
          return ClusterBuffer::loadFrom(e.builder, e.loc, ofBlock,
                                         e.toI32(block), e.builder.getI64Type(),
                                         e.mul(at, kKeyBytes));
        },
        ofRow);
    gpu::BarrierOp::create(e.builder, e.loc);
  }
  SmallVector<Value> keys;
  for (int64_t i = 0; i < count; ++i)
    keys.push_back(memref::LoadOp::create(e.builder, e.loc, found, e.index(i)));
  return keys;
}
