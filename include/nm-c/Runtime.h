/*===- nm-c/Runtime.h - Load and run compiled modules from C ----*- C -*-===*\
|*
|* The entry points of libnm_runtime, which needs no compiler. Errors are
|* values: a function that can fail returns NULL on success, and otherwise a
|* message that the caller gives back with nmMessageFree. Strings are UTF-8 and
|* NUL-terminated.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_RUNTIME_H
#define NM_C_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Threads
\*===----------------------------------------------------------------------===*/

/**
 * Calls `fn(index, ctx)` for every index in [0, count), on the threads of the
 * process's pool and the caller, and returns when all calls have. Indices are
 * handed out in ascending order, each to the next free thread. A call from
 * within `fn`, or while another thread's loop has the pool, runs on the calling
 * thread alone.
 *
 * The pool has as many threads as the process may use processors, or
 * NM_NUM_THREADS where that is set.
 */
void nmParallelFor(int64_t count, void (*fn)(int64_t index, void *ctx),
                   void *ctx);

/** The number of threads that nmParallelFor uses, the caller included. */
int32_t nmGetNumThreads(void);

/** Sets it; a count below 1 restores the default. */
void nmSetNumThreads(int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* NM_C_RUNTIME_H */
