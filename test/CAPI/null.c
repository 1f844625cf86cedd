/*===- null.c - Functions that need no MLIR, given nothing ----------------===*\
|*
|* Each case calls one function with NULL, and with arrays that are not there,
|* for every argument that may be NULL by mistake. null-dialect.c has those of
|* Dialect.h; compare_functions.py fails where a header has a function without a
|* case.
|*
\*===----------------------------------------------------------------------===*/

// RUN: nm-capi-null-test %nm_lib_dir/NMFakeModel.so 2>&1 | FileCheck %s
// RUN: %python %S/compare_functions.py %nm_source_dir/include/nm-c \
// RUN:   %s %S/null-dialect.c

// CHECK: functions take NULL

#include "nm-c/Compiler.h"
#include "nm-c/Format.h"
#include "nm-c/Runtime.h"

#include "Expect.h"

#include <stdint.h>

static NmModule *module;
static float data[16];
static const int64_t kShape[] = {4, 4};
static const NmTensor kTensor = {data, NM_F32, 2, kShape, NULL, NM_CPU, 0};
static const NmTensor kNoShape = {data, NM_F32, 2, NULL, NULL, NM_CPU, 0};
static const NmTensor kNoData = {NULL, NM_F32, 2, kShape, NULL, NM_CPU, 0};
static const NmTensor kManyDims = {data, NM_F32, INT32_MAX, kShape,
                                   NULL, NM_CPU, 0};
static const NmPattern k24 = {2, 4, 1, 1, 0};
static const NmPacking kPacking = {8, 8};
static int64_t sizes[4];
static NmFunction *function;

/*===----------------------------------------------------------------------===*\
|* Runtime.h
\*===----------------------------------------------------------------------===*/

static void call_nmParallelFor(void) { nmParallelFor(3, NULL, NULL); }
static void call_nmGetNumThreads(void) { EXPECT(nmGetNumThreads() > 0); }
static void call_nmSetNumThreads(void) { nmSetNumThreads(INT32_MIN); }
static void call_nmIsDeterministic(void) { EXPECT(!nmIsDeterministic()); }
static void call_nmSetDeterministic(void) {
  nmSetDeterministic(INT32_MIN);
  EXPECT(nmIsDeterministic() == 1);
  nmSetDeterministic(0);
}
static void call_nmSetThreadTeam(void) { nmSetThreadTeam(NULL); }
static void call_nmMessageFree(void) { nmMessageFree(NULL); }
static void call_nmSetStream(void) { nmSetStream(NULL); }
static void call_nmGetStream(void) { EXPECT(nmGetStream()); }
static void call_nmTakeError(void) { nmMessageFree(nmTakeError()); }
static void call_nmRecordError(void) {
  nmRecordError(NULL);
  FAILS(nmTakeError(), "without a text");
}
static void call_nmCudaGetDeviceCount(void) {
  FAILS(nmCudaGetDeviceCount(NULL), "NULL");
}
static void call_nmCudaGetDeviceChip(void) {
  FAILS(nmCudaGetDeviceChip(0, NULL), "NULL");
}

static void call_nmModuleLoad(void) {
  NmModule *none = NULL;
  FAILS(nmModuleLoad(NULL, &none), "expected a path, but got NULL");
  FAILS(nmModuleLoad("model.so", NULL), "NULL");
  FAILS(nmModuleLoad("", &none), "cannot load");
  EXPECT(!none);
}
static void call_nmModuleFree(void) { nmModuleFree(NULL); }
static void call_nmModuleGetManifest(void) {
  EXPECT(!nmModuleGetManifest(NULL));
}
static void call_nmModuleGetContents(void) {
  size_t size = 1;
  EXPECT(!nmModuleGetContents(NULL, &size) && size == 0);
  EXPECT(!nmModuleGetContents(NULL, NULL));
  EXPECT(nmModuleGetContents(module, NULL));
}

