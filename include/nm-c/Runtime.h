/*===- nm-c/Runtime.h - Load and run compiled modules from C ----*- C -*-===*\
|*
|* The entry points of libnm_runtime, which needs no compiler. Errors are
|* values: a function that can fail returns NULL on success, and otherwise a
|* message that the caller gives back with nmMessageFree. Strings are UTF-8 and
|* NUL-terminated.
|*
|* No function crashes on NULL: one that can fail says which pointer it is, a
|* count of what NULL has is -1, and all else that NULL has is NULL.
|*
|* Errors count arguments from 0 among all of a function's, the encoded ones
|* included, as its manifest lists them and nmFunctionSetWeight takes them.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_C_RUNTIME_H
#define NM_C_RUNTIME_H

#include <stddef.h>
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

/**
 * Whether nothing is chosen at run time by how long it takes, so that the same
 * calls give the same bits in each process: NM_DETERMINISTIC=1 in the
 * environment, unless set here. cuBLASLt's algorithm is then the first that it
 * proposes.
 */
int32_t nmIsDeterministic(void);

/** Sets it, for products that are called for the first time from now on. */
void nmSetDeterministic(int32_t isOn);

/**
 * Has nmParallelFor use the threads of another pool: `team` calls `body(ctx)`
 * once on each of them, the caller among them, and returns when all calls have;
 * `threads` is 0, which leaves their number to it, and `flags` are 0. Of them,
 * nmGetNumThreads() at most take part. NULL: nm's own threads, which a forked
 * child has in any case.
 *
 * A program whose other threads are OpenMP's passes GOMP_parallel, which the
 * runtimes of GCC, LLVM and Intel have: OpenMP's threads spin for a while after
 * their work, on the processors that nm's would need.
 */
void nmSetThreadTeam(void (*team)(void (*body)(void *), void *ctx,
                                  unsigned threads, unsigned flags));

/*===----------------------------------------------------------------------===*\
|* Tensors
\*===----------------------------------------------------------------------===*/

typedef enum {
  NM_F64 = 0,
  NM_F32 = 1,
  NM_F16 = 2,
  NM_BF16 = 3,
  NM_F8E4M3FN = 4,
  NM_I64 = 5,
  NM_I32 = 6,
  NM_I8 = 7,
  NM_F8E5M2 = 8
} NmElementType;

typedef enum { NM_CPU = 0, NM_CUDA = 1 } NmDeviceKind;

/** Elements that the caller owns. */
typedef struct {
  void *data;
  NmElementType type;
  int32_t rank;
  /** `rank` sizes. */
  const int64_t *shape;
  /** `rank` strides in elements, or NULL for row-major. */
  const int64_t *strides;
  /** Where `data` is, and on the how many-th device of the kind. Zeros, as a
   * short initializer leaves them, are the host. */
  NmDeviceKind device;
  int32_t deviceId;
} NmTensor;

/** Frees a message that a function of this header returned; NULL is allowed. */
void nmMessageFree(char *message);

/*===----------------------------------------------------------------------===*\
|* CUDA. No library of CUDA is needed but the driver's, at run time; without it
|* each of these says so.
\*===----------------------------------------------------------------------===*/

/** Sets the stream (a CUstream or cudaStream_t) on which functions called by
 * this thread queue their work; NULL is the legacy default stream. */
void nmSetStream(void *stream);

/** The stream that the thread set, and never NULL: the legacy default stream
 * has a handle of its own. Compiled code calls this. */
void *nmGetStream(void);

/** How many devices the driver sees. No driver and no device are errors. */
char *nmCudaGetDeviceCount(int32_t *count);

/** What to compile for so that it runs best on the device: `sm_90a`. */
char *nmCudaGetDeviceChip(int32_t device, char chip[16]);

/** The first error of the mgpu* functions on this thread, which is forgotten
 * then, or NULL. They are upstream MLIR's and return none; nmFunctionCall
 * returns those of the code that it calls. */
char *nmTakeError(void);

/** Records an error as they do; libraries that compiled code calls use it. */
void nmRecordError(const char *text);

