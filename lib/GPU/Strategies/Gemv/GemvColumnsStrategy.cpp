//===- GemvColumnsStrategy.cpp - Few rows, weights kept anywhere ----------===//
//
// A lane walks along the weights of one column, which say in which row of k
// each is, or how many rows behind the one before (nm/Format/Ell.h), and finds
// A in shared memory. Warps of a block that have the same columns take parts of
// their steps, and add their sums at the end, in order. The weights of a step
// are loaded one to four steps before they are multiplied.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/ElementWords.h"
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Gemv/GemvActivations.h"
#include "GPU/Strategies/Gemv/GemvPrefetch.h"
#include "GPU/Strategies/Gemv/GemvSums.h"
#include "GPU/Strategies/Simt/ChainedSums.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"
#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include <utility>

using namespace mlir;
using namespace mlir::nm;
using ::nm::EllForm;

/// Steps of a chain of sums.
static constexpr int64_t kChainSteps = ::nm::kChainRows / EllForm::kWeights;

//===----------------------------------------------------------------------===//
// Weights of a lane's column
//===----------------------------------------------------------------------===//

namespace {
class ColumnSteps {
public:
  /// The steps of part `part` of the slice of `column`, a column of the tile.
  ColumnSteps(ThreadEmitter &emitter, SparseProductOpInterface op, Value column,
              Value part);

  /// The numbers of the first step and behind the last, i32.
  Value getFirst() const { return first; }
  Value getEnd() const { return end; }
  /// The row that the first gap counts from, i32.
  Value getRow() const { return row; }

  /// The types of what `load` gives: values in chunks, and the gaps or rows.
  SmallVector<Type> loadedTypes() const;
  /// The weights of `step`; anything where it is not before the end, whose
  /// registers then need not be written.
  SmallVector<Value> loadIfAny(ThreadEmitter &emitter, Value step) const;
  /// The weights of `loaded` as accumulators.
  SmallVector<Value> weights(ThreadEmitter &emitter,
                             ArrayRef<Value> loaded) const;
  /// Whether `numbers` are the weights' rows, and not gaps.
  bool hasRows() const { return form.hasRows(); }
  /// `scale` times the gap or row of each, i32; `scale` is a power of two.
  SmallVector<Value> numbers(ThreadEmitter &emitter, ArrayRef<Value> loaded,
                             int64_t scale) const;

private:
  Value loadBytes(ThreadEmitter &emitter, int64_t bytes, Value from,
                  ArrayRef<Value> at) const;
  VectorType chunkType() const;
  int64_t chunks() const {
    return EllForm::kWeights / chunkType().getNumElements();
  }
  /// Bytes of gaps or rows that a lane loads at once, and such loads of a step.
  int64_t numberBytes() const {
    return std::min(EllForm::kChunkBytes, form.columnGapBytes());
  }
  int64_t numberChunks() const { return form.columnGapBytes() / numberBytes(); }

  EllForm form;
  Value values, indices, slice, lane, first, end, row;
};
} // namespace

