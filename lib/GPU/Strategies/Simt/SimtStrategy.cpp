//===- SimtStrategy.cpp - Products on the CUDA cores ----------------------===//
//
// A thread makes a register tile of C, of 4 x 4 chunks that are as far apart as
// the lanes of a warp are many, so that the lanes read neighbouring 16-byte
// words of shared memory. For each kept row of weights it reads its rows of A
// from the k-row that the index names, and its columns of the weights.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/WeightTile.h"
#include "GPU/Strategies/Simt/SimtTile.h"
#include "GPU/Tile/SharedMemory.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Strategies/Simt/SimtLayouts.h"
#include "nm/GPU/Strategies/Simt/SimtLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// A row of the weights: its number, its window's, and its place in its unit.
struct KeptRow {
  Value window, rowInUnit, row;
};

/// What a kept row of a thread's columns is multiplied from: for each column a
/// column of A, [column][row], and a weight.
struct RowOperands {
  SmallVector<SmallVector<Value>> a;
  SmallVector<Value> b;
};

class SimtExpansion : public SimtTileExpansion {
public:
  SimtExpansion(SpMMOp op, const GpuTile &tile)
      : SimtTileExpansion(op, tile),
        layoutOfA(getTileLayout(cast<MemRefType>(op.getA().getType()))),
        defers(getFields(op.getScheduleAttr()).defer) {}

  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;

private:
  int64_t countDeferred() const override {
    return defers ? tile.threadM + tile.threadN : 0;
  }
  SmallVector<Value> addDeferred(OpBuilder &builder, Location loc,
                                 ArrayRef<Value> carried) override;
  int64_t unrolledRows(int64_t rowCount) const override;
  int64_t groupKey(int64_t chunk) const;
  SmallVector<Value> expandRows(OpBuilder &builder, SpMMOp op, Value firstRow,
                                int64_t count, ArrayRef<Value> sums) override;
  Value place(OpBuilder &builder, Location loc, Value row) {
    return placeAlong(builder, loc, layoutOfA, /*dim=*/0, row);
  }
  Value placeUnit(OpBuilder &builder, Location loc, Value position);
  SmallVector<Value> placePrefetched(OpBuilder &builder, Location loc,
                                     int64_t units);
  SmallVector<SmallVector<Value>> loadPlaces(OpBuilder &builder,
                                             WeightTile &weights,
                                             Value firstUnit, int64_t units);
  SmallVector<Value> loadRowOfA(OpBuilder &builder, SpMMOp op, Value window,
                                Value unitOffset, Value rowInUnit);
  SmallVector<SmallVector<Value>> loadOperandsOfA(OpBuilder &builder, SpMMOp op,
                                                  const KeptRow &kept,
                                                  ArrayRef<Value> places);
  RowOperands loadRow(OpBuilder &builder, SpMMOp op, WeightTile &weights,
                      const KeptRow &kept, ArrayRef<Value> places);
  Value getWindow(OpBuilder &builder, Location loc, Value firstUnit,
                  int64_t count, int64_t i);
  RowOperands unpackRow(ArrayRef<Value> carried);
  void packRow(const RowOperands &operands, SmallVectorImpl<Value> &sums);
  void addRow(OpBuilder &builder, Location loc, const RowOperands &operands,
              MutableArrayRef<Value> sums);

  Value add(OpBuilder &builder, Location loc, Value lhs, int64_t rhs) {
    return builder.createOrFold<arith::AddIOp>(
        loc, lhs, arith::ConstantIndexOp::create(builder, loc, rhs));
  }
  /// The columns that read positions of their own: one of each chunk where a
  /// unit spans it, else all.
  bool hasUnitPerChunk() const { return pattern.bn % kChunk == 0; }

  bool isInterleaved() const { return !layoutOfA.order[0].empty(); }

