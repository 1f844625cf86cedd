//===- SparseSteps.cpp - Weights that mma.sp multiplies -------------------===//

#include "GPU/Strategies/Mma/SparseSteps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

SparseSteps::SparseSteps(SpMMOp op, const GpuTile &tile)
    : SteppedExpansion(op, tile, SparseOperand::kStepRows),
      form(getSparseForm(op)), quantization(op.getQuantizationAttr()) {}

SmallVector<SparseSteps::Half> SparseSteps::listHalves() const {
  SmallVector<Half> halves;
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t number = 0; number < form.instructions(); ++number)
      halves.push_back({step, number});
  return halves;
}

bool SparseSteps::isStaged(Value indices) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
      cast<MemRefType>(indices.getType()));
}

Value SparseSteps::loadMetadata(ThreadEmitter &emitter, Value indices,
                                int64_t block, int64_t step) const {
  // Metadata of 16 columns is the same words in each form.
  auto [panel, square] =
      emitter.split(blockOfTile(emitter, block), form.columns() / kSquareSide);
  Value byte = emitter.add(emitter.mul(square, 4 * kWarpSize),
                           emitter.mul(lane->lane, 4));
  Value ofStep = stepOfTile(emitter, step);
  return isStaged(indices)
             ? loadStagedMetadata(emitter, indices,
                                  {emitter.toIndex(panel),
                                   emitter.toIndex(ofStep),
                                   emitter.toIndex(byte)})
             : mlir::nm::loadMetadata(emitter, indices, panel, ofStep, byte);
}

Value SparseSteps::loadScales(ThreadEmitter &emitter, Value scales,
                              int64_t block, int64_t number) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value firstK = firstKOfSlice(emitter);
  // A group may have more rows than i32 can say.
  int64_t group = std::min(quantization.getGroup(), tile.k);
  Value row = emitter.add(emitter.div(firstK, group), number);
  row = clampToDim(emitter, scales, 0, emitter.toIndex(row),
                   /*bound=*/llvm::divideCeil(tile.k, group));
  Value column =
      emitter.add(emitter.add(firstColumn, block * kSquareSide), lane->row);
  SmallVector<Value> both;
  for (int64_t half : {0, 1}) {
    Value at = emitter.toIndex(emitter.add(column, half * kMatrixSide));
    both.push_back(memref::LoadOp::create(
        builder, loc, scales,
        ValueRange{row, clampToDim(emitter, scales, 1, at, tile.n)}));
  }
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(2, types.element), both);
}

SmallVector<Value> SparseSteps::loadStored(ThreadEmitter &emitter, SpMMOp op,
                                           const Half &half,
                                           int64_t block) const {
  Type element = op.getValuesType().getElementType();
  int64_t values = 128 / types.bits();
  int64_t perLane = quantization ? values * quantization.getBits() / 8 : values;
  int64_t bytes = perLane * element.getIntOrFloatBitWidth() / 8;
  Value place = emitter.add(emitter.mul(lane->lane, perLane),
                            half.number * perLane * kWarpSize);
  Value panel = blockOfTile(emitter, block);
  Value loaded = vector::LoadOp::create(
      emitter.builder, emitter.loc, VectorType::get(perLane, element),
      op.getValues(),
      ValueRange{emitter.toIndex(panel),
                 emitter.toIndex(stepOfTile(emitter, half.step)),
                 emitter.toIndex(place)},
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  return emitter.words(loaded);
}
