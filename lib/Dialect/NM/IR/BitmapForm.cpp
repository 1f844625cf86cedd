//===- BitmapForm.cpp - #nm.bitmap ----------------------------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

#include "nm/Format/BitmapStrings.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;
using ::nm::BitmapStrings;

LogicalResult
BitmapAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                          const ::nm::Pattern &pattern,
                          Type elementType) const {
  // (C1), (C2).
  return verifyWeightType(emitError, elementType, [&](::nm::ElementType type) {
    return BitmapStrings::isOf(pattern) ? BitmapStrings::verify(type)
                                        : BitmapForm::verify(pattern, type);
  });
}

/// Its shapes are those of all element types.
static BitmapForm getForm(const ::nm::Pattern &pattern) {
  return BitmapForm::of(pattern, /*bytes=*/1);
}

/// The shapes of weights that are kept anywhere.
static StorageShape getShapeOfStrings(int64_t rows, int64_t columns) {
  int64_t slices = mapSize(columns, BitmapStrings::slices),
          steps = mapSize(rows, BitmapStrings::steps);
  return {{slices, steps, BitmapStrings::kStepValues},
          {slices, steps, BitmapStrings::kStepBytes}};
}

StorageShape BitmapAttr::getStorageShape(const ::nm::Pattern &pattern,
                                         int64_t rows, int64_t columns) const {
  if (BitmapStrings::isOf(pattern))
    return getShapeOfStrings(rows, columns);
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

int64_t BitmapAttr::getColumnStep(const ::nm::Pattern &pattern) const {
  return BitmapStrings::isOf(pattern) ? BitmapStrings::kColumns
                                      : BitmapForm::kColumns;
}

/// Kernels of strings take all rows of k at once: a step that is past every k.
int64_t BitmapAttr::getRowStep(const ::nm::Pattern &pattern) const {
  return BitmapStrings::isOf(pattern) ? ::nm::kMaxSize
                                      : BitmapForm::rowsOfStep(pattern);
}

/// The slices of strings that have columns `n`, with all steps of k.
static StorageRegion getRegionOfStrings(OpBuilder &builder, Location loc,
                                        Range1D k, Range1D n) {
  Range1D slices = scaleRange(builder, loc, n, BitmapStrings::kColumns, 1),
          steps = scaleRange(builder, loc, k, BitmapStrings::kStepRows, 1);
  StorageRegion region;
  for (auto [part, size] :
       {std::pair(&region.values, BitmapStrings::kStepValues),
        std::pair(&region.indices, BitmapStrings::kStepBytes)}) {
    part->append(slices);
    part->append(steps);
    part->append({builder.getIndexAttr(0), builder.getIndexAttr(size)});
  }
  return region;
}

StorageRegion BitmapAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                           const ::nm::Pattern &pattern,
                                           Range1D k, Range1D n) const {
  if (BitmapStrings::isOf(pattern))
    return getRegionOfStrings(builder, loc, k, n);
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
  if (BitmapStrings::isOf(pattern))
    return pattern;
  BitmapForm form = getForm(pattern);
  return {form.slots, form.runRows, /*bk=*/1, /*bn=*/1};
}

void BitmapAttr::pack(const ::nm::CondensedView &weights, void *values,
                      uint8_t *indices, uint8_t *) const {
  if (BitmapStrings::isOf(weights.pattern))
    return ::nm::packBitmapStrings(weights, values, indices);
  ::nm::packBitmap(weights, values, indices);
}
