/*===- fields.c - Every attribute, type and op through the C API ----------===*/

// The names of operands, attributes and types are those of the reference.
// DEFINE: %{reference} = %S/../../docs/reference/Dialects/NMDialect.md
// RUN: nm-capi-fields-test names > %t
// RUN: %python %S/compare_names.py %{reference} < %t
//
// Every op is taken apart and built again, and its attributes by their fields.
// DEFINE: %{ir} = %S/../Dialect/NM/IR
// RUN: nm-opt %{ir}/roundtrip.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/roundtrip.mlir | diff - %t
// RUN: nm-opt %{ir}/tiles.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/tiles.mlir | diff - %t
// RUN: nm-opt %{ir}/roles.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/roles.mlir | diff - %t
// RUN: nm-opt %{ir}/combine.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/combine.mlir | diff - %t
// RUN: nm-opt %{ir}/split-floats.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/split-floats.mlir | diff - %t
// RUN: nm-opt %{ir}/epilogue.mlir > %t
// RUN: nm-capi-fields-test rebuild %{ir}/epilogue.mlir | diff - %t
//
// RUN: nm-capi-fields-test attributes 2>&1 | FileCheck %s
//
// nm's dialect and passes can be had without those of upstream.
// RUN: nm-capi-fields-test parts | FileCheck %s --check-prefix=PARTS
// PARTS: dialect nm 1, dialect linalg 0
// PARTS: nm-select-schedule 1, nm-to-cpu 1, canonicalize 0

#include "nm-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 16 };

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void print(MlirStringRef text, void *file) {
  fwrite(text.data, 1, text.length, file);
}

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  nmRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextGetOrLoadDialect(context, ref("nm"));
  mlirDialectRegistryDestroy(registry);
  return context;
}

static void printNames(void) {
  for (intptr_t op = 0; op < nmGetNumOperations(); ++op) {
    MlirStringRef name = nmGetOperationName(op);
    print(name, stdout);
    for (intptr_t i = 0; nmGetOperandName(name, i).length; ++i) {
      printf(" ");
      print(nmGetOperandName(name, i), stdout);
    }
    printf("\n");
  }
  for (intptr_t i = 0; i < nmGetNumAttributes(); ++i) {
    printf("#nm.");
    print(nmGetAttributeMnemonic(i), stdout);
    printf("\n");
  }
  for (intptr_t i = 0; i < nmGetNumTypes(); ++i) {
    printf("!nm.");
    print(nmGetTypeMnemonic(i), stdout);
    printf("\n");
  }
}

/*===----------------------------------------------------------------------===*\
|* Ops
\*===----------------------------------------------------------------------===*/

/** The attribute, built of its fields, where it is one of the dialect. */
static MlirAttribute rebuildAttribute(MlirContext context, MlirAttribute from) {
  MlirStringRef mnemonic = nmAttributeGetMnemonic(from);
  if (!mnemonic.length)
    return from;
  return nmAttributeGet(context, mnemonic, nmAttributeGetFields(from));
}

static MlirOperation rebuild(MlirOperation op, MlirStringRef name) {
  MlirContext context = mlirOperationGetContext(op);
  MlirValue values[kMost][kMost];
  NmOperand operands[kMost];
  intptr_t numOperands = 0;
  for (; nmGetOperandName(name, numOperands).length; ++numOperands) {
    MlirStringRef operand = nmGetOperandName(name, numOperands);
    intptr_t count = nmOperationGetNumOperands(op, operand);
    for (intptr_t i = 0; i < count; ++i)
      values[numOperands][i] = nmOperationGetOperand(op, operand, i);
    NmOperand all = {operand, count, values[numOperands]};
    operands[numOperands] = all;
  }
  MlirNamedAttribute fields[kMost];
  intptr_t numFields = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute field = mlirOperationGetAttribute(op, i);
    if (mlirStringRefEqual(mlirIdentifierStr(field.name),
                           ref("operandSegmentSizes")))
      continue;
    field.attribute = rebuildAttribute(context, field.attribute);
    fields[numFields++] = field;
  }
  MlirType results[kMost];
  intptr_t numResults = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < numResults; ++i)
    results[i] = mlirValueGetType(mlirOperationGetResult(op, i));
  MlirRegion regions[kMost];
  intptr_t numRegions = mlirOperationGetNumRegions(op);
  for (intptr_t i = 0; i < numRegions; ++i) {
    regions[i] = mlirRegionCreate();
    mlirRegionTakeBody(regions[i], mlirOperationGetRegion(op, i));
  }
  /* Those that write their outputs find out what they return. */
  int infers = nmOperationGetNumOperands(op, ref("c")) == 1;
  return nmOperationCreate(mlirOperationGetLocation(op), name, numOperands,
                           operands, numFields, fields, infers ? 0 : numResults,
                           results, numRegions, regions);
}

