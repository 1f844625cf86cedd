//===- MmaBitmapStrategy.cpp - Condensed weights, expanded by lanes -------===//
//
// A warp makes a tile of C^T by mma.sync m16n8k16, whose 16 rows are columns of
// B and whose 8 columns are rows of A. Weights stay condensed in shared memory;
// a lane has the bits of its runs (see nm/Format/Bitmap.h) in registers, and
// reads a run's values one after the other: the address of a row's value is
// that of the run's first one and, for each row before it that is kept, a slot.
// A dp4a adds up those of four rows, whose bits stand in a byte each, and a
// prmt puts two values, or zeros, into a word.
//
// For an instruction of 16 columns a lane has 8 loads of 2 bytes, which meet no
// bank twice, 8 dp4a, 4 prmt and 10 other instructions, none of them a popc, of
// which a multiprocessor has 16 results a clock. What an instruction multiplies
// is loaded while those before it are made.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/TensorAddress.h"
#include "GPU/Strategies/Mma/SteppedExpansion.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/Bitmap.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <deque>

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using Emitted = EmittedIndex;

static constexpr int64_t kStepRows = BitmapForm::kStepRows;
static constexpr int64_t kLaneColumns = BitmapForm::kLaneColumns;
/// Bytes of a value, and of what all lanes have in a slot.
static constexpr int64_t kValueBytes = 2;
static constexpr int64_t kSlotBytes = BitmapForm::kSlotValues * kValueBytes;
/// Words of A, two values each, that an instruction takes of a lane, and
/// instructions that a lane's chunk of A is for.
static constexpr int64_t kQuadWords = BitmapForm::kQuadRows / 2;
static constexpr int64_t kQuadsOfChunk =
    BitmapForm::kChunkRows / BitmapForm::kQuadRows;
/// Instructions whose operands are loaded before those of one are used.
static constexpr int64_t kProductsAhead = 2;

namespace {
/// What a lane has still to read of a run.
struct RunReader {
  /// The run's bits.
  Value bits;
  /// The address of the next value, or of the last one that was read.
  Value next;
  /// Whether a row that is not kept reads the value of the last one that was,
  /// and `next` is of that; else that of the next one that will be.
  bool readsLast = false;
  /// The last address that may be read, where the warp has no other run of its
  /// column; else null.
  Value end;
};

/// Values of four rows of a run, of which those that are kept count, and what
/// prmt makes two words of them by.
struct LoadedQuad {
  std::array<Value, BitmapForm::kQuadRows> values;
  Value selectors;
};

/// What one instruction multiplies for each eight rows of A: quad `number` of
/// both columns of block `block`, and the lane's words of the chunk of A.
struct LoadedProduct {
  int64_t block, number;
  std::array<LoadedQuad, kLaneColumns> weights;
  SmallVector<SmallVector<Value>> activations;
};

class MmaBitmapExpansion : public SteppedExpansion {
public:
  MmaBitmapExpansion(SpMMOp op, const GpuTile &tile)
      : SteppedExpansion(op, tile, kStepRows),
        form(BitmapForm::of(op.getPattern().getPattern())) {}

  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return steps() * BitmapForm::kRuns * form.slots;
  }

private:
  SmallVector<RunReader> startRuns(ThreadEmitter &emitter, Value values,
                                   int64_t block, int64_t step) const;
  SmallVector<Value> loadChunk(ThreadEmitter &emitter, Value flat, int64_t step,
                               int64_t chunk, int64_t fragment) const;
  LoadedQuad loadQuad(ThreadEmitter &emitter, RunReader &run,
                      int64_t quad) const;
  void multiplyQuad(ThreadEmitter &emitter, const LoadedProduct &loaded,
                    MutableArrayRef<Value> sums);
  Value offsetOfChunk(ThreadEmitter &emitter, int64_t step, int64_t chunk,
                      int64_t fragment) const;

  BitmapForm form;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The bits of the lane's runs: of each 16 columns and step, a word of each of
/// two columns.
SmallVector<Value>
MmaBitmapExpansion::prefetch(OpBuilder &builder,
                             SparseProductOpInterface product,
                             llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, product.getLoc()};
  Value indices = viewOf(product.getIndices());
  SmallVector<Value> words;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t step = 0; step < steps(); ++step) {
      auto place = [&](int64_t dim, Value index) {
        return clampToDim(emitter, indices, dim, emitter.toIndex(index));
      };
      Value bytes = vector::LoadOp::create(
          builder, emitter.loc,
          VectorType::get(BitmapForm::kLaneBytes, builder.getI8Type()), indices,
          ValueRange{
              place(0, blockOfTile(emitter, block)),
              place(1, stepOfTile(emitter, step)),
              emitter.toIndex(emitter.mul(lane->lane, BitmapForm::kLaneBytes))},
          /*nontemporal=*/false, llvm::MaybeAlign(BitmapForm::kLaneBytes));
      llvm::append_range(words, emitter.words(bytes));
    }
  return words;
}

