//===- WgmmaSelectStaging.cpp - Operand tiles of wgmma_select -------------===//

#include "GPU/Strategies/Warpgroup/WgmmaSelectStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Format/SelectedBytes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// Bytes of the widest copy, which bulk and tensor copies have multiples of.
static constexpr int64_t kCopyBytes = 16;

namespace {
class WgmmaSelectStaging : public OperandStaging {
public:
  using OperandStaging::OperandStaging;

private:
  LogicalResult verify(const ::nm::GpuChip &chip) override;
  Buffers listBuffers() override {
    return {tile.m, tile.k, {typeOfA(), typeOfValues(), typeOfSelectors()}};
  }
  void emit() override;

  /// Panels of whole runs of each lane: see SelectedBytes.h.
  MemRefType typeOfA() {
    return getPanelledType({tile.m, tile.k}, getElement(),
                           ::nm::SelectedBytes::kPanelBytes);
  }
  MemRefType typeOfValues() {
    return getWorkgroupType(getWeights().values, getElement());
  }
  MemRefType typeOfSelectors() {
    return getWorkgroupType(getWeights().indices, builder.getI8Type());
  }
};
} // namespace

LogicalResult WgmmaSelectStaging::verify(const ::nm::GpuChip &chip) {
  Type element = getElement();
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
  return verifyRowsOfA(op, chip);
}

void WgmmaSelectStaging::emit() {
  // A first: what is swizzled stands at multiples of 1024 bytes. Sums of rows
  // behind A's last one are not stored, so that anything may be in their
  // places.
  Value a = copyTensorOfA(typeOfA(), /*unfilledDim=*/0);
  auto copyWeights = [&](Value source, MemRefType type) {
    return copyToNew(CopyKind::Bulk,
                     castToWhole(builder, loc, source, type.getDimSize(1)),
                     type);
  };
  Value values = copyWeights(op.getValues(), typeOfValues()),
        selectors = copyWeights(op.getIndices(), typeOfSelectors());
  SmallVector<Value> operands = {a, values, selectors,
                                 castOutput(builder, op, tile)};
  // Bulk and tensor copies write through wgmma's own proxy.
  replace(finish(), operands, /*buffers=*/3);
}

LogicalResult mlir::nm::stageWgmmaSelectOperands(OpBuilder &builder,
                                                 SpMMOp op) {
  return stageOperands<WgmmaSelectStaging>(builder, op);
}
