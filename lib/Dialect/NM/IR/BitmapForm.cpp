//===- BitmapForm.cpp - #nm.bitmap ----------------------------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

#include "nm/Format/Bitmap.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;

LogicalResult
BitmapAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                          const ::nm::Pattern &pattern,
                          Type elementType) const {
  // (C1), (C2).
  return verifyWeightType(emitError, elementType, [&](::nm::ElementType type) {
    return BitmapForm::verify(pattern, type);
  });
}

/// Its shapes are those of all element types.
static BitmapForm getForm(const ::nm::Pattern &pattern) {
  return BitmapForm::of(pattern, /*bytes=*/1);
}

StorageShape BitmapAttr::getStorageShape(const ::nm::Pattern &pattern,
                                         int64_t rows, int64_t columns) const {
  BitmapForm form = getForm(pattern);
  int64_t blocks = mapSize(columns, [](int64_t columns) {
    return llvm::divideCeil(columns, BitmapForm::kColumns);
  });
  int64_t steps = mapSize(rows, [&](int64_t rows) {
    int64_t k = rows / pattern.keptRows() * pattern.windowRows();
    return llvm::divideCeil(k, form.stepRows());
  });
  return {{blocks, steps, form.valuesOfStep()},
          {blocks, steps, form.stepBytes()}};
}

int64_t BitmapAttr::getColumnStep(const ::nm::Pattern &) const {
  return BitmapForm::kColumns;
}

int64_t BitmapAttr::getRowStep(const ::nm::Pattern &pattern) const {
  return BitmapForm::rowsOfStep(pattern);
}

StorageRegion BitmapAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                           const ::nm::Pattern &pattern,
                                           Range1D k, Range1D n) const {
  Range1D blocks = scaleRange(builder, loc, n, BitmapForm::kColumns, 1);
  BitmapForm form = getForm(pattern);
  Range1D steps = scaleRange(builder, loc, k, form.stepRows(), 1);
  StorageRegion region;
  for (auto [part, size] : {std::pair(&region.values, form.valuesOfStep()),
                            std::pair(&region.indices, form.stepBytes())}) {
    part->append(blocks);
    part->append(steps);
    part->append({builder.getIndexAttr(0), builder.getIndexAttr(size)});
  }
  return region;
}

/// Windows and steps begin together.
::nm::Pattern BitmapAttr::getPackedPattern(const ::nm::Pattern &pattern) const {
  BitmapForm form = getForm(pattern);
  return {form.slots, form.runRows, /*bk=*/1, /*bn=*/1};
}

void BitmapAttr::pack(const ::nm::CondensedView &weights, void *values,
                      uint8_t *indices, uint8_t *) const {
  ::nm::packBitmap(weights, values, indices);
}
