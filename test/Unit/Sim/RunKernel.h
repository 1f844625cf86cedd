//===- RunKernel.h - Kernels that are written in C++ ------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_SIM_RUNKERNEL_H
#define NM_TEST_UNIT_SIM_RUNKERNEL_H

#include "nm/Sim/Abi.h"

#include <cstdint>
#include <string>
#include <vector>

/// What a kernel's calls are for; a fault names the site as `store-shared at
/// file:1:2`.
enum Site : int32_t {
  Other,
  StoreShared,
  LoadShared,
  StoreGlobal,
  CopyAsync,
  BulkLoad,
  BulkStore,
  Product,
  Use,
  Arrive,
  NumSites
};

/// Runs a block, or a cluster, of `threads` threads with so many bytes of
/// dynamic shared memory. Global memory is `memory`, whose address the kernel
/// is given. Returns the faults, or an empty text.
std::string runKernel(void (*kernel)(NmSimThread *, void *), void *arguments,
                      int64_t threads, int64_t shared,
                      std::vector<uint32_t> &memory, int64_t blocks = 1);

/// Expects that `faults`, which a kernel had, name `fault` and `what`. Which
/// thread is the first to do wrong is left open.
void expectFault(const std::string &faults, const std::string &fault,
                 const std::string &what = "");

inline int32_t getThreadId(NmSimThread *thread) {
  return nmSimReadRegister(thread, Other, NM_SIM_TID_X);
}
inline char *getShared(NmSimThread *thread, int64_t offset = 0) {
  return static_cast<char *>(nmSimDynamicShared(thread, Other)) + offset;
}
void storeShared(NmSimThread *thread, int64_t offset, uint32_t value);
uint32_t loadShared(NmSimThread *thread, int64_t offset);
void storeGlobal(NmSimThread *thread, uint32_t *to, uint32_t value);
inline void syncThreads(NmSimThread *thread) {
  nmSimBarrier(thread, Other, 0, -1);
}
/// Makes an mbarrier of one arrival in shared memory, and returns its address
/// when all threads may use it.
char *makeMbarrier(NmSimThread *thread, int64_t offset);
/// The `threads` threads of a block store the first `words` words of shared
/// memory to `result`.
void storeResult(NmSimThread *thread, uint32_t *result, int32_t words,
                 int32_t threads);

#endif // NM_TEST_UNIT_SIM_RUNKERNEL_H
