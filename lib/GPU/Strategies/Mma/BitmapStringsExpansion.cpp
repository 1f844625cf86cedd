//===- BitmapStringsExpansion.cpp - Weights kept anywhere, as bits --------===//
//
// Each warp has 32 columns and every so many steps of k, and waits for no
// other: it copies the values of its next step to memory of its own, as many as
// there are, while it multiplies those of a step. Bits, which say how many
// come, are loaded two steps ahead, and A one step, both to registers. Lanes
// make words of mma.sync as those of MmaBitmapStrategy.cpp do; the values of a
// lane's second column of a string begin where the bits of the first one say.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/BitmapStringsExpansion.h"

#include "GPU/Copies/TensorAddress.h"
#include "GPU/Expand/WarpExpansion.h"
#include "GPU/Strategies/Mma/BitmapRuns.h"
#include "GPU/Strategies/Mma/SparseOperands.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Strategies/Mma/BitmapStringsTile.h"
#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <array>
#include <deque>

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using ::nm::BitmapStrings;

static constexpr BitmapForm kForm = BitmapStrings::form();
static constexpr int64_t kBlocks = BitmapStrings::kBlocks;
static constexpr int64_t kHalves = BitmapForm::kLaneColumns;
/// Bytes of a slot of all lanes, and values of a copy.
static constexpr int64_t kSlotBytes =
    BitmapForm::kSlotValues * BitmapStrings::kValueBytes;
static constexpr int64_t kCopyValues =
    BitmapForm::kChunkBytes / BitmapStrings::kValueBytes;
/// Chunks of A of a lane's run, words of a chunk, and instructions that it is
/// for, each of which takes two.
static constexpr int64_t kChunks = BitmapStrings::kRunRows / kCopyValues;
static constexpr int64_t kChunkWords =
    BitmapForm::kChunkBytes / BitmapForm::kWordBytes;
static constexpr int64_t kProductWords = 2;
static constexpr int64_t kProductsOfChunk = kChunkWords / kProductWords;
/// Instructions whose operands are loaded before those of one are used.
static constexpr int64_t kProductsAhead = 2;

//===----------------------------------------------------------------------===//
// Operands in memory
//===----------------------------------------------------------------------===//

namespace {
/// What the bits of a step say: a lane's words, and how many slots its values
/// have.
struct StepBits {
  static constexpr size_t kWords =
      BitmapStrings::kLaneBytes / BitmapForm::kWordBytes;

  SmallVector<Value> words;
  Value count;

  SmallVector<Value> pack() const {
    SmallVector<Value> all(words);
    all.push_back(count);
    return all;
  }
  static StepBits unpack(ValueRange all) {
    return {SmallVector<Value>(all.take_front(kWords)), all[kWords]};
  }
};

/// A lane's words of A of the next chunks: of each, and of each eight rows.
using ChunksAhead = std::deque<SmallVector<SmallVector<Value>>>;

/// The operands of a warp's part of a product, in global memory.
class WarpOperands {
public:
  WarpOperands(ThreadEmitter &emitter, SpMMOp op, const MmaLane &lane,
               Value firstRow, Value firstColumn, int64_t fragments);

  int64_t steps() const { return stepCount; }
  /// The bits of step `step`; no values of one past the last.
  StepBits loadBits(ThreadEmitter &emitter, Value step) const;
  /// The lane's words of chunk `chunk` of each eight rows.
  SmallVector<SmallVector<Value>> loadChunk(ThreadEmitter &emitter, Value step,
                                            int64_t chunk) const;
  /// Copies `count` slots of step `step` to `buffer`, from element `to` on.
  void copyValues(ThreadEmitter &emitter, Value step, Value count, Value buffer,
                  Value to) const;

private:
  Value loadPiece(ThreadEmitter &emitter, Value row, Value k,
                  int64_t offset) const;
  SmallVector<Value> loadWords(ThreadEmitter &emitter, Value row, Value k,
                               int64_t offset) const;

  Value a, values, indices, slice, lane;
  int64_t stepCount, k, width;
  /// The row of A of each fragment, and the lane's first k of a step, i32.
  SmallVector<Value> rows;
  Value firstK;
};
} // namespace