static MlirWalkResult visit(MlirOperation op, void *unused) {
  (void)unused;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (!nmGetOperandName(name, 0).length && strncmp(name.data, "nm.", 3))
    return MlirWalkResultAdvance;
  MlirOperation built = rebuild(op, name);
  if (mlirOperationIsNull(built))
    exit(1);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, built);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  mlirOperationGetResult(built, i));
  mlirOperationDestroy(op);
  return MlirWalkResultSkip;
}

static int rebuildFile(const char *path) {
  FILE *file = fopen(path, "rb");
  static char text[1 << 17];
  if (!file || !fread(text, 1, sizeof(text) - 1, file))
    return 1;
  fclose(file);
  MlirContext context = createContext();
  MlirModule module = mlirModuleCreateParse(context, ref(text));
  if (mlirModuleIsNull(module))
    return 1;
  MlirOperation op = mlirModuleGetOperation(module);
  mlirOperationWalk(op, visit, NULL, MlirWalkPostOrder);
  mlirOperationPrint(op, print, stdout);
  printf("\n");
  int failed = !mlirOperationVerify(op);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return failed;
}

/*===----------------------------------------------------------------------===*\
|* Attributes and types
\*===----------------------------------------------------------------------===*/

/** One of each, with all of its fields. */
static const char *const kAttributes[] = {
    "#nm.pattern<8:32, block = 1x32>",
    "#nm.encoding<2:4, dim = 1>",
    "#nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, chunk_columns = "
    "2, index_rows = 32>",
    "#nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>",
    "#nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, "
    "lane_words = 3>",
    "#nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>",
    "#nm.sparse_operand<wgmma>",
    "#nm.sparse_operand<mma, bits = 4>",
    "#nm.sparse_operand<wgmma_pairs, splits = 3>",
    "#nm.bitmap",
    "#nm.columns<kept = 50, tile_rows = 300>",
    "#nm.bitmap_panels<kept = 50, word_rows = 2>",
    "#nm.ell<steps = 4, bits = 8, parts = 2>",
    "#nm.encoding<unstructured, kept = 9, dim = 1>",
    "#nm.quantization<bits = 4, group = 128>",
    "#nm.chip<\"sm_90a\">",
    "#nm.arithmetic<tf32>",
    "#nm.copy_kind<bulk>",
    "#nm.sync_scope<warpgroup>",
    "#nm.cluster_block",
    "#nm.tile_layout<[64, 1], offset = ?, panels = [64, 3072], xor = [1:3 with "
    "0:0 for 3]>",
    "#nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>",
    "#nm.row_list<pattern = <3:32, block = 1x32>, packing = <panel = 32, "
    "index_bits = 8, col_info = 128>, windows = 1>",
    "#nm.alternative<name = \"own\", strategy = \"simt\", estimate_us = 2.0, "
    "extra_us = 0.5, chosen = true>",
    "#nm.alternative<name = \"dense\", why_not = \"zeros\">",
    "#nm.record<source = model, pattern = <8:32, block = 1x32>, chip = "
    "\"sm_90\", threads = 2, lanes = 8, typical_m = 64, estimate_us = 9.1, "
    "dense_us = 19.8, multiply_floor_us = 2.3, memory_floor_us = 0.9, "
    "shared_bytes = 86016, falls_back = true, reason = \"a \\\"word\\\", and "
    "another\", alternatives = [#nm.alternative<name = \"own\", estimate_us = "
    "1.0>]>",
    "#nm.loops",
    "#nm.vector<block = [64, 512, 128], thread = [64, 6], packing = <panel = "
    "16, index_bits = 8>>",
    "#nm.amx<block = [256, 2048, 512], packing = <panel = 32, index_bits = 8, "
    "chunk_rows = 32, index_rows = 32>>",
    "#nm.simt<block = [128, 128, 128], warp = [64, 32], thread = [8, 8], "
    "stages = 2, split_k = 4, cluster_k = 2, slice_k = 2, group_m = 3, copy_a "
    "= matrices, layout_a = interleaved, prefetch = true, defer = false, pack "
    "= true, promote = true, packing = <panel = 32, index_bits = 8>>",
    "#nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], stages = "
    "2, split_k = 3, slice_k = 4, packing = <panel = 32, index_bits = 2, "
    "chunk_rows = 4, index_rows = 8>>",
    "#nm.gemv_columns<block = [1, 32, 300], warp = [1, 32], thread = [1, 1], "
    "stages = 2, slice_k = 2, steps = 9, gap_bits = 4>",
    "#nm.simt_columns<block = [64, 4, 300], warp = [64, 1], thread = [2, 1], "
    "slice_k = 2, kept = 50, tile_rows = 300>",
    "#nm.mma_sync<block = [128, 256, 64], warp = [128, 32], stages = 4, "
    "split_k = 2, pack = false, packing = <panel = 32, index_bits = 8>>",
    "#nm.mma_sp<block = [128, 128, 64], warp = [64, 64], stages = 4, split_k = "
    "2>",
    "#nm.mma_bitmap<block = [8, 32, 512], warp = [8, 32], stages = 4, slice_k "
    "= 4>",
    "#nm.mma_image<block = [256, 64, 576], warp = [64, 64], stages = 2, "
    "slice_k = 1, packing = <panel = 64, index_bits = 8, chunk_rows = 4, "
    "index_rows = 4>>",
    "#nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, "
    "split_k = 1, producers = 4, blocks = 132, group_m = 4, packing = <panel = "
    "128, index_bits = 8, tile_rows = 64>>",
    "#nm.wgmma_select<block = [128, 256, 256], warpgroup = [64, 256], stages = "
    "4, producers = 4, blocks = 132, group_m = 4, promote = true, packing = "
    "<panel = 256, index_bits = 4, index_rows = 4, tile_rows = 64>>",
    "#nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 5, "
    "split_k = 4, cluster_k = 2>",
    "#nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1, "
    "chunk_rows = 4096, index_rows = 4096>>",
    "#nm.cublas<own = #nm.simt<block = [64, 128, 32], stages = 2>>",
};

