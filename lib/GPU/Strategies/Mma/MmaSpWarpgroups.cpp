//===- MmaSpWarpgroups.cpp - Quantized weights by wgmma.sp ----------------===//
//
// On a Hopper, four warps that each have 16 columns and all rows of a tile make
// C^T by one wgmma.sp m64nNk32 where each would make it by N / 8 mma.sp: the
// fragments of the weights, their metadata and the sums are the same registers.
// Lanes convert the weights, which are packed for mma.sp; the instruction reads
// rows of A from swizzled panels in shared memory, once for four warps.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaSpWarpgroups.h"

#include "GPU/Strategies/Mma/DequantizeWords.h"
#include "GPU/Strategies/Mma/SteppedExpansion.h"
#include "GPU/Strategies/Warpgroup/WgmmaInstructions.h"
#include "GPU/Sums/CompleteSums.h"

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"
#include "nm/Schedule/WarpsByFours.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

namespace {
class WarpgroupExpansionOfMma : public SteppedExpansion {
public:
  WarpgroupExpansionOfMma(SpMMOp op, const GpuTile &tile)
      : SteppedExpansion(op, tile, SparseOperand::kStepRows),
        form(types.form(SparseOperand::Order::Mma)),
        quantization(op.getQuantizationAttr()),
        isPromoted(getFields(op.getScheduleAttr()).promote),
        staysInFlight(
            ::nm::haveProductsInFlight(getFields(op.getScheduleAttr()))) {}

  /// Products in flight read the registers of their weights and metadata.
  int64_t countTurnsAtOnce() const override { return staysInFlight ? 2 : 1; }
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return steps() * SparseOperand::kStepValues;
  }
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> sums, Value initial) override;

private:
  int64_t instructions() const { return steps() * form.instructions(); }
  /// The first row of k of an instruction in the slice.
  int64_t rowOf(int64_t instruction) const {
    return instruction * form.instructionRows();
  }
  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value advanceActivations(ThreadEmitter &emitter, Value descriptor,
                           int64_t row) const;
  Value loadMetadata(ThreadEmitter &emitter, SpMMOp op, int64_t step);
  SmallVector<Value> loadValues(ThreadEmitter &emitter, SpMMOp op,
                                int64_t instruction);
  Value loadScales(ThreadEmitter &emitter, SpMMOp op, int64_t group);
  void multiply(ThreadEmitter &emitter, const SquareWords &weights, Value ofA,
                Value metadata, int64_t selector, MutableArrayRef<Value> sums);

  SparseOperand form;
  QuantizationAttr quantization;
  /// Whether instructions outside of this expansion read the sums of a tile.
  bool isPromoted;
  /// Whether the products of a tile may go on while the next one's begin.
  bool staysInFlight;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The slice's first rows of k of A's tile: 64 of them are a panel of all rows
/// of A, or in an m-major tile 64 lines of each panel.
Value WarpgroupExpansionOfMma::getActivations(ThreadEmitter &emitter,
                                              SpMMOp op) {
  int64_t linesOfStep = isMMajor ? SparseOperand::kStepRows : tile.m;
  // What all lanes of a warp have, in a form that shows it.
  Value ofSlice = shuffleFrom(emitter, slice, emitter.i32(0));
  Value line = emitter.toIndex(emitter.mul(ofSlice, steps() * linesOfStep));
  if (!isMMajor)
    return getKMajorDescriptor(emitter, op.getA(), line);
  Value descriptor = getPanelDescriptor(emitter, op.getA(),
                                        /*panel=*/emitter.index(0), tile.k);
  constexpr int64_t kChunks = kPanelRowBytes / ::nm::MatrixDescriptor::kChunk;
  Value chunks = arith::IndexCastOp::create(emitter.builder, emitter.loc,
                                            emitter.builder.getI64Type(),
                                            emitter.mul(line, kChunks));
  return arith::AddIOp::create(emitter.builder, emitter.loc, descriptor,
                               chunks);
}

/// Those from row `row` of the slice on.
Value WarpgroupExpansionOfMma::advanceActivations(ThreadEmitter &emitter,
                                                  Value descriptor,
                                                  int64_t row) const {
  if (isMMajor)
    return advanceDescriptor(emitter, descriptor, row * kPanelRowBytes);
  int64_t bytes = row * types.bits() / 8;
  return advanceDescriptor(emitter, descriptor,
                           bytes / kPanelRowBytes * tile.m * kPanelRowBytes +
                               bytes % kPanelRowBytes);
}

/// The lane's metadata of the warp's 16 columns and a step.
Value WarpgroupExpansionOfMma::loadMetadata(ThreadEmitter &emitter, SpMMOp op,
                                            int64_t step) {
  return loadStagedMetadata(emitter, op.getIndices(),
                            {emitter.toIndex(blockOfTile(emitter, 0)),
                             emitter.toIndex(stepOfTile(emitter, step)),
                             emitter.toIndex(emitter.mul(lane->lane, 4))});
}

