//===- FakeCuda.cpp - A CUDA driver for tests, without a GPU --------------===//

#include "FakeDevice.h"

#include "Cuda/SplitWeightKernel.h"
#include "Cuda/StridedCopyKernel.h"

#include <algorithm>
#include <cstring>

using namespace fake;

static int copy(void *stream, uintptr_t to, uintptr_t from, size_t bytes,
                bool toDevice, bool fromDevice) {
  if ((toDevice && !isDevice(to, bytes)) ||
      (fromDevice && !isDevice(from, bytes)))
    return 1;
  return onStream(stream, [=] {
    Unlocked unlocked;
    std::memmove(reinterpret_cast<void *>(to),
                 reinterpret_cast<const void *>(from), bytes);
    return 0;
  });
}

template <typename T>
static int fill(unsigned long long to, T value, size_t count, void *stream) {
  if (!isDevice(to, count * sizeof(T)))
    return 1;
  auto step = [=] {
    Unlocked unlocked;
    std::fill_n(reinterpret_cast<T *>(to), count, value);
    return 0;
  };
  constexpr int kMemset = 2;
  uint64_t valueAndSize = uint64_t(sizeof(T)) << 32 | uint64_t(value);
  return onStream(stream, step,
                  {kMemset, nullptr, {to, 0, valueAndSize, count, 1}});
}

//===----------------------------------------------------------------------===//
// The driver's entries
//===----------------------------------------------------------------------===//

/// Contexts of this thread, the current one last; a context is its device's
/// number plus one.
// Never destroyed: modules are unloaded after a thread's variables have gone.
static thread_local auto &contexts = *new std::vector<uintptr_t>();

/// What this thread may do while a stream captures; 2 is all.
static thread_local int captureMode = 0;

static bool isCapturing() {
  std::lock_guard<std::mutex> lock(state().mutex);
  return !state().capturing.empty();
}

/// Whether this thread may not do what could wait for a stream.
static bool isForbidden() { return isCapturing() && captureMode != 2; }

static std::string dims(unsigned x, unsigned y, unsigned z) {
  return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
}

static int runKernel(void *function, const unsigned grid[3], unsigned shared,
                     void *stream, void **params) {
  auto *kernel = static_cast<Function *>(function);
  if (int64_t(shared) > kernel->dynamicShared)
    return 1;
  std::vector<uint64_t> values;
  for (int64_t i = 0; i < kernel->kernel.numParams; ++i)
    values.push_back(*static_cast<uint64_t *>(params[i]));
  unsigned gridX = grid[0], gridY = grid[1], gridZ = grid[2];
  auto step = [=]() mutable {
    Unlocked unlocked;
    std::vector<void *> pointers;
    for (uint64_t &value : values)
      pointers.push_back(&value);
    const unsigned grid[3] = {gridX, gridY, gridZ};
    if (kernel->kernel.body)
      kernel->kernel.body(grid, pointers.data());
    return 0;
  };
  constexpr int kKernel = 0;
  return onStream(stream, step,
                  {kKernel, nullptr, {uintptr_t(function), gridX}});
}

/// The runtime's kernel for strided copies, which it has as PTX.
static void copyStrided(const unsigned grid[3], void **params) {
  auto param = [&](int i) { return *static_cast<long long *>(params[i]); };
  NmStridedCopy copy = {};
  copy.from = *static_cast<const char **>(params[0]);
  copy.to = *static_cast<char **>(params[1]);
  for (int d = 0; d < 4; ++d) {
    copy.sizes[d] = param(2 + d);
    copy.fromStrides[d] = param(6 + d);
    copy.toStrides[d] = param(10 + d);
  }
  copy.elementBytes = param(14);
  long long rowThreads = grid[0] * NM_STRIDED_COPY_ROWS;
  long long threads = grid[1] * NM_STRIDED_COPY_ROW_THREADS;
  for (long long row = 0; row < rowThreads; ++row)
    for (long long thread = 0; thread < threads; ++thread)
      nmStridedCopyThread(&copy, row, rowThreads, thread, threads);
}

/// The runtime's kernel that splits weights.
static void splitWeight(const unsigned grid[3], void **params) {
  auto param = [&](int i) {
    return unsigned(*static_cast<long long *>(params[i]));
  };
  NmSplitWeight weight = {*static_cast<const NmFloat4 **>(params[0]),
                          *static_cast<const unsigned char **>(params[1]),
                          *static_cast<NmWord4 **>(params[2]),
                          *static_cast<unsigned short **>(params[3]),
                          param(4),
                          param(5),
                          param(6),
                          param(7),
                          param(8),
                          param(9),
                          param(10),
                          param(11)};
  for (unsigned block = 0; block < grid[0]; ++block)
    for (unsigned thread = 0; thread < NM_SPLIT_WEIGHT_THREADS; ++thread)
      nmSplitWeightThread(&weight, block, thread);
}

