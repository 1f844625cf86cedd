//===- Dialect.cpp - The nm dialect through MLIR's C API ------------------===//

#include "nm-c/Dialect.h"

#include "Fields.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/InitNM.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/InitAllPasses.h"

#include <cmath>
#include <mutex>

using namespace mlir;
using namespace mlir::nm;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(NM, nm, mlir::nm::NMDialect)

void nmRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::nm::registerAllDialects(*unwrap(registry));
}

void nmRegisterDialect(MlirDialectRegistry registry) {
  mlir::nm::registerDialect(*unwrap(registry));
}

void nmRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] { mlir::nm::registerPasses(); });
}

void nmRegisterAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] { mlir::registerAllPasses(); });
  nmRegisterPasses();
}

//===----------------------------------------------------------------------===//
// Attributes and types by their fields
//===----------------------------------------------------------------------===//

template <typename Kind>
static MlirStringRef getMnemonicAt(ArrayRef<Kind> kinds, intptr_t index) {
  bool isThere = index >= 0 && index < intptr_t(kinds.size());
  return wrap(isThere ? kinds[index].mnemonic : StringRef());
}

template <typename Kind, typename Object>
static const Kind *findKindOf(ArrayRef<Kind> kinds, Object object) {
  const Kind *found = llvm::find_if(
      kinds, [&](const Kind &kind) { return object && kind.isOne(object); });
  return found == kinds.end() ? nullptr : found;
}

/// The kind of `mnemonic`, and the dictionary of its fields.
template <typename Kind>
static const Kind *checkFields(ArrayRef<Kind> kinds, StringRef mnemonic,
                               Attribute fields, EmitError emitError) {
  const Kind *found = llvm::find_if(
      kinds, [&](const Kind &kind) { return kind.mnemonic == mnemonic; });
  if (found == kinds.end()) {
    emitError() << "expected a mnemonic of dialect nm, but got '" << mnemonic
                << "'";
    return nullptr;
  }
  if (isa_and_present<DictionaryAttr>(fields))
    return found;
  emitError() << "expected a dictionary of fields of '" << mnemonic << "'";
  return nullptr;
}

intptr_t nmGetNumAttributes(void) { return getAttributeKinds().size(); }

intptr_t nmGetNumTypes(void) { return getTypeKinds().size(); }

MlirStringRef nmGetAttributeMnemonic(intptr_t index) {
  return getMnemonicAt(getAttributeKinds(), index);
}

MlirStringRef nmGetTypeMnemonic(intptr_t index) {
  return getMnemonicAt(getTypeKinds(), index);
}

MlirAttribute nmAttributeGet(MlirContext context, MlirStringRef mnemonic,
                             MlirAttribute fields) {
  MLIRContext *mlirContext = unwrap(context);
  mlirContext->loadDialect<NMDialect>();
  auto emitError = [&] {
    return mlir::emitError(UnknownLoc::get(mlirContext));
  };
  const AttributeKind *kind = checkFields(getAttributeKinds(), unwrap(mnemonic),
                                          unwrap(fields), emitError);
  return wrap(kind ? kind->get(kind->mnemonic,
                               cast<DictionaryAttr>(unwrap(fields)), emitError)
                   : Attribute());
}

MlirAttribute nmAttributeGetFields(MlirAttribute attribute) {
  const AttributeKind *kind =
      findKindOf(getAttributeKinds(), unwrap(attribute));
  return wrap(kind ? Attribute(kind->getFields(unwrap(attribute)))
                   : Attribute());
}

MlirStringRef nmAttributeGetMnemonic(MlirAttribute attribute) {
  const AttributeKind *kind =
      findKindOf(getAttributeKinds(), unwrap(attribute));
  return wrap(kind ? kind->mnemonic : StringRef());
}

MlirType nmTypeGet(MlirContext context, MlirStringRef mnemonic,
                   MlirAttribute fields) {
  MLIRContext *mlirContext = unwrap(context);
  mlirContext->loadDialect<NMDialect>();
  auto emitError = [&] {
    return mlir::emitError(UnknownLoc::get(mlirContext));
  };
  const TypeKind *kind =
      checkFields(getTypeKinds(), unwrap(mnemonic), unwrap(fields), emitError);
  return wrap(kind ? kind->get(cast<DictionaryAttr>(unwrap(fields)), emitError)
                   : Type());
}

