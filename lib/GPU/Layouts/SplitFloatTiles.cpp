//===- SplitFloatTiles.cpp - Kernels of nm.split_floats -------------------===//
//
// A block makes the splits of 64 k and 64 m. A thread writes eight neighbours
// along m of each split, 16 bytes. Of an m-major A it reads them as they are.
// Of a row-major one the block reads neighbours along k, four at a time, to
// shared memory, to rows of m that are an odd number of words apart: the lanes
// of a warp then write and read at most two words of a bank at a time.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/SplitFloatTiles.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// A tile's k and m, and the threads of a block.
static constexpr int64_t kTileK = 64, kTileM = ::nm::kSplitColumns,
                         kThreads = 256;
/// Neighbours along m that a thread writes, and along k that it reads.
static constexpr int64_t kChunk = 8, kReads = 4;
/// A row of m in shared memory.
static constexpr int64_t kSharedRow = kTileM + 1;

namespace {
class SplitFloatTile {
public:
  SplitFloatTile(OpBuilder &builder, SplitFloatsOp op);

  void emit();

private:
  /// The position in A of k and m.
  SmallVector<Value> positionInA(Value k, Value m) const;
  Value isInside(Value k, Value m);
  /// `count` neighbours from (k, m) on, along k or m, one by one.
  Value loadOneByOne(Value k, Value m, int64_t count, bool alongK);
  Value loadChunk(Value k, Value m, int64_t count, bool alongK);
  void share();
  void write();
  void store(Value k, Value column, Value values);
  /// Stores splits to where the groups have `k` that overlap.
  void storeToGroups(Value k, Value column, ValueRange splits);
  void storeSplits(Value row, Value column, ValueRange splits);

  OpBuilder &builder;
  SplitFloatsOp op;
  ThreadEmitter e;
  int64_t splits;
  /// The sizes of k and m; and of k in whole windows, where there are any.
  Value sizeK, sizeM, paddedK;
  /// The first k and m of the tile, and the thread's number in the block; and
  /// the block's batch.
  Value firstK, firstM, thread;
  SmallVector<Value> batch;
  /// Shared memory of the tile's elements, [k x m]; null where they are not
  /// turned.
  Value shared;
};
} // namespace

SplitFloatTile::SplitFloatTile(OpBuilder &builder, SplitFloatsOp op)
    : builder(builder), op(op), e{builder, op.getLoc()},
      splits(op.getSplits()) {
  Location loc = op.getLoc();
  auto sizeOf = [&](int64_t dim) {
    return builder.createOrFold<memref::DimOp>(loc, op.getA(), dim);
  };
  sizeK = sizeOf(op.getKDim());
  sizeM = sizeOf(op.getMDim());
  paddedK = sizeK;
  if (std::optional<int64_t> rows = op.getWindows())
    paddedK = e.mul(e.ceilDiv(sizeK, *rows), *rows);
  Value tilesK = e.ceilDiv(paddedK, kTileK), tilesM = e.ceilDiv(sizeM, kTileM),
        blocks = builder.createOrFold<arith::MulIOp>(loc, tilesK, tilesM);
  SmallVector<Value> batchSizes;
  for (int64_t dim = 0; dim < op.getAType().getRank() - 2; ++dim) {
    batchSizes.push_back(sizeOf(dim));
    blocks = builder.createOrFold<arith::MulIOp>(loc, blocks, batchSizes[dim]);
  }
  int64_t bytes = op.getTranspose() ? kTileK * kSharedRow * 4 : 0;
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, kThreads, bytes);
  thread = launch.getThreadIds().x;
  // Neighbouring blocks read one after the other along rows of A.
  Value block = launch.getBlockIds().x;
  auto take = [&](Value count) {
    Value number = builder.createOrFold<arith::RemUIOp>(loc, block, count);
    block = builder.createOrFold<arith::DivUIOp>(loc, block, count);
    return number;
  };
  bool isTransposed = op.getTranspose();
  Value inner = take(isTransposed ? tilesK : tilesM),
        outer = take(isTransposed ? tilesM : tilesK);
  firstK = e.mul(isTransposed ? inner : outer, kTileK);
  firstM = e.mul(isTransposed ? outer : inner, kTileM);
  for (Value size : batchSizes)
    batch.push_back(take(size));
  if (!isTransposed)
    return;
  shared = viewLaunchMemory(builder, loc, getLaunchMemory(builder, loc),
                            /*offset=*/0, {kTileK, kSharedRow},
                            builder.getF32Type());
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

SmallVector<Value> SplitFloatTile::positionInA(Value k, Value m) const {
  SmallVector<Value> position(batch);
  position.resize(batch.size() + 2);
  SplitFloatsOp split = op;
  position[split.getKDim()] = k;
  position[split.getMDim()] = m;
  return position;
}

Value SplitFloatTile::isInside(Value k, Value m) {
  return e.both(e.less(k, sizeK), e.less(m, sizeM));
}

Value SplitFloatTile::loadOneByOne(Value k, Value m, int64_t count,
                                   bool alongK) {
  Value zero = e.zero(builder.getF32Type());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value kHere = e.add(k, alongK ? i : 0), mHere = e.add(m, alongK ? 0 : i);
    auto load = [&]() -> SmallVector<Value> {
      return {memref::LoadOp::create(builder, op.getLoc(), op.getA(),
                                     positionInA(kHere, mHere))};
    };
    elements.push_back(e.choose(isInside(kHere, mHere), load, zero).front());
  }
  return vector::FromElementsOp::create(
      builder, op.getLoc(), VectorType::get(count, builder.getF32Type()),
      elements);
}

