//===- MmaBitmapStrategy.cpp - Condensed weights, expanded by lanes -------===//
//
// A warp makes a tile of C^T by mma.sync m16n8, of k16 in 16-bit types and of
// k32 in 8-bit ones, whose 16 rows are columns of B and whose 8 columns are
// rows of A. Weights stay condensed in shared memory, and lanes make the words
// of the instruction's operand of them (see BitmapRuns.h). What an instruction
// multiplies is loaded while those before it are made.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/TensorAddress.h"
#include "GPU/Strategies/Mma/BitmapRuns.h"
#include "GPU/Strategies/Mma/BitmapStringsExpansion.h"
#include "GPU/Strategies/Mma/SteppedExpansion.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/BitmapStrings.h"

#include <deque>

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using Emitted = EmittedIndex;

static constexpr int64_t kLaneColumns = BitmapForm::kLaneColumns;
/// Words of A that an instruction takes of a lane, and instructions that a
/// lane's chunk of A is for.
static constexpr int64_t kProductWords = 2;
static constexpr int64_t kProductsOfChunk =
    BitmapForm::kChunkBytes / BitmapForm::kWordBytes / kProductWords;
/// The widest load of global memory.
static constexpr int64_t kMaxLoadBytes = 16;
/// Instructions whose operands are loaded before those of one are used.
static constexpr int64_t kProductsAhead = 2;

namespace {
/// Runs of the lane's two columns of a block.
using RunsOfBlock = std::array<std::unique_ptr<BitmapRun>, kLaneColumns>;

/// What one instruction multiplies for each eight rows of A: rows of both
/// columns of block `block`, and the lane's words of the chunk of A.
struct LoadedProduct {
  int64_t block, number;
  const RunsOfBlock *runs;
  std::array<LoadedRows, kLaneColumns> weights;
  SmallVector<SmallVector<Value>> activations;
};

class MmaBitmapExpansion : public SteppedExpansion {
public:
  MmaBitmapExpansion(SpMMOp op, const GpuTile &tile)
      : SteppedExpansion(op, tile, getForm(op).stepRows()), form(getForm(op)) {}

  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;
  bool prefetchesBeforeLoop() const override { return true; }
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return steps() * BitmapForm::kRuns * form.slots;
  }

private:
  static BitmapForm getForm(SpMMOp op) {
    return BitmapForm::of(op.getPattern().getPattern(),
                          SparseTypes(op).bits() / 8);
  }
  int64_t wordsOfStep() const { return kLaneColumns * form.bitWords(); }
  RunsOfBlock startRuns(ThreadEmitter &emitter, Value values, int64_t block,
                        int64_t step) const;
  SmallVector<Value> loadChunk(ThreadEmitter &emitter, Value flat, int64_t step,
                               int64_t chunk, int64_t fragment) const;
  void multiplyLoaded(ThreadEmitter &emitter, const LoadedProduct &loaded,
                      MutableArrayRef<Value> sums);
  Value offsetOfChunk(ThreadEmitter &emitter, int64_t step, int64_t chunk,
                      int64_t fragment) const;

  BitmapForm form;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The bits of the lane's runs: of each 16 columns and step, the words of each
/// of two columns.
SmallVector<Value>
MmaBitmapExpansion::prefetch(OpBuilder &builder,
                             SparseProductOpInterface product,
                             llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, product.getLoc()};
  Value indices = viewOf(product.getIndices());
  int64_t bytes = std::min(form.laneBytes(), kMaxLoadBytes);
  auto type = VectorType::get(bytes, builder.getI8Type());
  SmallVector<Value> words;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t step = 0; step < steps(); ++step) {
      auto place = [&](int64_t dim, Value index) {
        return clampToDim(emitter, indices, dim, emitter.toIndex(index));
      };
      for (int64_t byte = 0; byte < form.laneBytes(); byte += bytes) {
        Value loaded = vector::LoadOp::create(
            builder, emitter.loc, type, indices,
            ValueRange{place(0, blockOfTile(emitter, block)),
                       place(1, stepOfTile(emitter, step)),
                       emitter.add(emitter.toIndex(emitter.mul(
                                       lane->lane, form.laneBytes())),
                                   byte)},
            /*nontemporal=*/false, llvm::MaybeAlign(bytes));
        llvm::append_range(words, emitter.words(loaded));
      }
    }
  return words;
}

