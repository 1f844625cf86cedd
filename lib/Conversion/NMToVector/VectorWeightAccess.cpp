//===- VectorWeightAccess.cpp - Reads packed and condensed weights --------===//

#include "VectorWeightAccess.h"
#include "PairsOfBF16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

WeightAccess::WeightAccess(VectorEmitter &emitter, const ProductTile &tile,
                           const VectorSchedule &schedule)
    : e(emitter), valuesMemref(tile.values), indicesMemref(tile.indices),
      bn(tile.pattern.bn), packed(tile.packing != nullptr) {
  PackingAttr packing = tile.packing;
  panel = packed ? packing.getPanel() : schedule.panel;
  indexBits = packed ? packing.getIndexBits() : 8;
  groupColumns = std::min(panel, bn);
  groups = panel / groupColumns;
  if (packed) {
    panels = e.dim(valuesMemref, 0);
    return;
  }
  columns = e.dim(valuesMemref, 1);
  blockColumns = e.dim(indicesMemref, 1);
  panels = e.ceilDiv(columns, panel);
}

/// The value as it is in memory.
Value WeightAccess::loadValue(Value panelIndex, Value row, Value column) {
  if (packed)
    return memref::LoadOp::create(e.b, valuesMemref,
                                  ValueRange{panelIndex, row, column});
  // Columns that the last panel lacks repeat the last one: none of them is
  // part of C.
  Value last = e.sub(columns, e.index(1));
  Value inMatrix = e.min(e.add(firstColumn(panelIndex), column), last);
  return memref::LoadOp::create(e.b, valuesMemref, ValueRange{row, inMatrix});
}

SmallVector<Value> WeightAccess::broadcasts(Value panelIndex, Value row,
                                            Value column, int64_t count) {
  SmallVector<Value> results;
  int64_t together = e.lanes / 4;
  // Columns that share loads of A have loads to spare.
  bool areTogether = packed && groupColumns == 1 && e.target.shufflesWeights &&
                     e.target.bits == 512;
  auto type = VectorType::get(
      {together}, cast<MemRefType>(valuesMemref.getType()).getElementType());
  for (int64_t i = 0; areTogether && i + together <= count; i += together) {
    Value few = vector::LoadOp::create(
        e.b, type, valuesMemref, ValueRange{panelIndex, row, e.add(column, i)});
    results.append(e.broadcastEach(e.extend(few)));
  }
  for (int64_t i = int64_t(results.size()); i < count; ++i)
    results.push_back(
        e.broadcast(e.extend(loadValue(panelIndex, row, e.add(column, i)))));
  return results;
}

SmallVector<Value> WeightAccess::pairs(Value panelIndex, Value first,
                                       Value second, Value column,
                                       int64_t count) {
  constexpr int64_t kTogether = 4;
  auto type = VectorType::get({kTogether}, e.b.getBF16Type());
  SmallVector<Value> results;
  for (int64_t i = 0; packed && i + kTogether <= count; i += kTogether) {
    auto load = [&](Value row) -> Value {
      return vector::LoadOp::create(
          e.b, type, valuesMemref,
          ValueRange{panelIndex, row, e.add(column, i)});
    };
    results.append(
        broadcastPairs(e, load(first), second ? load(second) : Value()));
  }
  for (int64_t i = int64_t(results.size()); i < count; ++i) {
    auto load = [&](Value row) {
      return loadValue(panelIndex, row, e.add(column, i));
    };
    results.push_back(
        broadcastPair(e, load(first), second ? load(second) : Value()));
  }
  return results;
}

Value WeightAccess::values(Value panelIndex, Value row, int64_t column,
                           int64_t used) {
  if (packed) {
    // A vector that reaches past the panel's columns would end behind the
    // array in its last row.
    Value width = e.index(std::min(panel - column, e.lanes));
    return e.maskedLoad(valuesMemref, {panelIndex, row, e.index(column)},
                        width);
  }
  Value first = e.add(firstColumn(panelIndex), column);
  return e.maskedLoad(valuesMemref, {row, first},
                      e.min(e.sub(columns, first), used));
}

/// Byte `value` as an index.
static Value byteToIndex(ImplicitLocOpBuilder &b, Value value) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
}

