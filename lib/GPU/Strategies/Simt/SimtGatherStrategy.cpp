//===- SimtGatherStrategy.cpp - Products of narrow units ------------------===//
//
// Strategy simt where a warp's columns have more than one unit, so that lanes
// gather rows of A of their own. Shared memory serves the 16-byte loads of
// eight lanes at a time: eight lanes that follow one another stand below each
// other on one column, so that they read 128 contiguous bytes of one row of A
// whatever row their index names, and one word of the weights.
//
// Where units span whole 16-byte words of rows of A, those rows stay as they
// are, and such a word is four kept rows of a column: eight lanes read theirs
// in eight rows, which the order of words keeps in banks of their own.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/WeightTile.h"
#include "GPU/Strategies/Simt/SimtTile.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Strategies/Simt/SimtLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <deque>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Words of A that a thread reads before it multiplies with them, and words
/// that it holds across the barrier, for the products that `defer` leaves for
/// the next tile. Where A's tile is row-major a word is four rows of k, which
/// need the weights of four rows in registers, too: there are fewer.
static constexpr int64_t kWordsAhead = 32, kWordsOfRowsAhead = 16;
static constexpr int64_t kWordsToDefer = 16, kWordsOfRowsToDefer = 8;
/// Rows of the thread whose words of rows of A it multiplies at once.
static constexpr int64_t kHeightOfRows = 2;
/// Threads of a block beyond which registers lack.
static constexpr int64_t kMaxThreadsToSpread = 256;

namespace {
/// What a thread multiplies at once: some of its rows and its columns of one
/// unit, in kept rows that are neighbours in A.
struct Step {
  int64_t row, rowCount;
  /// Counts the thread's units.
  int64_t unit;
  /// The first of the thread's rows that the step takes, and their number.
  int64_t firstM, countM;
};

struct StepOperands {
  /// The elements of A in the thread's rows, and the weights of the unit's
  /// columns, for each kept row.
  SmallVector<SmallVector<Value>> a, b;
};

/// Loads operands of some kept rows, which lie in whole windows or in one.
class KeptRows {
public:
  /// Units of a thread have `columnsPerUnit` columns.
  KeptRows(OpBuilder &builder, SpMMOp op, ArrayRef<Value> rows,
           ArrayRef<Value> columns, int64_t columnsPerUnit, Value firstRow);

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
  Value loadOfA(Value row, Value column);
  SmallVector<SmallVector<Value>> loadA(const Step &step, Value k);
  SmallVector<Value> weightsOf(int64_t row, int64_t unit);

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
  WeightTile weights;
  ::nm::Pattern pattern;
  ArrayRef<Value> rows, columns;
  int64_t columnsPerUnit;
  Value firstRow;
  /// Where A's tile has its words.
  ::nm::TileLayout layoutOfA;
  /// The unit row of the first row, its place in the unit, and the row of A's
  /// tile that its window starts at.
  Value firstUnit, firstInUnit, firstOfWindow;
  /// The positions of the thread's units, by unit row.
  llvm::SmallDenseMap<int64_t, SmallVector<Value>> positions;
  /// The chunks of weights that were read, by row and column.
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, SmallVector<Value>> chunks;
};

class SimtGatherExpansion : public SimtTileExpansion {
public:
  SimtGatherExpansion(SpMMOp op, const GpuTile &tile)
      : SimtTileExpansion(op, tile),
        columnsPerUnit(std::gcd(pattern.bn, tile.threadN)),
        rowsPerStep(op.getTransposeA() ? 1 : kChunk),
        heightOfStep(op.getTransposeA() ? tile.threadM : kHeightOfRows),
        defers(getFields(op.getScheduleAttr()).defer) {}

private:
  /// Where those share a unit, rows of A are read once for all of them.
  bool hasAdjacentColumns() const override { return columnsPerUnit > kChunk; }
  int64_t units() const { return tile.threadN / columnsPerUnit; }
  /// Words of A that a step takes.
  int64_t wordsPerStep() const { return rowsPerStep * heightOfStep; }
  int64_t stepsAhead() const {
    int64_t words = rowsPerStep == 1 ? kWordsAhead : kWordsOfRowsAhead;
    return std::max<int64_t>(1, words / wordsPerStep());
  }
  static bool hasFewRows(SpMMOp op) {
    return WeightTile(op).rows() <= ::nm::kMaxGatheredRowsToDefer;
  }
  /// Whether copies are spread over the rows of a tile: there must be some, and
  /// with many rows and warps they cost little where they are. That orders the
  /// instructions of one thread by the schedule's sizes. Which copies there
  /// are, the schedule says.
  bool spreads(SpMMOp op) const {
    return !hasFewRows(op) && (tile.threads <= kMaxThreadsToSpread ||
                               WeightTile(op).rows() <= ::nm::kMaxRowsToDefer);
  }
  int64_t operandCount() const {
    return wordsPerStep() + rowsPerStep * columnsPerUnit;
  }
  int64_t stepsPerRows() const { return units() * tile.threadM / heightOfStep; }
  /// Returns step `number` in the order of kept rows, units and the thread's
  /// rows.
  Step getStep(int64_t number) const;
  int64_t deferredSteps() const {
    int64_t words = rowsPerStep == 1 ? kWordsToDefer : kWordsOfRowsToDefer;
    return defers ? std::max<int64_t>(1, words / wordsPerStep()) : 0;
  }
  int64_t countDeferred() const override {
    return deferredSteps() * operandCount();
  }
  SmallVector<Value> addDeferred(OpBuilder &builder, Location loc,
                                 ArrayRef<Value> carried) override;
  std::deque<StepOperands> unpackSteps(ArrayRef<Value> carried) const;
  void addStep(OpBuilder &builder, Location loc, const StepOperands &operands,
               const Step &step, MutableArrayRef<Value> sums) const;
  int64_t unrolledRows(int64_t rowCount) const override;
  SmallVector<Value> expandRows(OpBuilder &builder, SpMMOp op, Value firstRow,
                                int64_t count, ArrayRef<Value> sums) override;

