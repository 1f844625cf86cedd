//===- SparseOperandTile.cpp - Tiles of mma_sp and wgmma_sp ---------------===//

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Format/MmaFragments.h"
#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"
#include "nm/Schedule/WarpsByFours.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::verifySparseProduct(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(*op);
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  StringRef name = schedule.getStrategyName();
  Type element = product.getAType().getElementType();
  std::optional<::nm::ElementType> type = getElementType(element);
  if (!type || !::nm::isSparseOperandType(*type))
    return op.emitOpError() << "expected f16, bf16, i8, f8E4M3FN or f8E5M2 "
                               "operands for strategy "
                            << name << ", but got " << element;
  if (op.getTransposeA() && element.getIntOrFloatBitWidth() == 8)
    return op.emitOpError() << "expected a row-major A for strategy " << name
                            << ", which cannot transpose " << element;
  PackedFormAttrInterface wanted = schedule.getPackedForm(product.getPattern());
  if (op.getPackingAttr() == wanted)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError()
                                  << "expected weights packed as " << wanted
                                  << " for strategy " << name << ", but got ";
  if (op.getPackingAttr())
    return diagnostic << op.getPackingAttr();
  return diagnostic << "condensed ones";
}

bool mlir::nm::multipliesByWarpgroups(SpMMOp op) {
  // Panels of an m-major A have 64 rows.
  ::nm::ScheduleFields fields = getFields(op.getScheduleAttr());
  bool hasPanels =
      !op.getTransposeA() || fields.blockM % ::nm::kWarpgroupM == 0;
  return op.getQuantizationAttr() && hasPanels &&
         ::nm::haveWarpsByFours(fields);
}

MemRefType mlir::nm::getActivationBuffer(SpMMOp op, const GpuTile &tile) {
  int64_t splits = cast<SparseProductOpInterface>(*op).countSplits();
  SmallVector<int64_t> shape = {splits * tile.m, tile.k};
  if (op.getTransposeA())
    std::swap(shape[0], shape[1]);
  Type element = cast<MemRefType>(op.getA().getType()).getElementType();
  if (getGivenFields(op.getScheduleAttr()).warpgroupM ||
      multipliesByWarpgroups(op))
    return getPanelledType(shape, element);
  return getWorkgroupType(shape, element,
                          getMatrixLayout(op.getContext(), shape,
                                          /*windowRows=*/1,
                                          element.getIntOrFloatBitWidth()));
}

LogicalResult mlir::nm::verifyStagedActivations(SpMMOp op,
                                                const GpuTile &tile) {
  auto type = cast<MemRefType>(op.getA().getType());
  MemRefType wanted = getActivationBuffer(op, tile);
  auto layout = dyn_cast<TileLayoutAttr>(type.getLayout());
  auto wantedLayout = cast<TileLayoutAttr>(wanted.getLayout());
  if (type.getMemorySpace() == wanted.getMemorySpace() &&
      type.getShape() == wanted.getShape() && layout &&
      layout.getStrides() == wantedLayout.getStrides() &&
      layout.getOrder() == wantedLayout.getOrder() &&
      layout.getXors() == wantedLayout.getXors() &&
      layout.getPanelColumns() == wantedLayout.getPanelColumns())
    return success();
  return op.emitOpError() << "expected a tile of A like " << wanted
                          << ", as nm-stage-shared-memory makes it, but got "
                          << type;
}
