//===- GemvStrategy.cpp - Products of few rows ----------------------------===//
//
// With m of at most 16 the weights are all that takes time to read, so they go
// from global memory to registers, once, with wide loads. A lane of a warp owns
// a few columns. Warps of a block take the same columns and turns along k,
// and add their sums at the end, in order. A thread loads its next weights
// before it multiplies the ones it has.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/ElementWords.h"
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Gemv/GemvActivations.h"
#include "GPU/Strategies/Gemv/GemvPrefetch.h"
#include "GPU/Strategies/Gemv/GemvSums.h"
#include "GPU/Strategies/Gemv/GemvWeights.h"
#include "GPU/Strategies/Simt/ChainedSums.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"
#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <utility>

using namespace mlir;
using namespace mlir::nm;

namespace {
class GemvExpansion : public TileExpansion {
public:
  GemvExpansion(SparseProductOpInterface op, const GpuTile &tile)
      : tile(tile), pattern(op.getPattern()),
        packing(op.getPanelPacking().getPacking()),
        earlyBytes(op.getScheduleAttr().getTiling().earlyBytes),
        element(op.getAType().getElementType()),
        accumulator(op.getAccumulatorType()) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> prefetch(OpBuilder &builder, SparseProductOpInterface op,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

private:
  Value firstColumn(ThreadEmitter &emitter, Value values) const;
  GemvWeights getWeights(ThreadEmitter &emitter, SparseProductOpInterface op,
                         Value values, Value indices) const;
  int64_t stagedRows() const;
  SmallVector<Value> multiply(ThreadEmitter &emitter,
                              const GemvWeights &weights, Value step,
                              ArrayRef<Value> loaded,
                              ArrayRef<Value> sums) const;
  std::pair<Value, int64_t> windowOf(ThreadEmitter &emitter, Value indexRow,
                                     int64_t unit) const;
  std::pair<Value, int64_t> placeOf(ThreadEmitter &emitter,
                                    const GemvWeights &weights, Value step,
                                    ArrayRef<Value> words, int64_t turn,
                                    Value &rest) const;
  SmallVector<Value> walk(ThreadEmitter &emitter, const GemvWeights &weights,
                          Value steps, ArrayRef<Value> first, bool isLong,
                          ArrayRef<Value> sums) const;
  SmallVector<Value> walkSteps(ThreadEmitter &emitter,
                               const GemvWeights &weights, Value steps,
                               ArrayRef<Value> first, ArrayRef<Value> promoted,
                               ArrayRef<Value> sums) const;
  bool hasLongSums(const GemvWeights &weights, Value steps,
                   bool isInLoop) const;
  int64_t stepsPerChain(const GemvWeights &weights) const;
  Value endsChain(ThreadEmitter &emitter, const GemvWeights &weights,
                  Value step) const;

  GpuTile tile;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  /// What each warp asks for ahead of the first tile.
  int64_t earlyBytes;
  Type element, accumulator;
  /// The thread, the turn that its warp takes along k, and its first column.
  Value thread, slice, column;
  std::optional<GemvActivations> activations;
};
} // namespace

//===----------------------------------------------------------------------===//
// Where a thread stands
//===----------------------------------------------------------------------===//

/// The k that the staged rows of A span, those of padded index rows included.
int64_t GemvExpansion::stagedRows() const {
  return ::nm::gemvStagedRows(pattern, packing, tile.k);
}

SmallVector<Value> GemvExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  GemvOffset place(emitter, thread, tile);
  slice = place.slice;
  column = place.column;
  activations.emplace(emitter, element, tile.m, stagedRows(), /*words=*/1);
  Value zero = emitter.zero(VectorType::get(tile.threadN, accumulator));
  SmallVector<Value> sums(tile.m, zero);
  // The bytes of f8E4M3FN weights that were NaN; see GemvWeights.
  if (isa<Float8E4M3FNType>(element))
    sums.push_back(emitter.i32(0));
  return sums;
}

