//===- CudaApi.h - The part of the CUDA driver API that we call -*- C++ -*-===//
//
// Declared here, after NVIDIA's documentation of the driver API, so that
// nothing of CUDA is needed to build. The comment beside an entry is the symbol
// that libcuda exports it under where that differs from its name.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDAAPI_H
#define NM_LIB_RUNTIME_CUDA_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace nm::cuda {

// Opaque handles, of types of their own so that they are not mixed up.
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;
using GraphNode = struct GraphNodeTag *;
using UserObject = struct UserObjectTag *;
/// An address on the device.
using Address = unsigned long long;

/// The codes that we treat apart; the driver names all others.
enum Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kJitCompilationDisabled = 223,
  kIllegalAddress = 700,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
};

enum DeviceAttribute : int {
  kMaxGridDimX = 5,
  kMaxGridDimY = 6,
  kMaxGridDimZ = 7,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxSharedMemoryPerBlockOptin = 97,
  kMemoryPoolsSupported = 115,
  kClusterLaunch = 120,
};

enum FunctionAttribute : int {
  kStaticSharedSize = 1,
  kMaxDynamicSharedSize = 8,
  kNonPortableClusterSizeAllowed = 14,
};

enum JitOption : int {
  kErrorLogBuffer = 5,
  kErrorLogBufferSize = 6,
  kOptimizationLevel = 7,
};

enum Flag : unsigned {
  kStreamNonBlocking = 1,
  kEventDefault = 0,
  kEventDisableTiming = 2,
  kEventRecordExternal = 1,
  kMemAttachGlobal = 1,
  kCaptureNone = 0,
  kCaptureActive = 1,
  kCaptureThreadLocal = 1,
  kCaptureRelaxed = 2,
  kNoDestructorSync = 1,
  kMoveReference = 1,
  kSetDependencies = 1,
};

/// CUgraphNodeType, those that we treat apart.
enum GraphNodeType : int { kKernelNode = 0, kMemsetNode = 2 };

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParams {
  FunctionHandle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  void **params, **extra;
  void *kernel;
  Context context;
};
static_assert(sizeof(KernelNodeParams) == 72,
              "the ABI of CUDA_KERNEL_NODE_PARAMS_v2");

/// CUDA_MEMSET_NODE_PARAMS: rows of `width` elements, whose starts are `pitch`
/// bytes apart.
struct MemsetNodeParams {
  Address to;
  size_t pitch;
  unsigned value;
  unsigned elementSize;
  size_t width, height;
};
static_assert(sizeof(MemsetNodeParams) == 40,
              "the ABI of CUDA_MEMSET_NODE_PARAMS");

/// CUlaunchAttributeID, those that we set.
enum LaunchAttributeId : int {
  kLaunchAttributeCluster = 4,
  kLaunchAttributeProgrammaticSerialization = 6,
};

/// CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  int padding;
  union {
    char bytes[64];
    unsigned clusterDim[3];
    int programmaticSerializationAllowed;
  };
};
static_assert(sizeof(LaunchAttribute) == 72, "the ABI of CUlaunchAttribute");

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
static_assert(sizeof(LaunchConfig) == 56, "the ABI of CUlaunchConfig");

/// The entries of one libcuda. Each returns a Code.
struct Api {
  int (*cuInit)(unsigned flags);
  int (*cuDriverGetVersion)(int *version);
  int (*cuGetErrorName)(int code, const char **name);
  int (*cuGetErrorString)(int code, const char **text);

  int (*cuDeviceGetCount)(int *count);
  int (*cuDeviceGet)(int *device, int ordinal);
  int (*cuDeviceGetName)(char *name, int size, int device);
  int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
  int (*cuDevicePrimaryCtxRetain)(Context *context, int device);
  int (*cuCtxGetCurrent)(Context *context);
  int (*cuCtxPushCurrent)(Context context); // cuCtxPushCurrent_v2
  int (*cuCtxPopCurrent)(Context *context); // cuCtxPopCurrent_v2
  int (*cuCtxGetDevice)(int *device);

  int (*cuModuleLoadDataEx)(Module *module, const void *image, unsigned count,
                            int *options, void **values);
  int (*cuModuleUnload)(Module module);
  int (*cuModuleGetFunction)(FunctionHandle *function, Module module,
                             const char *name);
  int (*cuModuleGetGlobal)(Address *address, size_t *bytes, Module module,
                           const char *name); // cuModuleGetGlobal_v2
  int (*cuFuncGetAttribute)(int *value, int attribute, FunctionHandle function);
  int (*cuFuncSetAttribute)(FunctionHandle function, int attribute, int value);
  int (*cuLaunchKernel)(FunctionHandle function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, Stream stream,
                        void **params, void **extra);
  /// Null in drivers before CUDA 11.8.
  int (*cuLaunchKernelEx)(const LaunchConfig *config, FunctionHandle function,
                          void **params, void **extra);
  /// Null in drivers before CUDA 12.0.
  int (*cuTensorMapEncodeTiled)(void *map, int32_t type, uint32_t rank,
                                void *base, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides,
                                int32_t interleave, int32_t swizzle,
                                int32_t promotion, int32_t fill);
  int (*cuTensorMapEncodeIm2col)(
      void *map, int32_t type, uint32_t rank, void *base, const uint64_t *sizes,
      const uint64_t *strides, const int32_t *lower, const int32_t *upper,
      uint32_t channels, uint32_t pixels, const uint32_t *elementStrides,
      int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill);

