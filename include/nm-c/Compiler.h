/*===- nm-c/Compiler.h - Compile a module from C ----------------*- C -*-===*\
|*
|* The entry points of libnm_compiler. Errors are values: no function exits,
|* aborts or prints. Strings are UTF-8 and NUL-terminated.
|*
|* Where NULL is not said to mean something it is an error: a count is -1 then,
|* what gives 0 on success gives 1, and a compilation that is NULL has failed.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_COMPILER_H
#define NM_C_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Compiles the MLIR module in the file `input` to a shared object at
 * `outputSo`, which needs libnm_runtime and no LLVM.
 *
 * `target` is `cpu`, `cuda[:sm_XX[,sm_YY...]]` or `sim[:sm_XX]`. `optionsText`
 * holds options of nm-compile without their dashes, separated by spaces, as in
 * `with-reference opt-level=3`; NULL or "" takes the defaults.
 *
 * Returns 0 on success and another value on failure, after which `outputSo`
 * does not exist or is what it was before the call. `*diagnostics` is set in
 * both cases, unless `diagnostics` is NULL: to the errors on failure, to the
 * warnings on success, one a line with its place (`file:line:column: error:
 * ...`), or to NULL where there is nothing to say. The caller owns it and gives
 * it back with nmFree.
 *
 * Calls from several threads at once are allowed.
 */
int nmCompileFile(const char *input, const char *target,
                  const char *optionsText, const char *outputSo,
                  char **diagnostics);

/** Frees a string that a function of this header returned; NULL is allowed. */
void nmFree(char *text);

/*===----------------------------------------------------------------------===*\
|* Options
\*===----------------------------------------------------------------------===*/

/** An option of nm-compile without its dashes. `value` may be NULL for a flag.
 * Besides those of nmGetCompileOption there are `target` and `emit`. */
typedef struct {
  const char *name;
  const char *value;
} NmCompileOption;

/** What can be told to the compiler; the strings live as long as the library.
 */
typedef struct {
  const char *name;
  /** Stands for the value in help texts; empty for a flag. */
  const char *value;
  const char *help;
} NmCompileOptionInfo;

int64_t nmGetNumCompileOptions(void);

/** Writes option `index`; returns 0, or another value where there is none. */
int nmGetCompileOption(int64_t index, NmCompileOptionInfo *info);

/** A text that differs between any two builds of this library, for the keys of
 * caches: what is compiled depends on more than its version. It lives as long
 * as the library. */
const char *nmGetCompilerBuildId(void);

/*===----------------------------------------------------------------------===*\
|* Compilations
\*===----------------------------------------------------------------------===*/

typedef enum {
  NM_ERROR = 0,
  NM_WARNING = 1,
  NM_REMARK = 2,
  NM_NOTE = 3
} NmSeverity;

/** One thing that the compiler had to say. The strings live as long as the
 * compilation. A note belongs to the diagnostic before it. */
typedef struct {
  NmSeverity severity;
  /** `file:line:column`, or empty. */
  const char *place;
  const char *message;
} NmDiagnostic;

/** A finished compilation: its artifact, and what was said of it. */
typedef struct NmCompilation NmCompilation;

/**
 * Compiles the MLIR module in the `size` bytes at `text`, which diagnostics
 * call `name`; where `text` is NULL, the module in the file `name`. The
 * artifact stays in memory: a shared object, or what the option `emit` asks
 * for.
 *
 * Never returns NULL; the caller gives the result back with nmCompilationFree.
 * Calls from several threads at once are allowed.
 */
NmCompilation *nmCompile(const char *text, size_t size, const char *name,
                         const NmCompileOption *options, int64_t numOptions);

/** Called with the step that a compilation begins: a pass by its flag, as in
 * `nm-pack-weights`, or `the linker`. The text lives as long as the call. */
typedef void (*NmStepCallback)(const char *step, void *context);

/**
 * As nmCompile, and writes the artifact to the file `output`, whole or not at
 * all, instead of keeping it in memory; where `output` is NULL, keeps it. Calls
 * `onStep`, unless it is NULL, with `context`, in the caller's thread.
 */
NmCompilation *nmCompileTo(const char *output, const char *text, size_t size,
                           const char *name, const NmCompileOption *options,
                           int64_t numOptions, NmStepCallback onStep,
                           void *context);

/** Frees a compilation with all it has given; NULL is allowed. */
void nmCompilationFree(NmCompilation *compilation);

/** Whether there is no artifact: an error says why. */
int nmCompilationFailed(const NmCompilation *compilation);

/** The artifact's bytes, or NULL where there is none in memory. */
const void *nmCompilationGetArtifact(const NmCompilation *compilation,
                                     size_t *size);

/** Writes the artifact to `path`, or to stdout for `-`. A file appears whole or
 * not at all. Returns NULL on success, and otherwise a message that the caller
 * gives back with nmFree. */
char *nmCompilationWrite(const NmCompilation *compilation, const char *path);

int64_t nmCompilationGetNumDiagnostics(const NmCompilation *compilation);

/** Writes diagnostic `index`; returns 0, or another value where there is none.
 */
int nmCompilationGetDiagnostic(const NmCompilation *compilation, int64_t index,
                               NmDiagnostic *diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* NM_C_COMPILER_H */