/// The little-endian number of `bytes` at `at`, an i32.
Value ColumnSteps::loadBytes(ThreadEmitter &emitter, int64_t bytes, Value from,
                             ArrayRef<Value> at) const {
  OpBuilder &builder = emitter.builder;
  Value loaded = vector::LoadOp::create(
      builder, emitter.loc, VectorType::get(bytes, builder.getI8Type()), from,
      at, /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  auto word = VectorType::get(1, builder.getIntegerType(unsigned(8 * bytes)));
  Value number = emitter.extract(
      vector::BitCastOp::create(builder, emitter.loc, word, loaded), 0);
  return bytes == 4 ? number
                    : arith::ExtUIOp::create(builder, emitter.loc,
                                             builder.getI32Type(), number)
                          .getResult();
}

ColumnSteps::ColumnSteps(ThreadEmitter &emitter, SparseProductOpInterface op,
                         Value column, Value part)
    : form(cast<EllAttr>(op.getPackingAttr()).getForm()),
      values(op.getValues()), indices(op.getIndices()) {
  OpBuilder &builder = emitter.builder;
  Value lists = op.getLists(), zero = emitter.index(0);
  Value slices = builder.createOrFold<memref::DimOp>(emitter.loc, lists, 0);
  Value last = builder.createOrFold<arith::SubIOp>(emitter.loc, slices,
                                                   emitter.index(1));
  // Warps behind the last slice walk along that.
  slice = emitter.least(emitter.div(column, EllForm::kColumns), last);
  lane = emitter.rem(column, EllForm::kColumns);
  Value count =
      loadBytes(emitter, EllForm::kCountBytes, lists, {slice, zero, zero});
  Value number = emitter.toI32(part);
  auto boundary = [&](Value part) {
    return emitter.div(
        builder.createOrFold<arith::MulIOp>(emitter.loc, count, part),
        form.parts);
  };
  first = boundary(number);
  end = boundary(emitter.add(number, 1));
  row = loadBytes(
      emitter, EllForm::kRowBytes, lists,
      {slice, emitter.add(part, 1), emitter.mul(lane, EllForm::kRowBytes)});
}

VectorType ColumnSteps::chunkType() const {
  Type element = cast<MemRefType>(values.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  return VectorType::get(EllForm::kChunkBytes / bytes, element);
}

SmallVector<Type> ColumnSteps::loadedTypes() const {
  SmallVector<Type> types(chunks(), chunkType());
  types.append(
      numberChunks(),
      VectorType::get(numberBytes(), IntegerType::get(values.getContext(), 8)));
  return types;
}

SmallVector<Value> ColumnSteps::loadIfAny(ThreadEmitter &emitter,
                                          Value step) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> none;
  for (Type type : loadedTypes())
    none.push_back(ub::PoisonOp::create(builder, loc, type));
  return emitter.choose(
      emitter.less(step, end),
      [&] {
        SmallVector<Value> loaded;
        Value row = emitter.toIndex(step);
        auto load = [&](VectorType type, Value from, Value at, int64_t bytes) {
          loaded.push_back(vector::LoadOp::create(
              builder, loc, type, from, ValueRange{slice, row, at},
              /*nontemporal=*/false, llvm::MaybeAlign(bytes)));
        };
        auto loadChunks = [&](int64_t count, Type type, Value from,
                              int64_t bytes) {
          auto chunk = cast<VectorType>(type);
          int64_t elements = chunk.getNumElements();
          for (int64_t i = 0; i < count; ++i)
            load(chunk, from,
                 emitter.add(emitter.mul(lane, elements),
                             i * EllForm::kColumns * elements),
                 bytes);
        };
        loadChunks(chunks(), chunkType(), values, EllForm::kChunkBytes);
        loadChunks(numberChunks(), loadedTypes().back(), indices,
                   numberBytes());
        return loaded;
      },
      none);
}

SmallVector<Value> ColumnSteps::weights(ThreadEmitter &emitter,
                                        ArrayRef<Value> loaded) const {
  SmallVector<Value> weights;
  for (Value chunk : loaded.drop_back(numberChunks()))
    for (int64_t i = 0; i < chunkType().getNumElements(); ++i)
      weights.push_back(toAccumulator(emitter, emitter.extract(chunk, i)));
  return weights;
}

SmallVector<Value> ColumnSteps::numbers(ThreadEmitter &emitter,
                                        ArrayRef<Value> loaded,
                                        int64_t scale) const {
  int64_t up = llvm::Log2_64(uint64_t(scale)), perWord = 32 / form.bits;
  SmallVector<Value> words, numbers;
  for (Value chunk : loaded.take_back(numberChunks()))
    llvm::append_range(words, emitter.words(chunk));
  for (Value word : words)
    for (int64_t i = 0; i < perWord; ++i) {
      // Cut out where it is wanted, which takes one shift less.
      int64_t down = i * form.bits - up;
      Value moved = down < 0 ? emitter.shiftLeft(word, -down)
                             : emitter.shiftRight(word, down);
      bool isLast = i == perWord - 1 && up == 0;
      numbers.push_back(isLast ? moved
                               : emitter.mask(moved, form.largestGap() << up));
    }
  return numbers;
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

namespace {
class GemvColumnsExpansion : public TileExpansion {
public:
  GemvColumnsExpansion(SparseProductOpInterface op, const GpuTile &tile)
      : tile(tile), element(op.getAType().getElementType()),
        accumulator(op.getAccumulatorType()), k(op.getStaticK()),
        earlyBytes(op.getScheduleAttr().getTiling().earlyBytes) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> prefetch(OpBuilder &builder, SparseProductOpInterface op,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

private:
  VectorType sumType() const { return VectorType::get(1, accumulator); }
  Value addStep(ThreadEmitter &emitter, const ColumnSteps &steps,
                ArrayRef<Value> loaded, Value place,
                MutableArrayRef<Value> sums) const;
  SmallVector<Value> walk(ThreadEmitter &emitter, const ColumnSteps &steps,
                          ArrayRef<Value> ahead, ArrayRef<Value> sums) const;

  GpuTile tile;
  Type element, accumulator;
  int64_t k;
  /// What each warp asks for ahead of its first weights.
  int64_t earlyBytes;
  /// The thread, the part that its warp takes of the steps, and its column.
  Value thread, part, column;
  std::optional<GemvActivations> activations;
};
} // namespace

SmallVector<Value> GemvColumnsExpansion::begin(OpBuilder &builder,
                                               Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  GemvOffset place(emitter, thread, tile);
  part = place.slice;
  column = place.column;
  int64_t words = llvm::divideCeil(tile.m, rowsPerWord(element, tile.m));
  activations.emplace(emitter, element, tile.m, k,
                      ::nm::gemvColumnsWords(words));
  return SmallVector<Value>(tile.m, emitter.zero(sumType()));
}

/// Asks for a slice's first weights, which some warp multiplies.
SmallVector<Value>
GemvColumnsExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface op,
                               llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, op.getLoc()};
  if (int64_t perWarp = std::exchange(earlyBytes, 0))
    prefetchWeights(emitter, viewOf(op.getValues()), viewOf(op.getIndices()),
                    tile, thread, EllForm::kColumns, perWarp);
  return {};
}

/// Adds the products of a step to `sums`. `place` is the byte of the words of A
/// of the weight before the step; that of its last weight is returned.
Value GemvColumnsExpansion::addStep(ThreadEmitter &emitter,
                                    const ColumnSteps &steps,
                                    ArrayRef<Value> loaded, Value place,
                                    MutableArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  SmallVector<Value> numbers =
      steps.numbers(emitter, loaded, activations->bytesOfK());
  SmallVector<Value> weights = steps.weights(emitter, loaded);
  for (auto [number, weight] : llvm::zip_equal(numbers, weights)) {
    place = steps.hasRows() ? number : emitter.add(place, number);
    SmallVector<Value> a = activations->load(emitter, place, /*offset=*/0);
    Value w =
        vector::BroadcastOp::create(builder, emitter.loc, sumType(), weight);
    for (auto [x, sum] : llvm::zip_equal(a, sums))
      sum = multiplyAdd(
          emitter,
          vector::BroadcastOp::create(builder, emitter.loc, sumType(), x), w,
          sum);
  }
  return place;
}

/// Walks along the part's steps, of which those in `ahead` are loaded, and adds
/// their products to `sums`, those of floats in chains.
SmallVector<Value> GemvColumnsExpansion::walk(ThreadEmitter &emitter,
                                              const ColumnSteps &steps,
                                              ArrayRef<Value> ahead,
                                              ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  bool hasChains = isa<FloatType>(accumulator);
  SmallVector<Value> carried(sums);
  if (hasChains)
    carried = ChainedSums::start(builder, sums).pack();
  size_t sumCount = carried.size(), perStep = steps.loadedTypes().size();
  carried.push_back(emitter.mul(steps.getRow(), activations->bytesOfK()));
  llvm::append_range(carried, ahead);
  auto loop = scf::ForOp::create(
      builder, loc, steps.getFirst(), steps.getEnd(), emitter.i32(1), carried,
      [&](OpBuilder &inner, Location loc, Value step, ValueRange carried) {
        ThreadEmitter body{inner, loc};
        SmallVector<Value> next =
            steps.loadIfAny(body, body.add(step, tile.stages));
        SmallVector<Value> result(carried.take_front(sumCount)),
            loaded(carried.drop_front(sumCount + 1));
        Value place =
            addStep(body, steps, ArrayRef(loaded).take_front(perStep),
                    carried[sumCount],
                    MutableArrayRef(result).take_front(size_t(tile.m)));
        if (hasChains) {
          Value number = body.sub(step, steps.getFirst());
          Value isLast = arith::CmpIOp::create(
              inner, loc, arith::CmpIPredicate::eq,
              body.rem(number, kChainSteps), body.i32(kChainSteps - 1));
          ChainedSums state = ChainedSums::unpack(result);
          state.endChainIf(inner, loc, isLast);
          result = state.pack();
        }
        result.push_back(place);
        result.append(loaded.begin() + perStep, loaded.end());
        llvm::append_range(result, next);
        scf::YieldOp::create(inner, loc, result);
      });
  SmallVector<Value> results(loop.getResults().take_front(sumCount));
  return hasChains ? ChainedSums::unpack(results).finish(builder, loc)
                   : results;
}

SmallVector<Value> GemvColumnsExpansion::expand(OpBuilder &builder,
                                                SparseProductOpInterface op,
                                                ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  ColumnSteps steps(emitter, op, column, part);
  // Issued before A is staged, which then takes no time of its own.
  SmallVector<Value> ahead;
  for (int64_t i = 0; i < tile.stages; ++i)
    llvm::append_range(
        ahead, steps.loadIfAny(emitter, emitter.add(steps.getFirst(), i)));
  activations->stage(emitter, op, thread, tile.threads);
  gpu::BarrierOp::create(builder, op.getLoc());
  return walk(emitter, steps, ahead, sums);
}

void GemvColumnsExpansion::end(OpBuilder &builder, SparseProductOpInterface op,
                               ArrayRef<Value> sums, Value initial) {
  ThreadEmitter emitter{builder, op.getLoc()};
  GemvSums(emitter, op, tile, thread, initial, epilogue).add(sums);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createGemvColumnsExpansion(SparseProductOpInterface op,
                                     const GpuTile &tile) {
  auto form = dyn_cast_if_present<EllAttr>(op.getPackingAttr());
  if (!form || form.getParts() != tile.sliceK)
    return op->emitOpError()
           << "expected weights packed as #nm.ell with slice_k parts for "
              "strategy gemv_columns";
  if (tile.m != tile.threadM || tile.threadN != 1)
    return op->emitOpError()
           << "expected a thread to have one column and all rows of the block "
              "for strategy gemv_columns";
  int64_t k = op.getStaticK();
  if (ShapedType::isDynamic(k) || k > EllForm::kMostRows)
    return op->emitOpError()
           << "expected a known k of at most " << EllForm::kMostRows
           << " for strategy gemv_columns";
  return std::unique_ptr<TileExpansion>(
      std::make_unique<GemvColumnsExpansion>(op, tile));
}
