/*===- RuntimeCalls.h - What emitted code calls of the runtime --*- C++ -*-===*\
|*
|* Upstream's names, as LLVM 22 declares them where it translates
|* gpu.launch_func, and where it lowers gpu to LLVM. For C and C++.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_TEST_RUNTIMECALLS_H
#define NM_TEST_RUNTIMECALLS_H

#include "nm-c/Runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void *mgpuModuleLoad(const void *data, size_t size);
void *mgpuModuleLoadJIT(const void *data, int optLevel);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, void *stream,
                      void **params, void **extra, size_t numParams);
void mgpuLaunchClusterKernel(void *function, intptr_t clusterX,
                             intptr_t clusterY, intptr_t clusterZ,
                             intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                             int32_t sharedBytes, void *stream, void **params,
                             void **extra);
void *mgpuStreamCreate(void);
void mgpuStreamDestroy(void *stream);
void mgpuStreamSynchronize(void *stream);
void mgpuStreamWaitEvent(void *stream, void *event);
void *mgpuEventCreate(void);
void mgpuEventDestroy(void *event);
void mgpuEventSynchronize(void *event);
void mgpuEventRecord(void *event, void *stream);
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool isHostShared);
void mgpuMemFree(void *pointer, void *stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);
void mgpuMemset32(void *to, uint32_t value, size_t count, void *stream);
void mgpuMemset16(void *to, uint16_t value, size_t count, void *stream);
void mgpuMemHostRegisterMemRef(int64_t rank, void *memref, int64_t bytes);
void mgpuMemHostUnregisterMemRef(int64_t rank, void *memref, int64_t bytes);
void mgpuSetDefaultDevice(int32_t device);
#ifdef __cplusplus
}

#include <string>

/// The error of the thread's calls, or "", which is forgotten.
inline std::string takeError() {
  char *text = nmTakeError();
  std::string result = text ? text : "";
  nmMessageFree(text);
  return result;
}
#endif

#endif /* NM_TEST_RUNTIMECALLS_H */
