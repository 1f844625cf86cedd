//===- SimtGatherStrategy.cpp - Products of narrow units ------------------===//
//
// Strategy simt where a warp's columns have more than one unit, so that lanes
// gather rows of A of their own. Shared memory serves the 16-byte loads of
// eight lanes at a time: eight lanes that follow one another stand below each
// other on one column, so that they read 128 contiguous bytes of one row of A
// whatever row their index names, and one word of the weights.
//
//===----------------------------------------------------------------------===//

#include "SimtTile.h"
#include "WeightTile.h"

#include "nm/Support/SimtLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <deque>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Words of A that are read ahead of their use.
static constexpr int64_t kWordsAhead = 32;

namespace {
/// What a thread multiplies at once: its columns of one unit, in one kept row.
struct Step {
  int64_t row;
  /// Counts the thread's units.
  int64_t unit;
};

struct StepOperands {
  /// Of the thread's rows, and of the unit's columns.
  SmallVector<Value> a, b;
};

/// Loads operands of some kept rows, which lie in whole windows or in one.
class KeptRows {
public:
  KeptRows(OpBuilder &builder, SpMMOp op, ArrayRef<Value> rows,
           ArrayRef<Value> columns, Value firstRow);

  /// Columns of a chunk that share a unit, for every lane.
  static int64_t columnsPerUnit(const ::nm::Pattern &pattern) {
    return std::gcd(pattern.bn, kChunk);
  }
  /// Loads what the operands of `row` are found by.
  void findUnits(int64_t row);
  StepOperands load(const Step &step);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value lhs, int64_t rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, constant(rhs));
  }
  Value mul(Value lhs, int64_t rhs) {
    return builder.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
  }
  SmallVector<Value> elementsOf(Value chunk);
  ArrayRef<Value> weightsOf(const Step &step);

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
  WeightTile weights;
  ::nm::Pattern pattern;
  ArrayRef<Value> rows, columns;
  Value firstRow;
  /// Of the first row: its unit row, its place in the unit, and the row of A's
  /// tile that its window starts at.
  Value firstUnit, firstInUnit, firstOfWindow;
  /// The positions of the thread's units, by unit row.
  llvm::SmallDenseMap<int64_t, SmallVector<Value>> positions;
  /// The chunk of weights last read.
  std::pair<int64_t, int64_t> lastChunk = {-1, -1};
  SmallVector<Value> lastWeights;
};

class SimtGatherExpansion : public SimtTileExpansion {
public:
  SimtGatherExpansion(SpMMOp op, const GpuTile &tile)
      : SimtTileExpansion(op, tile),
        columnsPerUnit(KeptRows::columnsPerUnit(pattern)) {}

private:
  int64_t units() const { return tile.threadN / columnsPerUnit; }
  int64_t unrolledRows(int64_t rowCount) const override;
  SmallVector<Value> expandRows(OpBuilder &builder, SpMMOp op, Value firstRow,
                                int64_t count, ArrayRef<Value> sums) override;

  int64_t columnsPerUnit;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

KeptRows::KeptRows(OpBuilder &builder, SpMMOp op, ArrayRef<Value> rows,
                   ArrayRef<Value> columns, Value firstRow)
    : builder(builder), loc(op.getLoc()), op(op), weights(op),
      pattern(op.getPattern().getPattern()), rows(rows), columns(columns),
      firstRow(firstRow) {
  firstUnit =
      builder.createOrFold<arith::DivUIOp>(loc, firstRow, constant(pattern.bk));
  firstInUnit =
      builder.createOrFold<arith::RemUIOp>(loc, firstRow, constant(pattern.bk));
  Value window =
      builder.createOrFold<arith::DivUIOp>(loc, firstUnit, constant(pattern.n));
  firstOfWindow = mul(window, pattern.windowRows());
}

void KeptRows::findUnits(int64_t row) {
  int64_t unitRow = row / pattern.bk;
  SmallVector<Value> &found = positions[unitRow];
  if (!found.empty())
    return;
  Value unit = add(firstUnit, unitRow);
  int64_t unitsPerChunk = kChunk / columnsPerUnit(pattern);
  for (Value column : columns) {
    if (unitsPerChunk > 1 && weights.hasUnitsInChunk()) {
      llvm::append_range(found,
                         weights.loadPositionsOfChunk(builder, unit, column));
      continue;
    }
    for (int64_t i = 0; i < unitsPerChunk; ++i)
      llvm::append_range(found, weights.loadPositions(
                                    builder, unit, 1,
                                    add(column, i * columnsPerUnit(pattern))));
  }
  for (Value &position : found)
    position = mul(arith::IndexCastUIOp::create(
                       builder, loc, builder.getIndexType(), position),
                   pattern.bk);
}

SmallVector<Value> KeptRows::elementsOf(Value chunk) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kChunk; ++i)
    elements.push_back(vector::ExtractOp::create(builder, loc, chunk, i));
  return elements;
}