static const char *const kTypes[] = {
    "!nm.token",
    "!nm.fragment<memref<32x64xf32, #gpu.address_space<workgroup>>>",
    "!nm.barriers<4>",
};

static int indexOf(MlirStringRef mnemonic, intptr_t count,
                   MlirStringRef (*get)(intptr_t)) {
  for (intptr_t i = 0; i < count; ++i)
    if (mlirStringRefEqual(get(i), mnemonic))
      return (int)i;
  exit(1);
}

static void checkAttributes(MlirContext context) {
  char seen[64] = {0};
  for (size_t i = 0; i < sizeof(kAttributes) / sizeof(*kAttributes); ++i) {
    MlirAttribute attribute =
        mlirAttributeParseGet(context, ref(kAttributes[i]));
    MlirAttribute built = rebuildAttribute(context, attribute);
    seen[indexOf(nmAttributeGetMnemonic(attribute), nmGetNumAttributes(),
                 nmGetAttributeMnemonic)] = 1;
    if (mlirAttributeIsNull(built) || !mlirAttributeEqual(attribute, built))
      printf("differs: %s\n", kAttributes[i]);
  }
  for (intptr_t i = 0; i < nmGetNumAttributes(); ++i)
    if (!seen[i])
      printf("not tried: %d\n", (int)i);
  printf("attributes are done\n");
}

static void checkTypes(MlirContext context) {
  char seen[64] = {0};
  for (size_t i = 0; i < sizeof(kTypes) / sizeof(*kTypes); ++i) {
    MlirType type = mlirTypeParseGet(context, ref(kTypes[i]));
    MlirStringRef mnemonic = nmTypeGetMnemonic(type);
    MlirType built = nmTypeGet(context, mnemonic, nmTypeGetFields(type));
    seen[indexOf(mnemonic, nmGetNumTypes(), nmGetTypeMnemonic)] = 1;
    if (mlirTypeIsNull(built) || !mlirTypeEqual(type, built))
      printf("differs: %s\n", kTypes[i]);
  }
  for (intptr_t i = 0; i < nmGetNumTypes(); ++i)
    if (!seen[i])
      printf("not tried: %d\n", (int)i);
  printf("types are done\n");
}

