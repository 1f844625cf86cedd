/*===- runtime.c - The runtime's C API, used from C -----------------------===*\
|*
|* Given the fake model of test/Unit/Runtime, prints what each call gives;
|* CTest fails where the program does.
|*
\*===----------------------------------------------------------------------===*/

#include "nm-c/Runtime.h"
#include "Expect.h"

#include <stdio.h>
#include <string.h>

static const int64_t kShapeA[] = {2, 4}, kShapeW[] = {4, 3}, kShapeC[] = {2, 3};
static float a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static float w[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
static float c[6];
static const float kExpected[6] = {10, 34, 28, 26, 78, 56};

static void testCall(const NmModule *module) {
  NmTensor tensorA = {a, NM_F32, 2, kShapeA, NULL, NM_CPU, 0};
  NmTensor tensorW = {w, NM_F32, 2, kShapeW, NULL, NM_CPU, 0};
  NmTensor tensorC = {c, NM_F32, 2, kShapeC, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  EXPECT(nmFunctionGetNumArgs(ffn) == 2);
  EXPECT(nmFunctionGetNumResults(ffn) == 1);

  FAILS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1),
        "argument 1 of @ffn: expected its weights, but none were given");
  FAILS(nmFunctionSetWeight(ffn, 0, &tensorW), "expected an encoded argument");
  FAILS(nmFunctionSetWeight(ffn, 2, &tensorW), "expected an argument below 2");
  FAILS(nmFunctionSetWeight(ffn, 1, &tensorA), "but got 2x4 f32");
  SUCCEEDS(nmFunctionSetWeight(ffn, 1, &tensorW));
  SUCCEEDS(nmFunctionPackWeights(ffn));
  FAILS(nmFunctionSetWeight(ffn, 1, &tensorW), "before they are packed");

  int64_t shape[2] = {0, 0};
  SUCCEEDS(nmFunctionGetResultShape(ffn, &tensorA, 1, 0, shape));
  EXPECT(shape[0] == 2 && shape[1] == 3);
  FAILS(nmFunctionGetResultShape(ffn, &tensorA, 1, 1, shape),
        "expected a result below 1");
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);

  /* A given column-major. */
  float transposed[8] = {1, 5, 2, 6, 3, 7, 4, 8};
  const int64_t strides[] = {1, 2};
  NmTensor stridedA = {transposed, NM_F32, 2, kShapeA, strides, NM_CPU, 0};
  memset(c, 0, sizeof c);
  SUCCEEDS(nmFunctionCall(ffn, &stridedA, 1, &tensorC, 1));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);

  FAILS(nmFunctionCall(ffn, &tensorA, 0, &tensorC, 1),
        "expected 1 arguments that are not encoded, but got 0");
  NmTensor bad = tensorA;
  bad.type = (NmElementType)99;
  FAILS(nmFunctionCall(ffn, &bad, 1, &tensorC, 1),
        "argument 0 of @ffn: expected an NmElementType, but got 99");
  bad = tensorA;
  bad.data = NULL;
  FAILS(nmFunctionCall(ffn, &bad, 1, &tensorC, 1), "expected data");
  nmFunctionFree(ffn);
}

static void testPrepared(const NmModule *module) {
  NmTensor tensorA = {NULL, NM_F32, 2, kShapeA, NULL, NM_CPU, 0};
  NmTensor tensorW = {w, NM_F32, 2, kShapeW, NULL, NM_CPU, 0};
  NmTensor tensorC = {NULL, NM_F32, 2, kShapeC, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  NmCall *call = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  FAILS(nmCallCreate(ffn, &tensorA, 1, &tensorC, 1, &call),
        "expected its weights");
  SUCCEEDS(nmFunctionSetWeight(ffn, 1, &tensorW));
  FAILS(nmCallCreate(ffn, &tensorC, 1, &tensorC, 1, &call), "argument 0");
  FAILS(nmCallCreate(ffn, &tensorA, 1, &tensorA, 1, &call), "result 0");
  EXPECT(call == NULL);
  SUCCEEDS(nmCallCreate(ffn, &tensorA, 1, &tensorC, 1, &call));
  void *const data[] = {a, c};
  memset(c, 0, sizeof c);
  SUCCEEDS(nmCallRun(call, data, NULL));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);
  /* At an address that compiled code cannot take. */
  char bytes[sizeof a + 1];
  memcpy(bytes + 1, a, sizeof a);
  void *const odd[] = {bytes + 1, c};
  memset(c, 0, sizeof c);
  SUCCEEDS(nmCallRun(call, odd, NULL));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);
  nmCallFree(call);

  float transposed[8] = {1, 5, 2, 6, 3, 7, 4, 8};
  const int64_t strides[] = {1, 2};
  tensorA.strides = strides;
  SUCCEEDS(nmCallCreate(ffn, &tensorA, 1, &tensorC, 1, &call));
  void *const strided[] = {transposed, c};
  memset(c, 0, sizeof c);
  SUCCEEDS(nmCallRun(call, strided, NULL));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);
  nmCallFree(call);
  nmCallFree(NULL);
  nmFunctionFree(ffn);
}