  /// Where A's tile [k x m] has its rows.
  ::nm::TileLayout layoutOfA;
  /// Whether the last row of a tile is multiplied with the next tile, when
  /// loads of its first have yet to arrive: all columns share rows of A.
  bool defers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows unrolled at once: all, or a divisor of them that holds whole units or
/// parts of one.
int64_t SimtExpansion::unrolledRows(int64_t rowCount) const {
  // A loop unrolls half as many: ptxas holds addresses of more in registers
  // that it then lacks.
  int64_t count = rowCount <= ::nm::kMaxUnrolledRows
                      ? rowCount
                      : ::nm::kMaxUnrolledRows / 2;
  while (rowCount % count != 0 ||
         (count % pattern.bk != 0 && pattern.bk % count != 0))
    --count;
  return count;
}

/// Chunks of equal key lie in the same unit, for every lane.
int64_t SimtExpansion::groupKey(int64_t chunk) const {
  int64_t apart = tile.lanesN() * kChunk;
  bool aligned =
      (tile.warpN % pattern.bn == 0 || pattern.bn % tile.warpN == 0) &&
      (pattern.bn % apart == 0 || apart % pattern.bn == 0);
  return aligned ? chunk * apart / pattern.bn : chunk;
}

/// Where in its window of A's tile the unit at `position` starts.
Value SimtExpansion::placeUnit(OpBuilder &builder, Location loc,
                               Value position) {
  Value row = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                           position);
  if (pattern.bk != 1)
    row = arith::MulIOp::create(
        builder, loc, row,
        arith::ConstantIndexOp::create(builder, loc, pattern.bk));
  return place(builder, loc, row);
}

/// Positions in an i32 that `prefetch` loads, if they are as many.
static constexpr int64_t kPerWord = 4;

SmallVector<Value>
SimtExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface product,
                        llvm::function_ref<Value(Value)> viewOf) {
  auto op = cast<SpMMOp>(*product);
  Value indices = viewOf(op.getIndices());
  auto type = cast<MemRefType>(indices.getType());
  // A warp that reads several panels, or one in shared memory, does so when it
  // multiplies.
  if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) || pattern.m == 1 ||
      !op.getPanelPacking() || !type.hasStaticShape() ||
      type.getDimSize(2) != 1 || op.getPanelPacking().getPanel() < tile.warpN)
    return {};
  Location loc = op.getLoc();
  SmallVector<ReassociationIndices> panelRows = {{0}, {1, 2}};
  Value bytes =
      memref::CollapseShapeOp::create(builder, loc, indices, panelRows);
  Value panel = builder.createOrFold<arith::DivUIOp>(
      loc, columns[0],
      arith::ConstantIndexOp::create(builder, loc,
                                     op.getPanelPacking().getPanel()));
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t units = type.getDimSize(1) / tile.sliceK;
  Value firstUnit = getFirstRow(builder, loc, units);
  int64_t width = std::gcd(
      units, ShapedType::isDynamic(strides[0]) ? int64_t(1) : strides[0]);
  width = std::gcd(width, int64_t(16));
  SmallVector<Value> words;
  auto append = [&](Value vector, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      words.push_back(vector::ExtractOp::create(builder, loc, vector, i));
  };
  for (int64_t unit = 0; unit < units; unit += width) {
    Value first = add(builder, loc, firstUnit, unit);
    Value loaded = vector::LoadOp::create(
        builder, loc, VectorType::get(width, builder.getI8Type()), bytes,
        ValueRange{panel, first}, /*nontemporal=*/false,
        llvm::MaybeAlign(width));
    // Four bytes make a word of 32 bits; one or two are extended with zeros.
    int64_t perWord = std::min(width, kPerWord);
    auto type = VectorType::get(
        width / perWord,
        builder.getIntegerType(8 * static_cast<unsigned>(perWord)));
    Value together = vector::BitCastOp::create(builder, loc, type, loaded);
    if (perWord < kPerWord)
      together = arith::ExtUIOp::create(
          builder, loc, type.clone(builder.getI32Type()), together);
    append(together, width / perWord);
  }
  return words;
}

