//===- SparseOperandStaging.cpp - Operands of mma_sp and wgmma_sp ---------===//

#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "GPU/Stage/StagedOperands.h"
#include "GPU/Stage/StagedStores.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging {
public:
  Staging(OpBuilder &builder, SpMMOp op, const GpuTile &tile,
          const SparseOperandStaging &options)
      : builder(builder), loc(op.getLoc()), op(op), tile(tile),
        options(options) {}

  /// What producers ask of the operands.
  LogicalResult verifyBulkCopies();
  /// Bytes of all stages.
  uint64_t countBytes() const;
  void emit();

private:
  bool hasProducers() const {
    return op.getScheduleAttr().getTiling().producers != 0;
  }
  MemRefType typeOfA() const { return getActivationBuffer(op, tile); }
  MemRefType typeOfValues() const {
    return getBuffer(getWeightShape(op, tile).values,
                     op.getValuesType().getElementType());
  }
  MemRefType typeOfMetadata() const {
    return getBuffer(getWeightShape(op, tile).indices, builder.getI8Type());
  }
  MemRefType getBuffer(ArrayRef<int64_t> shape, Type element) const {
    auto layout = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0,
                                         computeStrides(shape));
    return getWorkgroupType(shape, element, layout);
  }

  Value toWholeSteps(Value weights);
  Value copyTensorOfA(OperandCopies &copies);

  OpBuilder &builder;
  Location loc;
  mutable SpMMOp op;
  const GpuTile &tile;
  const SparseOperandStaging &options;
};
} // namespace

uint64_t Staging::countBytes() const {
  SmallVector<MemRefType> buffers = {typeOfA(), typeOfValues()};
  if (options.hasMetadata)
    buffers.push_back(typeOfMetadata());
  return countSharedBytes(op, tile, buffers);
}

LogicalResult Staging::verifyBulkCopies() {
  if (!hasProducers())
    return success();
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
  shape[kStepDim] = getWeightShape(op, tile).values[kStepDim];
  MemRefType whole = MemRefType::Builder(type).setShape(shape);
  return memref::CastOp::create(builder, loc, whole, weights);
}

/// Sums of rows behind A's last one are not stored, so that anything may be in
/// their places; but not of splits, for sums that are not finite are made
/// again.
Value Staging::copyTensorOfA(OperandCopies &copies) {
  int64_t rows = op.getTransposeA() ? 1 : 0;
  std::optional<int64_t> unfilled;
  bool hasSplits = cast<SparseProductOpInterface>(*op).countSplits() > 1;
  if (!hasSplits && cast<MemRefType>(op.getA().getType()).isDynamicDim(rows))
    unfilled = rows;
  return copies.bulkCopyToNew(CopyKind::Tensor, op.getA(), typeOfA(), unfilled);
}

void Staging::emit() {
  builder.setInsertionPoint(op);
  OperandCopies copies(builder, loc);
  bool isBulk = hasProducers();
  auto copy = [&](Value source, MemRefType type) {
    return isBulk ? copies.bulkCopyToNew(CopyKind::Bulk, toWholeSteps(source),
                                         type)
                  : copies.copyToNew(source, type);
  };
  // A first: what is swizzled stands at multiples of 1024 bytes.
  Value a =
      isBulk ? copyTensorOfA(copies) : copies.copyToNew(op.getA(), typeOfA());
  Value values = copy(op.getValues(), typeOfValues());
  Value indices = options.hasMetadata
                      ? copy(op.getIndices(), typeOfMetadata())
                      : castOpen(builder, loc, op.getIndices(),
                                 getWeightShape(op, tile).indices);
  SmallVector<Value> operands = {a, values, indices};
  // Few, which lanes load to registers; fewer at the end of k and n.
  auto product = cast<SparseProductOpInterface>(*op);
  if (Value scales = product.getScales()) {
    int64_t group = product.getQuantizationAttr().getGroup();
    operands.push_back(
        castOpen(builder, loc, scales,
                 {int64_t(llvm::divideCeil(tile.k, group)), tile.n}));
  }
  operands.push_back(castOutput(builder, op, tile));
  // Bulk copies write through wgmma's own proxy.
  replaceByStaged(builder, op, copies.finish(), operands,
                  /*buffers=*/options.hasMetadata ? 3 : 2,
                  options.isAsyncProxy && !isBulk);
}

LogicalResult SparseOperandStaging::stage(OpBuilder &builder, SpMMOp op) const {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(tile) || failed(chip) || failed(verifySparseProduct(op)))
    return failure();
  if (isAsyncProxy && failed(verifyRowsOfA(op, *chip)))
    return failure();
  Staging staging(builder, op, *tile, *this);
  if (failed(staging.verifyBulkCopies()) || failed(verifyStagedStores(op)))
    return failure();
  if (failed(verifyStageBytes(op, *tile, tile->m, tile->k, staging.countBytes(),
                              chip->sharedPerBlock)))
    return failure();
  staging.emit();
  return success();
}
