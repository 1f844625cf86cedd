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
  if (registry.ptr)
    mlir::nm::registerAllDialects(*unwrap(registry));
}

void nmRegisterDialect(MlirDialectRegistry registry) {
  if (registry.ptr)
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

/// Loads the dialect; its errors have no location.
static auto loadWithErrors(MLIRContext *context) {
  context->loadDialect<NMDialect>();
  return [context] { return mlir::emitError(UnknownLoc::get(context)); };
}

template <typename Object>
static MlirStringRef getMnemonicAt(ArrayRef<FieldsKind<Object>> kinds,
                                   intptr_t index) {
  bool isThere = index >= 0 && index < intptr_t(kinds.size());
  return wrap(isThere ? kinds[index].mnemonic : StringRef());
}

template <typename Object>
static const FieldsKind<Object> *findKindOf(ArrayRef<FieldsKind<Object>> kinds,
                                            Object object) {
  auto found = llvm::find_if(kinds, [&](const FieldsKind<Object> &kind) {
    return object && kind.isOne(object);
  });
  return found == kinds.end() ? nullptr : &*found;
}

template <typename Object>
static MlirAttribute getFieldsOf(ArrayRef<FieldsKind<Object>> kinds,
                                 Object object) {
  const FieldsKind<Object> *kind = findKindOf(kinds, object);
  return wrap(kind ? Attribute(kind->getFields(object)) : Attribute());
}

template <typename Object>
static MlirStringRef getMnemonicOf(ArrayRef<FieldsKind<Object>> kinds,
                                   Object object) {
  const FieldsKind<Object> *kind = findKindOf(kinds, object);
  return wrap(kind ? kind->mnemonic : StringRef());
}

/// The attribute or type of `mnemonic` with the fields of a dictionary; null
/// after an error.
template <typename Object>
static Object getOfFields(MLIRContext *context,
                          ArrayRef<FieldsKind<Object>> kinds,
                          StringRef mnemonic, Attribute fields) {
  if (!context)
    return {};
  auto emitError = loadWithErrors(context);
  auto found = llvm::find_if(kinds, [&](const FieldsKind<Object> &kind) {
    return kind.mnemonic == mnemonic;
  });
  if (found == kinds.end()) {
    emitError() << "expected a mnemonic of dialect nm, but got '" << mnemonic
                << "'";
    return {};
  }
  if (auto dictionary = dyn_cast_if_present<DictionaryAttr>(fields))
    return found->get(found->mnemonic, dictionary, emitError);
  emitError() << "expected a dictionary of fields of '" << mnemonic << "'";
  return {};
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
  return wrap(getOfFields(unwrap(context), getAttributeKinds(),
                          unwrap(mnemonic), unwrap(fields)));
}

MlirAttribute nmAttributeGetFields(MlirAttribute attribute) {
  return getFieldsOf(getAttributeKinds(), unwrap(attribute));
}

MlirStringRef nmAttributeGetMnemonic(MlirAttribute attribute) {
  return getMnemonicOf(getAttributeKinds(), unwrap(attribute));
}

MlirType nmTypeGet(MlirContext context, MlirStringRef mnemonic,
                   MlirAttribute fields) {
  return wrap(getOfFields(unwrap(context), getTypeKinds(), unwrap(mnemonic),
                          unwrap(fields)));
}

MlirAttribute nmTypeGetFields(MlirType type) {
  return getFieldsOf(getTypeKinds(), unwrap(type));
}

MlirStringRef nmTypeGetMnemonic(MlirType type) {
  return getMnemonicOf(getTypeKinds(), unwrap(type));
}

//===----------------------------------------------------------------------===//
// #nm.encoding
//===----------------------------------------------------------------------===//

MlirAttribute nmEncodingAttrGet(MlirContext context, int64_t n, int64_t m,
                                int64_t bk, int64_t bn, int64_t dim) {
  MLIRContext *mlirContext = unwrap(context);
  if (!mlirContext)
    return wrap(Attribute());
  auto emitError = loadWithErrors(mlirContext);
  auto pattern = PatternAttr::getChecked(emitError, mlirContext, n, m, bk, bn);
  if (!pattern)
    return wrap(Attribute());
  return wrap(Attribute(
      EncodingAttr::getChecked(emitError, mlirContext, pattern, dim)));
}

bool nmAttributeIsAnEncoding(MlirAttribute attribute) {
  return isa_and_present<EncodingAttr>(unwrap(attribute));
}

/// A number of an encoding; -1 of what is none.
template <typename Get>
static int64_t getOfEncoding(MlirAttribute attribute, Get get) {
  auto encoding = dyn_cast_if_present<EncodingAttr>(unwrap(attribute));
  return encoding ? get(encoding) : -1;
}

int64_t nmEncodingAttrGetN(MlirAttribute encoding) {
  return getOfEncoding(
      encoding, [](EncodingAttr attr) { return attr.getPattern().getN(); });
}

int64_t nmEncodingAttrGetM(MlirAttribute encoding) {
  return getOfEncoding(
      encoding, [](EncodingAttr attr) { return attr.getPattern().getM(); });
}

int64_t nmEncodingAttrGetBk(MlirAttribute encoding) {
  return getOfEncoding(
      encoding, [](EncodingAttr attr) { return attr.getPattern().getBk(); });
}

int64_t nmEncodingAttrGetBn(MlirAttribute encoding) {
  return getOfEncoding(
      encoding, [](EncodingAttr attr) { return attr.getPattern().getBn(); });
}

int64_t nmEncodingAttrGetDim(MlirAttribute encoding) {
  return getOfEncoding(encoding,
                       [](EncodingAttr attr) { return attr.getDim(); });
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
  auto chosen = dyn_cast_if_present<ScheduleAttrInterface>(unwrap(schedule));
  auto kept = dyn_cast_if_present<PatternAttr>(unwrap(pattern));
  if (!chosen || !kept)
    return wrap(Attribute());
  return wrap(Attribute(chosen.getPackedForm(kept.getPattern())));
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
      dyn_cast_if_present<PackedFormAttrInterface>(unwrap(form)),
      {},
      unwrap(elementType)};
  auto kept = dyn_cast_if_present<PatternAttr>(unwrap(pattern));
  // Without a type there is no context to report to.
  if (!checked.elementType)
    return failure();
  auto emitError = [&] {
    return mlir::emitError(UnknownLoc::get(checked.elementType.getContext()));
  };
  if (!checked.form || !kept)
    return emitError() << "expected a packed form and a pattern";
  ::nm::CondensedView &weights = checked.weights;
  weights.pattern = kept.getPattern();
  std::optional<::nm::ElementType> type = getElementType(checked.elementType);
  if (!type)
    return emitError() << "expected weights of " << kWeightElementTypes
                       << ", but got " << checked.elementType;
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
  if (!shape)
    return mlirLogicalResultFailure();
  FailureOr<WeightsToPack> checked =
      checkWeights(form, pattern, elementType, k, n);
  if (failed(checked))
    return mlirLogicalResultFailure();
  const ::nm::Pattern &kept = checked->weights.pattern;
  StorageShape storage = checked->form.getStorageShape(
      kept, kept.condensedRows(k), kept.paddedColumns(n));
  llvm::copy(storage.values, shape->values);
  llvm::copy(storage.indices, shape->indices);
  llvm::fill(shape->lists, 0);
  llvm::copy(storage.lists, shape->lists);
  shape->elementType = wrap(checked->form.getPackedType(checked->elementType));
  return mlirLogicalResultSuccess();
}