/// The first of the thread's columns. Lanes that have none read the last ones,
/// so that they need not be told apart.
Value GemvExpansion::firstColumn(ThreadEmitter &emitter, Value values) const {
  auto type = cast<MemRefType>(values.getType());
  bool isWhole =
      !type.isDynamicDim(0) &&
      type.getDimSize(0) * packing.panel >=
          (tile.warpsN() - 1) * tile.warpN + mlir::nm::kWarpSize * tile.threadN;
  if (isWhole)
    return column;
  Value panels =
      emitter.builder.createOrFold<memref::DimOp>(emitter.loc, values, 0);
  Value end = emitter.mul(panels, packing.panel);
  Value last = emitter.builder.createOrFold<arith::SubIOp>(
      emitter.loc, end, emitter.index(tile.threadN));
  return emitter.least(column, last);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The first k of the window of unit `unit` of an index row: a byte of words,
/// an i32, and an offset.
std::pair<Value, int64_t> GemvExpansion::windowOf(ThreadEmitter &emitter,
                                                  Value indexRow,
                                                  int64_t unit) const {
  int64_t units = packing.indexRows, window = pattern.windowRows();
  int64_t bytes = window * GemvActivations::kWordBytes;
  Value number = emitter.toI32(indexRow);
  if (units % pattern.n == 0)
    return {emitter.mul(number, units / pattern.n * bytes),
            unit / pattern.n * window};
  if (pattern.n % units == 0)
    return {emitter.mul(emitter.div(number, pattern.n / units), bytes), 0};
  Value inTile = emitter.add(emitter.mul(number, units), unit);
  return {emitter.mul(emitter.div(inTile, pattern.n), bytes), 0};
}

/// Where the k of the unit of turn `turn` of a step begin, as `windowOf`.
std::pair<Value, int64_t>
GemvExpansion::placeOf(ThreadEmitter &emitter, const GemvWeights &weights,
                       Value step, ArrayRef<Value> words, int64_t turn,
                       Value &rest) const {
  // A step that is a part of a unit begins inside of it.
  int64_t parts = weights.stepsPerIndexRow();
  constexpr int64_t kBytes = GemvActivations::kWordBytes;
  auto [window, offset] =
      windowOf(emitter, emitter.div(step, parts), weights.unitOfTurn(turn));
  Value position =
      weights.position(emitter, words, turn, pattern.bk * kBytes, rest);
  // Bits of windows of 2^i rows are their own, and come at no cost. A sum with
  // a scaled number is one instruction.
  Value at = !packing.hasBitmaps() && llvm::isPowerOf2_64(pattern.windowRows())
                 ? emitter.either(window, position)
                 : emitter.add(window, position);
  if (parts > 1)
    at = emitter.add(at, emitter.mul(emitter.toI32(emitter.rem(step, parts)),
                                     weights.rowsPerStep() * kBytes));
  return {at, offset};
}

/// Adds a step's products.
SmallVector<Value> GemvExpansion::multiply(ThreadEmitter &emitter,
                                           const GemvWeights &weights,
                                           Value step, ArrayRef<Value> loaded,
                                           ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto type = cast<VectorType>(sums.front().getType());
  SmallVector<Value> words = weights.indexWords(emitter, loaded);
  SmallVector<Value> result(sums);
  SmallVector<SmallVector<Value>> chunks(weights.chunks());
  std::pair<Value, int64_t> place;
  Value rest;
  for (int64_t i = 0; i < weights.rowsPerStep(); ++i) {
    int64_t turn = i / pattern.bk, inUnit = i % pattern.bk;
    if (inUnit == 0)
      place = placeOf(emitter, weights, step, words, turn, rest);
    int64_t row = weights.unitOfTurn(turn) * pattern.bk + inUnit;
    int64_t inChunk = row % weights.rowsPerChunk();
    SmallVector<Value> &chunk = chunks[row / weights.rowsPerChunk()];
    if (chunk.empty())
      chunk = weights.chunk(emitter, loaded, row / weights.rowsPerChunk());
    Value w = vector::FromElementsOp::create(
        builder, loc, type,
        ArrayRef(chunk).slice(inChunk * tile.threadN, tile.threadN));
    SmallVector<Value> a =
        activations->load(emitter, place.first, place.second + inUnit);
    for (int64_t m = 0; m < tile.m; ++m) {
      Value x = vector::BroadcastOp::create(builder, loc, type, a[m]);
      result[m] = multiplyAdd(emitter, x, w, result[m]);
    }
  }
  if (weights.isScaledF8())
    result.back() =
        emitter.either(result.back(), weights.nans(emitter, loaded));
  return result;
}

/// The weights of `step`; anything where there is no such step, whose registers
/// then need not be written.
static SmallVector<Value> loadIfAny(ThreadEmitter &emitter,
                                    const GemvWeights &weights, Value step,
                                    Value steps) {
  SmallVector<Value> none;
  for (Type type : weights.loadedTypes())
    none.push_back(ub::PoisonOp::create(emitter.builder, emitter.loc, type));
  return emitter.choose(
      emitter.less(step, steps), [&] { return weights.load(emitter, step); },
      none);
}

/// ptxas would put each load of a step off until it is multiplied, to save
/// registers, and wait for every one; it moves none past a barrier, of which
/// that of a warp costs nothing. On an H200 products of 8 and 16 rows take up
/// to 58 % less for it; those of a single step a warp, which then begin to
/// multiply later, up to 12 % more.
static void keepLoadsTogether(ThreadEmitter &emitter) {
  syncWarp(emitter.builder, emitter.loc);
}

/// Whether a thread adds more rows than a chain has, of this tile of k or with
/// others.
bool GemvExpansion::hasLongSums(const GemvWeights &weights, Value steps,
                                bool isInLoop) const {
  if (!isa<FloatType>(accumulator))
    return false;
  std::optional<int64_t> known = getConstantIntValue(steps);
  return isInLoop || !known ||
         int64_t(llvm::divideCeil(*known, tile.sliceK)) >
             stepsPerChain(weights);
}

int64_t GemvExpansion::stepsPerChain(const GemvWeights &weights) const {
  return std::max<int64_t>(1, ::nm::kChainRows / weights.rowsPerStep());
}

/// Whether `step` is the last of a chain of the thread. With a loop over chains
/// around that over the steps of each, which would not ask, eight rows take 8
/// to 10 % longer on an H200.
Value GemvExpansion::endsChain(ThreadEmitter &emitter,
                               const GemvWeights &weights, Value step) const {
  int64_t steps = stepsPerChain(weights);
  Value number = emitter.div(step, tile.sliceK);
  return arith::CmpIOp::create(
      emitter.builder, emitter.loc, arith::CmpIPredicate::eq,
      emitter.rem(number, steps), emitter.index(steps - 1));
}

/// Adds the steps of the thread's warp to `sums`, where `isLong` in chains.
SmallVector<Value> GemvExpansion::walk(ThreadEmitter &emitter,
                                       const GemvWeights &weights, Value steps,
                                       ArrayRef<Value> first, bool isLong,
                                       ArrayRef<Value> sums) const {
  size_t chained = isLong ? size_t(tile.m) : 0;
  ChainedSums start =
      ChainedSums::start(emitter.builder, sums.take_front(chained));
  SmallVector<Value> carried(start.chain);
  llvm::append_range(carried, sums.drop_front(chained));
  SmallVector<Value> results =
      walkSteps(emitter, weights, steps, first, start.promoted, carried);
  ChainedSums last{
      SmallVector<Value>(ArrayRef(results).take_front(chained)),
      SmallVector<Value>(ArrayRef(results).drop_front(sums.size()))};
  results.truncate(sums.size());
  llvm::copy(last.finish(emitter.builder, emitter.loc), results.begin());
  return results;
}

/// The loop over the steps: `first`, where given, is its first one, loaded
/// already, and each then loads the next before it multiplies. Carries `sums`,
/// of which the first have `promote`, and returns both.
SmallVector<Value> GemvExpansion::walkSteps(ThreadEmitter &emitter,
                                            const GemvWeights &weights,
                                            Value steps, ArrayRef<Value> first,
                                            ArrayRef<Value> promoted,
                                            ArrayRef<Value> sums) const {
  SmallVector<Value> carried(sums);
  llvm::append_range(carried, promoted);
  size_t sumsAndPromoted = carried.size();
  llvm::append_range(carried, first);
  Value slices = emitter.index(tile.sliceK);
  std::optional<int64_t> known = getConstantIntValue(steps);
  bool hasManySteps = !known || *known > tile.sliceK;
  auto loop = scf::ForOp::create(
      emitter.builder, emitter.loc, slice, steps, slices, carried,
      [&](OpBuilder &builder, Location loc, Value step, ValueRange carried) {
        ThreadEmitter body{builder, loc};
        SmallVector<Value> loaded(carried.drop_front(sumsAndPromoted)), next;
        if (first.empty()) {
          loaded = weights.load(body, step);
          if (hasManySteps)
            keepLoadsTogether(body);
        } else {
          Value after = body.add(step, slices);
          next = loadIfAny(body, weights, after, steps);
        }
        SmallVector<Value> result =
            multiply(body, weights, step, loaded,
                     SmallVector<Value>(carried.take_front(sums.size())));
        ChainedSums state{
            SmallVector<Value>(ArrayRef(result).take_front(promoted.size())),
            SmallVector<Value>(carried.slice(sums.size(), promoted.size()))};
        if (!promoted.empty())
          state.endChainIf(builder, loc, endsChain(body, weights, step));
        llvm::copy(state.chain, result.begin());
        llvm::append_range(result, state.promoted);
        llvm::append_range(result, next);
        scf::YieldOp::create(builder, loc, result);
      });
  return SmallVector<Value>(loop.getResults().take_front(sumsAndPromoted));
}

GemvWeights GemvExpansion::getWeights(ThreadEmitter &emitter,
                                      SparseProductOpInterface op, Value values,
                                      Value indices) const {
  return GemvWeights(emitter, op, values, indices, firstColumn(emitter, values),
                     tile.threadN);
}

/// Loads the lines of A that the thread copies, and its first weights, of the
/// next of several tiles.
SmallVector<Value>
GemvExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface op,
                        llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, op.getLoc()};
  Value values = viewOf(op.getValues()), indices = viewOf(op.getIndices());
  // Before the first tile only: later ones are not waited for.
  if (int64_t perWarp = std::exchange(earlyBytes, 0))
    prefetchWeights(emitter, values, indices, tile, thread, packing.panel,
                    perWarp);
  if (!isa<scf::ForOp>(op->getParentOp()))
    return {};
  SmallVector<Value> loaded = activations->loadAhead(
      emitter, op, viewOf(op.getA()), thread, tile.threads);
  if (loaded.empty() || tile.stages == 1)
    return loaded;
  GemvWeights weights = getWeights(emitter, op, values, indices);
  llvm::append_range(
      loaded, loadIfAny(emitter, weights, slice, weights.steps(emitter)));
  return loaded;
}

