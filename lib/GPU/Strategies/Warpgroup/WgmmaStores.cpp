//===- WgmmaStores.cpp - Sums of wgmma from registers to C ----------------===//
//
// Of 64 columns, lane 4r + q of warp w has sums at columns 16w + 2r and the one
// after it, and of each eight rows of A at rows 2q and 2q + 1. In row-major C
// eight lanes store 16 neighbours of a row. In transposed C four lanes have
// eight neighbours. Where an epilogue combines neighbours, eight lanes store
// eight of a row.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/WgmmaStores.h"

#include "nm/Format/MmaFragments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows of A that an instruction has sums of side by side, and lanes with them.
static constexpr int64_t kStep = 8, kQuad = 4;
/// Lines whose loads, for an epilogue, do not wait for stores of others.
static constexpr int64_t kLinesAtOnce = 32;

namespace {
class WgmmaStores {
public:
  WgmmaStores(ThreadEmitter &emitter, SpMMOp op, const WgmmaSums &from, Value c,
              Value initial, const std::optional<TileEpilogue> &epilogue,
              const GpuTile &tile);

  void store();

private:
  int64_t steps() const { return from.warpgroupM / kStep; }
  /// Blocks of 64 columns that are stored.
  int64_t blocks() const { return int64_t(from.sums.size()) / (steps() * 4); }
  /// The sum at column `column` and row `row` of the thread's two of each, in
  /// 64 columns `block` and step `step` along m.
  Value getSum(int64_t block, int64_t step, int64_t column, int64_t row) const {
    return from.sums[((block * steps() + step) * 2 + column) * 2 + row];
  }
  Value getColumn(int64_t block, int64_t column) {
    return emitter.add(firstN, block * ::nm::kWarpgroupM + column);
  }
  void take(Value first, Value along, ArrayRef<Value> sums,
            ArrayRef<Value> second = {});
  void flush();
  void storePairsOfColumns(int64_t block);
  void storeCombinedColumns(int64_t block);
  void storePairsOfRows(int64_t block);
  void storeExchanged(int64_t block);
  /// What the lane whose number differs in bit `bit` gives for `a` if this lane
  /// has the bit, and else for `b`: then (a, other's a) or (other's b, b).
  std::pair<Value, Value> exchange(Value a, Value b, Value hasBit, int64_t bit);

  ThreadEmitter &emitter;
  const WgmmaSums &from;
  const GpuTile &tile;
  bool isTransposed, exchanges, combines;
  int64_t perLine;
  TileStores stores;
  /// The row of A and the column of B of the thread's first sum.
  Value firstM, firstN;
  SmallVector<TileLine> lines;
};
} // namespace

static bool exchangesSums(SpMMOp op, Value c,
                          const std::optional<TileEpilogue> &epilogue) {
  Value stored = epilogue ? epilogue->getC() : c;
  bool isNarrow =
      cast<MemRefType>(stored.getType()).getElementTypeBitWidth() < 32 ||
      findSplitsOfTile(stored);
  return op.getTransposeC() && isNarrow;
}

WgmmaStores::WgmmaStores(ThreadEmitter &emitter, SpMMOp op,
                         const WgmmaSums &from, Value c, Value initial,
                         const std::optional<TileEpilogue> &epilogue,
                         const GpuTile &tile)
    : emitter(emitter), from(from), tile(tile),
      isTransposed(op.getTransposeC()),
      exchanges(exchangesSums(op, c, epilogue)),
      combines(epilogue && epilogue->combinesNeighbours()),
      perLine(exchanges  ? kStep
              : combines ? 1
                         : 2),
      stores(emitter.builder, op, c, initial, epilogue, perLine) {
  firstN = emitter.add(from.n, emitter.mul(emitter.div(from.lane, kQuad), 2));
  firstM = emitter.add(from.m, emitter.mul(emitter.rem(from.lane, kQuad),
                                           exchanges ? kStep : 2));
}

void WgmmaStores::flush() {
  if (lines.empty())
    return;
  // It forgets what it has checked once.
  TileStores some = stores;
  some.store(lines, tile);
  lines.clear();
}