/// Whether tiles of A's rows start at multiples of 16 bytes.
static bool isAligned(Value a) {
  auto type = cast<MemRefType>(a.getType());
  int64_t offset = type.getStridesAndOffset().second;
  SmallVector<int64_t> extents(type.getRank(), kReads);
  return !ShapedType::isDynamic(offset) && offset % kReads == 0 &&
         getCopyWidth(a, extents) % kReads == 0;
}

/// 16 bytes at a time, where they are there and A is aligned.
Value SplitFloatTile::loadChunk(Value k, Value m, int64_t count, bool alongK) {
  Location loc = op.getLoc();
  if (!isAligned(op.getA()))
    return loadOneByOne(k, m, count, alongK);
  auto part = VectorType::get(kReads, builder.getF32Type());
  Value lastK = e.add(k, alongK ? count - 1 : 0),
        lastM = e.add(m, alongK ? 0 : count - 1);
  auto branch = scf::IfOp::create(
      builder, loc, VectorType::get(count, part.getElementType()),
      isInside(lastK, lastM), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; i += kReads) {
    Value loaded = vector::LoadOp::create(
        builder, loc, part, op.getA(),
        positionInA(e.add(k, alongK ? i : 0), e.add(m, alongK ? 0 : i)),
        /*nontemporal=*/false, llvm::MaybeAlign(4 * kReads));
    for (int64_t j = 0; j < kReads; ++j)
      elements.push_back(e.extract(loaded, j));
  }
  scf::YieldOp::create(builder, loc,
                       vector::FromElementsOp::create(
                           builder, loc, branch.getResultTypes()[0], elements)
                           .getResult());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loadOneByOne(k, m, count, alongK));
  return branch.getResult(0);
}

void SplitFloatTile::share() {
  auto [row, chunk] = e.split(thread, kTileK / kReads);
  Value k = e.mul(chunk, kReads);
  constexpr int64_t kRows = kThreads / (kTileK / kReads);
  SmallVector<Value> loaded;
  // All loads are in flight before the first is waited for.
  for (int64_t first = 0; first < kTileM; first += kRows)
    loaded.push_back(loadChunk(e.add(firstK, k),
                               e.add(firstM, e.add(row, first)), kReads,
                               /*alongK=*/true));
  for (auto [i, values] : llvm::enumerate(loaded))
    for (int64_t j = 0; j < kReads; ++j)
      memref::StoreOp::create(
          builder, op.getLoc(), e.extract(values, j), shared,
          ValueRange{e.add(k, j), e.add(row, int64_t(i) * kRows)});
  gpu::BarrierOp::create(builder, op.getLoc());
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

void SplitFloatTile::store(Value k, Value column, Value values) {
  SmallVector<Value> split =
      emitSplitFloats(builder, op.getLoc(), values, splits);
  if (op.getWindows())
    storeToGroups(k, column, split);
  else
    storeSplits(k, column, split);
}

/// Row r of a window is row r - 2g of group g; the last group with it is r / 2,
/// and the one before has it, too.
void SplitFloatTile::storeToGroups(Value k, Value column, ValueRange splits) {
  ::nm::OverlappingGroups groups{static_cast<int64_t>(*op.getWindows())};
  auto [window, inWindow] = e.split(k, groups.windowRows);
  auto [last, odd] = e.split(inWindow, groups.kStep);
  Value first = e.mul(window, groups.rowsOfWindow());
  Value inLast = e.add(e.add(first, e.mul(last, groups.kRows)), odd);
  e.onlyIf(e.less(last, e.index(groups.groups())),
           [&] { storeSplits(inLast, column, splits); });
  // Of the group before, it is two rows further on.
  int64_t back = groups.kRows - groups.kStep;
  e.onlyIf(e.less(e.index(0), last), [&] {
    Value row =
        builder.createOrFold<arith::SubIOp>(op.getLoc(), inLast, e.index(back));
    storeSplits(row, column, splits);
  });
}

/// `column` is in the tile.
void SplitFloatTile::storeSplits(Value row, Value column, ValueRange values) {
  // Where 64 m start, all their splits do.
  Value first = e.add(e.mul(firstM, splits), column);
  SmallVector<Value> position(batch);
  position.push_back(row);
  position.push_back(first);
  for (auto [split, value] : llvm::enumerate(values)) {
    position.back() = e.add(first, int64_t(split) * kTileM);
    vector::StoreOp::create(builder, op.getLoc(), value, op.getOutput(),
                            position, /*nontemporal=*/false,
                            llvm::MaybeAlign(2 * kChunk));
  }
}

void SplitFloatTile::write() {
  auto [row, chunk] = e.split(thread, kTileM / kChunk);
  Value column = e.mul(chunk, kChunk);
  constexpr int64_t kRows = kThreads / (kTileM / kChunk);
  auto type = VectorType::get(kChunk, builder.getF32Type());
  for (int64_t first = 0; first < kTileK; first += kRows) {
    Value inTile = e.add(row, first), k = e.add(firstK, inTile);
    e.onlyIf(e.less(k, paddedK), [&] {
      if (!shared)
        return store(k, column,
                     loadChunk(k, e.add(firstM, column), kChunk,
                               /*alongK=*/false));
      SmallVector<Value> elements;
      for (int64_t i = 0; i < kChunk; ++i)
        elements.push_back(
            memref::LoadOp::create(builder, op.getLoc(), shared,
                                   ValueRange{inTile, e.add(column, i)}));
      store(
          k, column,
          vector::FromElementsOp::create(builder, op.getLoc(), type, elements));
    });
  }
}

void SplitFloatTile::emit() {
  if (shared)
    share();
  write();
}

void mlir::nm::launchSplitFloatTiles(OpBuilder &builder, SplitFloatsOp op) {
  OpBuilder::InsertionGuard guard(builder);
  SplitFloatTile(builder, op).emit();
}
