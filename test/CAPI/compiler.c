/*===- compiler.c - The compiler's C API, used from C ---------------------===*\
|*
|* compiler MODEL.mlir FOLDER: compiles, loads and runs the model, on several
|* threads at once, and gives the compiler what it must refuse.
|*
\*===----------------------------------------------------------------------===*/

#include "nm-c/Compiler.h"
#include "Expect.h"
#include "nm-c/Runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *model;
static char output[4][512];

/* Expects a failure whose message has `text` in it. */
static void refuses(const char *input, const char *target, const char *options,
                    const char *so, const char *text) {
  char *message = NULL;
  EXPECT(nmCompileFile(input, target, options, so, &message) != 0);
  EXPECT(message && strstr(message, text));
  nmFree(message);
}

static void *compile(void *path) {
  char *message = NULL;
  EXPECT(nmCompileFile(model, "cpu", "with-reference opt-level=1", path,
                       &message) == 0);
  EXPECT(!message);
  nmFree(message);
  return NULL;
}

static void testThreads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    EXPECT(pthread_create(&threads[i], NULL, compile, output[i]) == 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
}

/* The message of diagnostic `index`, which must be of `severity`. */
static const char *said(const NmCompilation *compilation, int64_t index,
                        NmSeverity severity) {
  NmDiagnostic diagnostic;
  EXPECT(nmCompilationGetDiagnostic(compilation, index, &diagnostic) == 0);
  EXPECT(diagnostic.severity == severity);
  return diagnostic.message;
}

static void testOptions(void) {
  int found = 0;
  NmCompileOptionInfo info;
  for (int64_t i = 0; i < nmGetNumCompileOptions(); ++i) {
    EXPECT(nmGetCompileOption(i, &info) == 0);
    EXPECT(strlen(info.help) > 0);
    found += strcmp(info.name, "opt-level") == 0;
  }
  EXPECT(found == 1);
  EXPECT(nmGetCompileOption(-1, &info) != 0);
  EXPECT(nmGetCompileOption(nmGetNumCompileOptions(), &info) != 0);
  EXPECT(strlen(nmGetCompilerBuildId()) > 40);
}

static void testMemory(const char *path) {
  static const char kText[] =
      "func.func @f(%a: tensor<2x4xf32>, %w: tensor<4x3xf32, "
      "#nm.encoding<2:4>>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
      "  %0 = linalg.matmul ins(%a, %w : tensor<2x4xf32>, tensor<4x3xf32, "
      "#nm.encoding<2:4>>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>\n"
      "  return %0 : tensor<2x3xf32>\n}\n";
  NmCompileOption options[] = {{"target", "cpu"}, {"with-reference", NULL}};
  NmCompilation *compilation =
      nmCompile(kText, strlen(kText), "text.mlir", options, 2);
  EXPECT(!nmCompilationFailed(compilation));
  EXPECT(nmCompilationGetNumDiagnostics(compilation) >= 1);
  EXPECT(strstr(said(compilation, 0, NM_REMARK), "strategy"));
  size_t size = 0;
  const char *artifact = nmCompilationGetArtifact(compilation, &size);
  EXPECT(size > 1000 && memcmp(artifact, "\177ELF", 4) == 0);
  char *message = nmCompilationWrite(compilation, "/no-such-folder/f.so");
  EXPECT(message && strstr(message, "cannot write '/no-such-folder/f.so'"));
  nmFree(message);
  EXPECT(!nmCompilationWrite(compilation, path));
  nmCompilationFree(compilation);
  NmModule *module = NULL;
  SUCCEEDS(nmModuleLoad(path, &module));
  nmModuleFree(module);
}

/* Counts the steps, and looks for the linker's. */
static void onStep(const char *step, void *context) {
  int *counts = context;
  ++counts[0];
  counts[1] += strcmp(step, "the linker") == 0;
}

static void testFile(const char *path) {
  unlink(path);
  int counts[2] = {0, 0};
  NmCompilation *compilation =
      nmCompileTo(path, NULL, 0, model, NULL, 0, onStep, counts);
  EXPECT(!nmCompilationFailed(compilation));
  EXPECT(counts[0] > 10 && counts[1] == 1);
  size_t size = 1;
  EXPECT(!nmCompilationGetArtifact(compilation, &size) && size == 0);
  char *message = nmCompilationWrite(compilation, path);
  EXPECT(message && strstr(message, "it is in a file"));
  nmFree(message);
  nmCompilationFree(compilation);
  NmModule *module = NULL;
  SUCCEEDS(nmModuleLoad(path, &module));
  nmModuleFree(module);
  compilation =
      nmCompileTo("/no-such-folder/f.so", NULL, 0, model, NULL, 0, NULL, NULL);
  EXPECT(nmCompilationFailed(compilation));
  nmCompilationFree(compilation);
}

