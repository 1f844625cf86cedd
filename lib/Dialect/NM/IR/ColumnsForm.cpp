//===- ColumnsForm.cpp - #nm.columns --------------------------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::ColumnsForm;

LogicalResult ColumnsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t kept, int64_t tileRows) {
  // (C2), (C3).
  if (::nm::Status status = ColumnsForm{kept, tileRows}.verify(); !status)
    return emitError() << status.error().message;
  return success();
}

LogicalResult
ColumnsAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                           const ::nm::Pattern &pattern, Type) const {
  // (C1).
  return verifySingleWeights(emitError, *this, pattern);
}

StorageShape ColumnsAttr::getStorageShape(const ::nm::Pattern &, int64_t rows,
                                          int64_t columns) const {
  ColumnsForm form = getForm();
  int64_t tiles = mapSize(rows, [&](int64_t rows) { return form.tiles(rows); });
  return {{1, 1, form.places()},
          {1, 1, form.places() * form.indexBytes()},
          {columns, tiles, ColumnsForm::kListBytes}};
}

int64_t ColumnsAttr::getColumnStep(const ::nm::Pattern &) const { return 1; }

/// A step that is past every k: kernels take all rows of k at once.
int64_t ColumnsAttr::getRowStep(const ::nm::Pattern &) const {
  return ::nm::kMaxSize;
}

StorageRegion ColumnsAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                            const ::nm::Pattern &, Range1D k,
                                            Range1D n) const {
  ColumnsForm form = getForm();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  StorageRegion region;
  for (auto [part, size] :
       {std::pair(&region.values, form.places()),
        std::pair(&region.indices, form.places() * form.indexBytes())}) {
    part->append({zero, one});
    part->append({zero, one});
    part->append({zero, builder.getIndexAttr(size)});
  }
  region.lists.emplace();
  region.lists->append(n);
  region.lists->append(
      {zero, scaleRange(builder, loc, k, form.tileRows, 1).size});
  region.lists->append({zero, builder.getIndexAttr(ColumnsForm::kListBytes)});
  return region;
}

void ColumnsAttr::pack(const ::nm::CondensedView &weights, void *values,
                       uint8_t *indices, uint8_t *lists) const {
  ::nm::packColumns(weights, getForm(), values, indices, lists);
}