MlirLogicalResult nmPackedFormAttrPack(
    MlirAttribute form, MlirAttribute pattern, MlirType elementType, int64_t k,
    int64_t n, const void *values, const uint8_t *indices, void *packedValues,
    uint8_t *packedIndices, uint8_t *packedLists) {
  FailureOr<WeightsToPack> checked =
      checkWeights(form, pattern, elementType, k, n);
  if (failed(checked))
    return mlirLogicalResultFailure();
  const ::nm::Pattern &kept = checked->weights.pattern;
  StorageShape storage = checked->form.getStorageShape(
      kept, kept.condensedRows(k), kept.paddedColumns(n));
  bool hasLists = packedLists || !storage.hasLists();
  if (!values || !indices || !packedValues || !packedIndices || !hasLists) {
    emitError(UnknownLoc::get(checked->elementType.getContext()))
        << "expected memory for "
        << (hasLists ? "values and indices" : "the lists of rows") << " of "
        << checked->form << ", but got none";
    return mlirLogicalResultFailure();
  }
  checked->weights.values = values;
  checked->weights.indices = indices;
  if (::nm::Status status = ::nm::verifyIndices(
          indices, checked->weights.pattern, k, n, "the weights");
      !status) {
    emitError(UnknownLoc::get(checked->elementType.getContext()))
        << status.error().message;
    return mlirLogicalResultFailure();
  }
  checked->form.pack(checked->weights, packedValues, packedIndices,
                     packedLists);
  return mlirLogicalResultSuccess();
}

