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
#include "GPU/Strategies/Mma/SparseSteps.h"
#include "GPU/Strategies/Warpgroup/WgmmaInstructions.h"
#include "GPU/Sums/CompleteSums.h"

#include "nm/Schedule/WarpsByFours.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

namespace {
class WarpgroupExpansionOfMma : public SparseSteps {
public:
  WarpgroupExpansionOfMma(SpMMOp op, const GpuTile &tile)
      : SparseSteps(op, tile),
        isPromoted(getFields(op.getScheduleAttr()).promote),
        staysInFlight(
            ::nm::haveProductsInFlight(getFields(op.getScheduleAttr()))) {}

  /// Products in flight read the registers of their weights and metadata.
  int64_t countTurnsAtOnce() const override { return staysInFlight ? 2 : 1; }
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> sums, Value initial) override;

private:
  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value advanceActivations(ThreadEmitter &emitter, Value descriptor,
                           int64_t row) const;
  Value loadMetadata(ThreadEmitter &emitter, SpMMOp op, int64_t step);
  void multiply(ThreadEmitter &emitter, const SquareWords &weights, Value ofA,
                Value metadata, int64_t selector, MutableArrayRef<Value> sums);

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
  takeSums(emitter, emitWgmmaText(emitter, text, sums, all, SumsUse::Add),
           sums);
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
  SmallVector<Value> metadata, scales;
  SmallVector<SmallVector<Value>> values;
  SmallVector<Half> halves = listHalves();
  for (int64_t step = 0; step < steps(); ++step)
    metadata.push_back(loadMetadata(emitter, op, step));
  for (const Half &half : halves)
    values.push_back(loadStored(emitter, op, half, 0));
  for (int64_t i = 0; i < scalesOfSlice(); ++i)
    scales.push_back(loadScales(emitter, op.getScales(), 0, i));
  Value a = getActivations(emitter, op);
  SmallVector<Value> result(sums);
  for (auto [half, stored] : llvm::zip(halves, values)) {
    SquareWords weights = dequantizeWords(
        emitter, types.element, quantization.getBits(), stored,
        scaleRows(emitter, types.element, scales[size_t(scaleOf(half))]));
    NVVM::WgmmaFenceAlignedOp::create(builder, loc);
    multiply(emitter, weights, advanceActivations(emitter, a, rowOf(half)),
             metadata[size_t(half.step)], half.number, result);
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
  SparseSteps::end(builder, product, made, initial);
}

std::unique_ptr<TileExpansion>
mlir::nm::createMmaSpWarpgroups(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<WarpgroupExpansionOfMma>(op, tile);
}
