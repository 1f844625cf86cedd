//===- MmaSpStrategy.cpp - Products by mma.sp -----------------------------===//
//
// A warp makes a tile of C^T by mma.sp m16n8, of k32 in 16-bit types and of k64
// in 8-bit ones: the weights are the sparse operand, whose 16 rows are columns
// of B, and rows of A the other. A lane loads its part of the weights by one
// access of 16 bytes, for they are packed in the order of the instruction's
// fragments, and rows of A by ldmatrix.
//
//===----------------------------------------------------------------------===//

#include "SparseOperands.h"
#include "WarpExpansion.h"

#include "nm/Dialect/NM/GPUTransforms/SparseOperandTile.h"
#include "nm/Dialect/NM/IR/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

/// The PTX version that has ordered metadata (8.5), which is fast on all chips.
/// Without it ptxas warns from sm_90 on.
static constexpr int64_t kOrderedMetadataPtx = 85;

namespace {
/// One instruction's rows of k: half a step of 16-bit elements, a whole one of
/// 8-bit ones.
struct Half {
  int64_t step, number;
};

/// The words that a lane has of what a half multiplies: for each 16 columns of
/// B, and for each 8 rows of A, four.
struct HalfOperands {
  SmallVector<SquareWords> weights, activations;
};

class MmaSpExpansion : public WarpExpansion {
public:
  MmaSpExpansion(SpMMOp op, const GpuTile &tile, bool isOrdered)
      : WarpExpansion(tile,
                      cast<MmaSpScheduleAttr>(op.getScheduleAttr()).getWarp(),
                      SparseTypes(op).sum),
        isKMajor(op.getTransposeA()), isOrdered(isOrdered), types(op),
        form(types.form(SparseOperand::Order::Mma)),
        swizzleOfA(cast<TileLayoutAttr>(
                       cast<MemRefType>(op.getA().getType()).getLayout())
                       .getLayout()
                       .xors) {}

  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return steps() * SparseOperand::kStepValues;
  }

private:
  bool areRowsOfN() const override { return true; }
  int64_t blocks() const { return rowSquares(); }
  /// Of a slice.
  int64_t steps() const {
    return tile.k / SparseOperand::kStepRows / tile.sliceK;
  }
  /// Step `number` of the warp's slice in the tile, i32.
  Value stepOfTile(ThreadEmitter &emitter, int64_t number) const {
    return emitter.add(emitter.mul(slice, steps()), number);
  }

  HalfOperands load(ThreadEmitter &emitter, SpMMOp op, const Half &half);
  Value placeOfA(ThreadEmitter &emitter, const Half &half, int64_t fragment);
  void multiplyHalf(ThreadEmitter &emitter, const Half &half,
                    const HalfOperands &operands, MutableArrayRef<Value> sums);
  Value emitProduct(ThreadEmitter &emitter, ArrayRef<Value> weights,
                    ArrayRef<Value> activations, Value metadata,
                    int64_t selector, ArrayRef<Value> sums);
  void multiplySparse(ThreadEmitter &emitter, const SquareWords &weights,
                      const SquareWords &activations, Value metadata,
                      int64_t selector, MutableArrayRef<Value> sums);

  /// Whether A's tile is [k x m].
  bool isKMajor;
  /// Whether the instruction says that the metadata is in order.
  bool isOrdered;
  SparseTypes types;
  SparseOperand form;
  /// What A's tile XORs into the columns of its rows.
  std::vector<::nm::BitXor> swizzleOfA;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The lane's words of metadata, one for each 16 columns and step.
SmallVector<Value>
MmaSpExpansion::prefetch(OpBuilder &builder, SparseProductOpInterface product,
                         llvm::function_ref<Value(Value)> viewOf) {
  ThreadEmitter emitter{builder, product.getLoc()};
  Value indices = viewOf(product.getIndices());
  SmallVector<Value> words;
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t step = 0; step < steps(); ++step)
      words.push_back(loadMetadata(
          emitter, indices,
          emitter.add(emitter.div(firstColumn, kSquareSide), block),
          stepOfTile(emitter, step), emitter.mul(lane->lane, 4)));
  return words;
}

/// Where the row of A's tile that the lane names to ldmatrix starts.
Value MmaSpExpansion::placeOfA(ThreadEmitter &emitter, const Half &half,
                               int64_t fragment) {
  int64_t k = half.step * SparseOperand::kStepRows +
              half.number * form.instructionRows();
  Value firstK = emitter.mul(slice, steps() * SparseOperand::kStepRows);
  Value m = emitter.add(firstRow, fragment * kMatrixSide);
  MatrixRows rows(emitter, isKMajor ? tile.m : tile.k, swizzleOfA);
  // Four matrices of 16 bytes of eight rows, one after the other along k.
  if (isKMajor)
    return rows.placeWord(
        rows.placeRow(emitter.add(emitter.add(firstK, lane->lane), k)), m, 0);
  Value row = emitter.add(m, emitter.rem(lane->lane, kMatrixSide));
  Value word =
      emitter.mul(emitter.div(lane->lane, kMatrixSide), 128 / types.bits());
  return rows.placeWord(rows.placeRow(row), emitter.add(firstK, word), k);
}