/// The runs of the lane's two columns of a block, of a tile at `values`. Rows
/// that are not kept read a slot of another: of the warp's last run one before,
/// and of others one behind, so that there is one.
SmallVector<RunReader> MmaBitmapExpansion::startRuns(ThreadEmitter &emitter,
                                                     Value values,
                                                     int64_t block,
                                                     int64_t step) const {
  Value number =
      emitter.add(emitter.mul(blockOfTile(emitter, block), tile.k / kStepRows),
                  stepOfTile(emitter, step));
  Value first =
      emitter.add(emitter.mul(number, form.valuesOfStep() * kValueBytes),
                  emitter.mul(lane->lane, kLaneColumns * kValueBytes));
  first = emitter.add(first, values);
  bool isAlone = blocks() * steps() == 1;
  SmallVector<RunReader> runs;
  for (int64_t column = 0; column < kLaneColumns; ++column) {
    RunReader run;
    run.bits = prefetched[(block * steps() + step) * kLaneColumns + column];
    run.next = emitter.add(first, column * kValueBytes);
    if (isAlone)
      run.end = emitter.add(run.next, (form.slots - 1) * kSlotBytes);
    else if (block + 1 == blocks() && step + 1 == steps())
      run.readsLast = true;
    if (run.readsLast)
      run.next = emitter.add(run.next, -kSlotBytes);
    runs.push_back(run);
  }
  return runs;
}

/// Where the words of chunk `chunk` of the lane's run stand, of one row of each
/// eight of A; in an m-major tile, where the row of k starts that the lane
/// names to ldmatrix, which gives lanes two rows of each of four matrices.
Value MmaBitmapExpansion::offsetOfChunk(ThreadEmitter &emitter, int64_t step,
                                        int64_t chunk, int64_t fragment) const {
  Emitted pair{&emitter, lane->pair},
      number{&emitter, emitter.i32(chunk * BitmapForm::kChunkRows)};
  Value firstK = firstKOfSlice(emitter), m = rowOfFragment(emitter, fragment);
  MatrixRows rows = rowsOfA(emitter);
  if (!isMMajor)
    return rows.placeWord(
        rows.placeRow(emitter.add(m, lane->row)),
        emitter.add(firstK, BitmapForm::rowOf(pair, number).value),
        step * kStepRows);
  Emitted named{&emitter, lane->lane};
  Emitted run = named % kMatrixSide / 2;
  Value k = BitmapForm::rowOf(run, number + named / kMatrixSide * 2 + named % 2)
                .value;
  return rows.placeWord(
      rows.placeRow(emitter.add(emitter.add(firstK, k), step * kStepRows)), m,
      0);
}

/// The lane's words of a chunk, of one row of each eight of A.
SmallVector<Value> MmaBitmapExpansion::loadChunk(ThreadEmitter &emitter,
                                                 Value flat, int64_t step,
                                                 int64_t chunk,
                                                 int64_t fragment) const {
  Value place = offsetOfChunk(emitter, step, chunk, fragment);
  if (isMMajor) {
    SquareWords words = loadMatrices(emitter, flat, place, /*transpose=*/true);
    return SmallVector<Value>(words.begin(), words.end());
  }
  Value loaded = vector::LoadOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(BitmapForm::kChunkRows, types.element), flat,
      ValueRange{place},
      /*nontemporal=*/false,
      llvm::MaybeAlign(BitmapForm::kChunkRows * kValueBytes));
  return emitter.words(loaded);
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// `start`, and a slot for each of the first `count` rows of four that is kept,
/// of which `isKept` has a byte each.
static Value skipKept(ThreadEmitter &emitter, Value isKept, int64_t count,
                      Value start) {
  constexpr uint32_t kOfAll = kSlotBytes * 0x01010101u;
  if (count == 0)
    return start;
  OpBuilder &builder = emitter.builder;
  auto asBytes = [&](Value word) -> Value {
    return LLVM::BitcastOp::create(
        builder, emitter.loc, VectorType::get(4, builder.getI8Type()), word);
  };
  Value slots = emitter.i32(int32_t(kOfAll >> 8 * (4 - count)));
  return NVVM::DotAccumulate4WayOp::create(
      builder, emitter.loc, builder.getI32Type(), asBytes(isKept),
      NVVM::DotAccumulateType::UNSIGNED, asBytes(slots),
      NVVM::DotAccumulateType::UNSIGNED, start);
}

