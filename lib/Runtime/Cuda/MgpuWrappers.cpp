//===- MgpuWrappers.cpp - What upstream's lowering of gpu calls -----------===//
//
// The functions that mlir's gpu-to-llvm conversion and the translation of
// gpu.binary call, with the signatures of LLVM 22, on top of the loaded
// driver. Compiled modules of ours use them as any other MLIR program does, so
// that mlir-runner and other compilers can link this library in place of
// libmlir_cuda_runtime.so. Handles of modules and functions are ours, not the
// driver's.
//
// They return no errors: see RecordedError.h. Each works in the context that
// is current on the calling thread, or else in the primary one of the default
// device.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaModule.h"
#include "Cuda/StreamMemory.h"
#include "RecordedError.h"
#include "nm/Runtime/Export.h"

#include <cstdint>

using namespace nm;
using namespace nm::cuda;

static thread_local int32_t defaultDevice = 0;

/// Runs `body` in a context; records the error that it gives.
template <typename Body>
static void inContext(Body body) {
  Result<ContextScope> scope = ContextScope::enterCurrentOr(defaultDevice);
  if (!scope)
    return recordError(scope.error());
  if (Status status = body(*scope); !status)
    recordError(status.error());
}

/// Runs `body`, work on memory, in a context. None of it is queued in a call
/// that has failed already: a kernel that got NULL for memory that there was
/// none of would take the device from the process.
template <typename Body>
static void inContextUnlessFailed(Body body) {
  if (!hasCallFailed())
    inContext(body);
}

static void recordUnlessFailed(const char *message) {
  // A handle is null where making it has failed, which is recorded already.
  if (!hasRecordedError())
    recordError(Error{message});
}

static Address address(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

static void *loadModule(const void *data, size_t size, int optLevel) {
  Result<std::unique_ptr<KernelModule>> module =
      KernelModule::create(data, size, optLevel);
  if (module)
    return module->release();
  recordError(module.error());
  return nullptr;
}

static void launch(Kernel *kernel, const LaunchShape &shape, Stream stream,
                   void **params, void **extra) {
  if (!kernel)
    return recordUnlessFailed("expected a kernel to launch, but got none");
  inContextUnlessFailed([&](ContextScope &scope) {
    return kernel->launch(scope, shape, stream, params, extra);
  });
}

extern "C" {

NM_RUNTIME_API void mgpuSetDefaultDevice(int32_t device) {
  defaultDevice = device;
}

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

NM_RUNTIME_API void *mgpuModuleLoad(void *data, size_t size) {
  return loadModule(data, size, /*optLevel=*/-1);
}

NM_RUNTIME_API void *mgpuModuleLoadJIT(void *data, int optLevel) {
  return loadModule(data, /*size=*/0, optLevel);
}

NM_RUNTIME_API void mgpuModuleUnload(void *module) {
  delete static_cast<KernelModule *>(module);
}

NM_RUNTIME_API void *mgpuModuleGetFunction(void *module, const char *name) {
  if (!module) {
    recordUnlessFailed("expected a module of kernels, but got none");
    return nullptr;
  }
  Kernel *kernel = &static_cast<KernelModule *>(module)->kernel(name);
  Kernel *prepared = nullptr;
  inContext([&](ContextScope &scope) {
    Status status = kernel->prepare(scope);
    prepared = status ? kernel : nullptr;
    return status;
  });
  return prepared;
}

NM_RUNTIME_API void mgpuLaunchKernel(void *function, intptr_t gridX,
                                     intptr_t gridY, intptr_t gridZ,
                                     intptr_t blockX, intptr_t blockY,
                                     intptr_t blockZ, int32_t sharedBytes,
                                     void *stream, void **params, void **extra,
                                     size_t /*numParams*/) {
  LaunchShape shape{
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {0, 0, 0}, sharedBytes};
  launch(static_cast<Kernel *>(function), shape, static_cast<Stream>(stream),
         params, extra);
}

NM_RUNTIME_API void
mgpuLaunchClusterKernel(void *function, intptr_t clusterX, intptr_t clusterY,
                        intptr_t clusterZ, intptr_t gridX, intptr_t gridY,
                        intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                        intptr_t blockZ, int32_t sharedBytes, void *stream,
                        void **params, void **extra) {
  LaunchShape shape{{gridX, gridY, gridZ},
                    {blockX, blockY, blockZ},
                    {clusterX, clusterY, clusterZ},
                    sharedBytes};
  launch(static_cast<Kernel *>(function), shape, static_cast<Stream>(stream),
         params, extra);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

NM_RUNTIME_API void *mgpuStreamCreate() {
  Stream stream = nullptr;
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuStreamCreate",
        scope.api().cuStreamCreate(&stream, kStreamNonBlocking));
  });
  return stream;
}

NM_RUNTIME_API void mgpuStreamDestroy(void *stream) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuStreamDestroy",
        scope.api().cuStreamDestroy(static_cast<Stream>(stream)));
  });
}

NM_RUNTIME_API void mgpuStreamSynchronize(void *stream) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuStreamSynchronize",
        scope.api().cuStreamSynchronize(static_cast<Stream>(stream)));
  });
}