static void call_nmFunctionCreate(void) {
  NmFunction *none = NULL;
  FAILS(nmFunctionCreate(NULL, "ffn", &none), "expected a module, but got");
  FAILS(nmFunctionCreate(module, "ffn", NULL), "NULL");
  FAILS(nmFunctionCreate(module, NULL, &none), "the name of a function");
  EXPECT(!none);
}
static void call_nmFunctionFree(void) { nmFunctionFree(NULL); }
static void call_nmFunctionGetNumArgs(void) {
  EXPECT(nmFunctionGetNumArgs(NULL) == -1);
}
static void call_nmFunctionGetNumResults(void) {
  EXPECT(nmFunctionGetNumResults(NULL) == -1);
}
static void call_nmFunctionGetArgument(void) {
  NmArgument argument;
  FAILS(nmFunctionGetArgument(NULL, 0, &argument), "NULL");
  FAILS(nmFunctionGetArgument(function, 0, NULL), "NULL");
  FAILS(nmFunctionGetArgument(function, -1, &argument), "below");
}
static void call_nmFunctionSetDevice(void) {
  FAILS(nmFunctionSetDevice(NULL, 0), "NULL");
  FAILS(nmFunctionSetDevice(function, INT32_MAX), "expected a device");
}
static void call_nmFunctionSetWeight(void) {
  FAILS(nmFunctionSetWeight(NULL, 1, &kTensor), "NULL");
  FAILS(nmFunctionSetWeight(function, 1, NULL), "NULL");
  FAILS(nmFunctionSetWeight(function, INT64_MIN, &kTensor), "below 2");
  FAILS(nmFunctionSetWeight(function, 1, &kNoShape), "expected a shape");
  FAILS(nmFunctionSetWeight(function, 1, &kNoData), "expected data");
  FAILS(nmFunctionSetWeight(function, 1, &kManyDims), "expected a rank");
}
static void call_nmFunctionSetCondensedWeight(void) {
  FAILS(nmFunctionSetCondensedWeight(NULL, 1, &kTensor, &kTensor), "NULL");
  FAILS(nmFunctionSetCondensedWeight(function, 1, NULL, &kTensor), "values");
  FAILS(nmFunctionSetCondensedWeight(function, 1, &kTensor, NULL), "indices");
  FAILS(nmFunctionSetCondensedWeight(function, 1, &kTensor, &kNoShape),
        "indices: expected a shape");
}
static void call_nmFunctionLendCondensedWeight(void) {
  FAILS(nmFunctionLendCondensedWeight(NULL, 1, &kTensor, &kTensor), "NULL");
  FAILS(nmFunctionLendCondensedWeight(function, 1, NULL, &kTensor), "values");
  FAILS(nmFunctionLendCondensedWeight(function, 1, &kTensor, NULL), "indices");
}
static void call_nmFunctionPackWeights(void) {
  FAILS(nmFunctionPackWeights(NULL), "NULL");
}
static void call_nmFunctionShareWeights(void) {
  FAILS(nmFunctionShareWeights(function, NULL, NULL), "another function");
}
static void call_nmFunctionMakeWeights(void) {
  FAILS(nmFunctionMakeWeights(function, NULL, NULL), "another function");
}
static void call_nmFunctionGetPackedWeight(void) {
  NmTensor parts[3];
  FAILS(nmFunctionGetPackedWeight(NULL, 1, parts, NULL), "NULL");
}

/* A function without weights, whose two arguments are of bytes. */
static NmFunction *makeAdd(void) {
  NmFunction *add = NULL;
  SUCCEEDS(nmFunctionCreate(module, "add", &add));
  return add;
}

static void call_nmFunctionGetResultShape(void) {
  NmFunction *add = makeAdd();
  FAILS(nmFunctionGetResultShape(NULL, &kTensor, 1, 0, sizes), "NULL");
  FAILS(nmFunctionGetResultShape(add, &kTensor, 2, 0, NULL), "NULL");
  FAILS(nmFunctionGetResultShape(add, NULL, 2, 0, sizes), "NULL");
  FAILS(nmFunctionGetResultShape(add, &kTensor, -1, 0, sizes), "but got -1");
  FAILS(nmFunctionGetResultShape(add, &kTensor, INT64_MAX, 0, sizes),
        "expected 2 arguments");
  nmFunctionFree(add);
}
static void call_nmFunctionCall(void) {
  NmFunction *add = makeAdd();
  const NmTensor args[] = {kTensor, kTensor};
  FAILS(nmFunctionCall(NULL, args, 2, args, 1), "NULL");
  FAILS(nmFunctionCall(add, NULL, 2, args, 1), "NULL");
  FAILS(nmFunctionCall(add, args, 2, NULL, 1), "NULL");
  FAILS(nmFunctionCall(add, args, INT64_MAX, args, 1), "expected 2 arguments");
  FAILS(nmFunctionCall(add, args, 2, args, INT64_MAX), "expected 1 results");
  FAILS(nmFunctionCall(add, args, 2, args, INT64_MIN), "expected 1 results");
  FAILS(nmFunctionCall(add, NULL, 0, NULL, 0), "expected 2 arguments");
  nmFunctionFree(add);
}
static void call_nmFunctionCallOnStream(void) {
  const NmTensor args[] = {kTensor, kTensor};
  FAILS(nmFunctionCallOnStream(NULL, args, 2, args, 1, NULL), "NULL");
}
static void call_nmFunctionGetNumProducts(void) {
  EXPECT(nmFunctionGetNumProducts(NULL) == -1);
}
static void call_nmFunctionGetNumAlternatives(void) {
  EXPECT(nmFunctionGetNumAlternatives(NULL, 0) == -1);
}

