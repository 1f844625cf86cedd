/*===- nm-c/Compiler.h - Compile a module from C ----------------*- C -*-===*\
|*
|* The entry points of libnm_compiler. Errors are values: no function exits,
|* aborts or prints. Strings are UTF-8 and NUL-terminated.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_COMPILER_H
#define NM_C_COMPILER_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Compiles the MLIR module in the file `input` to a shared object at
 * `outputSo`, which needs libnm_runtime and no LLVM.
 *
 * `target` is `cpu`, `cuda[:sm_XX]` or `sim[:sm_XX]`. `optionsText` holds
 * options of nm-compile without their dashes, separated by spaces, as in
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

#ifdef __cplusplus
}
#endif

#endif /* NM_C_COMPILER_H */
