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
          "unknown target 'tpu'; expected cpu, cuda");
  refuses(model, "cpu", "no-such-option", output[0],
          "unknown option 'no-such-option'");
  refuses(model, "cpu", "opt-level=9", output[0],
          "expected opt-level between 0 and 3, but got '9'");
  refuses(model, "cpu", "opt-level", output[0],
          "expected opt-level=0..3, but got no value");
  refuses(model, "cpu", NULL, "/no-such-folder/model.so",
          "cannot write '/no-such-folder/model.so'");
  refuses(NULL, "cpu", NULL, output[0], "but got NULL");
  /* Without a place for the message. */
  EXPECT(nmCompileFile(model, "tpu", NULL, output[0], NULL) != 0);

  testThreads();
  for (int i = 0; i < 4; ++i)
    testLoad(output[i]);
  return 0;
}
