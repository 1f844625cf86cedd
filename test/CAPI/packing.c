/*===- packing.c - Weights packed for every strategy, from C --------------===*/

// RUN: nm-capi-packing-test 2>&1 | FileCheck %s

#include "nm-c/Dialect.h"
#include "nm-c/Format.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kM = 256, kK = 256, kN = 256 };

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void print(MlirStringRef text, void *file) {
  fwrite(text.data, 1, text.length, file);
}

static void require(int holds, const char *what) {
  if (holds)
    return;
  printf("failed: %s\n", what);
  exit(1);
}

typedef struct {
  const char *chip, *schedule, *pattern, *type;
  int64_t n, m, bn;
} Case;

static const Case kCases[] = {
    {"", "vector", "8:32, block = 1x32", "f32", 8, 32, 32},
    {"", "vector", "2:4", "f32", 2, 4, 1},
    {"sm_90a", "simt", "8:32, block = 1x32", "f32", 8, 32, 32},
    {"sm_90a", "simt<pack = true, block = [64, 64, 32]>", "4:32, block = 1x32",
     "f32", 4, 32, 32},
    {"sm_80", "mma_sync", "8:32, block = 1x32", "f16", 8, 32, 32},
    {"sm_80", "mma_sp", "2:4", "f16", 2, 4, 1},
    {"sm_90a", "wgmma", "8:32, block = 1x128", "f16", 8, 32, 128},
    {"sm_90a", "wgmma_sp", "2:4", "bf16", 2, 4, 1},
    {"sm_90a", "wgmma", "8:32, block = 1x128", "f32", 8, 32, 128},
    {"sm_90a", "wgmma_sp", "1:4", "f32", 1, 4, 1},
};

/** Condensed weights: any bits, and positions that ascend. */
typedef struct {
  int64_t rows, columns, unitColumns;
  size_t bytes;
  char *values;
  uint8_t *indices;
} Weights;

/** Some bits; any will do. */
static uint32_t drawBits(void) {
  static uint32_t state = 7;
  return state = state * 1664525U + 1013904223U;
}

static Weights draw(const Case *c) {
  Weights w;
  w.rows = kK / c->m * c->n;
  w.columns = kN;
  w.unitColumns = kN / c->bn;
  w.bytes = strcmp(c->type, "f32") ? 2 : 4;
  w.values = malloc(w.rows * w.columns * w.bytes);
  w.indices = malloc(w.rows * w.unitColumns);
  for (size_t i = 0; i < w.rows * w.columns * w.bytes; ++i)
    w.values[i] = (char)(drawBits() >> 26);
  for (int64_t row = 0; row < w.rows; ++row)
    for (int64_t unit = 0; unit < w.unitColumns; ++unit)
      w.indices[row * w.unitColumns + unit] =
          (uint8_t)(row % c->n * (c->m / c->n) + unit % (c->m / c->n));
  return w;
}

static MlirValue constant(MlirBlock block, MlirType element, int64_t rows,
                          int64_t columns, size_t bytes, const void *data) {
  int64_t shape[] = {rows, columns};
  MlirType type =
      mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirContext context = mlirTypeGetContext(type);
  MlirNamedAttribute value = mlirNamedAttributeGet(
      mlirIdentifierGet(context, ref("value")),
      mlirDenseElementsAttrRawBufferGet(type, rows * columns * bytes, data));
  MlirOperationState state = mlirOperationStateGet(
      ref("arith.constant"), mlirLocationUnknownGet(context));
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(&state, 1, &value);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperation(block, 0, op);
  return mlirOperationGetResult(op, 0);
}

static MlirAttribute parse(MlirContext context, const char *format,
                           const char *text) {
  char whole[256];
  snprintf(whole, sizeof(whole), format, text);
  return mlirAttributeParseGet(context, ref(whole));
}