ArrayRef<Value> KeptRows::weightsOf(const Step &step) {
  int64_t width = columnsPerUnit(pattern);
  int64_t first = step.unit * width;
  std::pair<int64_t, int64_t> chunk = {step.row, first / kChunk};
  if (chunk != lastChunk)
    lastWeights = elementsOf(weights.loadValues(
        builder, add(firstRow, step.row), columns[chunk.second]));
  lastChunk = chunk;
  return ArrayRef(lastWeights).slice(first % kChunk, width);
}

StepOperands KeptRows::load(const Step &step) {
  findUnits(step.row);
  int64_t unitRow = step.row / pattern.bk;
  // Rows that follow the first are in its window or in whole ones after it.
  Value window = add(firstOfWindow, unitRow / pattern.n * pattern.windowRows());
  Value inUnit = add(firstInUnit, step.row % pattern.bk);
  Value k = builder.createOrFold<arith::AddIOp>(
      loc, builder.createOrFold<arith::AddIOp>(loc, window, inUnit),
      positions[unitRow][step.unit]);
  auto type = VectorType::get(kChunk, builder.getF32Type());
  StepOperands operands;
  for (Value row : rows)
    llvm::append_range(operands.a,
                       elementsOf(vector::LoadOp::create(
                           builder, loc, type, op.getA(), ValueRange{k, row},
                           /*nontemporal=*/false, llvm::MaybeAlign(16))));
  llvm::append_range(operands.b, weightsOf(step));
  return operands;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Rows unrolled at once, of `rowCount`: whole windows, whole units of one or
/// a part of a unit.
int64_t SimtGatherExpansion::unrolledRows(int64_t rowCount) const {
  int64_t sums = tile.threadM * tile.threadN;
  int64_t most = std::min(::nm::kMaxUnrolledFMAs / sums,
                          ::nm::kMaxUnrolledStepsPerSum * sums / units());
  auto isWhole = [&](int64_t count, int64_t part) {
    return count % part == 0 || part % count == 0;
  };
  int64_t count = std::clamp<int64_t>(most, 1, rowCount);
  while (rowCount % count != 0 || !isWhole(count, pattern.keptRows()) ||
         !isWhole(count, pattern.bk))
    --count;
  return count;
}

SmallVector<Value> SimtGatherExpansion::expandRows(OpBuilder &builder,
                                                   SpMMOp op, Value firstRow,
                                                   int64_t count,
                                                   ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  KeptRows kept(builder, op, rows, columns, firstRow);
  SmallVector<Value> result(sums);
  int64_t steps = count * units();
  int64_t ahead = std::max<int64_t>(1, kWordsAhead / tile.threadM);
  // What a step needs is read while those before it are multiplied, and its
  // positions a row earlier.
  std::deque<StepOperands> loaded;
  int64_t next = 0;
  for (int64_t i = 0; i < steps; ++i) {
    for (; next < std::min(i + ahead + 1, steps); ++next) {
      int64_t row = next / units();
      kept.findUnits(std::min(row + 1, count - 1));
      loaded.push_back(kept.load({row, next % units()}));
    }
    if (i == 0)
      copyPlaces.push_back(&*std::prev(builder.getInsertionPoint()));
    StepOperands operands = std::move(loaded.front());
    loaded.pop_front();
    int64_t column = i % units() * columnsPerUnit;
    // To and fro, so that each shares a factor with the one before, which the
    // register file need not deliver again.
    for (int64_t m = 0; m < tile.threadM; ++m)
      for (int64_t j = 0; j < columnsPerUnit; ++j) {
        int64_t n = m % 2 == 0 ? j : columnsPerUnit - 1 - j;
        Value &sum = result[m * tile.threadN + column + n];
        sum = LLVM::FMAOp::create(builder, loc, operands.a[m], operands.b[n],
                                  sum);
      }
  }
  return result;
}

std::unique_ptr<TileExpansion>
mlir::nm::createSimtGatherExpansion(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<SimtGatherExpansion>(op, tile);
}