//===----------------------------------------------------------------------===//
// #nm.record
//===----------------------------------------------------------------------===//

bool nmAttributeIsARecord(MlirAttribute attribute) {
  return isa_and_present<RecordAttr>(unwrap(attribute));
}

/// A part of a record; `none` of what is no record.
template <typename Part, typename Get>
static Part getOfRecord(MlirAttribute attribute, Part none, Get get) {
  auto record = dyn_cast_if_present<RecordAttr>(unwrap(attribute));
  return record ? get(record) : none;
}

static double toMicroseconds(FloatAttr time) {
  return time ? time.getValueAsDouble() : std::nan("");
}

template <typename Get>
static MlirStringRef getText(MlirAttribute record, Get get) {
  return wrap(getOfRecord(record, StringRef(), get));
}

template <typename Get>
static double getTime(MlirAttribute record, Get get) {
  return toMicroseconds(getOfRecord(record, FloatAttr(), get));
}

MlirStringRef nmRecordAttrGetSource(MlirAttribute record) {
  return getText(record, [](RecordAttr attr) {
    return stringifyScheduleSource(attr.getSource());
  });
}

MlirStringRef nmRecordAttrGetChip(MlirAttribute record) {
  return getText(record, [](RecordAttr attr) {
    StringAttr chip = attr.getChip();
    return chip ? chip.getValue() : StringRef();
  });
}

MlirStringRef nmRecordAttrGetReason(MlirAttribute record) {
  return getText(record,
                 [](RecordAttr attr) { return StringRef(attr.getReason()); });
}

bool nmRecordAttrGetFallsBack(MlirAttribute record) {
  return getOfRecord(record, false, [](RecordAttr attr) {
    return attr.getFallsBack().value_or(false);
  });
}

double nmRecordAttrGetEstimate(MlirAttribute record) {
  return getTime(record, [](RecordAttr attr) { return attr.getEstimateUs(); });
}

double nmRecordAttrGetDenseEstimate(MlirAttribute record) {
  return getTime(record, [](RecordAttr attr) { return attr.getDenseUs(); });
}

double nmRecordAttrGetMultiplyFloor(MlirAttribute record) {
  return getTime(record,
                 [](RecordAttr attr) { return attr.getMultiplyFloorUs(); });
}

double nmRecordAttrGetMemoryFloor(MlirAttribute record) {
  return getTime(record,
                 [](RecordAttr attr) { return attr.getMemoryFloorUs(); });
}

int64_t nmRecordAttrGetSharedBytes(MlirAttribute record) {
  return getOfRecord(record, int64_t(-1), [](RecordAttr attr) -> int64_t {
    return attr.getSharedBytes().value_or(-1);
  });
}
