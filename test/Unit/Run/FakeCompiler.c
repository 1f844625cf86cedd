/*===- FakeCompiler.c - A libnm_compiler that copies a module -------------===*\
|*
|* Stands in for the compiler where nm-run's use of it is tested: it "compiles"
|* an input that starts with `ok` to a copy of FAKE_MODEL, and says on
|* `diagnostics` what it was asked for. On one that starts with `cr` it crashes.
|*
\*===----------------------------------------------------------------------===*/

#include "nm-c/Compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int copyFile(const char *from, const char *to) {
  FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
  char chunk[4096];
  size_t count;
  if (!source || !target)
    return 1;
  while ((count = fread(chunk, 1, sizeof chunk, source)) > 0)
    fwrite(chunk, 1, count, target);
  fclose(source);
  return fclose(target);
}

__attribute__((visibility("default"))) int
nmCompileFile(const char *input, const char *target, const char *optionsText,
              const char *outputSo, char **diagnostics) {
  char start[3] = "";
  FILE *file = fopen(input, "r");
  if (file) {
    if (!fgets(start, sizeof start, file))
      start[0] = 0;
    fclose(file);
  }
  if (strcmp(start, "cr") == 0)
    abort();
  int failed = strcmp(start, "ok") != 0 || copyFile(FAKE_MODEL, outputSo);
  *diagnostics = malloc(1024);
  snprintf(*diagnostics, 1024, "%s:1:1: %s: target '%s', options '%s'", input,
           failed ? "error" : "warning", target, optionsText);
  return failed;
}

__attribute__((visibility("default"))) void nmFree(char *text) { free(text); }
