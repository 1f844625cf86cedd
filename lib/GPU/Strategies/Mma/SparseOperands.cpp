//===- SparseOperands.cpp - What mma.sp and wgmma.sp multiply -------------===//

#include "GPU/Strategies/Mma/SparseOperands.h"

#include "GPU/Expand/TileExpansion.h"
#include "GPU/Strategies/Mma/MmaFragments.h"

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

using namespace mlir;
using namespace mlir::nm;

/// The metadata of positions 0 and 1 of each group, the least there is.
static constexpr int64_t kFirstPairs = 0x44444444;

StringRef SparseTypes::name() const {
  if (element.isInteger(8))
    return "s8";
  if (bits() == 8)
    return isa<Float8E5M2Type>(element) ? "e5m2" : "e4m3";
  return element.isF16() ? "f16" : "bf16";
}

Value mlir::nm::loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                             Value step, Value byte) {
  return loadMetadataWord(
      emitter, indices,
      {clampToDim(emitter, indices, 0, emitter.toIndex(block)),
       clampToDim(emitter, indices, 1, emitter.toIndex(step)),
       emitter.toIndex(byte)});
}

Value mlir::nm::loadMetadataWord(ThreadEmitter &emitter, Value indices,
                                 ValueRange place) {
  OpBuilder &builder = emitter.builder;
  constexpr int64_t kBytes = 4;
  Value bytes = vector::LoadOp::create(
      builder, emitter.loc, VectorType::get(kBytes, builder.getI8Type()),
      indices, place, /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  return emitter.words(bytes).front();
}

Value mlir::nm::loadStagedMetadata(ThreadEmitter &emitter, Value indices,
                                   ValueRange place) {
  Value word = loadMetadataWord(emitter, indices, place);
  return arith::MaxUIOp::create(emitter.builder, emitter.loc, word,
                                emitter.i32(kFirstPairs));
}

::nm::SparseOperand mlir::nm::getSparseForm(SpMMOp op) {
  return cast<SparseOperandAttr>(op.getPackingAttr())
      .getOperand(op.getAType().getElementType());
}

FailureOr<SpMMOp> mlir::nm::getSparseProduct(SparseProductOpInterface product,
                                             const GpuTile &tile) {
  FailureOr<SpMMOp> op = getMatrixProduct(product);
  if (failed(op) || failed(verifySparseProduct(*op)) ||
      failed(verifyStagedActivations(*op, tile)))
    return failure();
  return op;
}
