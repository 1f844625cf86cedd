/*===- null-dialect.c - Functions of Dialect.h, given nothing -------------===*\
|*
|* As null.c, which compares both with the headers.
|*
\*===----------------------------------------------------------------------===*/

// RUN: nm-capi-null-dialect-test 2>&1 | FileCheck %s

// CHECK: functions take NULL

#include "nm-c/Dialect.h"

#include "Expect.h"

static const MlirContext kNoContext = {NULL};
static const MlirAttribute kNoAttribute = {NULL};
static const MlirType kNoType = {NULL};
static const MlirStringRef kNoText = {NULL, 0};
static const MlirOperation kNoOperation = {NULL};
static const MlirLocation kNoLocation = {NULL};
static const MlirOpPassManager kNoManager = {NULL};
static const MlirDialectRegistry kNoRegistry = {NULL};

static void call_nmRegisterAllDialects(void) {
  nmRegisterAllDialects(kNoRegistry);
}
static void call_nmRegisterDialect(void) { nmRegisterDialect(kNoRegistry); }
static void call_nmRegisterAllPasses(void) { nmRegisterAllPasses(); }
static void call_nmRegisterPasses(void) { nmRegisterPasses(); }
static void call_nmGetNumAttributes(void) { EXPECT(nmGetNumAttributes() > 0); }
static void call_nmGetNumTypes(void) { EXPECT(nmGetNumTypes() > 0); }
static void call_nmGetAttributeMnemonic(void) {
  EXPECT(nmGetAttributeMnemonic(-1).length == 0);
}
static void call_nmGetTypeMnemonic(void) {
  EXPECT(nmGetTypeMnemonic(INTPTR_MAX).length == 0);
}
static void call_nmAttributeGet(void) {
  EXPECT(!nmAttributeGet(kNoContext, kNoText, kNoAttribute).ptr);
}
static void call_nmAttributeGetFields(void) {
  EXPECT(!nmAttributeGetFields(kNoAttribute).ptr);
}
static void call_nmAttributeGetMnemonic(void) {
  EXPECT(nmAttributeGetMnemonic(kNoAttribute).length == 0);
}
static void call_nmTypeGet(void) {
  EXPECT(!nmTypeGet(kNoContext, kNoText, kNoAttribute).ptr);
}
static void call_nmTypeGetFields(void) {
  EXPECT(!nmTypeGetFields(kNoType).ptr);
}
static void call_nmTypeGetMnemonic(void) {
  EXPECT(nmTypeGetMnemonic(kNoType).length == 0);
}
static void call_nmEncodingAttrGet(void) {
  EXPECT(!nmEncodingAttrGet(kNoContext, 2, 4, 1, 1, 0).ptr);
}
static void call_nmAttributeIsAnEncoding(void) {
  EXPECT(!nmAttributeIsAnEncoding(kNoAttribute));
}
static void call_nmEncodingAttrGetN(void) {
  EXPECT(nmEncodingAttrGetN(kNoAttribute) == -1);
}
static void call_nmEncodingAttrGetM(void) {
  EXPECT(nmEncodingAttrGetM(kNoAttribute) == -1);
}
static void call_nmEncodingAttrGetBk(void) {
  EXPECT(nmEncodingAttrGetBk(kNoAttribute) == -1);
}
static void call_nmEncodingAttrGetBn(void) {
  EXPECT(nmEncodingAttrGetBn(kNoAttribute) == -1);
}
static void call_nmEncodingAttrGetDim(void) {
  EXPECT(nmEncodingAttrGetDim(kNoAttribute) == -1);
}
static void call_nmAttributeIsASchedule(void) {
  EXPECT(!nmAttributeIsASchedule(kNoAttribute));
}
static void call_nmAttributeIsAPackedForm(void) {
  EXPECT(!nmAttributeIsAPackedForm(kNoAttribute));
}
static void call_nmScheduleAttrGetPackedForm(void) {
  EXPECT(!nmScheduleAttrGetPackedForm(kNoAttribute, kNoAttribute).ptr);
}
static void call_nmPackedFormAttrGetShape(void) {
  NmPackedShape shape;
  EXPECT(mlirLogicalResultIsFailure(nmPackedFormAttrGetShape(
      kNoAttribute, kNoAttribute, kNoType, 4, 4, &shape)));
  EXPECT(mlirLogicalResultIsFailure(nmPackedFormAttrGetShape(
      kNoAttribute, kNoAttribute, kNoType, 4, 4, NULL)));
}
static void call_nmPackedFormAttrPack(void) {
  EXPECT(mlirLogicalResultIsFailure(
      nmPackedFormAttrPack(kNoAttribute, kNoAttribute, kNoType, 4, 4, NULL,
                           NULL, NULL, NULL, NULL)));
}
static void call_nmGetNumOperations(void) { EXPECT(nmGetNumOperations() > 0); }
static void call_nmGetOperationName(void) {
  EXPECT(nmGetOperationName(-1).length == 0);
}
static void call_nmGetOperandName(void) {
  EXPECT(nmGetOperandName(kNoText, 0).length == 0);
}
static void call_nmOperationCreate(void) {
  EXPECT(!nmOperationCreate(kNoLocation, kNoText, 1, NULL, -1, NULL, 1, NULL, 1,
                            NULL)
              .ptr);
}
static void call_nmOperationGetNumOperands(void) {
  EXPECT(nmOperationGetNumOperands(kNoOperation, kNoText) == -1);
}
static void call_nmOperationGetOperand(void) {
  EXPECT(!nmOperationGetOperand(kNoOperation, kNoText, 0).ptr);
}
static void call_nmPassManagerAdd(void) {
  EXPECT(mlirLogicalResultIsFailure(
      nmPassManagerAdd(kNoManager, kNoText, 1, NULL, NULL, NULL)));
}
static void call_nmAttributeIsARecord(void) {
  EXPECT(!nmAttributeIsARecord(kNoAttribute));
}
static void call_nmRecordAttrGetSource(void) {
  EXPECT(nmRecordAttrGetSource(kNoAttribute).length == 0);
}
static void call_nmRecordAttrGetChip(void) {
  EXPECT(nmRecordAttrGetChip(kNoAttribute).length == 0);
}
static void call_nmRecordAttrGetReason(void) {
  EXPECT(nmRecordAttrGetReason(kNoAttribute).length == 0);
}
static void call_nmRecordAttrGetFallsBack(void) {
  EXPECT(!nmRecordAttrGetFallsBack(kNoAttribute));
}
static void isNaN(double value) { EXPECT(value != value); }
static void call_nmRecordAttrGetEstimate(void) {
  isNaN(nmRecordAttrGetEstimate(kNoAttribute));
}
static void call_nmRecordAttrGetDenseEstimate(void) {
  isNaN(nmRecordAttrGetDenseEstimate(kNoAttribute));
}
static void call_nmRecordAttrGetMultiplyFloor(void) {
  isNaN(nmRecordAttrGetMultiplyFloor(kNoAttribute));
}
static void call_nmRecordAttrGetMemoryFloor(void) {
  isNaN(nmRecordAttrGetMemoryFloor(kNoAttribute));
}
static void call_nmRecordAttrGetSharedBytes(void) {
  EXPECT(nmRecordAttrGetSharedBytes(kNoAttribute) == -1);
}