/// The 16 bits at `address` of shared memory, as i32.
static Value loadValue(ThreadEmitter &emitter, Value address) {
  OpBuilder &builder = emitter.builder;
  Value bits = LLVM::LoadOp::create(
      builder, emitter.loc, builder.getI16Type(),
      toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared),
      /*alignment=*/kValueBytes);
  return arith::ExtUIOp::create(builder, emitter.loc, builder.getI32Type(),
                                bits);
}

/// Loads a value for each of the four rows of quad `quad`: for one that is not
/// kept that of another row, which is not used.
LoadedQuad MmaBitmapExpansion::loadQuad(ThreadEmitter &emitter, RunReader &run,
                                        int64_t quad) const {
  // Of prmt's two words, values of two rows whose upper halves are zero, it
  // picks bytes 0 and 1 of a row that is kept, else 2 and 3: 0x22 more.
  constexpr uint32_t kNoneKept = 0x76327632;
  constexpr int64_t kDifference = 0x22, kLowBits = 0x01010101;
  Value isKept = emitter.mask(emitter.shiftRight(run.bits, quad), kLowBits);
  LoadedQuad loaded;
  loaded.selectors = emitter.add(emitter.mul(isKept, -kDifference),
                                 emitter.i32(int32_t(kNoneKept)));
  for (int64_t row = 0; row < BitmapForm::kQuadRows; ++row) {
    Value place = skipKept(emitter, isKept, row + run.readsLast, run.next);
    loaded.values[row] =
        loadValue(emitter, run.end ? emitter.least(place, run.end) : place);
  }
  run.next = skipKept(emitter, isKept, BitmapForm::kQuadRows, run.next);
  return loaded;
}

void MmaBitmapExpansion::multiplyQuad(ThreadEmitter &emitter,
                                      const LoadedProduct &loaded,
                                      MutableArrayRef<Value> sums) {
  auto makeWord = [&](int64_t column, int64_t number) -> Value {
    const LoadedQuad &quad = loaded.weights[column];
    return NVVM::PermuteOp::create(
        emitter.builder, emitter.loc, emitter.builder.getI32Type(),
        quad.values[2 * number], quad.values[2 * number + 1],
        emitter.shiftRight(quad.selectors, 16 * number),
        NVVM::PermuteMode::DEFAULT);
  };
  // Rows c and c + 8 of the instruction, of its k 0 to 7 and then of 8 to 15.
  std::array<Value, 4> weights = {makeWord(0, 0), makeWord(1, 0),
                                  makeWord(0, 1), makeWord(1, 1)};
  for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
    multiply(
        emitter, types.element, weights,
        ArrayRef(loaded.activations[fragment])
            .slice(loaded.number % kQuadsOfChunk * kQuadWords, kQuadWords),
        sums.slice((loaded.block * columnFragments() + fragment) * kMmaSums,
                   kMmaSums));
}

SmallVector<Value> MmaBitmapExpansion::expand(OpBuilder &builder,
                                              SparseProductOpInterface product,
                                              ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  Value flat = flattenBuffer(emitter, op.getA());
  Value values = emitter.toI32(getElementAddress(emitter, op.getValues()));
  SmallVector<Value> result(sums);
  std::deque<LoadedProduct> ahead;
  auto multiplyFirst = [&] {
    multiplyQuad(emitter, ahead.front(), result);
    ahead.pop_front();
  };
  for (int64_t step = 0; step < steps(); ++step) {
    SmallVector<SmallVector<RunReader>> runs;
    for (int64_t block = 0; block < blocks(); ++block)
      runs.push_back(startRuns(emitter, values, block, step));
    SmallVector<SmallVector<Value>> activations(columnFragments());
    for (int64_t quad = 0; quad < BitmapForm::kQuads; ++quad) {
      if (quad % kQuadsOfChunk == 0)
        for (auto [fragment, words] : llvm::enumerate(activations))
          words = loadChunk(emitter, flat, step, quad / kQuadsOfChunk,
                            int64_t(fragment));
      for (auto [block, ofBlock] : llvm::enumerate(runs)) {
        ahead.push_back({int64_t(block),
                         quad,
                         {loadQuad(emitter, ofBlock[0], quad),
                          loadQuad(emitter, ofBlock[1], quad)},
                         activations});
        if (int64_t(ahead.size()) > kProductsAhead)
          multiplyFirst();
      }
    }
  }
  while (!ahead.empty())
    multiplyFirst();
  return result;
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaBitmapExpansion(SparseProductOpInterface product,
                                   const GpuTile &tile) {
  FailureOr<SpMMOp> op = getSparseProduct(product, tile);
  if (failed(op))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<MmaBitmapExpansion>(*op, tile));
}
