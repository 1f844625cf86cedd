//===- CudaLaunch.cpp - Launching kernels ---------------------------------===//

#include "Cuda/CudaModule.h"

#include "nm/Support/EarlyStart.h"

#include <algorithm>
#include <climits>
#include <tuple>
#include <vector>

using namespace nm;
using namespace nm::cuda;

/// `2x1x1`.
static std::string dimsText(const int64_t *dims) {
  return std::to_string(dims[0]) + "x" + std::to_string(dims[1]) + "x" +
         std::to_string(dims[2]);
}

Result<Kernel::Loaded *> Kernel::find(const ContextScope &scope) {
  std::lock_guard<std::mutex> lock(module.mutex);
  auto known = contexts.find(scope.context());
  // Entries stay where they are: a map moves none.
  if (known != contexts.end())
    return &known->second;
  Result<Module> image = module.load(scope);
  if (!image)
    return Error{"kernel " + quoted() + ": " + image.error().message};
  Driver &driver = scope.driver();
  Loaded loaded;
  if (Status status = driver.check("cuModuleGetFunction",
                                   scope.api().cuModuleGetFunction(
                                       &loaded.function, *image, name.c_str()),
                                   "of " + quoted());
      !status)
    return status.error();
  Result<DeviceState *> device = driver.currentDevice();
  if (!device)
    return device.error();
  loaded.device = *device;
  int fixed = 0, dynamic = 0;
  if (Status status =
          driver.check("cuFuncGetAttribute",
                       scope.api().cuFuncGetAttribute(&fixed, kStaticSharedSize,
                                                      loaded.function),
                       "of " + quoted());
      !status)
    return status.error();
  if (Status status =
          driver.check("cuFuncGetAttribute",
                       scope.api().cuFuncGetAttribute(
                           &dynamic, kMaxDynamicSharedSize, loaded.function),
                       "of " + quoted());
      !status)
    return status.error();
  loaded.staticShared = fixed;
  loaded.dynamicShared = dynamic;
  loaded.waits =
      loaded.device->hasDependentLaunches && findMark(scope, *image, kWaitMark);
  loaded.isShort = loaded.waits && findMark(scope, *image, kShortMark);
  return &contexts.emplace(scope.context(), loaded).first->second;
}

/// Whether the compiler has marked the kernel by `mark`.
bool Kernel::findMark(const ContextScope &scope, Module image,
                      const char *mark) {
  // The driver may load the variable only now.
  RelaxedCapture relaxed(scope.api());
  Address address = 0;
  size_t bytes = 0;
  return scope.api().cuModuleGetGlobal(&address, &bytes, image,
                                       (mark + name).c_str()) == kSuccess;
}

Status Kernel::prepare(const ContextScope &scope) {
  Result<Loaded *> loaded = find(scope);
  return loaded ? Status::success() : Status(loaded.error());
}

Status Kernel::reserveShared(const ContextScope &scope, Loaded &loaded,
                             int64_t bytes) {
  // Beyond 48 KiB a kernel gets only what it has asked for before.
  std::lock_guard<std::mutex> lock(module.mutex);
  if (bytes <= loaded.dynamicShared)
    return Status::success();
  if (loaded.staticShared + bytes > loaded.device->sharedBytes)
    return Error{"kernel " + quoted() + " needs " +
                 std::to_string(loaded.staticShared + bytes) +
                 " bytes of shared memory (" +
                 std::to_string(loaded.staticShared) + " static, " +
                 std::to_string(bytes) + " dynamic), but " +
                 loaded.device->str() + " has " +
                 std::to_string(loaded.device->sharedBytes) + " a block"};
  if (Status status = scope.driver().check(
          "cuFuncSetAttribute",
          scope.api().cuFuncSetAttribute(loaded.function, kMaxDynamicSharedSize,
                                         int(bytes)),
          "of " + quoted() + " (" + std::to_string(bytes) +
              " bytes of dynamic shared memory)");
      !status)
    return status;
  loaded.dynamicShared = bytes;
  return Status::success();
}