/// `second` are sums of odd columns, where an epilogue combines neighbours.
void WgmmaStores::take(Value first, Value along, ArrayRef<Value> sums,
                       ArrayRef<Value> second) {
  auto type = VectorType::get(perLine, sums.front().getType());
  auto line = [&](ArrayRef<Value> elements) -> Value {
    return vector::FromElementsOp::create(emitter.builder, emitter.loc, type,
                                          elements);
  };
  lines.push_back(
      {first, along, line(sums), second.empty() ? Value() : line(second)});
  if (static_cast<int64_t>(lines.size()) * perLine == 2 * kLinesAtOnce)
    flush();
}

void WgmmaStores::storePairsOfColumns(int64_t block) {
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t row : {0, 1}) {
      take(emitter.add(firstM, step * kStep + row), getColumn(block, 0),
           {getSum(block, step, 0, row), getSum(block, step, 1, row)});
    }
}

/// Stores what an epilogue makes of a thread's two columns of 64, which are one
/// column of C.
void WgmmaStores::storeCombinedColumns(int64_t block) {
  Value column = emitter.div(getColumn(block, 0), 2);
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t row : {0, 1})
      take(emitter.add(firstM, step * kStep + row), column,
           getSum(block, step, 0, row), getSum(block, step, 1, row));
}

void WgmmaStores::storePairsOfRows(int64_t block) {
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t column : {0, 1})
      take(getColumn(block, column), emitter.add(firstM, step * kStep),
           {getSum(block, step, column, 0), getSum(block, step, column, 1)});
}

std::pair<Value, Value> WgmmaStores::exchange(Value a, Value b, Value hasBit,
                                              int64_t bit) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value given = arith::SelectOp::create(builder, loc, hasBit, a, b);
  Value got = NVVM::ShflOp::create(
      builder, loc, given.getType(), emitter.i32(-1), given,
      emitter.i32(int64_t(1) << bit), emitter.i32(::nm::MmaShape::kLanes - 1),
      NVVM::ShflKind::bfly, /*return_value_and_is_valid=*/UnitAttr());
  return {arith::SelectOp::create(builder, loc, hasBit, got, a),
          arith::SelectOp::create(builder, loc, hasBit, b, got)};
}

/// Stores 64 columns of sums that lanes have exchanged: lane q of four gets all
/// rows of step q of each four steps.
void WgmmaStores::storeExchanged(int64_t block) {
  auto hasBit = [&](int64_t bit) -> Value {
    Value set = emitter.mask(emitter.shiftRight(from.lane, bit), 1);
    return arith::CmpIOp::create(emitter.builder, emitter.loc,
                                 arith::CmpIPredicate::eq, set,
                                 emitter.constant(set, 1));
  };
  Value hasBits[2] = {hasBit(0), hasBit(1)};
  for (int64_t step = 0; step < steps(); step += kQuad)
    for (int64_t column : {0, 1}) {
      // Before, pairs of step i; then, of the lane that has been q's i-th.
      SmallVector<Value> sums;
      for (int64_t i = 0; i < kQuad; ++i)
        for (int64_t row : {0, 1})
          sums.push_back(getSum(block, step + i, column, row));
      for (int64_t bit : {0, 1})
        for (int64_t i = 0; i < kQuad; ++i) {
          if (i >> bit & 1)
            continue;
          for (int64_t row : {0, 1}) {
            Value &low = sums[2 * i + row],
                  &high = sums[2 * (i + (int64_t(1) << bit)) + row];
            std::tie(low, high) = exchange(low, high, hasBits[bit], bit);
          }
        }
      take(getColumn(block, column), emitter.add(firstM, step * kStep), sums);
    }
}

void WgmmaStores::store() {
  for (int64_t block = 0; block < blocks(); ++block)
    if (combines)
      storeCombinedColumns(block);
    else if (!isTransposed)
      storePairsOfColumns(block);
    else if (exchanges)
      storeExchanged(block);
    else
      storePairsOfRows(block);
  flush();
}

void mlir::nm::storeWgmmaSums(ThreadEmitter &emitter, SpMMOp op,
                              const WgmmaSums &sums, Value c, Value initial,
                              const std::optional<TileEpilogue> &epilogue,
                              const GpuTile &tile) {
  WgmmaStores(emitter, op, sums, c, initial, epilogue, tile).store();
}