/// The runs of the lane's two columns of a block, of a tile at `values`.
RunsOfBlock MmaBitmapExpansion::startRuns(ThreadEmitter &emitter, Value values,
                                          int64_t block, int64_t step) const {
  Value number = emitter.add(
      emitter.mul(blockOfTile(emitter, block), tile.k / form.stepRows()),
      stepOfTile(emitter, step));
  // A lane's first values are side by side, in a word of all lanes'.
  Value first =
      emitter.add(emitter.mul(number, form.valuesOfStep() * form.bytes),
                  emitter.mul(lane->lane, BitmapForm::kWordBytes));
  first = emitter.add(first, values);
  RunsOfBlock runs;
  for (int64_t column = 0; column < kLaneColumns; ++column) {
    int64_t firstWord =
        (block * steps() + step) * wordsOfStep() + column * form.bitWords();
    runs[column] = BitmapRun::get(
        emitter, form,
        {SmallVector<Value>(
             ArrayRef(prefetched).slice(firstWord, form.bitWords())),
         first, column, (blocks() - 1 - block) * steps() + steps() - 1 - step,
         blocks() * steps() == 1});
  }
  return runs;
}

/// Where the words of chunk `chunk` of the lane's run stand, of one row of each
/// eight of A; in an m-major tile, where the row of k starts that the lane
/// names to ldmatrix, which gives lanes two rows of each of four matrices.
Value MmaBitmapExpansion::offsetOfChunk(ThreadEmitter &emitter, int64_t step,
                                        int64_t chunk, int64_t fragment) const {
  Emitted pair{&emitter, lane->pair},
      number{&emitter, emitter.i32(chunk * form.chunkRows())};
  Value firstK = firstKOfSlice(emitter), m = rowOfFragment(emitter, fragment);
  MatrixRows rows = rowsOfA(emitter);
  if (!isMMajor)
    return rows.placeWord(rows.placeRow(emitter.add(m, lane->row)),
                          emitter.add(firstK, form.rowOf(pair, number).value),
                          step * form.stepRows());
  Emitted named{&emitter, lane->lane};
  Emitted run = named % kMatrixSide / 2;
  Value k = form.rowOf(run, number + named / kMatrixSide * 2 + named % 2).value;
  return rows.placeWord(rows.placeRow(emitter.add(emitter.add(firstK, k),
                                                  step * form.stepRows())),
                        m, 0);
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
      VectorType::get(form.chunkRows(), types.element), flat, ValueRange{place},
      /*nontemporal=*/false, llvm::MaybeAlign(BitmapForm::kChunkBytes));
  return emitter.words(loaded);
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

void MmaBitmapExpansion::multiplyLoaded(ThreadEmitter &emitter,
                                        const LoadedProduct &loaded,
                                        MutableArrayRef<Value> sums) {
  auto makeWord = [&](int64_t column, int64_t number) {
    return (*loaded.runs)[column]->makeWord(emitter, loaded.weights[column],
                                            number);
  };
  // Rows c and c + 8 of the instruction, of the first half of its k and then of
  // the second.
  std::array<Value, 4> weights = {makeWord(0, 0), makeWord(1, 0),
                                  makeWord(0, 1), makeWord(1, 1)};
  for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
    multiply(
        emitter, types.element, weights,
        ArrayRef(loaded.activations[fragment])
            .slice(loaded.number % kProductsOfChunk * kProductWords,
                   kProductWords),
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
  // Runs stay where they are until their last product is made.
  std::deque<RunsOfBlock> runs;
  std::deque<LoadedProduct> ahead;
  auto multiplyFirst = [&] {
    multiplyLoaded(emitter, ahead.front(), result);
    ahead.pop_front();
  };
  for (int64_t step = 0; step < steps(); ++step) {
    auto firstRuns = int64_t(runs.size());
    for (int64_t block = 0; block < blocks(); ++block)
      runs.push_back(startRuns(emitter, values, block, step));
    SmallVector<SmallVector<Value>> activations(columnFragments());
    int64_t products = form.runRows / form.rowsOfProduct();
    for (int64_t product = 0; product < products; ++product) {
      if (product % kProductsOfChunk == 0)
        for (auto [fragment, words] : llvm::enumerate(activations))
          words = loadChunk(emitter, flat, step, product / kProductsOfChunk,
                            int64_t(fragment));
      for (int64_t block = 0; block < blocks(); ++block) {
        const RunsOfBlock &ofBlock = runs[firstRuns + block];
        ahead.push_back({block,
                         product,
                         &ofBlock,
                         {ofBlock[0]->load(emitter, product),
                          ofBlock[1]->load(emitter, product)},
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
  if (::nm::BitmapStrings::isOf(product.getPattern())) {
    FailureOr<SpMMOp> matrix = getMatrixProduct(product);
    if (failed(matrix))
      return failure();
    return createBitmapStringsExpansion(*matrix, tile);
  }
  FailureOr<SpMMOp> op = getSparseProduct(product, tile);
  if (failed(op))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<MmaBitmapExpansion>(*op, tile));
}