static void call_nmFunctionGetAlternative(void) {
  NmAlternative alternative;
  EXPECT(nmFunctionGetAlternative(NULL, 0, 0, &alternative) != 0);
  EXPECT(nmFunctionGetAlternative(function, 0, 0, NULL) != 0);
}

static void call_nmFunctionGetProduct(void) {
  NmProductRecord record;
  EXPECT(nmFunctionGetProduct(NULL, 0, &record) != 0);
  EXPECT(nmFunctionGetProduct(function, 0, NULL) != 0);
}
static void call_nmCallCreate(void) {
  NmFunction *add = makeAdd();
  NmCall *call = NULL;
  const NmTensor args[] = {kTensor, kTensor};
  FAILS(nmCallCreate(NULL, args, 2, args, 1, &call), "NULL");
  FAILS(nmCallCreate(add, args, 2, args, 1, NULL), "NULL");
  FAILS(nmCallCreate(add, NULL, 2, args, 1, &call), "NULL");
  FAILS(nmCallCreate(add, args, INT64_MAX, args, 1, &call), "arguments");
  FAILS(nmCallCreate(add, args, -1, args, 1, &call), "but got -1");
  EXPECT(!call);
  nmFunctionFree(add);
}
static void call_nmCallFree(void) { nmCallFree(NULL); }
static void call_nmCallRun(void) {
  NmFunction *add = makeAdd();
  NmCall *call = NULL;
  NmTensor bytes = kTensor;
  bytes.type = NM_I8;
  const NmTensor args[] = {bytes, bytes};
  SUCCEEDS(nmCallCreate(add, args, 2, args, 1, &call));
  void *const noSecond[] = {data, NULL, data}, *const noResult[] = {data, data,
                                                                    NULL};
  FAILS(nmCallRun(NULL, noSecond, NULL), "NULL");
  FAILS(nmCallRun(call, NULL, NULL), "NULL");
  FAILS(nmCallRun(call, noSecond, NULL), "argument 1 of @add: expected an add");
  FAILS(nmCallRun(call, noResult, NULL), "result 0 of @add: expected an addr");
  nmCallFree(call);
  nmFunctionFree(add);
}
static void call_nmFunctionGetNumSteps(void) {
  EXPECT(nmFunctionGetNumSteps(NULL) == -1);
  EXPECT(nmFunctionGetNumSteps(function) == 0);
}
static void call_nmFunctionGetStep(void) {
  NmStep step;
  EXPECT(nmFunctionGetStep(NULL, 0, &step) != 0);
  EXPECT(nmFunctionGetStep(function, 0, &step) != 0);
  EXPECT(nmFunctionGetStep(function, 0, NULL) != 0);
}
static void call_nmCallKeepGraphs(void) {
  NmFunction *add = makeAdd();
  NmCall *call = NULL;
  NmTensor bytes = kTensor;
  bytes.type = NM_I8;
  const NmTensor args[] = {bytes, bytes};
  SUCCEEDS(nmCallCreate(add, args, 2, args, 1, &call));
  FAILS(nmCallKeepGraphs(NULL, 1), "NULL");
  FAILS(nmCallKeepGraphs(call, 1), "expected a function that runs on a CUDA");
  nmCallFree(call);
  nmFunctionFree(add);
}
static void call_nmCallProfile(void) {
  NmFunction *add = makeAdd();
  NmCall *call = NULL;
  NmTensor bytes = kTensor;
  bytes.type = NM_I8;
  const NmTensor args[] = {bytes, bytes};
  SUCCEEDS(nmCallCreate(add, args, 2, args, 1, &call));
  void *const addresses[] = {data, data, data};
  double seconds = 0;
  FAILS(nmCallProfile(NULL, addresses, NULL, 1, &seconds, NULL), "NULL");
  FAILS(nmCallProfile(call, NULL, NULL, 1, &seconds, NULL), "NULL");
  FAILS(nmCallProfile(call, addresses, NULL, 1, NULL, NULL), "NULL");
  FAILS(nmCallProfile(call, addresses, NULL, 1, &seconds, NULL),
        "expected a function with steps, but it has none");
  nmCallFree(call);
  nmFunctionFree(add);
}