/// The lane's stored values of an instruction.
SmallVector<Value> WarpgroupExpansionOfMma::loadValues(ThreadEmitter &emitter,
                                                       SpMMOp op,
                                                       int64_t instruction) {
  int64_t step = instruction / form.instructions(),
          half = instruction % form.instructions(),
          bytes = 128 / types.bits() * quantization.getBits() / 8;
  Value place =
      emitter.add(emitter.mul(lane->lane, bytes), half * bytes * kWarpSize);
  Value loaded = vector::LoadOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(bytes, emitter.builder.getI8Type()), op.getValues(),
      ValueRange{emitter.toIndex(blockOfTile(emitter, 0)),
                 emitter.toIndex(stepOfTile(emitter, step)),
                 emitter.toIndex(place)},
      /*nontemporal=*/false, llvm::MaybeAlign(uint64_t(bytes)));
  return emitter.words(loaded);
}

/// The scales of the lane's two columns in a group of the slice.
Value WarpgroupExpansionOfMma::loadScales(ThreadEmitter &emitter, SpMMOp op,
                                          int64_t group) {
  int64_t rows = std::min(quantization.getGroup(), tile.k);
  Value row = emitter.add(emitter.div(firstKOfSlice(emitter), rows), group),
        column = emitter.add(firstColumn, lane->row);
  SmallVector<Value> both;
  for (int64_t half : {0, 1})
    both.push_back(memref::LoadOp::create(
        emitter.builder, emitter.loc, op.getScales(),
        ValueRange{emitter.toIndex(row),
                   emitter.toIndex(emitter.add(column, half * kMatrixSide))}));
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc, VectorType::get(2, types.element), both);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WarpgroupExpansionOfMma::multiply(ThreadEmitter &emitter,
                                       const SquareWords &weights, Value ofA,
                                       Value metadata, int64_t selector,
                                       MutableArrayRef<Value> sums) {
  size_t next = 2 * sums.size();
  std::string operands;
  llvm::raw_string_ostream(operands)
      << "{$" << next << ", $" << next + 1 << ", $" << next + 2 << ", $"
      << next + 3 << "}, $" << next + 4 << ", $" << next + 5 << ", "
      << selector;
  WgmmaText text{types,
                 /*isSparse=*/true,
                 tile.m,
                 form.instructionRows(),
                 operands,
                 ", " + std::to_string(int(isMMajor)),
                 "r,r,r,r,l,r"};
  SmallVector<Value> all(weights.begin(), weights.end());
  llvm::append_range(all, ValueRange{ofA, metadata});
  Value result =
      emitWgmmaText(emitter, text, SmallVector<Value>(sums), all, SumsUse::Add);
  for (auto [i, each] : llvm::enumerate(sums))
    each = LLVM::ExtractValueOp::create(emitter.builder, emitter.loc, result,
                                        ArrayRef<int64_t>{int64_t(i)});
}

/// All that lanes load of a tile is loaded before its first product. While one
/// is in flight, the next one's weights are converted, the next tile's too.
SmallVector<Value>
WarpgroupExpansionOfMma::expand(OpBuilder &builder,
                                SparseProductOpInterface product,
                                ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  int64_t group = std::min(quantization.getGroup(), tile.k),
          rows = steps() * SparseOperand::kStepRows;
  SmallVector<Value> metadata, scales;
  SmallVector<SmallVector<Value>> values;
  for (int64_t step = 0; step < steps(); ++step)
    metadata.push_back(loadMetadata(emitter, op, step));
  for (int64_t i = 0; i < instructions(); ++i)
    values.push_back(loadValues(emitter, op, i));
  for (int64_t i = 0; i < int64_t(llvm::divideCeil(rows, group)); ++i)
    scales.push_back(loadScales(emitter, op, i));
  Value a = getActivations(emitter, op);
  SmallVector<Value> result(sums);
  for (int64_t i = 0; i < instructions(); ++i) {
    SquareWords weights =
        dequantizeWords(emitter, types.element, quantization.getBits(),
                        values[size_t(i)], scales[size_t(rowOf(i) / group)]);
    NVVM::WgmmaFenceAlignedOp::create(builder, loc);
    multiply(emitter, weights, advanceActivations(emitter, a, rowOf(i)),
             metadata[size_t(i / form.instructions())], i % form.instructions(),
             result);
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, staysInFlight ? 1 : 0);
  return isPromoted ? completeSums(builder, loc, result) : result;
}

void WarpgroupExpansionOfMma::end(OpBuilder &builder,
                                  SparseProductOpInterface product,
                                  ArrayRef<Value> sums, Value initial) {
  SmallVector<Value> made(sums);
  if (staysInFlight) {
    awaitProducts(builder, product.getLoc());
    made = completeSums(builder, product.getLoc(), sums);
  }
  SteppedExpansion::end(builder, product, made, initial);
}

std::unique_ptr<TileExpansion>
mlir::nm::createMmaSpWarpgroups(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<WarpgroupExpansionOfMma>(op, tile);
}
