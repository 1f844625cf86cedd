//===- SparseOperandStaging.cpp - Operands of mma_sp and wgmma_sp ---------===//

#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging : public OperandStaging {
public:
  Staging(OpBuilder &builder, SpMMOp op, const GpuTile &tile,
          const SparseOperandStaging &options)
      : OperandStaging(builder, op, tile), options(options) {}

private:
  LogicalResult verify(const ::nm::GpuChip &chip) override;
  Buffers listBuffers() override;
  void emit() override;

  /// What producers ask of the operands.
  LogicalResult verifyBulkCopies();
  MemRefType typeOfA() { return getActivationBuffer(op, tile); }
  MemRefType typeOfValues() {
    return getPlainWorkgroupType(getWeights().values, getElement());
  }
  MemRefType typeOfMetadata() {
    return getPlainWorkgroupType(getWeights().indices, builder.getI8Type());
  }
  bool stagesScales() { return options.hasMetadata && op.getScales(); }
  MemRefType typeOfScales() {
    return getPlainWorkgroupType(getShapeOfScales(op, tile),
                                 getElementTypeOrSelf(op.getScales()));
  }

  Value toWholeSteps(Value weights);
  Value copyA();

  const SparseOperandStaging &options;
};
} // namespace

OperandStaging::Buffers Staging::listBuffers() {
  Buffers buffers = {tile.m, tile.k, {typeOfA(), typeOfValues()}};
  if (options.hasMetadata)
    buffers.ofStage.push_back(typeOfMetadata());
  if (stagesScales())
    buffers.ofStage.push_back(typeOfScales());
  return buffers;
}

LogicalResult Staging::verify(const ::nm::GpuChip &chip) {
  if (failed(verifySparseProduct(op)) ||
      (options.isAsyncProxy && failed(verifyRowsOfA(op, chip))))
    return failure();
  return verifyBulkCopies();
}

LogicalResult Staging::verifyBulkCopies() {
  if (!hasProducers())
    return success();
  // Tensor copies fill panels whose rows are lines.
  constexpr int64_t kLine = 128;
  int64_t rowBytes =
      tile.k * getElementTypeOrSelf(op.getA()).getIntOrFloatBitWidth() / 8;
  if (!op.getTransposeA() && rowBytes % kLine != 0)
    return op.emitOpError()
           << "expected tiles of A whose rows are a multiple "
              "of "
           << kLine << " bytes, with producers, but got " << rowBytes;
  // Bulk copies read whole tiles of packed weights. The last part of k may have
  // tiles past k, and its last tile may end inside of one: what follows in
  // memory are weights of other columns, or is past the end.
  bool hasSteps = tile.k != ::nm::SparseOperand::kStepRows;
  if (op.getValuesType().isDynamicDim(1) &&
      (hasSteps || op.getScheduleAttr().getTiling().splitK != 1))
    return op.emitOpError() << "expected parts of k of whole tiles of "
                            << tile.k << " rows, with producers";
  return success();
}

/// Packed weights have a step of k for each tile, the last one of which may
/// have fewer rows: `weights` with that many steps known.
Value Staging::toWholeSteps(Value weights) {
  constexpr int64_t kStepDim = 1;
  auto type = cast<MemRefType>(weights.getType());
  if (!type.isDynamicDim(kStepDim))
    return weights;
  SmallVector<int64_t> shape(type.getShape());
  shape[kStepDim] = getWeights().values[kStepDim];
  MemRefType whole = MemRefType::Builder(type).setShape(shape);
  return memref::CastOp::create(builder, loc, whole, weights);
}

/// Sums of rows behind A's last one are not stored, so that anything may be in
/// their places; but not of splits, for sums that are not finite are made
/// again.
Value Staging::copyA() {
  if (!hasProducers())
    return copyToNew(op.getA(), typeOfA());
  std::optional<int64_t> rows = op.getTransposeA() ? 1 : 0;
  bool hasSplits = cast<SparseProductOpInterface>(*op).countSplits() > 1;
  return copyTensorOfA(typeOfA(), hasSplits ? std::nullopt : rows);
}

void Staging::emit() {
  bool isBulk = hasProducers();
  auto copy = [&](Value source, MemRefType type) {
    return isBulk ? copyToNew(CopyKind::Bulk, toWholeSteps(source), type)
                  : copyToNew(source, type);
  };
  // A first: what is swizzled stands at multiples of 1024 bytes.
  Value a = copyA();
  Value values = copy(op.getValues(), typeOfValues());
  Value indices = options.hasMetadata ? copy(op.getIndices(), typeOfMetadata())
                                      : castOpen(builder, loc, op.getIndices(),
                                                 getWeights().indices);
  SmallVector<Value> operands = {a, values, indices};
  // Fewer at the end of k and n.
  if (Value scales = op.getScales())
    operands.push_back(stagesScales() ? copyToNew(scales, typeOfScales())
                                      : castOpen(builder, loc, scales,
                                                 getShapeOfScales(op, tile)));
  size_t buffers = (options.hasMetadata ? 3 : 2) + size_t(stagesScales());
  operands.push_back(castOutput(builder, op, tile));
  // Bulk copies write through wgmma's own proxy.
  replace(finish(), operands, buffers, options.isAsyncProxy && !isBulk);
}

LogicalResult SparseOperandStaging::stage(OpBuilder &builder, SpMMOp op) const {
  return stageOperands<Staging>(builder, op, *this);
}
