//===- BitmapPanelsForm.cpp - #nm.bitmap_panels ---------------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapPanels;

LogicalResult
BitmapPanelsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t kept, int64_t wordRows) {
  // (C2), (C3).
  if (::nm::Status status = BitmapPanels{kept, wordRows}.verify(); !status)
    return emitError() << status.error().message;
  return success();
}

LogicalResult
BitmapPanelsAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                                const ::nm::Pattern &pattern,
                                Type elementType) const {
  // (C1), (C4).
  if (failed(verifySingleWeights(emitError, *this, pattern)))
    return failure();
  return verifyWeightType(emitError, elementType, [&](::nm::ElementType type) {
    return getForm().verify(type);
  });
}

StorageShape BitmapPanelsAttr::getStorageShape(const ::nm::Pattern &,
                                               int64_t rows,
                                               int64_t columns) const {
  BitmapPanels form = getForm();
  int64_t panels = mapSize(columns, BitmapPanels::panels),
          steps = mapSize(rows, [&](int64_t rows) { return form.steps(rows); });
  return {{1, 1, form.places()},
          {panels, steps, form.stepBytes()},
          {panels, 1, BitmapPanels::kListBytes}};
}

int64_t BitmapPanelsAttr::getColumnStep(const ::nm::Pattern &) const {
  return BitmapPanels::kColumns;
}

/// A step that is past every k: kernels take all rows of k at once.
int64_t BitmapPanelsAttr::getRowStep(const ::nm::Pattern &) const {
  return ::nm::kMaxSize;
}

StorageRegion BitmapPanelsAttr::getStorageRegion(OpBuilder &builder,
                                                 Location loc,
                                                 const ::nm::Pattern &,
                                                 Range1D k, Range1D n) const {
  BitmapPanels form = getForm();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Range1D panels = scaleRange(builder, loc, n, BitmapPanels::kColumns, 1),
          steps = scaleRange(builder, loc, k, form.wordRows, 1);
  StorageRegion region;
  region.values.append({zero, one});
  region.values.append({zero, one});
  region.values.append({zero, builder.getIndexAttr(form.places())});
  region.indices.append(panels);
  region.indices.append({zero, steps.size});
  region.indices.append({zero, builder.getIndexAttr(form.stepBytes())});
  region.lists.emplace();
  region.lists->append(panels);
  region.lists->append({zero, one});
  region.lists->append({zero, builder.getIndexAttr(BitmapPanels::kListBytes)});
  return region;
}

void BitmapPanelsAttr::pack(const ::nm::CondensedView &weights, void *values,
                            uint8_t *indices, uint8_t *lists) const {
  ::nm::packBitmapPanels(weights, getForm(), values, indices, lists);
}