/// The places of the units whose positions were loaded ahead.
SmallVector<Value> SimtExpansion::placePrefetched(OpBuilder &builder,
                                                  Location loc, int64_t units) {
  int64_t perWord = units / int64_t(prefetched.size());
  SmallVector<Value> places;
  for (Value word : prefetched) {
    bool together = isInterleaved() && pattern.bk == 1;
    if (together)
      word = RowInterleave::placeBytes(builder, loc, word, pattern.m);
    for (int64_t i = 0; i < perWord; ++i) {
      Value position = word;
      auto constant = [&](int64_t value) {
        return arith::ConstantIntOp::create(builder, loc, value, 32);
      };
      if (perWord > 1)
        position = arith::AndIOp::create(
            builder, loc,
            arith::ShRUIOp::create(builder, loc, word, constant(8 * i)),
            constant(0xff));
      places.push_back(
          together ? Value(arith::IndexCastUIOp::create(
                         builder, loc, builder.getIndexType(), position))
                   : placeUnit(builder, loc, position));
    }
  }
  return places;
}

/// Where units start in their windows of A's tile, [unit][column], one column
/// for each chunk, or for each column of each chunk.
SmallVector<SmallVector<Value>> SimtExpansion::loadPlaces(OpBuilder &builder,
                                                          WeightTile &weights,
                                                          Value firstUnit,
                                                          int64_t units) {
  SmallVector<SmallVector<Value>> places(units);
  Location loc = firstUnit.getLoc();
  if (pattern.m == 1) {
    int64_t perRow = hasUnitPerChunk() ? columns.size() : tile.threadN;
    Value first = arith::ConstantIndexOp::create(builder, loc, 0);
    places.assign(units, SmallVector<Value>(perRow, first));
    return places;
  }
  if (!prefetched.empty()) {
    for (auto [unit, at] :
         llvm::enumerate(placePrefetched(builder, loc, units)))
      places[unit].assign(columns.size(), at);
    return places;
  }
  llvm::SmallDenseMap<int64_t, SmallVector<Value>> loaded;
  auto load = [&](Value column) {
    SmallVector<Value> positions =
        weights.loadPositions(builder, firstUnit, units, column);
    for (Value &position : positions)
      position = placeUnit(builder, loc, position);
    return positions;
  };
  auto append = [&](ArrayRef<Value> column) {
    for (auto [unit, at] : llvm::enumerate(column))
      places[unit].push_back(at);
  };
  for (auto [chunk, column] : llvm::enumerate(columns)) {
    if (hasUnitPerChunk()) {
      SmallVector<Value> &group = loaded[groupKey(chunk)];
      if (group.empty())
        group = load(column);
      append(group);
      continue;
    }
    for (int64_t i = 0; i < kChunk; ++i)
      append(load(add(builder, loc, column, i)));
  }
  return places;
}

/// The thread's chunks of the row of A that a kept unit names.
SmallVector<Value> SimtExpansion::loadRowOfA(OpBuilder &builder, SpMMOp op,
                                             Value window, Value unitOffset,
                                             Value rowInUnit) {
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value first = builder.createOrFold<arith::MulIOp>(
      loc, window, constant(pattern.windowRows()));
  Value k = builder.createOrFold<arith::AddIOp>(
      loc,
      builder.createOrFold<arith::AddIOp>(loc, place(builder, loc, first),
                                          place(builder, loc, rowInUnit)),
      unitOffset);
  auto type = VectorType::get(kChunk, builder.getF32Type());
  SmallVector<Value> chunks;
  for (Value row : rows)
    chunks.push_back(vector::LoadOp::create(
        builder, loc, type, op.getA(), ValueRange{k, row},
        /*nontemporal=*/false, llvm::MaybeAlign(16)));
  return chunks;
}

/// The columns of A that the thread's columns of one kept row are multiplied
/// by, [column][row].
SmallVector<SmallVector<Value>>
SimtExpansion::loadOperandsOfA(OpBuilder &builder, SpMMOp op,
                               const KeptRow &kept, ArrayRef<Value> places) {
  // Rows of A already read for this row of weights, by place.
  llvm::SmallDenseMap<Value, SmallVector<Value>> loaded;
  SmallVector<SmallVector<Value>> operands;
  for (int64_t column = 0; column < tile.threadN; ++column) {
    Value unitOffset = places[hasUnitPerChunk() ? column / kChunk : column];
    SmallVector<Value> &elements = loaded[unitOffset];
    if (elements.empty())
      for (Value chunk :
           loadRowOfA(builder, op, kept.window, unitOffset, kept.rowInUnit))
        for (int64_t i = 0; i < kChunk; ++i)
          elements.push_back(
              vector::ExtractOp::create(builder, op.getLoc(), chunk, i));
    operands.push_back(elements);
  }
  return operands;
}