WarpOperands::WarpOperands(ThreadEmitter &emitter, SpMMOp op,
                           const MmaLane &lane, Value firstRow,
                           Value firstColumn, int64_t fragments)
    : a(op.getA()), values(op.getValues()), indices(op.getIndices()),
      lane(lane.lane),
      stepCount(cast<MemRefType>(values.getType()).getDimSize(1)),
      k(cast<SparseProductOpInterface>(*op).getStaticK()),
      width(getAccessWidth(a, {1, k})) {
  // Warps behind the last slice walk along that.
  slice = clampToDim(
      emitter, values, 0,
      emitter.toIndex(emitter.div(firstColumn, BitmapStrings::kColumns)));
  for (int64_t i = 0; i < fragments; ++i) {
    Value row = emitter.add(emitter.add(firstRow, i * kMatrixSide), lane.row);
    rows.push_back(clampToDim(emitter, a, 0, emitter.toIndex(row)));
  }
  firstK = emitter.mul(lane.pair, BitmapStrings::kChunkRows);
}

StepBits WarpOperands::loadBits(ThreadEmitter &emitter, Value step) const {
  OpBuilder &builder = emitter.builder;
  Value place =
      emitter.toIndex(emitter.least(step, emitter.i32(stepCount - 1)));
  auto load = [&](int64_t bytes, Value at) {
    Value loaded = vector::LoadOp::create(
        builder, emitter.loc, VectorType::get(bytes, builder.getI8Type()),
        indices, ValueRange{slice, place, at}, /*nontemporal=*/false,
        llvm::MaybeAlign(bytes));
    return emitter.words(loaded);
  };
  SmallVector<Value> words =
      load(BitmapStrings::kLaneBytes,
           emitter.toIndex(emitter.mul(lane, BitmapStrings::kLaneBytes)));
  Value count =
      load(BitmapStrings::kCountBytes, emitter.index(BitmapStrings::kCountByte))
          .front();
  Value isThere = emitter.less(step, emitter.i32(stepCount));
  return {words, emitter.orZero(count, isThere)};
}

/// `width` elements of A from `k` + `offset` on; where there are none, the last
/// ones of the row, which weights that are zero multiply.
Value WarpOperands::loadPiece(ThreadEmitter &emitter, Value row, Value k,
                              int64_t offset) const {
  OpBuilder &builder = emitter.builder;
  bool isWhole = this->k % BitmapStrings::kStepRows == 0;
  Value place =
      isWhole ? emitter.add(emitter.toIndex(k), offset)
              : emitter.toIndex(emitter.least(emitter.add(k, offset),
                                              emitter.i32(this->k - width)));
  Type element = cast<MemRefType>(a.getType()).getElementType();
  if (width == 1)
    return memref::LoadOp::create(builder, emitter.loc, a,
                                  ValueRange{row, place});
  return vector::LoadOp::create(
      builder, emitter.loc, VectorType::get(width, element), a,
      ValueRange{row, place}, /*nontemporal=*/false,
      llvm::MaybeAlign(width * BitmapStrings::kValueBytes));
}

/// The words of a row of A from `k` + `offset` on.
SmallVector<Value> WarpOperands::loadWords(ThreadEmitter &emitter, Value row,
                                           Value k, int64_t offset) const {
  SmallVector<Value> words, elements;
  for (int64_t i = 0; i < kCopyValues; i += width) {
    Value piece = loadPiece(emitter, row, k, offset + i);
    if (width == 1)
      elements.push_back(piece);
    else
      llvm::append_range(words, emitter.words(piece));
  }
  if (width > 1)
    return words;
  auto type = VectorType::get(kCopyValues, elements.front().getType());
  return emitter.words(vector::FromElementsOp::create(
      emitter.builder, emitter.loc, type, elements));
}

SmallVector<SmallVector<Value>> WarpOperands::loadChunk(ThreadEmitter &emitter,
                                                        Value step,
                                                        int64_t chunk) const {
  Value inside = emitter.least(step, emitter.i32(stepCount - 1));
  Value first =
      emitter.add(emitter.mul(inside, BitmapStrings::kStepRows), firstK);
  return llvm::map_to_vector(rows, [&](Value row) {
    return loadWords(emitter, row, first, chunk * BitmapStrings::kChunkStride);
  });
}