/** C = A · B on the function's A and C, with the weights as constants. */
static MlirOperation buildProduct(MlirContext context, MlirModule module,
                                  const Case *c, const Weights *w) {
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock block =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirType element = mlirTypeParseGet(context, ref(c->type));
  MlirValue a = mlirBlockGetArgument(block, 0),
            result = mlirBlockGetArgument(block, 1),
            values = constant(block, element, w->rows, w->columns, w->bytes,
                              w->values),
            indices = constant(block, mlirIntegerTypeGet(context, 8), w->rows,
                               w->unitColumns, 1, w->indices);
  NmOperand operands[] = {{ref("a"), 1, &a},
                          {ref("values"), 1, &values},
                          {ref("indices"), 1, &indices},
                          {ref("c"), 1, &result}};
  MlirNamedAttribute fields[] = {
      mlirNamedAttributeGet(mlirIdentifierGet(context, ref("pattern")),
                            parse(context, "#nm.pattern<%s>", c->pattern)),
      mlirNamedAttributeGet(mlirIdentifierGet(context, ref("transpose_a")),
                            mlirUnitAttrGet(context))};
  MlirOperation product =
      nmOperationCreate(mlirLocationUnknownGet(context), ref("nm.spmm"), 4,
                        operands, 2, fields, 0, NULL, 0, NULL);
  require(!mlirOperationIsNull(product), "to build the product");
  MlirOperation end = mlirBlockGetTerminator(block);
  mlirBlockInsertOwnedOperationBefore(block, end, product);
  mlirOperationSetOperand(end, 0, mlirOperationGetResult(product, 0));
  return product;
}

typedef struct {
  MlirStringRef name;
  intptr_t numOptions;
  const NmPassOption *options;
} Pass;

static void run(MlirModule module, const Pass *passes, int numPasses) {
  MlirContext context = mlirModuleGetContext(module);
  MlirPassManager manager = mlirPassManagerCreate(context);
  for (int i = 0; i < numPasses; ++i)
    require(mlirLogicalResultIsSuccess(nmPassManagerAdd(
                mlirPassManagerGetAsOpPassManager(manager), passes[i].name,
                passes[i].numOptions, passes[i].options, print, stdout)),
            "to add a pass");
  require(mlirLogicalResultIsSuccess(
              mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))),
          "to run passes");
  mlirPassManagerDestroy(manager);
}

static void selectSchedule(MlirModule module, const Case *c) {
  NmPassOption schedule = {ref("schedule"), ref(c->schedule)},
               chip = {ref("chip"), ref(c->chip)};
  Pass cpu[] = {{ref("nm-select-schedule"), 1, &schedule}};
  Pass gpu[] = {{ref("nm-attach-chip"), 1, &chip},
                {ref("nm-select-gpu-schedule"), 1, &schedule}};
  if (c->chip[0])
    run(module, gpu, 2);
  else
    run(module, cpu, 1);
}

static MlirWalkResult findProduct(MlirOperation op, void *found) {
  if (nmOperationGetNumOperands(op, ref("epilogueOperands")) < 0)
    return MlirWalkResultAdvance;
  *(MlirOperation *)found = op;
  return MlirWalkResultInterrupt;
}

/** Whether the operand's constant has these bytes. */
static int isConstant(MlirOperation product, const char *operand,
                      const void *bytes, size_t size) {
  MlirOperation op =
      mlirOpResultGetOwner(nmOperationGetOperand(product, ref(operand), 0));
  MlirAttribute value = mlirOperationGetAttributeByName(op, ref("value"));
  return !mlirAttributeIsNull(value) &&
         !memcmp(mlirDenseElementsAttrGetRawData(value), bytes, size);
}

static size_t product3(const int64_t sizes[3]) {
  return (size_t)(sizes[0] * sizes[1] * sizes[2]);
}