static void testStage(const char *link) {
  NmCompileOption options[] = {{"emit", "nm"}, {"arithmetic", "ieee"}};
  NmCompilation *compilation = nmCompile(NULL, 0, model, options, 2);
  EXPECT(!nmCompilationFailed(compilation));
  size_t size = 0;
  const char *text = nmCompilationGetArtifact(compilation, &size);
  char copy[1 << 14] = {0};
  EXPECT(size < sizeof copy);
  memcpy(copy, text, size);
  EXPECT(strstr(copy, "nm.spmm"));
  EXPECT(strstr(copy, "arithmetic <ieee>"));
  /* A device is written to, and what leads to it stays. */
  unlink(link);
  EXPECT(symlink("/dev/null", link) == 0);
  EXPECT(!nmCompilationWrite(compilation, link));
  struct stat status;
  EXPECT(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
  unlink(link);
  nmCompilationFree(compilation);
}

/* Expects a failure whose first diagnostic has `part` in it. */
static void failsWith(const char *text, NmCompileOption *option,
                      const char *part) {
  NmCompilation *compilation =
      nmCompile(text, text ? strlen(text) : 0, NULL, option, option ? 1 : 0);
  EXPECT(nmCompilationFailed(compilation));
  size_t size = 1;
  EXPECT(!nmCompilationGetArtifact(compilation, &size) && size == 0);
  EXPECT(strstr(said(compilation, 0, NM_ERROR), part));
  NmDiagnostic none;
  EXPECT(nmCompilationGetDiagnostic(compilation, -1, &none) != 0);
  char *message = nmCompilationWrite(compilation, output[0]);
  EXPECT(message && strstr(message, "the compilation failed"));
  nmFree(message);
  nmCompilationFree(compilation);
}

static void testFailures(void) {
  NmCompileOption unknown = {"no-such-option", "1"}, unnamed = {NULL, "1"};
  NmCompileOption valueless = {"opt-level", NULL}, emit = {"emit", "exe"};
  failsWith("module {}", &unknown, "unknown option 'no-such-option'");
  failsWith("module {}", &unnamed, "expected the name of option 0");
  failsWith("module {}", &valueless, "expected opt-level=0..3");
  failsWith("module {}", &emit, "expected emit to be one of");
  failsWith(NULL, NULL, "expected a text or the name of a file");
  failsWith("func.func @f(", NULL, "expected");
  failsWith("module {}", NULL, "expected a public func.func");
}

static void testLoad(const char *path) {
  NmModule *module = NULL;
  SUCCEEDS(nmModuleLoad(path, &module));
  EXPECT(strstr(nmModuleGetManifest(module), "_mlir_ciface_linear.reference"));
  nmModuleFree(module);
}

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  model = argv[1];
  for (int i = 0; i < 4; ++i)
    snprintf(output[i], sizeof output[i], "%s/compiled-%d.so", argv[2], i);

  refuses("no-such-file.mlir", "cpu", NULL, output[0],
          "error: cannot read 'no-such-file.mlir'");
  refuses(model, "tpu", NULL, output[0],
          "unknown target 'tpu'; expected cpu[:ARCH], cuda");
  refuses(model, "cpu", "no-such-option", output[0],
          "unknown option 'no-such-option'");
  refuses(model, "cpu", "opt-level=9", output[0],
          "expected opt-level between 0 and 3, but got '9'");
  // Spaces in brackets separate no options.
  refuses(model, "cpu", "schedule=vector<thread = [16, 8]> opt-level=9",
          output[0], "expected opt-level between 0 and 3, but got '9'");
  refuses(model, "cpu", "schedule=simt<stages = 3>", output[0],
          "expected a schedule of strategy vector, amx or loops on the cpu, "
          "but got "
          "#nm.simt<stages = 3>");
  refuses(model, "cpu", "opt-level", output[0],
          "expected opt-level=0..3, but got no value");
  refuses(model, "cpu", NULL, "/no-such-folder/model.so",
          "cannot write '/no-such-folder/model.so'");
  refuses(NULL, "cpu", NULL, output[0], "but got NULL");
  /* Without a place for the message. */
  EXPECT(nmCompileFile(model, "tpu", NULL, output[0], NULL) != 0);

  testOptions();
  testMemory(output[0]);
  testFile(output[0]);
  testStage(output[1]);
  testFailures();
  testThreads();
  for (int i = 0; i < 4; ++i)
    testLoad(output[i]);
  return 0;
}
