//===- CudaModule.cpp - Kernels, loaded for the device at hand ------------===//

#include "Cuda/CudaModule.h"

#include <set>
#include <string_view>

using namespace nm;
using namespace nm::cuda;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<KernelModule>>
KernelModule::create(const void *data, size_t size, int optLevel) {
  std::unique_ptr<KernelModule> module(new KernelModule());
  module->optLevel = optLevel;
  if (!data)
    return Error{"expected the bytes of a kernel module, but got none"};
  if ((size != 0 && size < sizeof(uint64_t)) || !isKernelContainer(data)) {
    module->plain = data;
    return module;
  }
  Result<std::vector<KernelObject>> objects =
      decodeKernelObjects({static_cast<const char *>(data),
                           size ? size : kernelContainerSize(data)});
  if (!objects)
    return Error{"kernel module: " + objects.error().message};
  module->objects = std::move(*objects);
  return module;
}

/// Drops what an unused log is filled with.
static std::string trimmed(const char *log) {
  std::string text = log;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

Result<Module> KernelModule::loadImage(const ContextScope &scope,
                                       const void *image,
                                       const std::string &subject, int &code) {
  // What the driver's compiler says of PTX that it refuses.
  char log[4096] = "";
  int options[] = {kErrorLogBuffer, kErrorLogBufferSize, kOptimizationLevel};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof log)),
                    reinterpret_cast<void *>(uintptr_t(optLevel))};
  unsigned count = optLevel >= 0 ? 3 : 2;
  Module module = nullptr;
  {
    RelaxedCapture relaxed(scope.api());
    code =
        scope.api().cuModuleLoadDataEx(&module, image, count, options, values);
  }
  if (code == kSuccess)
    return module;
  Error error = scope.driver().error("cuModuleLoadDataEx", code, subject);
  if (std::string text = trimmed(log); !text.empty())
    error.message += "\n" + text;
  if (code == kUnsupportedPtxVersion || code == kNoBinaryForGpu ||
      code == kInvalidImage)
    error.message += "; the driver is for CUDA " +
                     std::to_string(scope.driver().version() / 1000) + "." +
                     std::to_string(scope.driver().version() % 1000 / 10) +
                     ", and the kernels may need a newer one";
  return error;
}

/// Codes with which a driver turns an image down; another may suit it.
static bool isRefusal(int code) {
  return code == kInvalidImage || code == kNoBinaryForGpu ||
         code == kInvalidPtx || code == kJitCompilerNotFound ||
         code == kUnsupportedPtxVersion || code == kJitCompilationDisabled;
}

std::string KernelModule::known() const {
  std::string text;
  for (const KernelObject &object : objects)
    text += (text.empty() ? "" : ", ") + object.str();
  return text.empty() ? "none" : text;
}

Result<Module> KernelModule::loadForDevice(const ContextScope &scope,
                                           const DeviceState &device) {
  int code = kSuccess;
  if (plain)
    return loadImage(scope, plain, "for " + device.str(), code);
  std::vector<size_t> order =
      rankKernelObjects(objects, device.major, device.minor);
  if (order.empty())
    return Error{"chip " + device.chip() + " of device " +
                 std::to_string(device.ordinal) + " '" + device.name +
                 "' has no kernel here: the module has " + known()};
  std::string reasons;
  for (size_t i : order) {
    const KernelObject &object = objects[i];
    Result<Module> module =
        loadImage(scope, object.bytes.data(),
                  "of " + object.str() + " for " + device.str(), code);
    if (module)
      return module;
    reasons += (reasons.empty() ? "" : "\n") + module.error().message;
    if (!isRefusal(code))
      break;
  }
  return Error{reasons};
}

Result<Module> KernelModule::load(const ContextScope &scope) {
  auto known = modules.find(scope.context());
  if (known != modules.end())
    return known->second;
  Result<DeviceState *> device = scope.driver().currentDevice();
  if (!device)
    return device.error();
  Result<Module> module = loadForDevice(scope, **device);
  if (module)
    modules[scope.context()] = *module;
  return module;
}

KernelModule::~KernelModule() {
  for (const auto &[context, module] : modules)
    endInContext(context, [module = module](const Api &api) {
      api.cuModuleUnload(module);
    });
}

Result<Kernel *> RuntimeKernel::get() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!module) {
    Result<std::unique_ptr<KernelModule>> made =
        KernelModule::create(ptx, /*size=*/0, /*optLevel=*/-1);
    if (!made)
      return made.error();
    module = made->release();
  }
  return &module->kernel(name);
}

const std::string &Kernel::intern(const std::string &name) {
  static std::mutex mutex;
  static auto *names = new std::set<std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  return *names->insert(name).first;
}

Kernel &KernelModule::kernel(const char *name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto known = kernels.find(std::string_view(name));
  if (known == kernels.end())
    known = kernels.emplace(name, std::make_unique<Kernel>(*this, name)).first;
  return *known->second;
}
