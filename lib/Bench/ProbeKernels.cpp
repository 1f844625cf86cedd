//===- ProbeKernels.cpp - Kernels whose times tell a GPU's rates ----------===//

#include "ProbeKernels.h"

#include "Cuda/CudaApi.h"
#include "nm/Runtime/Cuda.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

using namespace nm;

namespace {
/// The entries of the driver, which the runtime has loaded, too.
struct ProbeDriver {
  decltype(cuda::Api::cuModuleLoadDataEx) load = nullptr;
  decltype(cuda::Api::cuModuleGetFunction) find = nullptr;
  decltype(cuda::Api::cuLaunchKernel) launch = nullptr;
  decltype(cuda::Api::cuLaunchKernelEx) launchEx = nullptr;
  decltype(cuda::Api::cuGetErrorName) nameError = nullptr;

  Error error(const std::string &call, int code) const;
};
} // namespace

Error ProbeDriver::error(const std::string &call, int code) const {
  const char *name = nullptr;
  if (nameError)
    (void)nameError(code, &name);
  return Error{call +
               " of the probe failed: " + (name ? name : std::to_string(code))};
}

static Result<ProbeDriver> openDriver() {
  const char *given = std::getenv("NM_CUDA_LIBRARY");
  const char *path = given && *given ? given : "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("no CUDA driver: ") + dlerror()};
  ProbeDriver driver;
  auto find = [&](auto &entry, const char *symbol) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(
        dlsym(library, symbol));
    return entry != nullptr;
  };
  (void)find(driver.nameError, "cuGetErrorName");
  (void)find(driver.launchEx, "cuLaunchKernelEx");
  if (!find(driver.load, "cuModuleLoadDataEx") ||
      !find(driver.find, "cuModuleGetFunction") ||
      !find(driver.launch, "cuLaunchKernel"))
    return Error{std::string(path) + ": expected the CUDA driver, but it "
                                     "lacks what loads and launches kernels"};
  return driver;
}

static const Result<ProbeDriver> &getDriver() {
  static const Result<ProbeDriver> driver = openDriver();
  return driver;
}

Result<ProbeKernel> ProbeKernel::load(Device device, const char *ptx,
                                      const char *name) {
  const Result<ProbeDriver> &driver = getDriver();
  if (!driver)
    return driver.error();
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  cuda::Module module = nullptr;
  if (int code = driver->load(&module, ptx, 0, nullptr, nullptr))
    return driver->error(std::string("loading ") + name, code);
  cuda::FunctionHandle function = nullptr;
  if (int code = driver->find(&function, module, name))
    return driver->error(std::string("finding ") + name, code);
  ProbeKernel kernel;
  kernel.function = function;
  kernel.device = device;
  return kernel;
}

Status ProbeKernel::launch(unsigned blocks, unsigned threads,
                           std::vector<uint64_t> addresses, uint32_t iterations,
                           bool startsEarly) const {
  const ProbeDriver &driver = *getDriver();
  Result<CudaDeviceScope> scope = CudaDeviceScope::enter(device);
  if (!scope)
    return scope.error();
  std::vector<void *> arguments;
  for (uint64_t &address : addresses)
    arguments.push_back(&address);
  arguments.push_back(&iterations);
  auto *kernel = static_cast<cuda::FunctionHandle>(function);
  auto *stream = static_cast<cuda::Stream>(currentStream());
  int code = 0;
  if (startsEarly && driver.launchEx) {
    cuda::LaunchAttribute early{};
    early.id = cuda::kLaunchAttributeProgrammaticSerialization;
    early.programmaticSerializationAllowed = 1;
    cuda::LaunchConfig config{{blocks, 1, 1}, {threads, 1, 1}, 0,
                              stream,         &early,          1};
    code = driver.launchEx(&config, kernel, arguments.data(), nullptr);
  } else {
    code = driver.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream,
                         arguments.data(), nullptr);
  }
  return code == 0 ? Status::success() : driver.error("a launch", code);
}
