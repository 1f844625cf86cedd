//===- MmaSpStrategy.cpp - Products by mma.sp -----------------------------===//
//
// A warp makes a tile of C^T by mma.sp m16n8, of k32 in 16-bit types and of k64
// in 8-bit ones: the weights are the sparse operand, whose 16 rows are columns
// of B, and rows of A the other. A lane loads its part of the weights by one
// access of 16 bytes, for they are packed in the order of the instruction's
// fragments, and rows of A by ldmatrix. Quantized weights it loads as they are,
// and converts before they are multiplied. Weights in the form of wgmma_sp it
// loads by ldmatrix, too; the instruction's rows r and r + 8 are then columns
// 2r and 2r + 1, which lanes put in order before they are stored.
//
// Sums of 8-bit floats start at zero in each instruction, of 32 kept rows, and
// are added to the lane's by the CUDA cores: an Ada's tensor cores cut the sums
// that they are given off after 13 bits of mantissa, as a Hopper's wgmma does
// (SageAttention2, arXiv 2411.10958, measured both).
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/DequantizeWords.h"
#include "GPU/Strategies/Mma/MmaSpWarpgroups.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Mma/SparseSteps.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

/// The PTX version that has ordered metadata (8.5), which is fast on all chips.
/// Without it ptxas warns from sm_90 on.
static constexpr int64_t kOrderedMetadataPtx = 85;

namespace {
/// The words that a lane has of what a half multiplies: for each 8 rows of A
/// four, and for each 16 columns of B as many, or one or two of quantized ones.
struct HalfOperands {
  SmallVector<SmallVector<Value>> weights;
  SmallVector<SquareWords> activations;
};

class MmaSpExpansion : public SparseSteps {
public:
  MmaSpExpansion(SpMMOp op, const GpuTile &tile, bool isOrdered)
      : SparseSteps(op, tile), isOrdered(isOrdered) {}

  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> sums, Value initial) override;

private:
  bool hasPairs() const {
    return form.order == SparseOperand::Order::WgmmaPairs;
  }

  SmallVector<Value> loadTile(ThreadEmitter &emitter, Value indices,
                              Value scales) const;
  SmallVector<Value> loadPairs(ThreadEmitter &emitter, SpMMOp op,
                               const Half &half, int64_t block) const;
  SmallVector<Value> getWeights(ThreadEmitter &emitter, const Half &half,
                                const HalfOperands &operands,
                                int64_t block) const;
  HalfOperands load(ThreadEmitter &emitter, SpMMOp op, const Half &half);
  Value offsetOfA(ThreadEmitter &emitter, const Half &half, int64_t fragment);
  void multiplyHalf(ThreadEmitter &emitter, const Half &half,
                    const HalfOperands &operands, MutableArrayRef<Value> sums);

  /// Whether the instruction says that the metadata is in order.
  bool isOrdered;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The lane's words of metadata, one for each 16 columns and step, and its
/// scales.
SmallVector<Value> MmaSpExpansion::loadTile(ThreadEmitter &emitter,
                                            Value indices, Value scales) const {
  SmallVector<Value> words;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t step = 0; step < steps(); ++step)
      words.push_back(loadMetadata(emitter, indices, block, step));
  if (!quantization)
    return words;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t number = 0; number < scalesOfSlice(); ++number)
      words.push_back(loadScales(emitter, scales, block, number));
  return words;
}

/// What copies bring to workgroup memory is loaded when they have arrived.
SmallVector<Value>
MmaSpExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface product,
                         llvm::function_ref<Value(Value)> viewOf) {
  if (isStaged(product.getIndices()))
    return {};
  ThreadEmitter emitter{builder, product.getLoc()};
  Value scales = quantization ? viewOf(product.getScales()) : Value();
  return loadTile(emitter, viewOf(product.getIndices()), scales);
}

/// Where the row of A's tile that the lane names to ldmatrix starts.
Value MmaSpExpansion::offsetOfA(ThreadEmitter &emitter, const Half &half,
                                int64_t fragment) {
  int64_t k = rowOf(half);
  Value firstK = firstKOfSlice(emitter), m = rowOfFragment(emitter, fragment);
  MatrixRows rows = rowsOfA(emitter);
  // Four matrices of 16 bytes of eight rows, one after the other along k.
  if (isMMajor)
    return rows.placeWord(
        rows.placeRow(emitter.add(emitter.add(firstK, lane->lane), k)), m, 0);
  Value row = emitter.add(m, emitter.rem(lane->lane, kMatrixSide));
  Value word =
      emitter.mul(emitter.div(lane->lane, kMatrixSide), 128 / types.bits());
  return rows.placeWord(rows.placeRow(row), emitter.add(firstK, word), k);
}

/// The lane's weights of 16 columns in the form of wgmma_sp, of which a row's
/// chunk of 16 bytes is a row of a matrix that ldmatrix loads.
SmallVector<Value> MmaSpExpansion::loadPairs(ThreadEmitter &emitter, SpMMOp op,
                                             const Half &half,
                                             int64_t block) const {
  int64_t ofChunk = 128 / types.bits(), rows = form.columns();
  auto [panel, square] =
      emitter.split(blockOfTile(emitter, block), rows / kSquareSide);
  Value step =
      emitter.add(emitter.mul(panel, tile.k / SparseOperand::kStepRows),
                  stepOfTile(emitter, half.step));
  auto [upper, row] = emitter.split(lane->lane, kSquareSide);
  Value chunk = emitter.add(upper, 2 * half.number);
  row = emitter.add(emitter.mul(square, kSquareSide), row);
  Value place = emitter.add(
      emitter.mul(step, form.valuesOfStep()),
      emitter.mul(emitter.add(emitter.mul(chunk, rows), row), ofChunk));
  SquareWords words =
      loadMatrices(emitter, flattenBuffer(emitter, op.getValues()),
                   emitter.toIndex(place), /*transpose=*/false);
  return SmallVector<Value>(words.begin(), words.end());
}

