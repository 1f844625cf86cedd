/*===- FakeCuda.h - A CUDA driver for tests, without a GPU ------*- C++ -*-===*\
|*
|* FakeCuda.cpp is a libcuda whose device is the host. Kernels are C functions
|* that an "image" points to. Device memory is out of the host's reach except
|* while the driver copies or a kernel runs, so that a runtime that touches it
|* crashes. Any call can be told to fail.
|*
|* The environment variable FAKE_CUDA sets it up where a test runs another
|* program: `major=7,minor=5,fail:cuLaunchKernel=700`.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_TEST_UNIT_RUNTIME_FAKECUDA_H
#define NM_TEST_UNIT_RUNTIME_FAKECUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Runs the whole grid; `params` are those of the launch. */
typedef void (*FakeKernelBody)(const unsigned grid[3], void **params);

typedef struct {
  const char *name;
  FakeKernelBody body;
  /** Each of 8 bytes. */
  int64_t numParams;
  int64_t staticShared;
} FakeKernel;

/** What stands for a cubin; the driver turns down any other magic. */
typedef struct {
  char magic[8];
  int64_t count;
  const FakeKernel *kernels;
} FakeImage;

#define FAKE_IMAGE_MAGIC "FAKEIMG"

/** Back to one device of sm_90 with everything, no failures, an empty log. */
void fakeCudaReset(void);
/** Keys: devices, version, major, minor, shared, clusters, pools, free, l2, and
 * print, which prints every call on stderr. */
void fakeCudaSet(const char *key, int64_t value);
/** The next call of `call` returns `code`; all later ones do where `sticky`. */
void fakeCudaFail(const char *call, int code, int sticky);
/** The calls since the last reset, each followed by a semicolon. */
const char *fakeCudaLog(void);
/** Allocations, streams, events, graphs and modules that were not freed. */
int64_t fakeCudaLive(void);

#ifdef __cplusplus
}
#endif

#endif /* NM_TEST_UNIT_RUNTIME_FAKECUDA_H */