HalfOperands MmaSpExpansion::load(ThreadEmitter &emitter, SpMMOp op,
                                  const Half &half) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  HalfOperands operands;
  // 16 bytes of a lane.
  int64_t perLane = 128 / types.bits();
  for (int64_t block = 0; block < blocks(); ++block) {
    Value place = emitter.add(emitter.mul(lane->lane, perLane),
                              half.number * perLane * kWarpSize);
    Value panel = emitter.add(emitter.div(firstColumn, kSquareSide), block);
    Value loaded = vector::LoadOp::create(
        builder, loc, VectorType::get(perLane, types.element), op.getValues(),
        ValueRange{emitter.toIndex(panel),
                   emitter.toIndex(stepOfTile(emitter, half.step)),
                   emitter.toIndex(place)},
        /*nontemporal=*/false, llvm::MaybeAlign(16));
    SquareWords words;
    llvm::copy(emitter.words(loaded), words.begin());
    operands.weights.push_back(words);
  }
  Value flat = flattenBuffer(emitter, op.getA());
  for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
    operands.activations.push_back(loadMatrices(
        emitter, flat, placeOfA(emitter, half, fragment), isKMajor));
  return operands;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// An instruction, which gives a struct of sums.
Value MmaSpExpansion::emitProduct(ThreadEmitter &emitter,
                                  ArrayRef<Value> weights,
                                  ArrayRef<Value> activations, Value metadata,
                                  int64_t selector, ArrayRef<Value> sums) {
  NVVM::MMATypes element = *NVVM::symbolizeMMATypes(types.name());
  auto result = LLVM::LLVMStructType::getLiteral(
      emitter.builder.getContext(), SmallVector<Type>(sums.size(), sum));
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (sum.isInteger())
    overflow = NVVM::MMAIntOverflow::wrapped;
  auto product = NVVM::MmaSpOp::create(
      emitter.builder, emitter.loc, result,
      toFragment(emitter, types.element, weights),
      toFragment(emitter, types.element, activations), ValueRange(sums),
      metadata, emitter.i32(selector),
      ArrayRef<int64_t>{kSquareSide, kMatrixSide, form.instructionRows()},
      overflow, std::array<NVVM::MMATypes, 2>{element, element});
  product.setOrderedMetadata(isOrdered);
  return product;
}

void MmaSpExpansion::multiplySparse(ThreadEmitter &emitter,
                                    const SquareWords &weights,
                                    const SquareWords &activations,
                                    Value metadata, int64_t selector,
                                    MutableArrayRef<Value> sums) {
  Value product =
      emitProduct(emitter, weights, activations, metadata, selector, sums);
  for (auto [i, result] : llvm::enumerate(sums))
    result = LLVM::ExtractValueOp::create(emitter.builder, emitter.loc, product,
                                          int64_t(i));
}

void MmaSpExpansion::multiplyHalf(ThreadEmitter &emitter, const Half &half,
                                  const HalfOperands &operands,
                                  MutableArrayRef<Value> sums) {
  for (int64_t block = 0; block < blocks(); ++block)
    for (int64_t fragment = 0; fragment < columnFragments(); ++fragment)
      multiplySparse(
          emitter, operands.weights[block], operands.activations[fragment],
          prefetched[block * steps() + half.step], half.number,
          sums.slice((block * columnFragments() + fragment) * kMmaSums,
                     kMmaSums));
}

SmallVector<Value> MmaSpExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  SmallVector<Half> halves;
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t number = 0; number < form.instructions(); ++number)
      halves.push_back({step, number});
  copyPlaces.clear();
  SmallVector<Value> result(sums);
  HalfOperands next = load(emitter, op, halves.front());
  for (auto [i, half] : llvm::enumerate(halves)) {
    HalfOperands operands = std::move(next);
    copyPlaces.push_back(&*std::prev(builder.getInsertionPoint()));
    // What a half needs is loaded while the one before it is multiplied.
    if (i + 1 < halves.size())
      next = load(emitter, op, halves[i + 1]);
    multiplyHalf(emitter, half, operands, result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaSpExpansion(SparseProductOpInterface product,
                               const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError()
           << "expected nm.spmm, the product that strategy mma_sp has";
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(chip) || failed(verifySparseProduct(op)) ||
      failed(verifyStagedActivations(op, tile)))
    return failure();
  if (Type element = op.getValuesType().getElementType();
      isa<Float8E4M3FNType>(element))
    return op.emitOpError() << "expected operands of f16, bf16 or i8 for "
                               "strategy mma_sp, but got "
                            << element;
  return std::unique_ptr<TileExpansion>(std::make_unique<MmaSpExpansion>(
      op, tile, chip->ptxVersion >= kOrderedMetadataPtx));
}