  int64_t columnsPerUnit;
  /// The kept rows of a step, and the rows of the thread.
  int64_t rowsPerStep, heightOfStep;
  /// Whether the last steps of a tile are multiplied with the next, when loads
  /// of its first have yet to arrive.
  bool defers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

KeptRows::KeptRows(OpBuilder &builder, SpMMOp op, ArrayRef<Value> rows,
                   ArrayRef<Value> columns, int64_t columnsPerUnit,
                   Value firstRow)
    : builder(builder), loc(op.getLoc()), op(op), weights(op),
      pattern(cast<SparseProductOpInterface>(*op).getPatternInA()), rows(rows),
      columns(columns), columnsPerUnit(columnsPerUnit), firstRow(firstRow),
      layoutOfA(getTileLayout(cast<MemRefType>(op.getA().getType()))) {
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
  int64_t threadN = kChunk * int64_t(columns.size());
  for (int64_t i = 0; i < threadN; i += std::max(kChunk, columnsPerUnit)) {
    Value column = columns[i / kChunk];
    if (weights.hasUnitsInChunk()) {
      llvm::append_range(found,
                         weights.loadPositionsOfChunk(builder, unit, column));
      continue;
    }
    for (int64_t j = 0; j < kChunk; j += columnsPerUnit)
      llvm::append_range(
          found, weights.loadPositions(builder, unit, 1, add(column, j)));
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

SmallVector<Value> KeptRows::weightsOf(int64_t row, int64_t unit) {
  SmallVector<Value> unitWeights;
  int64_t first = unit * columnsPerUnit;
  for (int64_t i = first; i < first + columnsPerUnit; ++i) {
    SmallVector<Value> &chunk = chunks[{row, i / kChunk}];
    if (chunk.empty())
      chunk = elementsOf(
          weights.loadValues(builder, add(firstRow, row), columns[i / kChunk]));
    unitWeights.push_back(chunk[i % kChunk]);
  }
  return unitWeights;
}

Value KeptRows::loadOfA(Value row, Value column) {
  auto type = VectorType::get(kChunk, builder.getF32Type());
  return vector::LoadOp::create(builder, loc, type, op.getA(),
                                ValueRange{row, column},
                                /*nontemporal=*/false, llvm::MaybeAlign(16));
}

/// The step's elements of A from column `k` on, [column][row].
SmallVector<SmallVector<Value>> KeptRows::loadA(const Step &step, Value k) {
  SmallVector<SmallVector<Value>> a(step.rowCount);
  if (op.getTransposeA()) {
    for (Value row : rows)
      llvm::append_range(a[0], elementsOf(loadOfA(k, row)));
    return a;
  }
  for (int64_t m = step.firstM; m < step.firstM + step.countM; ++m) {
    Value row = rows[m / kChunk];
    Value column = placeElement(builder, loc, layoutOfA, {row, k})[1];
    for (auto [j, element] :
         llvm::enumerate(elementsOf(loadOfA(add(row, m % kChunk), column))))
      a[j].push_back(element);
  }
  return a;
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
  StepOperands operands;
  operands.a = loadA(step, k);
  for (int64_t i = 0; i < step.rowCount; ++i)
    operands.b.push_back(weightsOf(step.row + i, step.unit));
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
  int64_t count = std::clamp(most, rowsPerStep, rowCount);
  while (rowCount % count != 0 || !isWhole(count, pattern.keptRows()) ||
         !isWhole(count, pattern.bk) || count % rowsPerStep != 0)
    --count;
  return count;
}

Step SimtGatherExpansion::getStep(int64_t number) const {
  int64_t perUnit = tile.threadM / heightOfStep;
  int64_t inRows = number % stepsPerRows();
  return {number / stepsPerRows() * rowsPerStep, rowsPerStep, inRows / perUnit,
          inRows % perUnit * heightOfStep, heightOfStep};
}

std::deque<StepOperands>
SimtGatherExpansion::unpackSteps(ArrayRef<Value> carried) const {
  std::deque<StepOperands> steps;
  ArrayRef<Value> rest = carried.drop_front(countSums());
  auto take = [&](int64_t count) {
    SmallVector<Value> taken(rest.take_front(count));
    rest = rest.drop_front(count);
    return taken;
  };
  while (!rest.empty()) {
    StepOperands &step = steps.emplace_back();
    for (int64_t i = 0; i < rowsPerStep; ++i) {
      step.a.push_back(take(heightOfStep));
      step.b.push_back(take(columnsPerUnit));
    }
  }
  return steps;
}

SmallVector<Value> SimtGatherExpansion::addDeferred(OpBuilder &builder,
                                                    Location loc,
                                                    ArrayRef<Value> carried) {
  SmallVector<Value> sums(carried.take_front(countSums()));
  // The last of all rows.
  int64_t number = deferredSteps() * (stepsPerRows() - 1);
  for (const StepOperands &operands : unpackSteps(carried))
    addStep(builder, loc, operands, getStep(number++), sums);
  return sums;
}

void SimtGatherExpansion::addStep(OpBuilder &builder, Location loc,
                                  const StepOperands &operands,
                                  const Step &step,
                                  MutableArrayRef<Value> sums) const {
  int64_t column = step.unit * columnsPerUnit;
  // To and fro, so that each shares a factor with the one before, which the
  // register file need not deliver again.
  for (auto [a, b] : llvm::zip(operands.a, operands.b))
    for (size_t i = 0; i < a.size(); ++i)
      for (int64_t j = 0; j < columnsPerUnit; ++j) {
        int64_t n = i % 2 == 0 ? j : columnsPerUnit - 1 - j;
        int64_t m = step.firstM + int64_t(i);
        Value &sum = sums[m * tile.threadN + column + n];
        sum = LLVM::FMAOp::create(builder, loc, a[i], b[n], sum);
      }
}

SmallVector<Value> SimtGatherExpansion::expandRows(OpBuilder &builder,
                                                   SpMMOp op, Value firstRow,
                                                   int64_t count,
                                                   ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  KeptRows kept(builder, op, rows, columns, columnsPerUnit, firstRow);
  SmallVector<Value> result(sums.take_front(countSums()));
  std::deque<StepOperands> loaded = unpackSteps(sums);
  int64_t steps = count / rowsPerStep * stepsPerRows();
  int64_t deferred = loaded.size();
  // What a step needs is read while those before it are multiplied, and its
  // positions some rows earlier.
  int64_t next = 0;
  for (int64_t i = -deferred; i < steps - deferred; ++i) {
    for (; next < std::min(i + stepsAhead() + 1, steps); ++next) {
      Step step = getStep(next);
      kept.findUnits(std::min(step.row + rowsPerStep, count - 1));
      loaded.push_back(kept.load(step));
    }
    // A few copies follow the first loads; others, and stores, are spread.
    bool isPlace = spreads(op) && (i + deferred) % stepsPerRows() == 0;
    if (i == -deferred || isPlace)
      copyAddresses.push_back(&*std::prev(builder.getInsertionPoint()));
    // The next rows' steps have the same units and rows of the thread as the
    // first rows'.
    Step step = getStep((i + deferred * stepsPerRows()) % stepsPerRows());
    addStep(builder, loc, loaded.front(), step, result);
    loaded.pop_front();
  }
  for (const StepOperands &operands : loaded)
    for (auto [a, b] : llvm::zip(operands.a, operands.b)) {
      llvm::append_range(result, a);
      llvm::append_range(result, b);
    }
  return result;
}

std::unique_ptr<TileExpansion>
mlir::nm::createSimtGatherExpansion(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<SimtGatherExpansion>(op, tile);
}