Status Kernel::allowCluster(const ContextScope &scope, Loaded &loaded,
                            const LaunchShape &shape) {
  // Every device with clusters has this many blocks in one.
  constexpr int64_t kPortableBlocks = 8;
  if (!loaded.device->hasClusters)
    return Error{"kernel " + quoted() + " needs clusters of " +
                 dimsText(shape.cluster) + " blocks, but " +
                 loaded.device->str() + " (" + loaded.device->chip() +
                 ") or its driver has none"};
  std::lock_guard<std::mutex> lock(module.mutex);
  if (loaded.takesAnyCluster ||
      shape.cluster[0] * shape.cluster[1] * shape.cluster[2] <= kPortableBlocks)
    return Status::success();
  if (Status status = scope.driver().check(
          "cuFuncSetAttribute",
          scope.api().cuFuncSetAttribute(loaded.function,
                                         kNonPortableClusterSizeAllowed, 1),
          "of " + quoted() + " (clusters of " + dimsText(shape.cluster) + ")");
      !status)
    return status;
  loaded.takesAnyCluster = true;
  return Status::success();
}

static Status checkDims(const std::string &kernel, const char *what,
                        const int64_t *dims, const int64_t *limits) {
  for (int d = 0; d < 3; ++d)
    if (dims[d] < 0 || dims[d] > limits[d])
      return Error{"kernel " + kernel + ": expected a " + what +
                   " of at most " + dimsText(limits) + ", but got " +
                   dimsText(dims)};
  return Status::success();
}

/// Checks what the driver takes in fewer bits.
static Status checkShape(const std::string &kernel, const LaunchShape &shape,
                         const DeviceState &device) {
  constexpr int64_t kAny[3] = {INT_MAX, INT_MAX, INT_MAX};
  for (auto [what, dims, limits] :
       {std::tuple("grid", shape.grid, device.gridLimits),
        std::tuple("block", shape.block, kAny),
        std::tuple("cluster", shape.cluster, kAny)})
    if (Status status = checkDims(kernel, what, dims, limits); !status)
      return status;
  if (shape.sharedBytes >= 0)
    return Status::success();
  return Error{"kernel " + kernel +
               ": expected a size of dynamic shared memory, but got " +
               std::to_string(shape.sharedBytes)};
}

static bool hasClusters(const LaunchShape &shape) {
  return shape.cluster[0] != 0;
}

static std::string describe(const LaunchShape &shape) {
  return "(grid " + dimsText(shape.grid) + ", block " + dimsText(shape.block) +
         ", " + std::to_string(shape.sharedBytes) +
         " bytes of dynamic shared memory)" +
         (hasClusters(shape) ? " in clusters of " + dimsText(shape.cluster)
                             : "");
}

static int launchPlainly(const Api &api, FunctionHandle function,
                         const LaunchShape &shape, Stream stream, void **params,
                         void **extra) {
  const int64_t *grid = shape.grid, *block = shape.block;
  return api.cuLaunchKernel(function, unsigned(grid[0]), unsigned(grid[1]),
                            unsigned(grid[2]), unsigned(block[0]),
                            unsigned(block[1]), unsigned(block[2]),
                            unsigned(shape.sharedBytes), stream, params, extra);
}

static LaunchAttribute inClusters(const LaunchShape &shape) {
  LaunchAttribute attribute = {};
  attribute.id = kLaunchAttributeCluster;
  for (int d = 0; d < 3; ++d)
    attribute.clusterDim[d] = unsigned(shape.cluster[d]);
  return attribute;
}

/// Launches with `attributes`, and in the clusters that `shape` has.
static int launchWith(std::vector<LaunchAttribute> attributes, const Api &api,
                      FunctionHandle function, const LaunchShape &shape,
                      Stream stream, void **params, void **extra) {
  if (hasClusters(shape))
    attributes.push_back(inClusters(shape));
  LaunchConfig config = {};
  for (int d = 0; d < 3; ++d) {
    config.grid[d] = unsigned(shape.grid[d]);
    config.block[d] = unsigned(shape.block[d]);
  }
  config.sharedBytes = unsigned(shape.sharedBytes);
  config.stream = stream;
  config.attributes = attributes.data();
  config.numAttributes = unsigned(attributes.size());
  return api.cuLaunchKernelEx(&config, function, params, extra);
}

static LaunchAttribute overlapping() {
  LaunchAttribute attribute = {};
  attribute.id = kLaunchAttributeProgrammaticSerialization;
  attribute.programmaticSerializationAllowed = 1;
  return attribute;
}

static int64_t countBlocks(const LaunchShape &shape) {
  return shape.grid[0] * shape.grid[1] * shape.grid[2];
}