/*===----------------------------------------------------------------------===*\
|* Format.h
\*===----------------------------------------------------------------------===*/

static void call_nmPatternParse(void) {
  NmPattern pattern;
  FAILS(nmPatternParse(NULL, &pattern), "NULL");
  FAILS(nmPatternParse("2:4", NULL), "NULL");
}
static void call_nmPatternVerify(void) { FAILS(nmPatternVerify(NULL), "NULL"); }
static void call_nmPatternPrint(void) {
  char *text = NULL;
  FAILS(nmPatternPrint(NULL, &text), "NULL");
  FAILS(nmPatternPrint(&k24, NULL), "NULL");
}
static void call_nmCheckPattern(void) {
  NmPatternReport report;
  FAILS(nmCheckPattern(NULL, &k24, &report), "NULL");
  FAILS(nmCheckPattern(&kTensor, NULL, &report), "NULL");
  FAILS(nmCheckPattern(&kTensor, &k24, NULL), "NULL");
  FAILS(nmCheckPattern(&kNoData, &k24, &report), "expected data");
}
static void call_nmPatternReportDescribe(void) {
  char *text = NULL;
  NmPatternReport report;
  SUCCEEDS(nmCheckPattern(&kTensor, &k24, &report));
  FAILS(nmPatternReportDescribe(NULL, "w", &text), "NULL");
  FAILS(nmPatternReportDescribe(&report, "w", NULL), "NULL");
  SUCCEEDS(nmPatternReportDescribe(&report, NULL, &text));
  nmMessageFree(text);
}
static void call_nmDetectPattern(void) {
  NmPattern found;
  char *reason = NULL;
  FAILS(nmDetectPattern(NULL, 0, 0, &found, &reason), "NULL");
  FAILS(nmDetectPattern(&kTensor, 0, 0, NULL, &reason), "NULL");
  FAILS(nmDetectPattern(&kTensor, 0, 0, &found, NULL), "NULL");
}
static void call_nmFindNearPattern(void) {
  NmPattern found;
  int64_t excess;
  FAILS(nmFindNearPattern(NULL, 0, 0.1, &found, &excess), "NULL");
  FAILS(nmFindNearPattern(&kTensor, 0, 0.1, NULL, &excess), "NULL");
  FAILS(nmFindNearPattern(&kTensor, 0, 0.1, &found, NULL), "NULL");
}
static void call_nmPrune(void) {
  NmPruneReport report;
  FAILS(nmPrune(NULL, NULL, &k24, &kTensor, &report), "NULL");
  FAILS(nmPrune(&kTensor, NULL, NULL, &kTensor, &report), "NULL");
  FAILS(nmPrune(&kTensor, NULL, &k24, NULL, &report), "NULL");
  FAILS(nmPrune(&kTensor, NULL, &k24, &kTensor, NULL), "NULL");
}
static void call_nmCondensedShape(void) {
  FAILS(nmCondensedShape(NULL, 4, 4, sizes, sizes), "NULL");
  FAILS(nmCondensedShape(&k24, 4, 4, NULL, sizes), "NULL");
  FAILS(nmCondensedShape(&k24, 4, 4, sizes, NULL), "NULL");
}
static void call_nmCompress(void) {
  FAILS(nmCompress(NULL, &k24, NULL, &kTensor, &kTensor), "NULL");
  FAILS(nmCompress(&kTensor, NULL, NULL, &kTensor, &kTensor), "NULL");
  FAILS(nmCompress(&kTensor, &k24, NULL, NULL, &kTensor), "NULL");
}
static void call_nmVerifyCondensed(void) {
  FAILS(nmVerifyCondensed(NULL, 4, 4, NULL, &kTensor, &kTensor), "NULL");
  FAILS(nmVerifyCondensed(&k24, 4, 4, NULL, NULL, &kTensor), "NULL");
  FAILS(nmVerifyCondensed(&k24, 4, 4, NULL, &kTensor, NULL), "NULL");
}
static void call_nmIndexShape(void) {
  FAILS(nmIndexShape(NULL, 4, 4, &kTensor, 0, sizes), "NULL");
  FAILS(nmIndexShape(&k24, 4, 4, NULL, 0, sizes), "NULL");
  FAILS(nmIndexShape(&k24, 4, 4, &kTensor, 0, NULL), "NULL");
}
static void call_nmConvertIndices(void) {
  FAILS(nmConvertIndices(NULL, 4, 4, &kTensor, &kTensor), "NULL");
  FAILS(nmConvertIndices(&k24, 4, 4, NULL, &kTensor), "NULL");
  FAILS(nmConvertIndices(&k24, 4, 4, &kTensor, NULL), "NULL");
}
static void call_nmDecompress(void) {
  FAILS(nmDecompress(NULL, &kTensor, &k24, &kTensor), "NULL");
  FAILS(nmDecompress(&kTensor, NULL, &k24, &kTensor), "NULL");
  FAILS(nmDecompress(&kTensor, &kTensor, NULL, &kTensor), "NULL");
  FAILS(nmDecompress(&kTensor, &kTensor, &k24, NULL), "NULL");
}
static void call_nmPackedShape(void) {
  FAILS(nmPackedShape(NULL, &k24, 4, 4, sizes, sizes), "NULL");
  FAILS(nmPackedShape(&kPacking, NULL, 4, 4, sizes, sizes), "NULL");
  FAILS(nmPackedShape(&kPacking, &k24, 4, 4, NULL, sizes), "NULL");
  FAILS(nmPackedShape(&kPacking, &k24, 4, 4, sizes, NULL), "NULL");
}
static void call_nmPack(void) {
  const NmTensor *t = &kTensor;
  FAILS(nmPack(NULL, t, &kPacking, &k24, 4, 4, t, t), "NULL");
  FAILS(nmPack(t, NULL, &kPacking, &k24, 4, 4, t, t), "NULL");
  FAILS(nmPack(t, t, NULL, &k24, 4, 4, t, t), "NULL");
  FAILS(nmPack(t, t, &kPacking, NULL, 4, 4, t, t), "NULL");
}
static void call_nmUnpack(void) {
  const NmTensor *t = &kTensor;
  FAILS(nmUnpack(NULL, t, &kPacking, &k24, 4, 4, t, t), "NULL");
  FAILS(nmUnpack(t, t, NULL, &k24, 4, 4, t, t), "NULL");
  FAILS(nmUnpack(t, t, &kPacking, NULL, 4, 4, t, t), "NULL");
}

