//===- VectorsAlongN.cpp - Products with vectors along n ------------------===//
//
// For the few rows of A of a small m: the weights are streamed once, and are
// what such a product waits for. A's windows are tables that the indices look
// up (see WindowTables.h), or, where a vector's columns share an index, one
// element that is broadcast. Several panels are streamed beside each other,
// since one stream of loads does not saturate memory.
//
//===----------------------------------------------------------------------===//

#include "ProductTile.h"
#include "VectorWeightAccess.h"
#include "WindowTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Iterations that are worth having in one body beside each other.
constexpr int64_t kUnroll = 4;

/// Columns of a panel that one vector holds.
struct Slot {
  int64_t column;
  /// Lanes in use: whole groups, or a part of one.
  int64_t used;
  int64_t group;
  /// The group of each lane, from `group` on; empty where all are one.
  SmallVector<int64_t> laneGroups;
};

class AlongN {
public:
  AlongN(VectorEmitter &emitter, const ProductTile &tile,
         const VectorSchedule &schedule)
      : e(emitter), tile(tile), weights(emitter, tile, schedule),
        rows(registerRows(tile, schedule)), tables(emitter, tile, rows),
        windows(tile.pattern.windows(tile.k)) {
    for (int64_t group = 0; group < weights.groups;)
      group = addSlots(group);
    int64_t vectors = std::max<int64_t>(1, schedule.columns / emitter.lanes);
    streams = std::max<int64_t>(1, vectors / int64_t(slots.size()));
    slotsAtOnce = std::min<int64_t>(slots.size(), vectors);
  }

  void expand();

private:
  static int64_t registerRows(const ProductTile &tile,
                              const VectorSchedule &schedule) {
    int64_t rows = std::max<int64_t>(1, schedule.rows);
    return ShapedType::isDynamic(tile.staticM)
               ? rows
               : std::clamp<int64_t>(tile.staticM, 1, rows);
  }
  /// Adds the slots of `group` and of those that share its vector; returns the
  /// next group.
  int64_t addSlots(int64_t group);
  void sumPanels(Value firstRow, Value firstPanel, int64_t count);
  void sumSlots(Value firstRow, Value firstPanel, int64_t count,
                ArrayRef<Slot> chosen);
  SmallVector<Value> addUnit(Value firstPanel, ArrayRef<Slot> chosen,
                             Value window, Value unitOfWindow,
                             ArrayRef<Value> sums);
  Value lookUpIndex(Value panel, Value unit, const Slot &slot);
  void writeC(Value firstRow, Value panel, const Slot &slot,
              ArrayRef<Value> sums);
  void writeTransposedC(Value sums, Value row, Value column, Value width);

  VectorEmitter &e;
  const ProductTile &tile;
  WeightAccess weights;
  int64_t rows;
  WindowTables tables;
  int64_t windows;
  SmallVector<Slot> slots;
  /// Panels that are streamed beside each other.
  int64_t streams;
  int64_t slotsAtOnce;
};
} // namespace

int64_t AlongN::addSlots(int64_t group) {
  int64_t columns = weights.groupColumns;
  int64_t first = group * columns;
  int64_t together =
      std::min(std::max<int64_t>(1, e.lanes / columns), weights.groups - group);
  if (together == 1) {
    for (int64_t offset = 0; offset < columns; offset += e.lanes)
      slots.push_back(
          {first + offset, std::min(e.lanes, columns - offset), group, {}});
    return group + 1;
  }
  SmallVector<int64_t> laneGroups;
  for (int64_t lane = 0; lane < e.lanes; ++lane)
    laneGroups.push_back(std::min(lane / columns, together - 1));
  slots.push_back({first, together * columns, group, laneGroups});
  return group + together;
}

void AlongN::expand() {
  tables.allocate();
  e.loop(e.index(0), tile.m, rows, [&](Value firstRow) {
    tables.fill(firstRow);
    Value whole = e.roundDown(weights.panels, streams);
    e.loop(e.index(0), whole, streams,
           [&](Value panel) { sumPanels(firstRow, panel, streams); });
    if (streams > 1)
      e.loop(whole, weights.panels, 1,
             [&](Value panel) { sumPanels(firstRow, panel, 1); });
  });
  tables.deallocate();
}