/** Fields that are no attribute's are refused by an error. */
static void checkRefusals(MlirContext context) {
  static const char *const cases[][2] = {
      {"pattern", "{n = 5 : i64, m = 4 : i64}"},
      {"pattern", "{n = 1 : i64}"},
      {"pattern", "{n = 1 : i32, m = 4 : i64}"},
      {"pattern", "{n = 1 : i64, m = 4 : i64, l = 4 : i64}"},
      {"arithmetic", "{value = \"f8\"}"},
      {"simt", "{stages = 1.0 : f32}"},
      {"simt", "{copy_a = \"bulk> <\"}"},
      {"simt", "{\"stages = 2, split_k\" = 2 : i64}"},
      {"tile_layout", "{strides = array<i64>}"},
      {"tile_layout", "{strides = array<i64: 1>, order = [1]}"},
      {"chip", "[]"},
      {"chop", "{}"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    MlirAttribute fields = mlirAttributeParseGet(context, ref(cases[i][1]));
    if (!mlirAttributeIsNull(nmAttributeGet(context, ref(cases[i][0]), fields)))
      printf("took %s\n", cases[i][1]);
  }
  MlirAttribute unit = mlirUnitAttrGet(context);
  if (!mlirAttributeIsNull(nmAttributeGetFields(unit)) ||
      nmAttributeGetMnemonic(unit).length ||
      !mlirTypeIsNull(nmTypeGet(
          context, ref("fragment"),
          mlirAttributeParseGet(context, ref("{destination = i32}")))))
    printf("took what is not nm's\n");
  NmOperand none = {ref("b"), 0, NULL};
  MlirLocation loc = mlirLocationUnknownGet(context);
  if (!mlirOperationIsNull(nmOperationCreate(loc, ref("nm.spmm"), 1, &none, 0,
                                             NULL, 0, NULL, 0, NULL)) ||
      !mlirOperationIsNull(nmOperationCreate(loc, ref("nm.spmm"), 0, NULL, 0,
                                             NULL, 0, NULL, 0, NULL)) ||
      !mlirOperationIsNull(nmOperationCreate(loc, ref("nm.spm"), 0, NULL, 0,
                                             NULL, 0, NULL, 0, NULL)))
    printf("took operands that are not there\n");
}

static int adds(MlirContext context, const char *pass) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  FILE *silent = fopen("/dev/null", "w");
  MlirLogicalResult added =
      nmPassManagerAdd(mlirPassManagerGetAsOpPassManager(manager), ref(pass), 0,
                       NULL, print, silent);
  fclose(silent);
  mlirPassManagerDestroy(manager);
  return mlirLogicalResultIsSuccess(added);
}

static void registerParts(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  nmRegisterDialect(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  /* Before the dialect is loaded, which loads those that it depends on. */
  int linalg =
      !mlirDialectIsNull(mlirContextGetOrLoadDialect(context, ref("linalg")));
  int nm = !mlirDialectIsNull(mlirContextGetOrLoadDialect(context, ref("nm")));
  printf("dialect nm %d, dialect linalg %d\n", nm, linalg);
  nmRegisterPasses();
  nmRegisterPasses();
  printf("nm-select-schedule %d, nm-to-cpu %d, canonicalize %d\n",
         adds(context, "nm-select-schedule"), adds(context, "nm-to-cpu"),
         adds(context, "canonicalize"));
  mlirContextDestroy(context);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "names"))
    printNames();
  else if (argc == 2 && !strcmp(argv[1], "parts"))
    registerParts();
  else if (argc == 3 && !strcmp(argv[1], "rebuild"))
    return rebuildFile(argv[2]);
  else if (argc == 2 && !strcmp(argv[1], "attributes")) {
    MlirContext context = createContext();
    // CHECK-NOT: differs
    // CHECK-NOT: not tried
    // CHECK: attributes are done
    checkAttributes(context);
    // CHECK-NOT: differs
    // CHECK-NOT: not tried
    // CHECK: types are done
    checkTypes(context);
    fflush(stdout);
    // CHECK-NOT: took
    // CHECK: expected 1 <= N <= M = 4 in pattern N:M, but got N = 5
    // CHECK: expected a field m, an integer of type i64
    // CHECK: expected n to be an integer of type i64, but got 1 : i32
    // CHECK: expected no field "l"
    // CHECK: expected value to be the name of a case, but got "f8"
    // CHECK: error:
    // CHECK: expected the name of a case in "copy_a", but got "bulk> <"
    // CHECK: expected the name of a field, but got "stages = 2, split_k"
    // CHECK: expected at least one stride
    // CHECK: expected order to be an array of arrays of i64
    // CHECK: expected a dictionary of fields of 'chip'
    // CHECK: expected a mnemonic of dialect nm, but got 'chop'
    // CHECK: expected destination to be a memref type, but got i32
    // CHECK: 'nm.spmm' expected no operand b
    // CHECK: 'nm.spmm' expected one value as operand a, but got 0
    // CHECK: expected an op of dialect nm, which is loaded, but got 'nm.spm'
    // CHECK-NOT: took
    checkRefusals(context);
    mlirContextDestroy(context);
  } else
    return 1;
  return 0;
}