/// The runtime's kernel that fills words.
static void clearWords(const unsigned[3], void **params) {
  auto param = [&](int i) { return *static_cast<long long *>(params[i]); };
  std::fill_n(*static_cast<unsigned **>(params[0]), param(2),
              unsigned(param(1)));
}

/// Kernels that an image of PTX has; it is not read.
static FakeKernel getPtxKernel(const char *name) {
  if (std::strcmp(name, "nm_clear_words") == 0)
    return {name, clearWords, 3, 0};
  if (std::strcmp(name, "nm_split_weight") == 0)
    return {name, splitWeight, 12, 0};
  if (std::strcmp(name, "nm_strided_copy") == 0)
    return {name, copyStrided, 15, 0};
  return {name, nullptr, 0, 0};
}

extern "C" {
EXPORT int cuInit(unsigned) {
  ENTER("cuInit");
  return setting("devices") == 0 ? 100 : 0;
}
EXPORT int cuDriverGetVersion(int *version) {
  ENTER("cuDriverGetVersion");
  *version = int(setting("version"));
  return 0;
}
EXPORT int cuGetErrorName(int code, const char **name) {
  static const std::map<int, const char *> names = {
      {1, "CUDA_ERROR_INVALID_VALUE"},    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},    {500, "CUDA_ERROR_NOT_FOUND"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  auto known = names.find(code);
  *name = known == names.end() ? nullptr : known->second;
  return known == names.end() ? 1 : 0;
}
EXPORT int cuGetErrorString(int code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : nullptr;
  return *text ? 0 : 1;
}
EXPORT int cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount");
  *count = int(setting("devices"));
  return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  ENTER("cuDeviceGet");
  *device = ordinal;
  return 0;
}
EXPORT int cuDeviceGetName(char *name, int size, int) {
  ENTER("cuDeviceGetName");
  std::strncpy(name, "Fake", size);
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  ENTER("cuDeviceGetAttribute");
  static const std::map<int, const char *> keys = {
      {38, "l2"},     {75, "major"},  {76, "minor"},
      {97, "shared"}, {115, "pools"}, {120, "clusters"}};
  static const std::map<int, int> fixed = {
      {5, 2147483647}, {6, 65535},   {7, 65535},    {13, 1980000},
      {16, 132},       {81, 233472}, {36, 3201000}, {37, 6144}};
  if (auto key = keys.find(attribute); key != keys.end())
    *value = int(setting(key->second));
  else if (auto known = fixed.find(attribute); known != fixed.end())
    *value = known->second;
  else
    return 1;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<void *>(uintptr_t(device) + 1);
  return 0;
}
EXPORT int cuCtxGetCurrent(void **context) {
  if (contexts.empty())
    *context = nullptr;
  else
    *context = reinterpret_cast<void *>(contexts.back());
  return 0;
}
EXPORT int cuCtxPushCurrent_v2(void *context) {
  ENTER("cuCtxPushCurrent");
  contexts.push_back(reinterpret_cast<uintptr_t>(context));
  return 0;
}
EXPORT int cuCtxPopCurrent_v2(void **context) {
  *context = reinterpret_cast<void *>(contexts.back());
  contexts.pop_back();
  return 0;
}
EXPORT int cuCtxGetDevice(int *device) {
  if (contexts.empty())
    return 201;
  *device = int(contexts.back()) - 1;
  return 0;
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTER("cuThreadExchangeStreamCaptureMode", std::to_string(*mode));
  std::swap(*mode, captureMode);
  return 0;
}
EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                              int *options, void **values) {
  // Text starts with a directive or a comment.
  char first = *static_cast<const char *>(image);
  bool isPtx = first == '.' || first == '/';
  ENTER("cuModuleLoadDataEx", isPtx ? "ptx" : "cubin");
  if (isForbidden())
    return 900;
  auto loaded = std::make_unique<Image>();
  if (isPtx)
    loaded->ptx = static_cast<const char *>(image);
  if (loaded->ptx.find("wrong") != std::string::npos) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]),
                    "ptxas application ptx input, line 1; error: wrong\n");
    return 218;
  }
  if (!isPtx) {
    auto *fake = static_cast<const FakeImage *>(image);
    if (std::memcmp(fake->magic, FAKE_IMAGE_MAGIC, sizeof fake->magic) != 0)
      return 209;
    for (int64_t i = 0; i < fake->count; ++i)
      loaded->functions[fake->kernels[i].name].reset(
          new Function{fake->kernels[i]});
  }
  *module = loaded.release();
  fake::count(1);
  return 0;
}
EXPORT int cuModuleUnload(void *module) {
  ENTER("cuModuleUnload");
  if (isForbidden())
    return 900;
  delete static_cast<Image *>(module);
  count(-1);
  return 0;
}
EXPORT int cuModuleGetFunction(void **function, void *module,
                               const char *name) {
  ENTER("cuModuleGetFunction", name);
  auto *image = static_cast<Image *>(module);
  auto &entry = image->functions[name];
  // Any other kernel of PTX does nothing.
  if (!entry && !image->ptx.empty())
    entry.reset(new Function{getPtxKernel(name)});
  if (!entry)
    return 500;
  *function = entry.get();
  return 0;
}
EXPORT int cuModuleGetGlobal_v2(unsigned long long *address, size_t *bytes,
                                void *module, const char *name) {
  ENTER("cuModuleGetGlobal", name);
  const std::string &ptx = static_cast<Image *>(module)->ptx;
  size_t at = ptx.find(std::string(" ") + name + " ");
  if (at == std::string::npos)
    return 500;
  *address = at;
  *bytes = 1;
  return 0;
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
  ENTER("cuFuncGetAttribute");
  auto *kernel = static_cast<Function *>(function);
  *value =
      int(attribute == 1 ? kernel->kernel.staticShared : kernel->dynamicShared);
  return 0;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER("cuFuncSetAttribute",
        std::to_string(attribute) + "=" + std::to_string(value));
  if (attribute == 8)
    static_cast<Function *>(function)->dynamicShared = value;
  return 0;
}
EXPORT int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                          unsigned gridZ, unsigned blockX, unsigned blockY,
                          unsigned blockZ, unsigned shared, void *stream,
                          void **params, void **) {
  ENTER("cuLaunchKernel", dims(gridX, gridY, gridZ) + " " +
                              dims(blockX, blockY, blockZ) + " stream " +
                              std::to_string(uintptr_t(stream)));
  const unsigned grid[3] = {gridX, gridY, gridZ};
  return runKernel(function, grid, shared, stream, params);
}