void AlongN::sumPanels(Value firstRow, Value firstPanel, int64_t count) {
  ArrayRef<Slot> all = slots;
  for (int64_t first = 0; first < int64_t(all.size()); first += slotsAtOnce)
    sumSlots(firstRow, firstPanel, count,
             all.drop_front(first).take_front(slotsAtOnce));
}

void AlongN::sumSlots(Value firstRow, Value firstPanel, int64_t count,
                      ArrayRef<Slot> chosen) {
  // The sums of a slot's rows lie beside each other, as do a panel's slots.
  SmallVector<Value> sums(count * chosen.size() * rows, e.zeroVector());
  const ::nm::Pattern &pattern = tile.pattern;
  sums =
      e.sumItems(e.index(0), windows, pattern.keptRows(), /*factor=*/1, sums,
                 [&](Value window, ArrayRef<Value> windowSums) {
                   return e.sumItems(e.index(0), pattern.n, pattern.bk, kUnroll,
                                     windowSums,
                                     [&](Value unit, ArrayRef<Value> unitSums) {
                                       return addUnit(firstPanel, chosen,
                                                      window, unit, unitSums);
                                     });
                 });
  ArrayRef<Value> rest = sums;
  for (int64_t panel = 0; panel < count; ++panel)
    for (const Slot &slot : chosen) {
      writeC(firstRow, e.add(firstPanel, panel), slot, rest.take_front(rows));
      rest = rest.drop_front(rows);
    }
}

Value AlongN::lookUpIndex(Value panel, Value unit, const Slot &slot) {
  if (slot.laneGroups.empty())
    return weights.unitIndex(panel, unit, e.index(slot.group));
  return weights.unitIndices(panel, unit, slot.group, slot.laneGroups);
}

SmallVector<Value> AlongN::addUnit(Value firstPanel, ArrayRef<Slot> chosen,
                                   Value window, Value unitOfWindow,
                                   ArrayRef<Value> sums) {
  const ::nm::Pattern &pattern = tile.pattern;
  Value unit = e.add(e.mul(window, pattern.n), unitOfWindow);
  int64_t streamsHere = sums.size() / (chosen.size() * rows);
  SmallVector<Value> indices;
  for (int64_t stream = 0; stream < streamsHere; ++stream)
    for (const Slot &slot : chosen)
      indices.push_back(lookUpIndex(e.add(firstPanel, stream), unit, slot));

  return e.sumItems(
      e.index(0), pattern.bk, /*rowsPerItem=*/1, kUnroll, sums,
      [&](Value rowOfUnit, ArrayRef<Value> rowSums) {
        Value weightRow = e.add(e.mul(unit, pattern.bk), rowOfUnit);
        SmallVector<Value> results;
        for (auto [place, index] : llvm::enumerate(indices)) {
          const Slot &slot = chosen[place % chosen.size()];
          Value panel = e.add(firstPanel, place / chosen.size());
          Value values =
              weights.values(panel, weightRow, slot.column, slot.used);
          for (int64_t row = 0; row < rows; ++row) {
            Value a = slot.laneGroups.empty()
                          ? tables.broadcastEntry(row, window, rowOfUnit, index)
                          : tables.lookUp(row, window, rowOfUnit, index);
            results.push_back(
                e.multiplyAdd(a, values, rowSums[results.size()]));
          }
        }
        return results;
      });
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

void AlongN::writeC(Value firstRow, Value panel, const Slot &slot,
                    ArrayRef<Value> sums) {
  Value column = e.add(e.mul(panel, weights.panel), slot.column);
  Value width = e.min(e.sub(tile.n, column), slot.used);
  bool transposed = tile.transposeC;
  for (auto [offset, sum] : llvm::enumerate(sums)) {
    Value row = e.add(firstRow, offset);
    Value used = e.select(e.less(row, tile.m), width, e.index(0));
    if (transposed)
      writeTransposedC(sum, row, column, used);
    else
      tile.write(e, sum, row, column, /*alongM=*/false, used);
  }
}

void AlongN::writeTransposedC(Value sums, Value row, Value column,
                              Value width) {
  e.loop(e.index(0), width, 1, [&](Value lane) {
    Value sum = vector::ExtractOp::create(e.b, sums, OpFoldResult(lane));
    tile.writeScalar(e, sum, row, e.add(column, lane));
  });
}

void mlir::nm::expandAlongN(VectorEmitter &emitter, const ProductTile &tile,
                            const VectorSchedule &schedule) {
  AlongN(emitter, tile, schedule).expand();
}