/*===----------------------------------------------------------------------===*\
|* Modules
\*===----------------------------------------------------------------------===*/

/** A compiled module. Loading one runs code of it: load only trusted files. */
typedef struct NmModule NmModule;

/** Loads the shared object that nm-compile wrote to `path`, as the file is now:
 * what becomes of it later does not change the module, and what was loaded from
 * the same path before is another module. Its bytes are copied, checked and
 * mapped from the copy. `*module` is the caller's and is given back with
 * nmModuleFree. */
char *nmModuleLoad(const char *path, NmModule **module);

/** Frees the module, after all its functions; NULL is allowed. */
void nmModuleFree(NmModule *module);

/** The module's manifest, the JSON text that include/nm/Runtime/Manifest.h
 * describes: its functions, their types, and how each was compiled. It lives as
 * long as the module. */
const char *nmModuleGetManifest(const NmModule *module);

/** The bytes of the file that was loaded, and in `*size`, unless that is NULL,
 * how many. They live as long as the module. */
const void *nmModuleGetContents(const NmModule *module, size_t *size);

/*===----------------------------------------------------------------------===*\
|* Functions
\*===----------------------------------------------------------------------===*/

/** A function of a module, with the weights that it has been given. */
typedef struct NmFunction NmFunction;

/** Finds a function; an empty or NULL name means the module's only one.
 * `*function` is the caller's and is given back with nmFunctionFree. The module
 * must outlive it. */
char *nmFunctionCreate(const NmModule *module, const char *name,
                       NmFunction **function);

/** Frees the function and its weights; NULL is allowed. */
void nmFunctionFree(NmFunction *function);

int64_t nmFunctionGetNumArgs(const NmFunction *function);
int64_t nmFunctionGetNumResults(const NmFunction *function);

/** The type of an argument. `shape` has `rank` sizes, -1 where any will do, and
 * lives as long as the module. */
typedef struct {
  NmElementType type;
  int32_t rank;
  const int64_t *shape;
  /** Whether it is a weight, which nmFunctionSetWeight gives. */
  int32_t isWeight;
  /** Whether the function updates it in place: its memory is row-major, at
   * multiples of what the module asks for, and no other operand's. */
  int32_t isUpdated;
} NmArgument;

/** Writes the type of argument `arg`, counted among all. */
char *nmFunctionGetArgument(const NmFunction *function, int64_t arg,
                            NmArgument *argument);

/** Sets the CUDA device that a function of a module for CUDA runs on, 0 where
 * this is not called. Weights must not have been packed yet: that uploads
 * them. */
char *nmFunctionSetDevice(NmFunction *function, int32_t device);

/** Gives an encoded argument its dense weights, zeros included. They are
 * checked against the pattern and compressed, so that `dense` is not needed
 * after the call. Weights that are packed cannot be replaced. */
char *nmFunctionSetWeight(NmFunction *function, int64_t arg,
                          const NmTensor *dense);

/** The same from the condensed parts, whose indices are verified. The parts are
 * copied. */
char *nmFunctionSetCondensedWeight(NmFunction *function, int64_t arg,
                                   const NmTensor *values,
                                   const NmTensor *indices);

/** The same without the copies: parts that are row-major on the host are read
 * where they are, and must stay there until nmFunctionPackWeights, or the first
 * call, has succeeded. */
char *nmFunctionLendCondensedWeight(NmFunction *function, int64_t arg,
                                    const NmTensor *values,
                                    const NmTensor *indices);

/** Packs the weights, all of which must have been given. The first call of a
 * function does it where the caller has not. */
char *nmFunctionPackWeights(NmFunction *function);

/** Has `function` take the packed weights of `other` as its own, which both
 * then keep, where the two are packed alike and on the same device. The caller
 * vouches that they are given the same weights: `function` needs none then, and
 * must not have packed any. `*shared` says whether they are shared now. */
char *nmFunctionShareWeights(NmFunction *function, NmFunction *other,
                             int32_t *shared);

