/*===- dialect.c - The nm dialect through MLIR's C API --------------------===*/

// RUN: nm-capi-dialect-test %S/../Tools/Inputs/linear.mlir 2>&1 | FileCheck %s

#include "nm-c/Dialect.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>

static void print(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stdout);
}

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static char *readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    exit(1);
  char *text = calloc(1, 1 << 16);
  size_t size = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  return size ? text : NULL;
}

/* The handle alone: no upstream dialect is registered with it. */
static void testHandle(void) {
  MlirContext context = mlirContextCreate();
  MlirDialectHandle handle = mlirGetDialectHandle__nm__();
  MlirDialect dialect = mlirDialectHandleLoadDialect(handle, context);
  print(mlirDialectGetNamespace(dialect), NULL);
  printf(" is loaded\n");
  mlirContextDestroy(context);
}

static void testEncoding(void) {
  MlirContext context = mlirContextCreate();
  mlirDialectHandleRegisterDialect(mlirGetDialectHandle__nm__(), context);
  MlirAttribute encoding = nmEncodingAttrGet(context, 8, 32, 1, 16, 1);
  mlirAttributePrint(encoding, print, NULL);
  printf("\n%d %d %d %d %d %d\n", nmAttributeIsAnEncoding(encoding),
         (int)nmEncodingAttrGetN(encoding), (int)nmEncodingAttrGetM(encoding),
         (int)nmEncodingAttrGetBk(encoding), (int)nmEncodingAttrGetBn(encoding),
         (int)nmEncodingAttrGetDim(encoding));
  MlirAttribute parsed =
      mlirAttributeParseGet(context, ref("#nm.encoding<2:4, dim = 1>"));
  printf("parsed %d, unit %d\n", nmAttributeIsAnEncoding(parsed),
         nmAttributeIsAnEncoding(mlirAttributeParseGet(context, ref("unit"))));
  fflush(stdout);
  MlirAttribute bad = nmEncodingAttrGet(context, 5, 4, 1, 1, 0);
  printf("refused %d\n", mlirAttributeIsNull(bad));
  mlirContextDestroy(context);
}

static void testRecord(void) {
  MlirContext context = mlirContextCreate();
  mlirDialectHandleRegisterDialect(mlirGetDialectHandle__nm__(), context);
  MlirAttribute record = mlirAttributeParseGet(
      context, ref("#nm.record<source = option, pattern = <2:4>, chip = "
                   "\"sm_90\", estimate_us = 4.0, multiply_floor_us = 2.5, "
                   "memory_floor_us = 0.5, shared_bytes = 512, falls_back = "
                   "true, reason = \"so it is\">"));
  print(nmRecordAttrGetSource(record), NULL);
  printf(" ");
  print(nmRecordAttrGetChip(record), NULL);
  printf(" ");
  print(nmRecordAttrGetReason(record), NULL);
  printf(" %d %d %g %g %g %d\n", nmAttributeIsARecord(record),
         nmRecordAttrGetFallsBack(record), nmRecordAttrGetEstimate(record),
         nmRecordAttrGetMultiplyFloor(record),
         nmRecordAttrGetMemoryFloor(record),
         (int)nmRecordAttrGetSharedBytes(record));
  MlirAttribute loops = mlirAttributeParseGet(
      context,
      ref("#nm.record<source = only, pattern = <2:4>, reason = \"k\">"));
  double dense = nmRecordAttrGetDenseEstimate(loops);
  printf("%d %d [", dense != dense, (int)nmRecordAttrGetSharedBytes(loops));
  print(nmRecordAttrGetChip(loops), NULL);
  printf("] %d\n",
         nmAttributeIsARecord(mlirAttributeParseGet(context, ref("unit"))));
  mlirContextDestroy(context);
}

static void testPasses(const char *text) {
  nmRegisterAllPasses();
  nmRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  nmRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  MlirModule module = mlirModuleCreateParse(context, ref(text));
  if (mlirModuleIsNull(module))
    exit(1);
  MlirPassManager pm = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(pm),
      ref("builtin.module(convert-linalg-to-nm,nm-materialize-storage)"), print,
      NULL);
  if (mlirLogicalResultIsFailure(parsed) ||
      mlirLogicalResultIsFailure(
          mlirPassManagerRunOnOp(pm, mlirModuleGetOperation(module))))
    exit(1);
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);
  mlirPassManagerDestroy(pm);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  char *text = readFile(argv[1]);
  if (!text)
    return 1;
  // CHECK: nm is loaded
  testHandle();
  // CHECK: #nm.encoding<8:32, block = 1x16, dim = 1>
  // CHECK: 1 8 32 1 16 1
  // CHECK: parsed 1, unit 0
  // CHECK: expected 1 <= N <= M = 4 in pattern N:M, but got N = 5
  // CHECK: refused 1
  testEncoding();
  // CHECK: option sm_90 so it is 1 1 4 2.5 0.5 512
  // CHECK: 1 -1 [] 0
  testRecord();
  // CHECK: func.func @linear
  // CHECK: nm.spmm <2:4>
  testPasses(text);
  free(text);
  return 0;
}