/*===----------------------------------------------------------------------===*\
|* Compiler.h
\*===----------------------------------------------------------------------===*/

static void call_nmCompileFile(void) {
  EXPECT(nmCompileFile(NULL, NULL, NULL, NULL, NULL) != 0);
  EXPECT(nmCompileFile("model.mlir", NULL, NULL, NULL, NULL) != 0);
}
static void call_nmFree(void) { nmFree(NULL); }
static void call_nmGetNumCompileOptions(void) {
  EXPECT(nmGetNumCompileOptions() > 0);
}
static void call_nmGetCompileOption(void) {
  EXPECT(nmGetCompileOption(0, NULL) != 0);
}
static void call_nmGetCompilerBuildId(void) { EXPECT(nmGetCompilerBuildId()); }
static void call_nmCompile(void) {
  const NmCompileOption option = {"target", "cpu"}, none = {NULL, NULL};
  const NmCompileOption *const given[] = {NULL, &option, &option, &none};
  const int64_t counts[] = {1, -1, 1, 1};
  const char *const texts[] = {"module {}", "module {}", NULL, "module {}"};
  for (int i = 0; i < 4; ++i) {
    NmCompilation *made = nmCompile(texts[i], 9, NULL, given[i], counts[i]);
    EXPECT(nmCompilationFailed(made));
    EXPECT(nmCompilationGetNumDiagnostics(made) == 1);
    EXPECT(nmCompilationGetDiagnostic(made, 0, NULL) != 0);
    char *message = nmCompilationWrite(made, "model.so");
    EXPECT(message);
    nmFree(message);
    nmCompilationFree(made);
  }
}
static void call_nmCompileTo(void) {
  NmCompilation *made = nmCompileTo(NULL, NULL, 0, NULL, NULL, 0, NULL, NULL);
  EXPECT(nmCompilationFailed(made));
  nmCompilationFree(made);
  made = nmCompileTo("", "module {}", 9, NULL, NULL, 0, NULL, NULL);
  EXPECT(nmCompilationFailed(made));
  nmCompilationFree(made);
}
static void call_nmCompilationFree(void) { nmCompilationFree(NULL); }
static void call_nmCompilationFailed(void) {
  EXPECT(nmCompilationFailed(NULL));
}
static void call_nmCompilationGetArtifact(void) {
  size_t size = 1;
  EXPECT(!nmCompilationGetArtifact(NULL, &size) && size == 0);
  EXPECT(!nmCompilationGetArtifact(NULL, NULL));
}
static void call_nmCompilationWrite(void) {
  char *message = nmCompilationWrite(NULL, NULL);
  EXPECT(message && strstr(message, "NULL"));
  nmFree(message);
}
static void call_nmCompilationGetNumDiagnostics(void) {
  EXPECT(nmCompilationGetNumDiagnostics(NULL) == -1);
}
static void call_nmCompilationGetDiagnostic(void) {
  NmDiagnostic diagnostic;
  EXPECT(nmCompilationGetDiagnostic(NULL, 0, &diagnostic) != 0);
}