static void testCondensed(const NmModule *module) {
  float values[6] = {1, 5, 0, 3, 6, 7};
  uint8_t indices[6] = {0, 1, 0, 2, 3, 3};
  const int64_t shape[] = {2, 3};
  NmTensor tensorA = {a, NM_F32, 2, kShapeA, NULL, NM_CPU, 0};
  NmTensor tensorC = {c, NM_F32, 2, kShapeC, NULL, NM_CPU, 0};
  NmTensor tensorV = {values, NM_F32, 2, shape, NULL, NM_CPU, 0};
  NmTensor tensorI = {indices, NM_I8, 2, shape, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  indices[3] = 4;
  FAILS(nmFunctionSetCondensedWeight(ffn, 1, &tensorV, &tensorI),
        "expected a position");
  FAILS(nmFunctionLendCondensedWeight(ffn, 1, &tensorV, &tensorI),
        "expected a position");
  indices[3] = 2;
  SUCCEEDS(nmFunctionLendCondensedWeight(ffn, 1, &tensorV, &tensorI));
  SUCCEEDS(nmFunctionPackWeights(ffn));
  memset(values, 0, sizeof values);
  memset(c, 0, sizeof c);
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);
  nmFunctionFree(ffn);

  float given[6] = {1, 5, 0, 3, 6, 7};
  tensorV.data = given;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  SUCCEEDS(nmFunctionSetCondensedWeight(ffn, 1, &tensorV, &tensorI));
  memset(given, 0, sizeof given);
  memset(c, 0, sizeof c);
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  EXPECT(memcmp(c, kExpected, sizeof c) == 0);
  nmFunctionFree(ffn);
}

static void testRecords(const NmModule *module) {
  NmFunction *ffn = NULL;
  NmProductRecord record;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  EXPECT(nmFunctionGetNumProducts(ffn) == 1);
  EXPECT(nmFunctionGetProduct(ffn, 0, &record) == 0);
  EXPECT(strcmp(record.op, "nm.spmm") == 0);
  EXPECT(strcmp(record.pattern, "2:4") == 0);
  EXPECT(record.m == -1 && record.n == 3 && record.k == 4);
  EXPECT(strcmp(record.dtype, "f32") == 0);
  EXPECT(strcmp(record.strategy, "vector") == 0);
  EXPECT(strcmp(record.schedule, "") == 0);
  EXPECT(strcmp(record.source, "model") == 0);
  EXPECT(strcmp(record.place, "fake.mlir:3:8") == 0);
  EXPECT(strcmp(record.remark, "2:4, 50 % sparse") == 0);
  EXPECT(record.fallsBack && record.estimate == 2.5);
  /* NaN is not equal to itself. */
  EXPECT(record.denseEstimate != record.denseEstimate);
  EXPECT(record.memoryFloor != record.memoryFloor);
  EXPECT(record.sharedBytes == -1);
  EXPECT(nmFunctionGetNumAlternatives(ffn, 0) == 0);
  EXPECT(nmFunctionGetNumAlternatives(ffn, 1) == -1);
  NmAlternative alternative;
  EXPECT(nmFunctionGetAlternative(ffn, 0, 0, &alternative) != 0);
  EXPECT(nmFunctionGetProduct(ffn, 1, &record) != 0);
  EXPECT(nmFunctionGetProduct(ffn, -1, &record) != 0);
  nmFunctionFree(ffn);
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  NmModule *module = NULL;
  FAILS(nmModuleLoad("/nowhere/model.so", &module), "cannot load");
  EXPECT(module == NULL);
  SUCCEEDS(nmModuleLoad(argv[1], &module));
  EXPECT(strstr(nmModuleGetManifest(module), "\"ffn\""));
  NmFunction *none = NULL;
  FAILS(nmFunctionCreate(module, "none", &none), "it has @ffn");
  FAILS(nmFunctionCreate(module, NULL, &none), "the name of a function");
  testCall(module);
  testPrepared(module);
  testCondensed(module);
  testRecords(module);
  nmModuleFree(module);
  nmModuleFree(NULL);
  nmFunctionFree(NULL);
  nmMessageFree(NULL);
  printf("passed\n");
  return 0;
}