Value WeightAccess::unitIndex(Value panelIndex, Value unit, Value group) {
  if (!packed) {
    Value block = e.add(e.floorDiv(firstColumn(panelIndex), bn), group);
    Value last = e.sub(blockColumns, e.index(1));
    return byteToIndex(
        e.b, memref::LoadOp::create(e.b, indicesMemref,
                                    ValueRange{unit, e.min(block, last)}));
  }
  auto loadByte = [&](Value byte) {
    return byteToIndex(
        e.b, memref::LoadOp::create(e.b, indicesMemref,
                                    ValueRange{panelIndex, unit, byte}));
  };
  if (indexBits == 8)
    return loadByte(group);
  Value firstBit = e.mul(group, indexBits);
  Value byte = e.floorDiv(firstBit, 8);
  Value shift = e.sub(firstBit, e.mul(byte, 8));
  Value field = loadByte(byte);
  if (8 % indexBits != 0) {
    // The field may end in the next byte; in the last byte of the row it does
    // not.
    int64_t rowBytes = (groups * indexBits + 7) / 8;
    Value next = loadByte(e.min(e.add(byte, 1), rowBytes - 1));
    Value high = arith::ShLIOp::create(e.b, next, e.index(8));
    field = arith::OrIOp::create(e.b, field, high);
  }
  field = arith::ShRUIOp::create(e.b, field, shift);
  return arith::AndIOp::create(e.b, field,
                               e.index((int64_t(1) << indexBits) - 1));
}

Value WeightAccess::loadIndexBytes(Value panelIndex, Value unit,
                                   int64_t firstByte, int64_t count) {
  VectorType type = VectorType::get({count}, e.b.getI8Type());
  if (packed)
    return vector::LoadOp::create(
        e.b, type, indicesMemref,
        ValueRange{panelIndex, unit, e.index(firstByte)});
  Value first = e.add(e.floorDiv(firstColumn(panelIndex), bn), firstByte);
  Value mask = vector::CreateMaskOp::create(
      e.b, VectorType::get({count}, e.b.getI1Type()),
      ValueRange{e.sub(blockColumns, first)});
  Value zero =
      arith::ConstantOp::create(e.b, cast<TypedAttr>(e.b.getZeroAttr(type)));
  return vector::MaskedLoadOp::create(e.b, type, indicesMemref,
                                      ValueRange{unit, first}, mask, zero);
}

namespace {
/// Where the index of each lane lies in the bytes that a vector loads.
struct FieldLayout {
  FieldLayout(int64_t group, ArrayRef<int64_t> laneGroups, int64_t bits) {
    int64_t end = 0;
    firstByte = group * bits / 8;
    for (int64_t laneGroup : laneGroups) {
      int64_t bit = (group + laneGroup) * bits - firstByte * 8;
      firstBits.push_back(bit);
      end = std::max(end, bit + bits);
    }
    bytes = (end + 7) / 8;
  }

  /// Whether each field lies within one aligned 32-bit word.
  bool wordsSuffice(int64_t bits) const {
    return bytes % 4 == 0 && 32 % bits == 0;
  }

  int64_t firstByte = 0;
  int64_t bytes = 0;
  SmallVector<int64_t> firstBits;
};
} // namespace

/// The 32-bit word in which each lane's index begins; a lane's index is then
/// `shifts` bits up.
static Value spreadWords(ImplicitLocOpBuilder &b, Value bytes,
                         const FieldLayout &layout,
                         SmallVectorImpl<int32_t> &shifts) {
  auto words = VectorType::get({layout.bytes / 4}, b.getI32Type());
  Value asWords = vector::BitCastOp::create(b, words, bytes);
  SmallVector<int64_t> wordOfLane;
  for (int64_t bit : layout.firstBits) {
    wordOfLane.push_back(bit / 32);
    shifts.push_back(bit % 32);
  }
  return vector::ShuffleOp::create(b, asWords, asWords, wordOfLane);
}

/// The 32-bit word of each lane from the two bytes that its index may touch;
/// the index is then `shifts` bits up.
static Value spreadBytes(ImplicitLocOpBuilder &b, Value bytes,
                         const FieldLayout &layout,
                         SmallVectorImpl<int32_t> &shifts) {
  SmallVector<int64_t> byteOfLane;
  for (int64_t bit : layout.firstBits) {
    int64_t low = bit / 8;
    int64_t high = std::min(low + 1, layout.bytes - 1);
    byteOfLane.append({low, high, high, high});
    shifts.push_back(bit % 8);
  }
  Value spread = vector::ShuffleOp::create(b, bytes, bytes, byteOfLane);
  auto words =
      VectorType::get({int64_t(layout.firstBits.size())}, b.getI32Type());
  return vector::BitCastOp::create(b, words, spread);
}

Value WeightAccess::unitIndices(Value panelIndex, Value unit, int64_t group,
                                ArrayRef<int64_t> laneGroups) {
  FieldLayout layout(group, laneGroups, indexBits);
  Value bytes =
      loadIndexBytes(panelIndex, unit, layout.firstByte, layout.bytes);
  SmallVector<int32_t> shifts;
  Value words = layout.wordsSuffice(indexBits)
                    ? spreadWords(e.b, bytes, layout, shifts)
                    : spreadBytes(e.b, bytes, layout, shifts);
  if (llvm::all_of(shifts, [](int32_t shift) { return shift == 0; }))
    return words;
  Value shiftVector =
      arith::ConstantOp::create(e.b, e.b.getI32VectorAttr(shifts));
  return arith::ShRUIOp::create(e.b, words, shiftVector);
}