SmallVector<Value> GemvExpansion::expand(OpBuilder &builder,
                                         SparseProductOpInterface op,
                                         ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  GemvWeights weights =
      getWeights(emitter, op, op.getValues(), op.getIndices());
  Value steps = weights.steps(emitter);
  ArrayRef<Value> lines = prefetched;
  SmallVector<Value> first;
  if (tile.stages > 1 && !lines.empty()) {
    size_t count = weights.loadedTypes().size();
    first = SmallVector<Value>(lines.take_back(count));
    lines = lines.drop_back(count);
  } else if (tile.stages > 1) {
    // Issued before A is staged, which then takes no time of its own.
    first = loadIfAny(emitter, weights, slice, steps);
  }
  // Of the tile before, some warps may still read.
  bool isInLoop = isa<scf::ForOp>(op->getParentOp());
  if (isInLoop)
    gpu::BarrierOp::create(builder, op.getLoc());
  if (lines.empty())
    activations->stage(emitter, op, thread, tile.threads);
  else
    activations->storeLoaded(emitter, lines, thread, tile.threads);
  gpu::BarrierOp::create(builder, op.getLoc());
  bool isLong = hasLongSums(weights, steps, isInLoop);
  return walk(emitter, weights, steps, first, isLong, sums);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Undoes what f8E4M3FN weights left out: their scale, and NaNs.
static SmallVector<Value> finishE4M3(ThreadEmitter &emitter,
                                     ArrayRef<Value> sums, bool isScaled) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> result(sums.drop_back());
  if (!isScaled)
    return result;
  auto type = cast<VectorType>(result.front().getType());
  int64_t columns = type.getNumElements();
  SmallVector<Value> isNaN;
  for (int64_t column = 0; column < columns; ++column) {
    int64_t bytes = 0;
    for (int64_t byte = column; byte < 4; byte += columns)
      bytes |= int64_t(0xff) << 8 * byte;
    isNaN.push_back(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        emitter.mask(sums.back(), bytes), emitter.i32(0)));
  }
  auto splat = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, value));
  };
  Value condition = vector::FromElementsOp::create(
      builder, loc, VectorType::get(columns, builder.getI1Type()), isNaN);
  Value nan = splat(APFloat::getQNaN(APFloat::IEEEsingle()));
  Value scale = splat(APFloat(static_cast<float>(kF8Scale)));
  for (Value &sum : result) {
    Value scaled = arith::MulFOp::create(builder, loc, sum, scale);
    sum = arith::SelectOp::create(builder, loc, condition, nan, scaled);
  }
  return result;
}

void GemvExpansion::end(OpBuilder &builder, SparseProductOpInterface op,
                        ArrayRef<Value> sums, Value initial) {
  ThreadEmitter emitter{builder, op.getLoc()};
  SmallVector<Value> result(sums);
  if (isa<Float8E4M3FNType>(element)) {
    GemvWeights weights(emitter, op, op.getValues(), op.getIndices(),
                        emitter.index(0), tile.threadN);
    result = finishE4M3(emitter, sums, weights.isScaledF8());
  }
  GemvSums(emitter, op, tile, thread, initial, epilogue).add(result);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createGemvExpansion(SparseProductOpInterface op,
                              const GpuTile &tile) {
  if (tile.m != tile.threadM)
    return op->emitOpError()
           << "expected a thread to have all " << tile.m
           << " rows of the block for strategy gemv, but got " << tile.threadM;
  if (failed(GemvWeights::verify(op, tile.threadN)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<GemvExpansion>(op, tile));
}