void WarpOperands::copyValues(ThreadEmitter &emitter, Value step, Value count,
                              Value buffer, Value to) const {
  OpBuilder &builder = emitter.builder;
  constexpr int64_t kCopiesOfSlot = BitmapForm::kSlotValues / kCopyValues;
  Value place = emitter.toIndex(step);
  scf::ForOp::create(
      builder, emitter.loc, emitter.toIndex(lane),
      emitter.toIndex(emitter.mul(count, kCopiesOfSlot)),
      emitter.index(BitmapForm::kLanes), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value copy, ValueRange) {
        ThreadEmitter body{inner, loc};
        Value offset = body.mul(copy, kCopyValues);
        copyAsync(inner, loc, values, ValueRange{slice, place, offset}, buffer,
                  body.add(body.toIndex(to), offset), kCopyValues);
        scf::YieldOp::create(inner, loc);
      });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// The runs of the lane's columns of a block.
using RunsOfBlock = std::array<std::unique_ptr<BitmapRun>, kHalves>;

/// What one instruction multiplies for each eight rows of A.
struct LoadedProduct {
  int64_t block, number;
  std::array<LoadedRows, kHalves> weights;
  SmallVector<SmallVector<Value>> activations;
};

class BitmapStringsExpansion : public WarpExpansion {
public:
  BitmapStringsExpansion(SpMMOp op, const GpuTile &tile,
                         const ::nm::ScheduleFields &fields)
      : WarpExpansion(tile, {fields.warpM, fields.warpN}, SparseTypes(op).sum),
        element(SparseTypes(op).element), room(::nm::roomOfSteps(tile.stages)) {
  }

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;

private:
  /// What a turn leaves to the next one.
  struct Turn {
    SmallVector<Value> sums;
    StepBits bits, next;
    /// The slot of the warp's memory at which the step's values begin.
    Value begin;
    ChunksAhead activations;

    SmallVector<Value> pack() const;
    Turn unpack(ValueRange all) const;
  };

  bool areRowsOfN() const override { return true; }
  /// Chunks of A that are on their way: as many as leave room for 16 warps of a
  /// multiprocessor.
  int64_t chunksAhead() const { return columnFragments() == 1 ? 2 : 1; }
  /// The element of the buffer that slot `slot` of the warp begins at, i32.
  Value placeOf(ThreadEmitter &emitter, Value slot) const;
  Turn start(ThreadEmitter &emitter, const WarpOperands &operands,
             ArrayRef<Value> sums) const;
  Turn takeStep(ThreadEmitter &emitter, const WarpOperands &operands,
                Value step, Turn turn) const;
  std::array<RunsOfBlock, kBlocks> startRuns(ThreadEmitter &emitter,
                                             const Turn &turn) const;
  void multiplyStep(ThreadEmitter &emitter, const WarpOperands &operands,
                    Value step, Value next, Turn &turn) const;
  void multiplyLoaded(ThreadEmitter &emitter, const RunsOfBlock &runs,
                      const LoadedProduct &loaded,
                      MutableArrayRef<Value> sums) const;

  Type element;
  int64_t room;
  Value buffer;
};
} // namespace

SmallVector<Value> BitmapStringsExpansion::Turn::pack() const {
  SmallVector<Value> all(sums);
  llvm::append_range(all, bits.pack());
  llvm::append_range(all, next.pack());
  all.push_back(begin);
  for (const auto &chunk : activations)
    for (const SmallVector<Value> &words : chunk)
      llvm::append_range(all, words);
  return all;
}

/// A turn of the values `all`, in the order of pack, with the sizes of this
/// turn.
BitmapStringsExpansion::Turn
BitmapStringsExpansion::Turn::unpack(ValueRange all) const {
  auto take = [&](size_t count) {
    ValueRange taken = all.take_front(count);
    all = all.drop_front(count);
    return taken;
  };
  Turn turn;
  turn.sums = SmallVector<Value>(take(sums.size()));
  turn.bits = StepBits::unpack(take(StepBits::kWords + 1));
  turn.next = StepBits::unpack(take(StepBits::kWords + 1));
  turn.begin = take(1).front();
  for (const auto &chunk : activations)
    turn.activations.push_back(llvm::map_to_vector(chunk, [&](const auto &) {
      return SmallVector<Value>(take(kChunkWords));
    }));
  return turn;
}

