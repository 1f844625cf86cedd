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
  if (storage.hasLists() && !packedLists) {
    emitError(UnknownLoc::get(checked->elementType.getContext()))
        << "expected memory for the lists of rows of " << checked->form
        << ", but got none";
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