MlirAttribute nmTypeGetFields(MlirType type) {
  const TypeKind *kind = findKindOf(getTypeKinds(), unwrap(type));
  return wrap(kind ? Attribute(kind->getFields(unwrap(type))) : Attribute());
}

MlirStringRef nmTypeGetMnemonic(MlirType type) {
  const TypeKind *kind = findKindOf(getTypeKinds(), unwrap(type));
  return wrap(kind ? kind->mnemonic : StringRef());
}

//===----------------------------------------------------------------------===//
// #nm.encoding
//===----------------------------------------------------------------------===//

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
// Packed forms
//===----------------------------------------------------------------------===//

bool nmAttributeIsASchedule(MlirAttribute attribute) {
  return isa_and_present<ScheduleAttrInterface>(unwrap(attribute));
}

bool nmAttributeIsAPackedForm(MlirAttribute attribute) {
  return isa_and_present<PackedFormAttrInterface>(unwrap(attribute));
}

MlirAttribute nmScheduleAttrGetPackedForm(MlirAttribute schedule,
                                          MlirAttribute pattern) {
  return wrap(Attribute(
      cast<ScheduleAttrInterface>(unwrap(schedule))
          .getPackedForm(cast<PatternAttr>(unwrap(pattern)).getPattern())));
}

namespace {
/// Weights that are to be packed, once they are checked.
struct WeightsToPack {
  PackedFormAttrInterface form;
  ::nm::CondensedView weights;
  Type elementType;
};
} // namespace

static FailureOr<WeightsToPack> checkWeights(MlirAttribute form,
                                             MlirAttribute pattern,
                                             MlirType elementType, int64_t k,
                                             int64_t n) {
  WeightsToPack checked{
      cast<PackedFormAttrInterface>(unwrap(form)), {}, unwrap(elementType)};
  ::nm::CondensedView &weights = checked.weights;
  weights.pattern = cast<PatternAttr>(unwrap(pattern)).getPattern();
  auto emitError = [&] {
    return mlir::emitError(UnknownLoc::get(checked.elementType.getContext()));
  };
  std::optional<::nm::ElementType> type = getElementType(checked.elementType);
  if (!type)
    return emitError() << "expected weights of f32, f16, bf16, i8 or "
                          "f8E4M3FN, but got "
                       << checked.elementType;
  if (k < 1 || n < 1 || k > ::nm::kMaxSize || n > ::nm::kMaxSize)
    return emitError() << "expected k and n in 1.." << ::nm::kMaxSize
                       << ", but got " << k << " and " << n;
  if (failed(checked.form.verifyWeights(emitError, weights.pattern,
                                        checked.elementType)))
    return failure();
  weights.type = *type;
  weights.k = k;
  weights.n = n;
  return checked;
}

MlirLogicalResult nmPackedFormAttrGetShape(MlirAttribute form,
                                           MlirAttribute pattern,
                                           MlirType elementType, int64_t k,
                                           int64_t n, NmPackedShape *shape) {
  FailureOr<WeightsToPack> checked =
      checkWeights(form, pattern, elementType, k, n);
  if (failed(checked))
    return mlirLogicalResultFailure();
  const ::nm::Pattern &kept = checked->weights.pattern;
  StorageShape storage = checked->form.getStorageShape(
      kept, kept.condensedRows(k), kept.paddedColumns(n));
  llvm::copy(storage.values, shape->values);
  llvm::copy(storage.indices, shape->indices);
  shape->elementType = wrap(checked->form.getPackedType(checked->elementType));
  return mlirLogicalResultSuccess();
}

MlirLogicalResult
nmPackedFormAttrPack(MlirAttribute form, MlirAttribute pattern,
                     MlirType elementType, int64_t k, int64_t n,
                     const void *values, const uint8_t *indices,
                     void *packedValues, uint8_t *packedIndices) {
  FailureOr<WeightsToPack> checked =
      checkWeights(form, pattern, elementType, k, n);
  if (failed(checked))
    return mlirLogicalResultFailure();
  checked->weights.values = values;
  checked->weights.indices = indices;
  if (::nm::Status status = ::nm::verifyIndices(
          indices, checked->weights.pattern, k, n, "the weights");
      !status) {
    emitError(UnknownLoc::get(checked->elementType.getContext()))
        << status.error().message;
    return mlirLogicalResultFailure();
  }
  checked->form.pack(checked->weights, packedValues, packedIndices);
  return mlirLogicalResultSuccess();
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
