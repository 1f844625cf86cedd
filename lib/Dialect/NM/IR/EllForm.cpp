//===- EllForm.cpp - #nm.ell ----------------------------------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::EllForm;

LogicalResult EllAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t steps, int64_t bits, int64_t parts) {
  // (C2).
  if (::nm::Status status = EllForm{steps, bits, parts}.verify(); !status)
    return emitError() << status.error().message;
  return success();
}

LogicalResult
EllAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                       const ::nm::Pattern &pattern, Type) const {
  // (C1).
  return verifySingleWeights(emitError, *this, pattern);
}

StorageShape EllAttr::getStorageShape(const ::nm::Pattern &, int64_t,
                                      int64_t columns) const {
  EllForm form = getForm();
  int64_t slices =
      mapSize(columns, [&](int64_t columns) { return form.slices(columns); });
  return {{slices, form.steps, EllForm::stepValues()},
          {slices, form.steps, form.stepGapBytes()},
          {slices, form.parts + 1, EllForm::kListBytes}};
}

int64_t EllAttr::getColumnStep(const ::nm::Pattern &) const {
  return EllForm::kColumns;
}

/// A step that is past every k: kernels take all rows of k at once.
int64_t EllAttr::getRowStep(const ::nm::Pattern &) const {
  return ::nm::kMaxSize;
}

StorageRegion EllAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                        const ::nm::Pattern &, Range1D,
                                        Range1D n) const {
  EllForm form = getForm();
  OpFoldResult zero = builder.getIndexAttr(0);
  Range1D slices = scaleRange(builder, loc, n, EllForm::kColumns, 1);
  StorageRegion region;
  region.lists.emplace();
  for (auto [part, rows, width] :
       {std::tuple(&region.values, form.steps, EllForm::stepValues()),
        std::tuple(&region.indices, form.steps, form.stepGapBytes()),
        std::tuple(&*region.lists, form.parts + 1, EllForm::kListBytes)}) {
    part->append(slices);
    part->append({zero, builder.getIndexAttr(rows)});
    part->append({zero, builder.getIndexAttr(width)});
  }
  return region;
}

void EllAttr::pack(const ::nm::CondensedView &weights, void *values,
                   uint8_t *indices, uint8_t *lists) const {
  ::nm::packEll(weights, getForm(), values, indices, lists);
}