SmallVector<Value> BitmapStringsExpansion::begin(OpBuilder &builder,
                                                 Location loc) {
  SmallVector<Value> sums = WarpExpansion::begin(builder, loc);
  int64_t warps = tile.threads / BitmapForm::kLanes;
  buffer = allocShared(builder, loc, {warps * ::nm::valuesOfWarp(tile.stages)},
                       element);
  return sums;
}

Value BitmapStringsExpansion::placeOf(ThreadEmitter &emitter,
                                      Value slot) const {
  return emitter.add(emitter.mul(lane->warp, ::nm::valuesOfWarp(tile.stages)),
                     emitter.mul(slot, BitmapForm::kSlotValues));
}

/// The runs of the step at `turn.begin`. Rows that are not kept read the slot
/// behind, of which there is one behind all of the step: zeros.
std::array<RunsOfBlock, kBlocks>
BitmapStringsExpansion::startRuns(ThreadEmitter &emitter,
                                  const Turn &turn) const {
  OpBuilder &builder = emitter.builder;
  Value address =
      emitter.add(emitter.add(emitter.toI32(getElementAddress(emitter, buffer)),
                              emitter.mul(placeOf(emitter, turn.begin),
                                          BitmapStrings::kValueBytes)),
                  emitter.mul(lane->lane, BitmapForm::kWordBytes));
  Value behind = emitter.add(address, emitter.mul(turn.bits.count, kSlotBytes));
  LLVM::StoreOp::create(
      builder, emitter.loc, emitter.i32(0),
      toPointer(emitter, behind, NVVM::NVVMMemorySpace::Shared),
      /*alignment=*/BitmapForm::kWordBytes);
  std::array<RunsOfBlock, kBlocks> runs;
  for (int64_t half = 0; half < kHalves; ++half) {
    Value values = address;
    for (int64_t block = 0; block < kBlocks; ++block) {
      Value word = turn.bits.words[block * kHalves + half];
      runs[block][half] = BitmapRun::get(
          emitter, kForm,
          {{word}, values, half, /*stepsBehind=*/1, /*isAlone=*/false});
      Value count = LLVM::CtPopOp::create(builder, emitter.loc, word);
      values = emitter.add(values, emitter.mul(count, kSlotBytes));
    }
  }
  return runs;
}

void BitmapStringsExpansion::multiplyLoaded(ThreadEmitter &emitter,
                                            const RunsOfBlock &runs,
                                            const LoadedProduct &loaded,
                                            MutableArrayRef<Value> sums) const {
  auto makeWord = [&](int64_t half, int64_t number) {
    return runs[half]->makeWord(emitter, loaded.weights[half], number);
  };
  // Rows c and c + 8 of the instruction, of the first half of its k and then of
  // the second.
  std::array<Value, 4> weights = {makeWord(0, 0), makeWord(1, 0),
                                  makeWord(0, 1), makeWord(1, 1)};
  for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
    multiply(
        emitter, element, weights,
        ArrayRef(loaded.activations[fragment])
            .slice(loaded.number % kProductsOfChunk * kProductWords,
                   kProductWords),
        sums.slice((loaded.block * columnFragments() + fragment) * kMmaSums,
                   kMmaSums));
}

/// Adds the products of `step` to the turn's sums. Chunks of A are loaded
/// ahead, the last ones those of step `next`.
void BitmapStringsExpansion::multiplyStep(ThreadEmitter &emitter,
                                          const WarpOperands &operands,
                                          Value step, Value next,
                                          Turn &turn) const {
  std::array<RunsOfBlock, kBlocks> runs = startRuns(emitter, turn);
  std::deque<LoadedProduct> ahead;
  auto multiplyFirst = [&] {
    multiplyLoaded(emitter, runs[ahead.front().block], ahead.front(),
                   turn.sums);
    ahead.pop_front();
  };
  for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
    int64_t coming = chunk + chunksAhead();
    turn.activations.push_back(operands.loadChunk(
        emitter, coming < kChunks ? step : next, coming % kChunks));
    SmallVector<SmallVector<Value>> activations = turn.activations.front();
    turn.activations.pop_front();
    for (int64_t i = 0; i < kProductsOfChunk; ++i)
      for (int64_t block = 0; block < kBlocks; ++block) {
        int64_t number = chunk * kProductsOfChunk + i;
        ahead.push_back({block,
                         number,
                         {runs[block][0]->load(emitter, number),
                          runs[block][1]->load(emitter, number)},
                         activations});
        if (int64_t(ahead.size()) > kProductsAhead)
          multiplyFirst();
      }
  }
  while (!ahead.empty())
    multiplyFirst();
}