RowOperands SimtExpansion::loadRow(OpBuilder &builder, SpMMOp op,
                                   WeightTile &weights, const KeptRow &kept,
                                   ArrayRef<Value> places) {
  RowOperands operands{loadOperandsOfA(builder, op, kept, places), {}};
  for (Value column : columns) {
    Value chunk = weights.loadValues(builder, kept.row, column);
    for (int64_t i = 0; i < kChunk; ++i)
      operands.b.push_back(
          vector::ExtractOp::create(builder, op.getLoc(), chunk, i));
  }
  return operands;
}

/// Adds the products of one kept row.
void SimtExpansion::addRow(OpBuilder &builder, Location loc,
                           const RowOperands &operands,
                           MutableArrayRef<Value> sums) {
  // To and fro along the shorter side: each product shares a factor with the
  // one before, so that the register file, which delivers two operands a clock,
  // has two to deliver.
  bool alongN = tile.threadN <= tile.threadM;
  int64_t outer = alongN ? tile.threadM : tile.threadN;
  int64_t inner = alongN ? tile.threadN : tile.threadM;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t step = 0; step < inner; ++step) {
      int64_t j = i % 2 == 0 ? step : inner - 1 - step;
      int64_t m = alongN ? i : j, n = alongN ? j : i;
      Value &sum = sums[m * tile.threadN + n];
      sum = LLVM::FMAOp::create(builder, loc, operands.a[n][m], operands.b[n],
                                sum);
    }
}

/// The operands of the row that is loaded and not multiplied yet, behind the
/// sums.
RowOperands SimtExpansion::unpackRow(ArrayRef<Value> carried) {
  ArrayRef<Value> row = carried.drop_front(countSums());
  SmallVector<Value> a(row.take_front(tile.threadM));
  RowOperands operands;
  operands.a.assign(tile.threadN, a);
  operands.b.assign(row.drop_front(tile.threadM).begin(), row.end());
  return operands;
}

void SimtExpansion::packRow(const RowOperands &operands,
                            SmallVectorImpl<Value> &sums) {
  llvm::append_range(sums, operands.a.front());
  llvm::append_range(sums, operands.b);
}

SmallVector<Value> SimtExpansion::addDeferred(OpBuilder &builder, Location loc,
                                              ArrayRef<Value> carried) {
  SmallVector<Value> sums(carried.take_front(countSums()));
  if (defers)
    addRow(builder, loc, unpackRow(carried), sums);
  return sums;
}

/// The window of the `i`-th of the units from `firstUnit` on that are unrolled
/// together; they are `count` rows.
Value SimtExpansion::getWindow(OpBuilder &builder, Location loc,
                               Value firstUnit, int64_t count, int64_t i) {
  auto window = [&](Value unit) {
    return builder.createOrFold<arith::DivUIOp>(
        loc, unit, arith::ConstantIndexOp::create(builder, loc, pattern.n));
  };
  // Together they are whole windows, or lie in one.
  int64_t keptRows = pattern.keptRows();
  if (count % keptRows == 0 || keptRows % count == 0)
    return add(builder, loc, window(firstUnit), i / pattern.n);
  return window(add(builder, loc, firstUnit, i));
}