NM_RUNTIME_API void mgpuStreamWaitEvent(void *stream, void *event) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuStreamWaitEvent",
        scope.api().cuStreamWaitEvent(static_cast<Stream>(stream),
                                      static_cast<Event>(event), 0));
  });
}

NM_RUNTIME_API void *mgpuEventCreate() {
  Event event = nullptr;
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuEventCreate",
        scope.api().cuEventCreate(&event, kEventDisableTiming));
  });
  return event;
}

NM_RUNTIME_API void mgpuEventDestroy(void *event) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuEventDestroy",
        scope.api().cuEventDestroy(static_cast<Event>(event)));
  });
}

NM_RUNTIME_API void mgpuEventSynchronize(void *event) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuEventSynchronize",
        scope.api().cuEventSynchronize(static_cast<Event>(event)));
  });
}

NM_RUNTIME_API void mgpuEventRecord(void *event, void *stream) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuEventRecord",
        scope.api().cuEventRecord(static_cast<Event>(event),
                                  static_cast<Stream>(stream)));
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Programs that give no stream expect to use the memory at once.
NM_RUNTIME_API void *mgpuMemAlloc(uint64_t bytes, void *stream,
                                  bool isHostShared) {
  Address result = 0;
  if (bytes == 0)
    return nullptr;
  inContext([&](ContextScope &scope) -> Status {
    const Api &api = scope.api();
    if (isHostShared)
      return scope.driver().checkAllocation(
          "cuMemAllocManaged",
          api.cuMemAllocManaged(&result, bytes, kMemAttachGlobal), bytes);
    if (!stream)
      return scope.driver().checkAllocation(
          "cuMemAlloc", api.cuMemAlloc(&result, bytes), bytes);
    Result<Address> allocated =
        allocateOnStream(scope, bytes, static_cast<Stream>(stream));
    if (!allocated)
      return allocated.error();
    result = *allocated;
    return Status::success();
  });
  return reinterpret_cast<void *>(result);
}

NM_RUNTIME_API void mgpuMemFree(void *pointer, void *stream) {
  if (!pointer)
    return;
  inContext([&](ContextScope &scope) {
    if (stream)
      return freeOnStream(scope, address(pointer), static_cast<Stream>(stream));
    return scope.driver().check("cuMemFree",
                                scope.api().cuMemFree(address(pointer)));
  });
}

NM_RUNTIME_API void mgpuMemcpy(void *to, void *from, size_t bytes,
                               void *stream) {
  inContextUnlessFailed([&](ContextScope &scope) {
    return scope.driver().check(
        "cuMemcpyAsync",
        scope.api().cuMemcpyAsync(address(to), address(from), bytes,
                                  static_cast<Stream>(stream)),
        "of " + std::to_string(bytes) + " bytes");
  });
}

NM_RUNTIME_API void mgpuMemset32(void *to, uint32_t value, size_t count,
                                 void *stream) {
  inContextUnlessFailed([&](ContextScope &scope) {
    return scope.driver().check(
        "cuMemsetD32Async",
        scope.api().cuMemsetD32Async(address(to), value, count,
                                     static_cast<Stream>(stream)));
  });
}

NM_RUNTIME_API void mgpuMemset16(void *to, uint16_t value, size_t count,
                                 void *stream) {
  inContextUnlessFailed([&](ContextScope &scope) {
    return scope.driver().check(
        "cuMemsetD16Async",
        scope.api().cuMemsetD16Async(address(to), value, count,
                                     static_cast<Stream>(stream)));
  });
}

NM_RUNTIME_API void mgpuMemHostRegister(void *pointer, uint64_t bytes) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check(
        "cuMemHostRegister",
        scope.api().cuMemHostRegister(pointer, bytes, /*flags=*/0),
        "of " + std::to_string(bytes) + " bytes");
  });
}

NM_RUNTIME_API void mgpuMemHostUnregister(void *pointer) {
  inContext([&](ContextScope &scope) {
    return scope.driver().check("cuMemHostUnregister",
                                scope.api().cuMemHostUnregister(pointer));
  });
}

//===----------------------------------------------------------------------===//
// Registering memrefs
//===----------------------------------------------------------------------===//

/// The memref descriptor: two pointers, an offset, sizes, strides.
struct MemRef {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
};

static char *firstElement(const MemRef *memref, int64_t elementBytes) {
  return memref->aligned + memref->offset * elementBytes;
}

NM_RUNTIME_API void mgpuMemHostRegisterMemRef(int64_t rank, MemRef *memref,
                                              int64_t elementBytes) {
  // From the first to the last element, whatever the strides are.
  int64_t last = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (memref->sizesAndStrides[d] == 0)
      return;
    last +=
        (memref->sizesAndStrides[d] - 1) * memref->sizesAndStrides[rank + d];
  }
  mgpuMemHostRegister(firstElement(memref, elementBytes),
                      (last + 1) * elementBytes);
}

NM_RUNTIME_API void mgpuMemHostUnregisterMemRef(int64_t rank, MemRef *memref,
                                                int64_t elementBytes) {
  for (int64_t d = 0; d < rank; ++d)
    if (memref->sizesAndStrides[d] == 0)
      return;
  mgpuMemHostUnregister(firstElement(memref, elementBytes));
}
}