static void runCase(MlirContext context, const Case *c) {
  char text[256];
  snprintf(text, sizeof(text),
           "func.func @f(%%a: tensor<%dx%dx%s>, %%c: tensor<%dx%dxf32>) -> "
           "tensor<%dx%dxf32> { return %%c : tensor<%dx%dxf32> }",
           kK, kM, c->type, kM, kN, kM, kN, kM, kN);
  MlirModule module = mlirModuleCreateParse(context, ref(text));
  Weights w = draw(c);
  MlirOperation product = buildProduct(context, module, c, &w);
  require(mlirOperationVerify(mlirModuleGetOperation(module)), "to verify");
  selectSchedule(module, c);
  MlirAttribute schedule =
      mlirOperationGetAttributeByName(product, ref("schedule"));
  MlirAttribute pattern =
      mlirOperationGetAttributeByName(product, ref("pattern"));
  require(nmAttributeIsASchedule(schedule), "to find a schedule");
  MlirAttribute form = nmScheduleAttrGetPackedForm(schedule, pattern);
  require(nmAttributeIsAPackedForm(form), "to find a packed form");

  MlirType element = mlirTypeParseGet(context, ref(c->type));
  NmPackedShape shape;
  require(mlirLogicalResultIsSuccess(
              nmPackedFormAttrGetShape(form, pattern, element, kK, kN, &shape)),
          "to find the packed shape");
  size_t valueBytes = product3(shape.values) *
                      (mlirTypeIsAF32(shape.elementType) ? 4 : 2),
         indexBytes = product3(shape.indices),
         listBytes = product3(shape.lists);
  char *values = malloc(valueBytes);
  uint8_t *indices = malloc(indexBytes), *lists = malloc(listBytes + 1);
  require(mlirLogicalResultIsSuccess(
              nmPackedFormAttrPack(form, pattern, element, kK, kN, w.values,
                                   w.indices, values, indices, lists)),
          "to pack");

  Pass pack[] = {{ref("nm-pack-weights"), 0, NULL},
                 {ref("canonicalize"), 0, NULL}};
  run(module, pack, 2);
  mlirOperationWalk(mlirModuleGetOperation(module), findProduct, &product,
                    MlirWalkPreOrder);
  require(isConstant(product, "values", values, valueBytes) &&
              isConstant(product, "indices", indices, indexBytes),
          "to pack as the pass does");
  require(nmOperationGetNumOperands(product, ref("lists")) ==
                  (listBytes != 0) &&
              (!listBytes || isConstant(product, "lists", lists, listBytes)),
          "to list rows as the pass does");
  if (listBytes)
    require(mlirLogicalResultIsFailure(
                nmPackedFormAttrPack(form, pattern, element, kK, kN, w.values,
                                     w.indices, values, indices, NULL)),
            "to refuse to drop lists");
  print(nmAttributeGetMnemonic(schedule), stdout);
  printf(": ");
  mlirAttributePrint(form, print, stdout);
  printf(listBytes ? " with lists as nm-pack-weights\n"
                   : " as nm-pack-weights\n");
  w.indices[0] = (uint8_t)c->m;
  require(mlirLogicalResultIsFailure(
              nmPackedFormAttrPack(form, pattern, element, kK, kN, w.values,
                                   w.indices, values, indices, lists)),
          "to refuse an index");
  free(values);
  free(indices);
  free(lists);
  free(w.values);
  free(w.indices);
  mlirModuleDestroy(module);
}

static void testPasses(MlirContext context) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  NmPassOption chip = {ref("chip"), ref("sm_90a")},
               none = {ref("chop"), ref("sm_90a")},
               open = {ref("chip"), ref("}{")};
  // CHECK: no such option chop
  require(mlirLogicalResultIsFailure(nmPassManagerAdd(passes, ref("nm-to-nvvm"),
                                                      1, &none, print, stdout)),
          "to refuse an option");
  printf("\n");
  // CHECK: expected braces of option chip to be balanced, but got }{
  require(mlirLogicalResultIsFailure(nmPassManagerAdd(passes, ref("nm-to-nvvm"),
                                                      1, &open, print, stdout)),
          "to refuse braces");
  printf("\n");
  // CHECK: expected a pass or pipeline that is registered, but got nm-to-tpu
  require(mlirLogicalResultIsFailure(nmPassManagerAdd(passes, ref("nm-to-tpu"),
                                                      0, NULL, print, stdout)),
          "to refuse a name");
  printf("\n");
  require(mlirLogicalResultIsSuccess(nmPassManagerAdd(passes, ref("nm-to-nvvm"),
                                                      1, &chip, print, stdout)),
          "to add a pipeline");
  // CHECK: nm-attach-chip{batch-invariant=false chip=sm_90a
  mlirPrintPassPipeline(passes, print, stdout);
  printf("\n");
  mlirPassManagerDestroy(manager);
}

int main(void) {
  nmRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  nmRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  testPasses(context);
  // CHECK: vector: #nm.packing<{{.*}}> as nm-pack-weights
  // CHECK: vector: #nm.packing<{{.*}}> as nm-pack-weights
  // CHECK: simt: #nm.packing<{{.*}}> as nm-pack-weights
  // CHECK: simt: {{.*}}col_info{{.*}}> with lists as nm-pack-weights
  // CHECK: mma_sync: #nm.packing<{{.*}}> as nm-pack-weights
  // CHECK: mma_sp: #nm.sparse_operand<mma> as nm-pack-weights
  // CHECK: wgmma: #nm.packing<{{.*}}> as nm-pack-weights
  // CHECK: wgmma_sp: #nm.sparse_operand<wgmma{{(_pairs)?}}> as nm-pack-weights
  // CHECK: wgmma: #nm.packing<{{.*}}splits = 3{{.*}}> as nm-pack-weights
  // CHECK: #nm.sparse_operand<wgmma_pairs, splits = 3> as nm-pack-weights
  for (size_t i = 0; i < sizeof(kCases) / sizeof(*kCases); ++i)
    runCase(context, &kCases[i]);
  mlirContextDestroy(context);
  return 0;
}