BitmapStringsExpansion::Turn
BitmapStringsExpansion::start(ThreadEmitter &emitter,
                              const WarpOperands &operands,
                              ArrayRef<Value> sums) const {
  Turn turn;
  turn.sums = SmallVector<Value>(sums);
  turn.bits = operands.loadBits(emitter, slice);
  turn.next = operands.loadBits(emitter, emitter.add(slice, tile.sliceK));
  turn.begin = emitter.i32(0);
  for (int64_t chunk = 0; chunk < chunksAhead(); ++chunk)
    turn.activations.push_back(operands.loadChunk(emitter, slice, chunk));
  operands.copyValues(emitter, slice, turn.bits.count, buffer,
                      placeOf(emitter, turn.begin));
  NVVM::CpAsyncCommitGroupOp::create(emitter.builder, emitter.loc);
  return turn;
}

/// Multiplies `step`, and copies the values of the warp's next one.
BitmapStringsExpansion::Turn
BitmapStringsExpansion::takeStep(ThreadEmitter &emitter,
                                 const WarpOperands &operands, Value step,
                                 Turn turn) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value next = emitter.add(step, tile.sliceK);
  StepBits behind = operands.loadBits(emitter, emitter.add(next, tile.sliceK));
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  // Lanes see what others copied, and have read what was there before.
  syncWarp(builder, loc);
  Value isAtBegin = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::eq, turn.begin, emitter.i32(0));
  Value begin = emitter.orZero(emitter.sub(emitter.i32(room), turn.next.count),
                               isAtBegin);
  auto copy = [&](Value count) {
    operands.copyValues(emitter, next, count, buffer, placeOf(emitter, begin));
  };
  // Whether the values of both steps have room, with the slot behind a step.
  Value fits = emitter.less(emitter.add(turn.bits.count, turn.next.count),
                            emitter.i32(room));
  copy(emitter.orZero(turn.next.count, fits));
  multiplyStep(emitter, operands, step, next, turn);
  Value isLate =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, fits,
                            arith::ConstantIntOp::create(builder, loc, 0, 1));
  emitter.onlyIf(isLate, [&] {
    syncWarp(builder, loc);
    copy(turn.next.count);
  });
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  turn.bits = turn.next;
  turn.next = behind;
  turn.begin = begin;
  return turn;
}

SmallVector<Value>
BitmapStringsExpansion::expand(OpBuilder &builder,
                               SparseProductOpInterface product,
                               ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  WarpOperands operands(emitter, op, *lane, firstRow, firstColumn,
                        columnFragments());
  Turn first = start(emitter, operands, sums);
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), slice, emitter.i32(operands.steps()),
      emitter.i32(tile.sliceK), first.pack(),
      [&](OpBuilder &inner, Location loc, Value step, ValueRange carried) {
        ThreadEmitter body{inner, loc};
        Turn turn = takeStep(body, operands, step, first.unpack(carried));
        scf::YieldOp::create(inner, loc, turn.pack());
      });
  return SmallVector<Value>(loop.getResults().take_front(sums.size()));
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createBitmapStringsExpansion(SpMMOp op, const GpuTile &tile) {
  if (failed(verifySparseProduct(op)))
    return failure();
  ::nm::ScheduleFields fields = getFields(op.getScheduleAttr());
  if (op.getTransposeA())
    return op.emitOpError()
           << "expected a row-major A for weights that are kept anywhere";
  if (fields.warpN != BitmapStrings::kColumns || fields.splitK != 1 ||
      fields.stages < ::nm::kLeastStringStages)
    return op.emitOpError()
           << "expected warps of " << BitmapStrings::kColumns
           << " columns, k in one part, and at least "
           << ::nm::kLeastStringStages
           << " stages for weights that are kept anywhere, but got "
           << op.getScheduleAttr();
  if (ShapedType::isDynamic(cast<SparseProductOpInterface>(*op).getStaticK()))
    return op.emitOpError() << "expected a known k";
  return std::unique_ptr<TileExpansion>(
      std::make_unique<BitmapStringsExpansion>(op, tile, fields));
}