/// `count` kept rows from `firstRow` on. A row's operands are loaded while the
/// row before it is multiplied.
SmallVector<Value> SimtExpansion::expandRows(OpBuilder &builder, SpMMOp op,
                                             Value firstRow, int64_t count,
                                             ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  WeightTile weights(op);
  auto bk = arith::ConstantIndexOp::create(builder, loc, pattern.bk);
  Value firstUnit = builder.createOrFold<arith::DivUIOp>(loc, firstRow, bk);
  Value firstInUnit = builder.createOrFold<arith::RemUIOp>(loc, firstRow, bk);
  SmallVector<SmallVector<Value>> places = loadPlaces(
      builder, weights, firstUnit, llvm::divideCeil(count, pattern.bk));
  auto load = [&](int64_t i) {
    KeptRow kept{getWindow(builder, loc, firstUnit, count, i / pattern.bk),
                 add(builder, loc, firstInUnit, i % pattern.bk),
                 add(builder, loc, firstRow, i)};
    return loadRow(builder, op, weights, kept, places[i / pattern.bk]);
  };
  // The last row of all before, or the first.
  RowOperands current = defers ? unpackRow(sums) : load(0);
  SmallVector<Value> result(sums.take_front(countSums()));
  auto fence = [&] {
    // ptxas would put the loads off until the products before them are made,
    // but moves none past a barrier; that of a warp costs nothing.
    syncWarp(builder, loc);
    copyAddresses.push_back(&*std::prev(builder.getInsertionPoint()));
  };
  for (int64_t i = defers ? 0 : 1; i < count; ++i) {
    RowOperands next = load(i);
    fence();
    addRow(builder, loc, current, result);
    current = std::move(next);
  }
  if (defers)
    packRow(current, result);
  else
    addRow(builder, loc, current, result);
  return result;
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

/// Whether A's tile has the order of words that lanes read it in without
/// conflicts.
static bool hasSwizzledWords(SpMMOp op) {
  auto layout = dyn_cast<TileLayoutAttr>(
      cast<MemRefType>(op.getA().getType()).getLayout());
  return layout &&
         layout == TileLayoutAttr::get(op.getContext(), layout.getStrides(),
                                       layout.getHasDynamicOffset(),
                                       getWordSwizzle());
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createSimtExpansion(SparseProductOpInterface product,
                              const GpuTile &tile) {
  FailureOr<SpMMOp> matrix = getMatrixProduct(product);
  if (failed(matrix))
    return failure();
  SpMMOp op = *matrix;
  if (!product.getAType().getElementType().isF32() ||
      !product.getCType().getElementType().isF32())
    return op.emitOpError() << "expected f32 operands for strategy simt, but "
                               "got "
                            << product.getAType().getElementType() << " and "
                            << product.getCType().getElementType();
  if (tile.threadM % kChunk != 0 || tile.threadN % kChunk != 0)
    return op.emitOpError() << "expected a thread tile of multiples of "
                            << kChunk << " for strategy simt, but got "
                            << tile.threadM << " x " << tile.threadN;
  // Rows of A stay what they are for lanes that gather; see #nm.simt.
  bool gathers = op.getPattern().getPattern().bn < tile.warpN;
  bool isStaged = op.getTransposeA() ||
                  (gathers && op.getPattern().getPattern().bk % kChunk == 0 &&
                   hasSwizzledWords(op));
  if (!isStaged || !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
                       cast<MemRefType>(op.getA().getType())))
    return op.emitOpError() << "expected operands in workgroup memory, with A "
                               "m-major, as nm-stage-shared-memory makes them";
  if (failed(WeightTile::verify(op)))
    return failure();
  if (int64_t units = WeightTile(op).unitRows(); units % tile.sliceK != 0)
    return op.emitOpError()
           << "expected slice_k to divide the " << units
           << " kept units of a tile along k, but got " << tile.sliceK;
  ::nm::Pattern pattern = op.getPattern().getPattern();
  bool sharesRows = pattern.bn % kChunk == 0 && pattern.bn % tile.warpN == 0;
  if (getFields(op.getScheduleAttr()).defer && !gathers && !sharesRows)
    return op.emitOpError() << "expected units of whole warp tiles, or "
                               "narrower ones, for defer = true, but got units "
                               "of "
                            << pattern.bn << " columns";
  // Lanes of a warp that is wider than a unit read rows of A of their own.
  if (gathers)
    return createSimtGatherExpansion(op, tile);
  return std::unique_ptr<TileExpansion>(
      std::make_unique<SimtExpansion>(op, tile));
}