/** Has each call of `function` make its packed weights of those of `other`,
 * which both then keep, in memory that the call gives back behind its work:
 * where a kernel of the runtime can make them, and both are on the same CUDA
 * device. Those of f32 that keep two of each four weights are made so, for
 * kernels of many rows that read splits, of what kernels of few rows read. The
 * caller vouches that both are given the same weights: `function` needs none
 * then, and must not have packed any. `*made` says whether calls make them now.
 */
char *nmFunctionMakeWeights(NmFunction *function, NmFunction *other,
                            int32_t *made);

/** Writes the parts of the packed weight of argument `arg` to `parts`, values,
 * indices and, where the form has them, lists, and how many there are to
 * `*count`. They are on the function's device and live as long as it; whoever
 * reads them must not write. Of weights that calls make, they are the parts of
 * what these are made of. */
char *nmFunctionGetPackedWeight(NmFunction *function, int64_t arg,
                                NmTensor parts[3], int32_t *count);

/** Writes the sizes of result `result` for `args` to `shape`, which has room
 * for its rank. `args` holds the arguments that are not encoded, in order. */
char *nmFunctionGetResultShape(NmFunction *function, const NmTensor *args,
                               int64_t numArgs, int64_t result, int64_t *shape);

/** Calls the function. `args` holds the arguments that are not encoded, in
 * order; `results` the results, whose elements are written. Once the weights
 * are packed, calls from several threads at once are allowed.
 *
 * Tensors may be strided; those that compiled code cannot take as they are,
 * strided ones, ones at odd addresses, and results that lie where arguments do,
 * are copied. Elements of a result must
 * not share memory.
 *
 * Of a module for CUDA all tensors must be on the function's device. The work,
 * copies included, is queued on the thread's stream and the call does not wait
 * for it, so that an error of a kernel shows at a later call. */
char *nmFunctionCall(NmFunction *function, const NmTensor *args,
                     int64_t numArgs, const NmTensor *results,
                     int64_t numResults);

/** The same with `stream` as the thread's stream while it lasts. */
char *nmFunctionCallOnStream(NmFunction *function, const NmTensor *args,
                             int64_t numArgs, const NmTensor *results,
                             int64_t numResults, void *stream);

/*===----------------------------------------------------------------------===*\
|* How a function was compiled
\*===----------------------------------------------------------------------===*/

/** What was chosen for one product C = A * B, and why. Strings live as long as
 * the module, and are empty where the module does not say. Times are in
 * microseconds, and NaN where no cost model gives them. */
typedef struct {
  /** `nm.spmm` or `nm.spmv`. */
  const char *op;
  /** The weights' pattern, as in `8:32, block = 1x32`. */
  const char *pattern;
  /** Sizes; -1 where dynamic. */
  int64_t m, n, k;
  /** Elements of A, as in `f32`. */
  const char *dtype;
  /** `vector`, `simt`, ... */
  const char *strategy;
  /** In the form that the option `schedule` takes. */
  const char *schedule;
  /** Who chose it: `model` (the cost model), `option` (the caller, in part or
   * whole), `op` (the op came with it), or `only` where no other strategy has
   * the product. */
  const char *source;
  /** Whether dense weights took the sparse ones' place. */
  int32_t fallsBack;
  /** Why they did, or did not. */
  const char *reason;
  /** The time of the product. */
  double estimate;
  /** The time of the dense product, by a BLAS on a CPU and by cuBLAS on a GPU.
   */
  double denseEstimate;
  /** The least that the multipliers, and the memory, of a GPU allow. */
  double multiplyFloor, memoryFloor;
  /** Shared memory of a thread block in bytes; -1 where that is not known. */
  int64_t sharedBytes;
  /** `file:line:column`. */
  const char *place;
  /** All of it in a sentence, for people to read. */
  const char *remark;
} NmProductRecord;

/** How many products the function has. */
int64_t nmFunctionGetNumProducts(const NmFunction *function);

/** Writes what was chosen for product `index`; returns 0, or another value
 * where there is none. */
int nmFunctionGetProduct(const NmFunction *function, int64_t index,
                         NmProductRecord *record);

/** One way to make a product that was compared with others. Times are in
 * microseconds, and NaN where no cost model gives them; strings live as long as
 * the function, and are empty where there is none. */