static void (*const kCases[])(void) = {
    call_nmRegisterAllDialects,
    call_nmRegisterDialect,
    call_nmRegisterAllPasses,
    call_nmRegisterPasses,
    call_nmGetNumAttributes,
    call_nmGetNumTypes,
    call_nmGetAttributeMnemonic,
    call_nmGetTypeMnemonic,
    call_nmAttributeGet,
    call_nmAttributeGetFields,
    call_nmAttributeGetMnemonic,
    call_nmTypeGet,
    call_nmTypeGetFields,
    call_nmTypeGetMnemonic,
    call_nmEncodingAttrGet,
    call_nmAttributeIsAnEncoding,
    call_nmEncodingAttrGetN,
    call_nmEncodingAttrGetM,
    call_nmEncodingAttrGetBk,
    call_nmEncodingAttrGetBn,
    call_nmEncodingAttrGetDim,
    call_nmAttributeIsASchedule,
    call_nmAttributeIsAPackedForm,
    call_nmScheduleAttrGetPackedForm,
    call_nmPackedFormAttrGetShape,
    call_nmPackedFormAttrPack,
    call_nmGetNumOperations,
    call_nmGetOperationName,
    call_nmGetOperandName,
    call_nmOperationCreate,
    call_nmOperationGetNumOperands,
    call_nmOperationGetOperand,
    call_nmPassManagerAdd,
    call_nmAttributeIsARecord,
    call_nmRecordAttrGetSource,
    call_nmRecordAttrGetChip,
    call_nmRecordAttrGetReason,
    call_nmRecordAttrGetFallsBack,
    call_nmRecordAttrGetEstimate,
    call_nmRecordAttrGetDenseEstimate,
    call_nmRecordAttrGetMultiplyFloor,
    call_nmRecordAttrGetMemoryFloor,
    call_nmRecordAttrGetSharedBytes,
};

int main(void) {
  size_t count = sizeof kCases / sizeof *kCases;
  for (size_t i = 0; i < count; ++i)
    kCases[i]();
  printf("%zu functions take NULL\n", count);
  return 0;
}
