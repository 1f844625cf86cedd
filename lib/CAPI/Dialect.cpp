//===- Dialect.cpp - The nm dialect through MLIR's C API ------------------===//

#include "nm-c/Dialect.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/InitNM.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

#include <cmath>
#include <mutex>

using namespace mlir;
using namespace mlir::nm;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(NM, nm, mlir::nm::NMDialect)

void nmRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::nm::registerAllDialects(*unwrap(registry));
}

void nmRegisterAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] { mlir::nm::registerAllPasses(); });
}

MlirAttribute nmEncodingAttrGet(MlirContext context, int64_t n, int64_t m,
                                int64_t bk, int64_t bn, int64_t dim) {
  MLIRContext *mlirContext = unwrap(context);
  mlirContext->loadDialect<NMDialect>();
  auto emitError = [&] {
    return mlir::emitError(UnknownLoc::get(mlirContext));
  };
  auto pattern = PatternAttr::getChecked(emitError, mlirContext, n, m, bk, bn);
  if (!pattern)
    return wrap(Attribute());
  return wrap(Attribute(
      EncodingAttr::getChecked(emitError, mlirContext, pattern, dim)));
}

bool nmAttributeIsAnEncoding(MlirAttribute attribute) {
  return isa_and_present<EncodingAttr>(unwrap(attribute));
}

static PatternAttr getPattern(MlirAttribute encoding) {
  return cast<EncodingAttr>(unwrap(encoding)).getPattern();
}

int64_t nmEncodingAttrGetN(MlirAttribute encoding) {
  return getPattern(encoding).getN();
}

int64_t nmEncodingAttrGetM(MlirAttribute encoding) {
  return getPattern(encoding).getM();
}

int64_t nmEncodingAttrGetBk(MlirAttribute encoding) {
  return getPattern(encoding).getBk();
}

int64_t nmEncodingAttrGetBn(MlirAttribute encoding) {
  return getPattern(encoding).getBn();
}

int64_t nmEncodingAttrGetDim(MlirAttribute encoding) {
  return cast<EncodingAttr>(unwrap(encoding)).getDim();
}

//===----------------------------------------------------------------------===//
// #nm.record
//===----------------------------------------------------------------------===//

bool nmAttributeIsARecord(MlirAttribute attribute) {
  return isa_and_present<RecordAttr>(unwrap(attribute));
}

static RecordAttr unwrapRecord(MlirAttribute record) {
  return cast<RecordAttr>(unwrap(record));
}

static double toMicroseconds(FloatAttr time) {
  return time ? time.getValueAsDouble() : std::nan("");
}

MlirStringRef nmRecordAttrGetSource(MlirAttribute record) {
  return wrap(stringifyScheduleSource(unwrapRecord(record).getSource()));
}

MlirStringRef nmRecordAttrGetChip(MlirAttribute record) {
  StringAttr chip = unwrapRecord(record).getChip();
  return wrap(chip ? chip.getValue() : StringRef());
}

MlirStringRef nmRecordAttrGetReason(MlirAttribute record) {
  return wrap(unwrapRecord(record).getReason());
}

bool nmRecordAttrGetFallsBack(MlirAttribute record) {
  return unwrapRecord(record).getFallsBack().value_or(false);
}

double nmRecordAttrGetEstimate(MlirAttribute record) {
  return toMicroseconds(unwrapRecord(record).getEstimateUs());
}

double nmRecordAttrGetDenseEstimate(MlirAttribute record) {
  return toMicroseconds(unwrapRecord(record).getDenseUs());
}

double nmRecordAttrGetMultiplyFloor(MlirAttribute record) {
  return toMicroseconds(unwrapRecord(record).getMultiplyFloorUs());
}

double nmRecordAttrGetMemoryFloor(MlirAttribute record) {
  return toMicroseconds(unwrapRecord(record).getMemoryFloorUs());
}

int64_t nmRecordAttrGetSharedBytes(MlirAttribute record) {
  return unwrapRecord(record).getSharedBytes().value_or(-1);
}