  int (*cuMemGetInfo)(size_t *free, size_t *total);  // cuMemGetInfo_v2
  int (*cuMemAlloc)(Address *address, size_t bytes); // cuMemAlloc_v2
  int (*cuMemAllocManaged)(Address *address, size_t bytes, unsigned flags);
  int (*cuMemFree)(Address address); // cuMemFree_v2
  int (*cuMemAllocAsync)(Address *address, size_t bytes, Stream stream);
  int (*cuMemFreeAsync)(Address address, Stream stream);
  int (*cuMemcpyAsync)(Address to, Address from, size_t bytes, Stream stream);
  int (*cuMemcpyHtoDAsync)(Address to, const void *from, size_t bytes,
                           Stream stream); // cuMemcpyHtoDAsync_v2
  int (*cuMemcpyDtoHAsync)(void *to, Address from, size_t bytes,
                           Stream stream); // cuMemcpyDtoHAsync_v2
  int (*cuMemsetD8Async)(Address to, unsigned char value, size_t count,
                         Stream stream);
  int (*cuMemsetD16Async)(Address to, unsigned short value, size_t count,
                          Stream stream);
  int (*cuMemsetD32Async)(Address to, unsigned value, size_t count,
                          Stream stream);
  int (*cuMemHostRegister)(void *address, size_t bytes,
                           unsigned flags); // cuMemHostRegister_v2
  int (*cuMemHostUnregister)(void *address);

  int (*cuStreamCreate)(Stream *stream, unsigned flags);
  int (*cuStreamDestroy)(Stream stream); // cuStreamDestroy_v2
  int (*cuStreamSynchronize)(Stream stream);
  int (*cuStreamWaitEvent)(Stream stream, Event event, unsigned flags);
  int (*cuEventCreate)(Event *event, unsigned flags);
  int (*cuEventDestroy)(Event event); // cuEventDestroy_v2
  int (*cuEventRecord)(Event event, Stream stream);
  /// Null where a driver lacks it.
  int (*cuEventRecordWithFlags)(Event event, Stream stream, unsigned flags);
  int (*cuEventSynchronize)(Event event);
  int (*cuEventElapsedTime)(float *milliseconds, Event start, Event end);

  int (*cuStreamBeginCapture)(Stream stream,
                              int mode); // cuStreamBeginCapture_v2
  int (*cuStreamEndCapture)(Stream stream, Graph *graph);
  int (*cuThreadExchangeStreamCaptureMode)(int *mode);
  int (*cuStreamIsCapturing)(Stream stream, int *status);
  /// Null, as those of user objects, in drivers before CUDA 11.3.
  int (*cuStreamGetCaptureInfo)(
      Stream stream, int *status, uint64_t *number, Graph *graph,
      const void **dependencies,
      size_t *numDependencies); // cuStreamGetCaptureInfo_v2
  int (*cuUserObjectCreate)(UserObject *object, void *data,
                            void (*destroy)(void *), unsigned references,
                            unsigned flags);
  int (*cuGraphRetainUserObject)(Graph graph, UserObject object, unsigned count,
                                 unsigned flags);
  /// Null, as those of kernels' nodes, in drivers before CUDA 12.0.
  int (*cuStreamUpdateCaptureDependencies)(Stream stream,
                                           GraphNode *dependencies,
                                           size_t count, unsigned flags);
  int (*cuGraphGetNodes)(Graph graph, GraphNode *nodes, size_t *count);
  int (*cuGraphGetRootNodes)(Graph graph, GraphNode *nodes, size_t *count);
  int (*cuGraphNodeGetType)(GraphNode node, int *type);
  int (*cuGraphMemsetNodeGetParams)(GraphNode node, MemsetNodeParams *params);
  int (*cuGraphKernelNodeGetParams)(
      GraphNode node,
      KernelNodeParams *params); // cuGraphKernelNodeGetParams_v2
  int (*cuGraphAddKernelNode)(
      GraphNode *node, Graph graph, const GraphNode *dependencies, size_t count,
      const KernelNodeParams *params); // cuGraphAddKernelNode_v2
  int (*cuGraphKernelNodeCopyAttributes)(GraphNode to, GraphNode from);
  int (*cuGraphInstantiateWithFlags)(GraphExec *exec, Graph graph,
                                     unsigned long long flags);
  int (*cuGraphLaunch)(GraphExec exec, Stream stream);
  int (*cuGraphExecDestroy)(GraphExec exec);
  int (*cuGraphDestroy)(Graph graph);
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDAAPI_H