/// The lane's weights of 16 columns as they are multiplied: quantized ones are
/// converted.
SmallVector<Value> MmaSpExpansion::getWeights(ThreadEmitter &emitter,
                                              const Half &half,
                                              const HalfOperands &operands,
                                              int64_t block) const {
  ArrayRef<Value> words = operands.weights[block];
  if (!quantization)
    return SmallVector<Value>(words);
  int64_t metadata = blocks() * steps();
  Value scales = prefetched[metadata + block * scalesOfSlice() + scaleOf(half)];
  SquareWords weights =
      dequantizeWords(emitter, types.element, quantization.getBits(), words,
                      scaleRows(emitter, types.element, scales));
  return SmallVector<Value>(weights.begin(), weights.end());
}

HalfOperands MmaSpExpansion::load(ThreadEmitter &emitter, SpMMOp op,
                                  const Half &half) {
  HalfOperands operands;
  for (int64_t block = 0; block < blocks(); ++block)
    operands.weights.push_back(hasPairs()
                                   ? loadPairs(emitter, op, half, block)
                                   : loadStored(emitter, op, half, block));
  Value flat = flattenBuffer(emitter, op.getA());
  for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
    operands.activations.push_back(loadMatrices(
        emitter, flat, offsetOfA(emitter, half, fragment), isMMajor));
  return operands;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void MmaSpExpansion::multiplyHalf(ThreadEmitter &emitter, const Half &half,
                                  const HalfOperands &operands,
                                  MutableArrayRef<Value> sums) {
  for (int64_t block = 0; block < blocks(); ++block) {
    SmallVector<Value> weights = getWeights(emitter, half, operands, block);
    for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
      multiply(emitter, types.element, weights, operands.activations[fragment],
               sums.slice((block * columnFragments() + fragment) * kMmaSums,
                          kMmaSums),
               MmaMetadata{prefetched[block * steps() + half.step], half.number,
                           isOrdered});
  }
}

SmallVector<Value> MmaSpExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  SmallVector<Half> halves = listHalves();
  copyAddresses.clear();
  SmallVector<Value> result(sums);
  if (isStaged(op.getIndices()))
    prefetched = loadTile(emitter, op.getIndices(), op.getScales());
  HalfOperands next = load(emitter, op, halves.front());
  for (auto [i, half] : llvm::enumerate(halves)) {
    HalfOperands operands = std::move(next);
    copyAddresses.push_back(&*std::prev(builder.getInsertionPoint()));
    // What a half needs is loaded while the one before it is multiplied.
    if (i + 1 < halves.size())
      next = load(emitter, op, halves[i + 1]);
    multiplyHalf(emitter, half, operands, result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The lane's four sums of a matrix whose rows r and r + 8 are columns 2r and
/// 2r + 1, as those of one whose row r is column r.
static void putInOrder(ThreadEmitter &emitter, const MmaLane &lane,
                       MutableArrayRef<Value> sums) {
  auto [row, isOdd] = emitter.split(lane.row, 2);
  Value first = emitter.add(emitter.mul(row, 4), lane.pair);
  Value odd =
      arith::CmpIOp::create(emitter.builder, emitter.loc,
                            arith::CmpIPredicate::ne, isOdd, emitter.i32(0));
  SmallVector<Value> given(sums);
  for (int64_t half : {0, 1}) {
    Value source = emitter.add(first, half * kSquareSide);
    for (int64_t i : {0, 1})
      sums[2 * half + i] =
          arith::SelectOp::create(emitter.builder, emitter.loc, odd,
                                  shuffleFrom(emitter, given[2 + i], source),
                                  shuffleFrom(emitter, given[i], source));
  }
}

void MmaSpExpansion::end(OpBuilder &builder, SparseProductOpInterface product,
                         ArrayRef<Value> sums, Value initial) {
  SmallVector<Value> ordered(sums);
  ThreadEmitter emitter{builder, product.getLoc()};
  if (hasPairs())
    for (int64_t i = 0; i < int64_t(ordered.size()); i += kMmaSums)
      putInOrder(emitter, *lane, MutableArrayRef(ordered).slice(i, kMmaSums));
  WarpExpansion::end(builder, product, ordered, initial);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

static LogicalResult verifyChip(SparseProductOpInterface op,
                                const ::nm::GpuChip &chip) {
  std::optional<::nm::ElementType> type =
      getElementType(op.getAType().getElementType());
  std::optional<std::string> reason =
      type ? ::nm::whyNoMmaSp(*type, chip) : std::nullopt;
  return reason ? op->emitOpError("strategy mma_sp expected ") << *reason
                : success();
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaSpExpansion(SparseProductOpInterface product,
                               const GpuTile &tile) {
  FailureOr<::nm::GpuChip> chip = getChip(product);
  if (failed(chip) || failed(verifyChip(product, *chip)))
    return failure();
  FailureOr<SpMMOp> op = getSparseProduct(product, tile);
  if (failed(op))
    return failure();
  if (multipliesByWarpgroups(*op))
    return createMmaSpWarpgroups(*op, tile);
  return std::unique_ptr<TileExpansion>(std::make_unique<MmaSpExpansion>(
      *op, tile, chip->ptxVersion >= kOrderedMetadataPtx));
}