/*===----------------------------------------------------------------------===*\
|* All of them
\*===----------------------------------------------------------------------===*/

static void (*const kCases[])(void) = {
    call_nmParallelFor,
    call_nmGetNumThreads,
    call_nmSetNumThreads,
    call_nmIsDeterministic,
    call_nmSetDeterministic,
    call_nmSetThreadTeam,
    call_nmMessageFree,
    call_nmSetStream,
    call_nmGetStream,
    call_nmTakeError,
    call_nmRecordError,
    call_nmCudaGetDeviceCount,
    call_nmCudaGetDeviceChip,
    call_nmModuleLoad,
    call_nmModuleFree,
    call_nmModuleGetManifest,
    call_nmModuleGetContents,
    call_nmFunctionCreate,
    call_nmFunctionFree,
    call_nmFunctionGetNumArgs,
    call_nmFunctionGetNumResults,
    call_nmFunctionGetArgument,
    call_nmFunctionSetDevice,
    call_nmFunctionSetWeight,
    call_nmFunctionSetCondensedWeight,
    call_nmFunctionLendCondensedWeight,
    call_nmFunctionPackWeights,
    call_nmFunctionShareWeights,
    call_nmFunctionMakeWeights,
    call_nmFunctionGetPackedWeight,
    call_nmFunctionGetResultShape,
    call_nmFunctionCall,
    call_nmFunctionCallOnStream,
    call_nmFunctionGetNumProducts,
    call_nmFunctionGetNumAlternatives,
    call_nmFunctionGetAlternative,
    call_nmFunctionGetProduct,
    call_nmCallCreate,
    call_nmCallFree,
    call_nmCallRun,
    call_nmFunctionGetNumSteps,
    call_nmFunctionGetStep,
    call_nmCallKeepGraphs,
    call_nmCallProfile,
    call_nmPatternParse,
    call_nmPatternVerify,
    call_nmPatternPrint,
    call_nmCheckPattern,
    call_nmPatternReportDescribe,
    call_nmDetectPattern,
    call_nmFindNearPattern,
    call_nmPrune,
    call_nmCondensedShape,
    call_nmCompress,
    call_nmVerifyCondensed,
    call_nmIndexShape,
    call_nmConvertIndices,
    call_nmDecompress,
    call_nmPackedShape,
    call_nmPack,
    call_nmUnpack,
    call_nmCompileFile,
    call_nmFree,
    call_nmGetNumCompileOptions,
    call_nmGetCompileOption,
    call_nmGetCompilerBuildId,
    call_nmCompile,
    call_nmCompileTo,
    call_nmCompilationFree,
    call_nmCompilationFailed,
    call_nmCompilationGetArtifact,
    call_nmCompilationWrite,
    call_nmCompilationGetNumDiagnostics,
    call_nmCompilationGetDiagnostic,
};

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  SUCCEEDS(nmModuleLoad(argv[1], &module));
  SUCCEEDS(nmFunctionCreate(module, "ffn", &function));
  size_t count = sizeof kCases / sizeof *kCases;
  for (size_t i = 0; i < count; ++i)
    kCases[i]();
  nmFunctionFree(function);
  nmModuleFree(module);
  printf("%zu functions take NULL\n", count);
  return 0;
}
