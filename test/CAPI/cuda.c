/*===- cuda.c - The runtime's C API on a CUDA device, used from C ---------===*\
|*
|* Given the fake module for CUDA of test/Unit/Runtime and its fake driver.
|*
\*===----------------------------------------------------------------------===*/

#include "Expect.h"
#include "nm-c/Runtime.h"

void *mgpuMemAlloc(uint64_t bytes, void *stream, _Bool isHostShared);
void mgpuMemFree(void *pointer, void *stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);
void *mgpuStreamCreate(void);
void mgpuStreamDestroy(void *stream);

static const int64_t kShapeA[] = {2, 4}, kShapeW[] = {4, 3}, kShapeC[] = {2, 3};
static float a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static float w[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
static const float kExpected[6] = {10, 34, 28, 26, 78, 56};

/* A copy of `data` on the device. */
static NmTensor onDevice(void *data, const int64_t *shape) {
  size_t bytes = shape[0] * shape[1] * sizeof(float);
  NmTensor tensor = {NULL, NM_F32, 2, shape, NULL, NM_CUDA, 0};
  tensor.data = mgpuMemAlloc(bytes, NULL, 0);
  if (data)
    mgpuMemcpy(tensor.data, data, bytes, NULL);
  SUCCEEDS(nmTakeError());
  return tensor;
}

static void expectC(const NmTensor *c) {
  float host[6];
  mgpuMemcpy(host, c->data, sizeof host, NULL);
  SUCCEEDS(nmTakeError());
  EXPECT(memcmp(host, kExpected, sizeof host) == 0);
}

static void testDevices(void) {
  int32_t count = 0;
  SUCCEEDS(nmCudaGetDeviceCount(&count));
  EXPECT(count == 1);
  char chip[16];
  SUCCEEDS(nmCudaGetDeviceChip(0, chip));
  EXPECT(strcmp(chip, "sm_90a") == 0);
  FAILS(nmCudaGetDeviceChip(1, chip), "expected a CUDA device from 0 to 0");
}

static void testStream(void) {
  EXPECT(nmGetStream() != NULL);
  nmSetStream(a);
  EXPECT(nmGetStream() == a);
  nmSetStream(NULL);
  EXPECT(nmGetStream() != NULL);
}

static void testCall(const NmModule *module) {
  NmTensor tensorA = onDevice(a, kShapeA), tensorC = onDevice(NULL, kShapeC);
  NmTensor hostW = {w, NM_F32, 2, kShapeW, NULL, NM_CPU, 0};
  NmTensor hostA = {a, NM_F32, 2, kShapeA, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  SUCCEEDS(nmFunctionSetDevice(ffn, 0));
  SUCCEEDS(nmFunctionSetWeight(ffn, 1, &hostW));
  SUCCEEDS(nmFunctionPackWeights(ffn));
  FAILS(nmFunctionSetDevice(ffn, 0), "before the weights are packed");
  FAILS(nmFunctionCall(ffn, &hostA, 1, &tensorC, 1),
        "argument 0 of @ffn: expected it on cuda:0, where the function runs, "
        "but it is on cpu; copy it there first");
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  expectC(&tensorC);
  void *stream = mgpuStreamCreate();
  SUCCEEDS(nmFunctionCallOnStream(ffn, &tensorA, 1, &tensorC, 1, stream));
  EXPECT(nmGetStream() != stream);
  mgpuStreamDestroy(stream);
  NmCall *call = NULL;
  FAILS(nmCallCreate(ffn, &hostA, 1, &tensorC, 1, &call), "but it is on cpu");
  SUCCEEDS(nmCallCreate(ffn, &tensorA, 1, &tensorC, 1, &call));
  void *data[] = {tensorA.data, tensorC.data};
  float zeros[6] = {0};
  mgpuMemcpy(tensorC.data, zeros, sizeof zeros, NULL);
  SUCCEEDS(nmCallRun(call, data, NULL));
  expectC(&tensorC);
  FAILS(nmCallKeepGraphs(call, -1), "expected 0 graphs or more, but got -1");
  SUCCEEDS(nmCallKeepGraphs(call, 2));
  for (int i = 0; i < 3; ++i) {
    mgpuMemcpy(tensorC.data, zeros, sizeof zeros, NULL);
    SUCCEEDS(nmCallRun(call, data, NULL));
    expectC(&tensorC);
  }
  nmCallFree(call);
  NmTensor bad = tensorA;
  bad.device = (NmDeviceKind)9;
  FAILS(nmFunctionCall(ffn, &bad, 1, &tensorC, 1),
        "expected an NmDeviceKind, but got 9");
  nmFunctionFree(ffn);
  mgpuMemFree(tensorA.data, NULL);
  mgpuMemFree(tensorC.data, NULL);
}

/* A, column-major, at an address that no float has. */
static void testStrided(const NmModule *module) {
  const int64_t kRoom[] = {3, 3}, kColumns[] = {1, 2}, kNone[] = {0, 1};
  const float columns[8] = {1, 5, 2, 6, 3, 7, 4, 8};
  float room[9], zeros[6] = {0};
  memcpy((char *)room + 1, columns, sizeof columns);
  NmTensor tensorA = onDevice(room, kRoom), tensorC = onDevice(NULL, kShapeC);
  NmTensor hostW = {w, NM_F32, 2, kShapeW, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  SUCCEEDS(nmFunctionSetWeight(ffn, 1, &hostW));
  NmTensor view = tensorA;
  view.data = (char *)tensorA.data + 1;
  view.shape = kShapeA;
  view.strides = kColumns;
  SUCCEEDS(nmFunctionCall(ffn, &view, 1, &tensorC, 1));
  expectC(&tensorC);
  NmCall *call = NULL;
  SUCCEEDS(nmCallCreate(ffn, &view, 1, &tensorC, 1, &call));
  void *data[] = {view.data, tensorC.data};
  mgpuMemcpy(tensorC.data, zeros, sizeof zeros, NULL);
  SUCCEEDS(nmCallRun(call, data, NULL));
  expectC(&tensorC);
  nmCallFree(call);
  NmTensor broadcast = tensorC;
  broadcast.strides = kNone;
  FAILS(nmFunctionCall(ffn, &view, 1, &broadcast, 1),
        "result 0 of @ffn: expected elements that do not share memory, but the "
        "2 of dimension 0 have stride 0");
  nmFunctionFree(ffn);
  mgpuMemFree(tensorA.data, NULL);
  mgpuMemFree(tensorC.data, NULL);
}

/* Weights that are on the device already. */
static void testDeviceWeights(const NmModule *module) {
  float values[6] = {1, 5, 0, 3, 6, 7};
  uint8_t indices[6] = {0, 1, 0, 2, 3, 3};
  const int64_t shape[] = {2, 3};
  NmTensor tensorA = onDevice(a, kShapeA), tensorC = onDevice(NULL, kShapeC);
  NmTensor tensorW = onDevice(w, kShapeW), tensorV = onDevice(values, shape);
  NmTensor hostI = {indices, NM_I8, 2, shape, NULL, NM_CPU, 0};
  NmFunction *ffn = NULL;
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  SUCCEEDS(nmFunctionSetWeight(ffn, 1, &tensorW));
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  expectC(&tensorC);
  nmFunctionFree(ffn);
  SUCCEEDS(nmFunctionCreate(module, "ffn", &ffn));
  SUCCEEDS(nmFunctionSetCondensedWeight(ffn, 1, &tensorV, &hostI));
  SUCCEEDS(nmFunctionCall(ffn, &tensorA, 1, &tensorC, 1));
  expectC(&tensorC);
  nmFunctionFree(ffn);
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  NmModule *module = NULL;
  SUCCEEDS(nmModuleLoad(argv[1], &module));
  testDevices();
  testStream();
  testCall(module);
  testStrided(module);
  testDeviceWeights(module);
  nmModuleFree(module);
  printf("passed\n");
  return 0;
}