#ifndef FAKE_NO_LAUNCH_EX
struct FakeLaunchConfig {
  unsigned grid[3], block[3], shared;
  void *stream;
  struct {
    int id, padding;
    unsigned words[16];
  } *attributes;
  unsigned numAttributes;
};
EXPORT int cuLaunchKernelEx(const FakeLaunchConfig *config, void *function,
                            void **params, void **) {
  std::string text = dims(config->grid[0], config->grid[1], config->grid[2]);
  for (unsigned i = 0; i < config->numAttributes; ++i) {
    const unsigned *words = config->attributes[i].words;
    if (config->attributes[i].id == 4)
      text += " cluster " + dims(words[0], words[1], words[2]);
    else if (config->attributes[i].id == 6)
      text += " programmatic " + std::to_string(words[0]) + " shared " +
              std::to_string(config->shared);
    else
      return 1;
  }
  ENTER("cuLaunchKernelEx", text);
  return runKernel(function, config->grid, config->shared, config->stream,
                   params);
}
EXPORT int cuTensorMapEncodeTiled(void *map, int32_t type, uint32_t rank,
                                  void *base, const uint64_t *sizes,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *elementStrides,
                                  int32_t interleave, int32_t swizzle,
                                  int32_t promotion, int32_t fill) {
  constexpr uintptr_t kBaseUnit = 16;
  std::string text = "type " + std::to_string(type) + " swizzle " +
                     std::to_string(swizzle) + " promotion " +
                     std::to_string(promotion);
  for (uint32_t d = 0; d < rank; ++d) {
    text += d == 0 ? " sizes " : " by ";
    text += std::to_string(sizes[d]) + " in " + std::to_string(box[d]);
    text += d == 0 ? "" : " at " + std::to_string(strides[d - 1]);
  }
  ENTER("cuTensorMapEncodeTiled", text);
  for (uint32_t d = 0; d < rank; ++d)
    if (elementStrides[d] != 1)
      return 1;
  if (uintptr_t(base) % kBaseUnit != 0 || interleave != 0 || fill != 0)
    return 1;
  std::memset(map, 0xab, 128);
  return 0;
}
EXPORT int cuTensorMapEncodeIm2col(
    void *map, int32_t type, uint32_t rank, void *, const uint64_t *sizes,
    const uint64_t *, const int32_t *lower, const int32_t *upper,
    uint32_t channels, uint32_t pixels, const uint32_t *elementStrides,
    int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill) {
  std::string text =
      "type " + std::to_string(type) + " swizzle " + std::to_string(swizzle) +
      " promotion " + std::to_string(promotion) + " channels " +
      std::to_string(channels) + " of " + std::to_string(sizes[0]) +
      " pixels " + std::to_string(pixels);
  for (uint32_t d = 1; d + 1 < rank; ++d)
    text += " from " + std::to_string(lower[d - 1]) + " to " +
            std::to_string(upper[d - 1]) + " of " + std::to_string(sizes[d]) +
            " by " + std::to_string(elementStrides[d]);
  ENTER("cuTensorMapEncodeIm2col", text);
  if (interleave != 0 || fill != 0)
    return 1;
  std::memset(map, 0xcd, 128);
  return 0;
}
#endif

EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER("cuMemGetInfo");
  *free = setting("free");
  *total = size_t(2) << 30;
  return 0;
}
EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  ENTER("cuMemAlloc", std::to_string(bytes));
  return allocate(address, bytes);
}
EXPORT int cuMemAllocManaged(unsigned long long *address, size_t bytes,
                             unsigned) {
  ENTER("cuMemAllocManaged", std::to_string(bytes));
  return allocate(address, bytes);
}
EXPORT int cuMemFree_v2(unsigned long long address) {
  ENTER("cuMemFree");
  return isForbidden() ? 900 : release(address);
}
EXPORT int cuMemAllocAsync(unsigned long long *address, size_t bytes, void *) {
  ENTER("cuMemAllocAsync", std::to_string(bytes));
  return allocate(address, bytes);
}
EXPORT int cuMemFreeAsync(unsigned long long address, void *stream) {
  ENTER("cuMemFreeAsync");
  return releaseOnStream(address, stream);
}
EXPORT int cuMemcpyAsync(unsigned long long to, unsigned long long from,
                         size_t bytes, void *stream) {
  ENTER("cuMemcpyAsync", std::to_string(bytes));
  return copy(stream, to, from, bytes, false, false);
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from,
                                size_t bytes, void *stream) {
  ENTER("cuMemcpyHtoDAsync", std::to_string(bytes));
  return copy(stream, to, reinterpret_cast<uintptr_t>(from), bytes, true,
              false);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                                void *stream) {
  ENTER("cuMemcpyDtoHAsync", std::to_string(bytes));
  return copy(stream, reinterpret_cast<uintptr_t>(to), from, bytes, false,
              true);
}
EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value,
                           size_t count, void *stream) {
  ENTER("cuMemsetD8Async");
  return fill<uint8_t>(to, value, count, stream);
}
EXPORT int cuMemsetD16Async(unsigned long long to, unsigned short value,
                            size_t count, void *stream) {
  ENTER("cuMemsetD16Async");
  return fill<uint16_t>(to, value, count, stream);
}
EXPORT int cuMemsetD32Async(unsigned long long to, unsigned value, size_t count,
                            void *stream) {
  ENTER("cuMemsetD32Async");
  return fill<uint32_t>(to, value, count, stream);
}
EXPORT int cuMemHostRegister_v2(void *, size_t bytes, unsigned) {
  ENTER("cuMemHostRegister", std::to_string(bytes));
  return 0;
}
EXPORT int cuMemHostUnregister(void *) {
  ENTER("cuMemHostUnregister");
  return 0;
}

EXPORT int cuStreamCreate(void **stream, unsigned) {
  ENTER("cuStreamCreate");
  *stream = new char;
  count(1);
  return 0;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  ENTER("cuStreamDestroy");
  {
    // A capture ends with its stream.
    std::lock_guard<std::mutex> lock(state().mutex);
    state().capturing.erase(stream);
  }
  delete static_cast<char *>(stream);
  count(-1);
  return 0;
}
EXPORT int cuStreamSynchronize(void *) {
  ENTER("cuStreamSynchronize");
  return 0;
}
EXPORT int cuStreamWaitEvent(void *, void *, unsigned) {
  ENTER("cuStreamWaitEvent");
  return 0;
}
EXPORT int cuEventCreate(void **event, unsigned) {
  ENTER("cuEventCreate");
  *event = new Event();
  count(1);
  return 0;
}
EXPORT int cuEventDestroy_v2(void *event) {
  ENTER("cuEventDestroy");
  delete static_cast<Event *>(event);
  count(-1);
  return 0;
}
EXPORT int cuEventRecord(void *event, void *) {
  ENTER("cuEventRecord");
  static_cast<Event *>(event)->time = std::chrono::steady_clock::now();
  return 0;
}
EXPORT int cuEventRecordWithFlags(void *event, void *, unsigned flags) {
  ENTER("cuEventRecordWithFlags", std::to_string(flags));
  static_cast<Event *>(event)->time = std::chrono::steady_clock::now();
  return 0;
}
EXPORT int cuEventSynchronize(void *) {
  ENTER("cuEventSynchronize");
  return 0;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  ENTER("cuEventElapsedTime");
  std::chrono::duration<float, std::milli> span =
      static_cast<Event *>(end)->time - static_cast<Event *>(start)->time;
  *milliseconds = span.count();
  return 0;
}
}
