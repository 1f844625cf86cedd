//===- WindowTables.cpp - A's windows as tables to look up ----------------===//

#include "WindowTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

/// Beyond so many registers a gather from memory is no slower than permutes of
/// them all.
static constexpr int64_t kMaxTableRegisters = 8;

WindowTables::WindowTables(VectorEmitter &emitter, const ProductTile &tile,
                           int64_t rows)
    : e(emitter), tile(tile), rows(rows),
      entries(llvm::PowerOf2Ceil(tile.pattern.m)) {}

void WindowTables::allocate() {
  const ::nm::Pattern &pattern = tile.pattern;
  int64_t size = pattern.windows(tile.k) * pattern.bk * entries;
  // Windows are copied by whole vectors, the last of which may end past them.
  tables = e.allocate({e.index(rows), e.index(size + e.lanes)});
}

void WindowTables::deallocate() { e.deallocate(tables); }

Value WindowTables::firstEntry(Value window, Value rowOfUnit) {
  return e.mul(e.add(e.mul(window, tile.pattern.bk), rowOfUnit), entries);
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

bool WindowTables::rowsAreContiguous() const {
  auto type = cast<MemRefType>(tile.a.getType());
  return !tile.transposeA && type.isLastDimUnitStride();
}

void WindowTables::fill(Value firstRow) {
  Value lastRow = e.sub(tile.m, e.index(1));
  for (int64_t row = 0; row < rows; ++row) {
    Value rowOfA = e.min(e.add(firstRow, row), lastRow);
    if (rowsAreContiguous() && tile.pattern.bk == 1)
      copyWindows(row, rowOfA);
    else
      copyEntries(row, rowOfA);
  }
}

void WindowTables::copyWindows(int64_t row, Value rowOfA) {
  int64_t windowRows = tile.pattern.m;
  int64_t windows = tile.pattern.windows(tile.k);
  int64_t step = entries;
  // Tables without unused entries are A itself.
  if (entries == windowRows) {
    windowRows *= windows;
    step = windowRows;
    windows = 1;
  }
  e.loop(e.index(0), e.index(windows), 1, [&](Value window) {
    e.loop(e.index(0), e.index(windowRows), e.lanes, [&](Value offset) {
      Value k = e.add(e.mul(window, windowRows), offset);
      Value width =
          e.min(e.sub(e.index(windowRows), offset), e.sub(e.index(tile.k), k));
      Value entriesOfA =
          e.maskedLoad(tile.a, tile.indicesOfA(rowOfA, k), width);
      // What is written past the window is overwritten by the next one.
      e.store(entriesOfA, tables,
              {e.index(row), e.add(e.mul(window, step), offset)});
    });
  });
}

void WindowTables::copyEntries(int64_t row, Value rowOfA) {
  const ::nm::Pattern &pattern = tile.pattern;
  Value zero = arith::ConstantOp::create(
      e.b, cast<TypedAttr>(e.b.getZeroAttr(e.accumulator)));
  Value lastK = e.index(tile.k - 1);
  e.loop(e.index(0), e.index(pattern.windows(tile.k)), 1, [&](Value window) {
    e.loop(e.index(0), e.index(pattern.bk), 1, [&](Value rowOfUnit) {
      Value first = firstEntry(window, rowOfUnit);
      e.loop(e.index(0), e.index(pattern.m), 1, [&](Value unit) {
        Value unitOfA = e.add(e.mul(window, pattern.m), unit);
        Value k = e.add(e.mul(unitOfA, pattern.bk), rowOfUnit);
        Value inK = e.less(k, e.index(tile.k));
        Value entry =
            e.loadScalar(tile.a, tile.indicesOfA(rowOfA, e.min(k, lastK)));
        memref::StoreOp::create(e.b, e.select(inK, entry, zero), tables,
                                ValueRange{e.index(row), e.add(first, unit)});
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Looking up
//===----------------------------------------------------------------------===//

Value WindowTables::broadcastEntry(int64_t row, Value window, Value rowOfUnit,
                                   Value position) {
  Value entry = e.add(firstEntry(window, rowOfUnit), position);
  return e.broadcast(e.loadScalar(tables, {e.index(row), entry}));
}

Value WindowTables::lookUp(int64_t row, Value window, Value rowOfUnit,
                           Value indices) {
  Value first = firstEntry(window, rowOfUnit);
  bool hasPermute = e.target.x86Permutes && e.lanes >= 8;
  if (hasPermute && entries <= kMaxTableRegisters * e.lanes)
    return lookUpInRegisters(row, first, indices);
  return gather(row, first, indices);
}

Value WindowTables::lookUpInRegisters(int64_t row, Value firstEntry,
                                      Value indices) {
  if (entries <= e.lanes)
    return permute(loadPeriodic(row, firstEntry), indices);

  SmallVector<Value> candidates;
  for (int64_t entry = 0; entry < entries; entry += e.lanes)
    candidates.push_back(
        e.load(tables, {e.index(row), e.add(firstEntry, entry)}));
  // One permute takes entries of one register, or with AVX-512 of two; bits of
  // the index above those choose among what the permutes found.
  int64_t bit = e.lanes;
  SmallVector<Value> found;
  if (e.lanes == 16) {
    bit = 2 * e.lanes;
    for (size_t i = 0; i < candidates.size(); i += 2)
      found.push_back(permutePair(candidates[i], candidates[i + 1], indices));
  } else {
    for (Value candidate : candidates)
      found.push_back(permute(candidate, indices));
  }
  for (; found.size() > 1; bit *= 2) {
    auto broadcastBit = [&](int32_t value) {
      SmallVector<int32_t> lanes(e.lanes, value);
      return arith::ConstantOp::create(e.b, e.b.getI32VectorAttr(lanes));
    };
    Value masked = arith::AndIOp::create(e.b, indices, broadcastBit(bit));
    Value high = arith::CmpIOp::create(e.b, arith::CmpIPredicate::ne, masked,
                                       broadcastBit(0));
    SmallVector<Value> chosen;
    for (size_t i = 0; i < found.size(); i += 2)
      chosen.push_back(
          arith::SelectOp::create(e.b, high, found[i + 1], found[i]));
    found = std::move(chosen);
  }
  return found.front();
}

Value WindowTables::gather(int64_t row, Value firstEntry, Value indices) {
  SmallVector<int32_t> lowBits(e.lanes, int32_t(entries - 1));
  Value mask = arith::ConstantOp::create(e.b, e.b.getI32VectorAttr(lowBits));
  Value offsets = arith::AndIOp::create(e.b, indices, mask);
  Value allLanes = arith::ConstantOp::create(
      e.b, DenseElementsAttr::get(VectorType::get({e.lanes}, e.b.getI1Type()),
                                  true));
  return vector::GatherOp::create(e.b, e.vectorType, tables,
                                  ValueRange{e.index(row), firstEntry}, offsets,
                                  allLanes, e.zeroVector());
}

Value WindowTables::loadPeriodic(int64_t row, Value firstEntry) {
  auto type = VectorType::get({entries}, e.accumulator);
  Value table = vector::LoadOp::create(e.b, type, tables,
                                       ValueRange{e.index(row), firstEntry});
  if (entries == e.lanes)
    return table;
  SmallVector<int64_t> repeated;
  for (int64_t lane = 0; lane < e.lanes; ++lane)
    repeated.push_back(lane % entries);
  return vector::ShuffleOp::create(e.b, table, table, repeated);
}

static Value callIntrinsic(VectorEmitter &e, StringRef name,
                           ValueRange arguments) {
  auto call = LLVM::CallIntrinsicOp::create(e.b, e.vectorType,
                                            e.b.getStringAttr(name), arguments);
  return call->getResult(0);
}

Value WindowTables::permute(Value table, Value indices) {
  bool isFloat = isa<FloatType>(e.accumulator);
  if (e.lanes == 16)
    return callIntrinsic(e,
                         isFloat ? "llvm.x86.avx512.permvar.sf.512"
                                 : "llvm.x86.avx512.permvar.si.512",
                         {table, indices});
  return callIntrinsic(e,
                       isFloat ? "llvm.x86.avx2.permps" : "llvm.x86.avx2.permd",
                       {table, indices});
}

Value WindowTables::permutePair(Value low, Value high, Value indices) {
  return callIntrinsic(e,
                       isa<FloatType>(e.accumulator)
                           ? "llvm.x86.avx512.vpermi2var.ps.512"
                           : "llvm.x86.avx512.vpermi2var.d.512",
                       {low, indices, high});
}