namespace {
/// The thread's last launch of a kernel.
struct LastLaunch {
  Stream stream;
  int64_t blocks;
};
} // namespace

static LastLaunch &getLastLaunch() {
  static thread_local LastLaunch last = {nullptr, 0};
  return last;
}

/// A library's kernel may have run since the thread's last launch: an early
/// start then gains nothing, and results stay right.
static bool gainsFromOverlap(const LaunchShape &shape, bool isShort,
                             const DeviceState &device, Stream stream) {
  int64_t blocks = countBlocks(shape);
  if (gainsFromEarlyStart(blocks, device.multiprocessors) ||
      (isShort && blocks <= device.multiprocessors))
    return true;
  const LastLaunch &last = getLastLaunch();
  return last.blocks != 0 && last.stream == stream &&
         gainsBehindFewBlocks(blocks, last.blocks, device.multiprocessors);
}

/// The shape with so much shared memory that a multiprocessor has room for one
/// block: no two blocks go to a multiprocessor that is free early. A grid of
/// more blocks than multiprocessors keeps its shape.
static LaunchShape spread(LaunchShape shape, const DeviceState &device,
                          int64_t staticShared) {
  if (countBlocks(shape) > device.multiprocessors)
    return shape;
  shape.sharedBytes = std::max(
      shape.sharedBytes, device.sharedBytesOfMultiprocessor / 2 - staticShared);
  return shape;
}

/// Codes with which a driver turns down an attribute; it may take the launch
/// without.
static bool isRefusal(int code) {
  return code == kInvalidValue || code == kNotSupported ||
         code == kCaptureUnsupported;
}

Status Kernel::check(const ContextScope &scope, const char *call, int code,
                     const LaunchShape &shape) const {
  if (code == kSuccess)
    return Status::success();
  return scope.driver().error(call, code,
                              "of " + quoted() + " " + describe(shape));
}

std::optional<Status> Kernel::launchEarly(const ContextScope &scope,
                                          Loaded &loaded,
                                          const LaunchShape &shape,
                                          Stream stream, void **params,
                                          void **extra) {
  // What comes before it in the stream is over once it has waited: that is the
  // kernel just before, which, if it was launched so too, has itself waited in
  // every thread of every block, and so on. A kernel that does not wait, and
  // all that is no kernel, starts when all before it is over.
  if (!loaded.waits ||
      !gainsFromOverlap(shape, loaded.isShort, *loaded.device, stream))
    return std::nullopt;
  LaunchShape alone = spread(shape, *loaded.device, loaded.staticShared);
  if (Status status = reserveShared(scope, loaded, alone.sharedBytes); !status)
    return status;
  int code = launchWith({overlapping()}, scope.api(), loaded.function, alone,
                        stream, params, extra);
  if (isRefusal(code))
    return std::nullopt;
  return check(scope, "cuLaunchKernelEx", code, alone);
}

Status Kernel::launch(const ContextScope &scope, const LaunchShape &shape,
                      Stream stream, void **params, void **extra) {
  if (std::find(shape.grid, shape.grid + 3, 0) != shape.grid + 3)
    return Status::success();
  Status status = launchAny(scope, shape, stream, params, extra);
  getLastLaunch() = {stream, status ? countBlocks(shape) : 0};
  return status;
}

Status Kernel::launchAny(const ContextScope &scope, const LaunchShape &shape,
                         Stream stream, void **params, void **extra) {
  Result<Loaded *> found = find(scope);
  if (!found)
    return found.error();
  Loaded &loaded = **found;
  if (Status status = checkShape(quoted(), shape, *loaded.device); !status)
    return status;
  if (Status status = reserveShared(scope, loaded, shape.sharedBytes); !status)
    return status;
  if (hasClusters(shape))
    if (Status status = allowCluster(scope, loaded, shape); !status)
      return status;

  noteLaunch(name.c_str());
  if (std::optional<Status> launched =
          launchEarly(scope, loaded, shape, stream, params, extra))
    return *launched;
  if (hasClusters(shape))
    return check(scope, "cuLaunchKernelEx",
                 launchWith({}, scope.api(), loaded.function, shape, stream,
                            params, extra),
                 shape);
  return check(
      scope, "cuLaunchKernel",
      launchPlainly(scope.api(), loaded.function, shape, stream, params, extra),
      shape);
}