typedef struct NmAlternative {
  /** `own`, `dense`, `widened, coarsened`, ... */
  const char *name;
  /** Whose schedule it would have. */
  const char *strategy;
  /** The time of all that it takes at each call. */
  double estimate;
  /** The time of the kernels before the product, which the estimate includes.
   */
  double extra;
  /** Whether it was taken. */
  int32_t isChosen;
  /** Why it cannot be taken, whatever its estimate. */
  const char *whyNot;
} NmAlternative;

/** How many ways were compared for product `index`; -1 where there is none. */
int64_t nmFunctionGetNumAlternatives(const NmFunction *function, int64_t index);

/** Writes way `way` of product `index`; returns 0, or another value where there
 * is none. */
int nmFunctionGetAlternative(const NmFunction *function, int64_t index,
                             int64_t way, NmAlternative *alternative);

/*===----------------------------------------------------------------------===*\
|* Prepared calls
\*===----------------------------------------------------------------------===*/

/** A call on tensors that differ from one time to the next in their addresses
 * alone: all else is checked once, which small products notice. */
typedef struct NmCall NmCall;

/** Prepares calls of `function`, which must outlive `*call`, on tensors like
 * `args` and `results`, whose data are not used. Weights are packed where they
 * are not yet. The caller gives `*call` back with nmCallFree. */
char *nmCallCreate(NmFunction *function, const NmTensor *args, int64_t numArgs,
                   const NmTensor *results, int64_t numResults, NmCall **call);

/** Frees the call; NULL is allowed. */
void nmCallFree(NmCall *call);

/** Calls the function. `data` holds the addresses of the arguments, then those
 * of the results. On a CUDA device the work is queued on `stream`, as by
 * nmFunctionCallOnStream. Calls from several threads at once are allowed. */
char *nmCallRun(const NmCall *call, void *const *data, void *stream);

/** Has nmCallRun replay calls as CUDA graphs, one for each set of addresses, of
 * which `most` are kept: those of the addresses that were used last. Addresses
 * are called as they are the first time, captured the second, and replayed from
 * then on. Where the stream captures already, or kernels check indices, a call
 * is made as it is. Before the first call; 0 graphs is none. */
char *nmCallKeepGraphs(NmCall *call, int64_t most);

/*===----------------------------------------------------------------------===*\
|* The time of each step
\*===----------------------------------------------------------------------===*/

/** What a function of a module that was compiled with `profile` does between
 * two times that it takes. Strings live as long as the module. */
typedef struct {
  /** The ops that it computes, as in `nm.spmm <2:4> simt + linalg.fill`. */
  const char *name;
  /** Empty for what is no launch of a kernel. */
  const char *kernel;
  /** `file:line:column`; empty where the module does not say. */
  const char *place;
  /** Of its operands, each counted once; -1 where sizes are dynamic. */
  int64_t bytes;
} NmStep;

/** How many steps the function has; 0 where the module takes no times. */
int64_t nmFunctionGetNumSteps(const NmFunction *function);

/** Writes step `index`; returns 0, or another value where there is none. */
int nmFunctionGetStep(const NmFunction *function, int64_t index, NmStep *step);

/** Calls as nmCallRun does, `runs` times after one that is not timed, waits for
 * the calls, and writes the median of each step's time to `seconds`, which has
 * room for all steps. On a CUDA device the calls wait for what is queued on
 * `stream`, are queued on a stream of their own, and are replays of a graph
 * where one can hold the call. An argument that the function updates is updated
 * by every run.
 *
 * `floors` is NULL, or has room for all steps, too. It gets the least time that
 * each step can take, in seconds: its bytes at the rate at which memory can be
 * read, or what the module says of the multipliers where that is longer; 0
 * where neither is known. A CPU's rate is measured, on the same threads, in
 * half a second and in up to 1 GiB of memory; a CUDA device's is what its
 * clocks allow. Operands that caches hold may pass faster. */
char *nmCallProfile(const NmCall *call, void *const *data, void *stream,
                    int64_t runs, double *seconds, double *floors);

#ifdef __cplusplus
}
#endif

#endif /* NM_C_RUNTIME_H */
