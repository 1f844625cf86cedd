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

StorageShape BitmapAttr::getStorageShape(const ::nm::Pattern &pattern,
                                         int64_t rows, int64_t columns) const {
  int64_t blocks = mapSize(columns, [](int64_t columns) {
    return llvm::divideCeil(columns, BitmapForm::kColumns);
  });
  int64_t steps = mapSize(rows, [&](int64_t rows) {
    int64_t k = rows / pattern.keptRows() * pattern.windowRows();
    return llvm::divideCeil(k, BitmapForm::kStepRows);
  });
  return {{blocks, steps, BitmapForm::of(pattern).valuesOfStep()},
          {blocks, steps, BitmapForm::kStepBytes}};
}

int64_t BitmapAttr::getColumnStep(const ::nm::Pattern &) const {
  return BitmapForm::kColumns;
}

int64_t BitmapAttr::getRowStep(const ::nm::Pattern &) const {
  return BitmapForm::kStepRows;
}

StorageRegion BitmapAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                           const ::nm::Pattern &pattern,
                                           Range1D k, Range1D n) const {
  Range1D blocks = scaleRange(builder, loc, n, BitmapForm::kColumns, 1);
  Range1D steps = scaleRange(builder, loc, k, BitmapForm::kStepRows, 1);
  StorageRegion region;
  for (auto [part, size] :
       {std::pair(&region.values, BitmapForm::of(pattern).valuesOfStep()),
        std::pair(&region.indices, BitmapForm::kStepBytes)}) {
    part->append(blocks);
    part->append(steps);
    part->append({builder.getIndexAttr(0), builder.getIndexAttr(size)});
  }
  return region;
}

/// Windows and steps begin together.
::nm::Pattern BitmapAttr::getPackedPattern(const ::nm::Pattern &pattern) const {
  return {BitmapForm::of(pattern).slots, BitmapForm::kRunRows, /*bk=*/1,
          /*bn=*/1};
}

void BitmapAttr::pack(const ::nm::CondensedView &weights, void *values,
                      uint8_t *indices, uint8_t *) const {
  ::nm::packBitmap(weights, values, indices);
}
