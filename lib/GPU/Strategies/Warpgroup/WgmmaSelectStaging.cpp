//===- WgmmaSelectStaging.cpp - Operand tiles of wgmma_select -------------===//

#include "GPU/Strategies/Warpgroup/WgmmaSelectStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Format/SelectedBytes.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// Bytes of the widest copy, which bulk and tensor copies have multiples of.
static constexpr int64_t kCopyBytes = 16;

namespace {
class WgmmaSelectStaging {
public:
  WgmmaSelectStaging(OpBuilder &builder, SpMMOp op, const GpuTile &tile)
      : builder(builder), loc(op.getLoc()), op(op), tile(tile),
        element(op.getValuesType().getElementType()) {}

  LogicalResult verify(const ::nm::GpuChip &chip);
  void emit();

private:
  MemRefType typeOfA();
  MemRefType typeOfValues() {
    return typeOfWeights(getWeightShape(op, tile).values, element);
  }
  MemRefType typeOfSelectors() {
    return typeOfWeights(getWeightShape(op, tile).indices, builder.getI8Type());
  }
  MemRefType typeOfWeights(ArrayRef<int64_t> shape, Type type) {
    return getWorkgroupType(shape, type);
  }
  LogicalResult verifyOperands();

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
  const GpuTile &tile;
  Type element;
};
} // namespace

/// Panels of whole runs of each lane: see SelectedBytes.h.
MemRefType WgmmaSelectStaging::typeOfA() {
  return getPanelledType({tile.m, tile.k}, element,
                         ::nm::SelectedBytes::kPanelBytes);
}

LogicalResult WgmmaSelectStaging::verifyOperands() {
  if (!element.isInteger(8) && !isFloat8(element))
    return op.emitOpError()
           << "expected operands of i8, f8E4M3FN or f8E5M2 for strategy "
              "wgmma_select, but got "
           << element;
  if (op.getTransposeA() || op.getTransposeC())
    return op.emitOpError() << "expected a row-major A and C for strategy "
                               "wgmma_select";
  if (getBufferBytes(typeOfSelectors()) % kCopyBytes != 0)
    return op.emitOpError()
           << "expected selectors of a multiple of " << kCopyBytes
           << " bytes in a tile, but got " << typeOfSelectors();
  return success();
}

LogicalResult WgmmaSelectStaging::verify(const ::nm::GpuChip &chip) {
  if (failed(verifyOperands()) || failed(verifyRowsOfA(op, chip)))
    return failure();
  return verifyStageBytes(
      op, tile, tile.m, tile.k,
      countSharedBytes(op, tile,
                       {typeOfA(), typeOfValues(), typeOfSelectors()}),
      chip.sharedPerBlock);
}

void WgmmaSelectStaging::emit() {
  builder.setInsertionPoint(op);
  OperandCopies copies(builder, loc);
  // A first: what is swizzled stands at multiples of 1024 bytes. Sums of rows
  // behind A's last one are not stored, so that anything may be in their
  // places.
  std::optional<int64_t> unfilled;
  if (cast<MemRefType>(op.getA().getType()).isDynamicDim(0))
    unfilled = 0;
  Value a =
      copies.bulkCopyToNew(CopyKind::Tensor, op.getA(), typeOfA(), unfilled);
  auto copyWeights = [&](Value source, MemRefType type) {
    return copies.bulkCopyToNew(
        CopyKind::Bulk, castToWhole(builder, loc, source, type.getDimSize(1)),
        type);
  };
  Value values = copyWeights(op.getValues(), typeOfValues()),
        selectors = copyWeights(op.getIndices(), typeOfSelectors());
  SmallVector<Value> operands = {a, values, selectors,
                                 castOutput(builder, op, tile)};
  // Bulk and tensor copies write through wgmma's own proxy.
  replaceByStaged(builder, op, copies.finish(), operands, /*buffers=*/3);
}

LogicalResult mlir::nm::stageWgmmaSelectOperands(OpBuilder &builder,
                                                 SpMMOp op) {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(tile) || failed(chip))
    return failure();
  WgmmaSelectStaging staging(builder, op, *tile);
  if (failed(staging.verify(*chip)))
    return failure();
  staging.emit();
  return success();
}
