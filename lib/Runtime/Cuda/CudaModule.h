//===- CudaModule.h - Kernels, loaded for the device at hand ----*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDAMODULE_H
#define NM_LIB_RUNTIME_CUDA_CUDAMODULE_H

#include "Cuda/CudaDriver.h"
#include "nm/Support/KernelObjects.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nm::cuda {

/// Grid and block of one launch. A cluster of 0 is none.
struct LaunchShape {
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {1, 1, 1};
  int64_t cluster[3] = {0, 0, 0};
  int64_t sharedBytes = 0;
};

class KernelModule;

/// A kernel of a module, for whichever context is current.
class Kernel {
public:
  Kernel(KernelModule &module, const std::string &name)
      : module(module), name(intern(name)) {}

  /// Finds the function in the current context.
  Status prepare(const ContextScope &scope);
  /// Launches it; does not wait. An empty grid launches nothing.
  Status launch(const ContextScope &scope, const LaunchShape &shape,
                Stream stream, void **params, void **extra);

private:
  friend class KernelModule;

  /// The function in one context.
  struct Loaded {
    FunctionHandle function = nullptr;
    DeviceState *device = nullptr;
    int64_t staticShared = 0;
    /// The dynamic shared memory that launches may ask for as it stands.
    int64_t dynamicShared = 0;
    bool takesAnyCluster = false;
    /// Whether it waits for the kernel before it in the stream, and so may be
    /// launched before that is over.
    bool waits = false;
    /// Whether it takes little longer than a launch.
    bool isShort = false;
  };

  Result<Loaded *> find(const ContextScope &scope);
  bool findMark(const ContextScope &scope, Module image, const char *mark);
  Status reserveShared(const ContextScope &scope, Loaded &loaded,
                       int64_t bytes);
  Status allowCluster(const ContextScope &scope, Loaded &loaded,
                      const LaunchShape &shape);
  Status launchAny(const ContextScope &scope, const LaunchShape &shape,
                   Stream stream, void **params, void **extra);
  /// Launches it so that it starts while the kernel before it ends. Nothing
  /// where it, its shape or the driver is not for that.
  std::optional<Status> launchEarly(const ContextScope &scope, Loaded &loaded,
                                    const LaunchShape &shape, Stream stream,
                                    void **params, void **extra);
  /// What came of a launch.
  Status check(const ContextScope &scope, const char *call, int code,
               const LaunchShape &shape) const;
  std::string quoted() const { return "'" + name + "'"; }
  static const std::string &intern(const std::string &name);

  KernelModule &module;
  /// Lives for ever: an error may have to name it when its module is gone.
  const std::string &name;
  std::map<Context, Loaded> contexts;
};

/// The kernels of one compiled module. Nothing touches the driver before the
/// first kernel is asked for: a module that carries kernels loads, and says
/// what is in it, on a machine without a GPU. Each context that launches a
/// kernel gets a copy of its own.
class KernelModule {
public:
  /// Takes a container of KernelObjects.h, a cubin, a fat binary or PTX, whose
  /// bytes must outlive the module. `size` may be 0 where it is not known.
  static Result<std::unique_ptr<KernelModule>>
  create(const void *data, size_t size, int optLevel);
  /// Unloads it from every context.
  ~KernelModule();

  /// The kernel of this name, which is looked up when it is prepared.
  Kernel &kernel(const char *name);

private:
  friend class Kernel;
  KernelModule() = default;

  Result<Module> load(const ContextScope &scope);
  Result<Module> loadForDevice(const ContextScope &scope,
                               const DeviceState &device);
  Result<Module> loadImage(const ContextScope &scope, const void *image,
                           const std::string &subject, int &code);
  std::string known() const;

  /// Where the bytes are no container: an image that the driver judges.
  const void *plain = nullptr;
  std::vector<KernelObject> objects;
  int optLevel = -1;
  std::mutex mutex;
  std::map<Context, Module> modules;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};

/// A kernel that the runtime carries as PTX. The module is made when the kernel
/// is first asked for, and never destroyed: launches may be queued to the end
/// of the process.
class RuntimeKernel {
public:
  RuntimeKernel(const char *ptx, const char *name) : ptx(ptx), name(name) {}

  Result<Kernel *> get();

private:
  const char *ptx, *name;
  std::mutex mutex;
  KernelModule *module = nullptr;
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDAMODULE_H
