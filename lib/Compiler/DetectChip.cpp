//===- DetectChip.cpp - The chip of the device that is here ---------------===//

#include "DetectChip.h"

#include "nm/Support/KernelObjects.h"

#include <cstdlib>

#include <dlfcn.h>

// As in cuda.h.
static constexpr int kComputeCapabilityMajor = 75;
static constexpr int kComputeCapabilityMinor = 76;

/// Null where there is no driver.
static void *loadDriver() {
  // The same library that the runtime loads.
  const char *path = std::getenv("NM_CUDA_LIBRARY");
  // It stays loaded: a driver that has been initialized has threads.
  return dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

template <typename Entry>
static Entry *find(void *driver, const char *name) {
  return reinterpret_cast<Entry *>(dlsym(driver, name));
}

/// The first device of the driver, which is initialized.
static std::optional<int> openDevice(void *driver) {
  auto *init = find<int(unsigned)>(driver, "cuInit");
  auto *getDevice = find<int(int *, int)>(driver, "cuDeviceGet");
  int device = 0;
  if (!init || !getDevice || init(0) != 0 || getDevice(&device, 0) != 0)
    return std::nullopt;
  return device;
}

std::string mlir::nm::detectDevice() {
  void *driver = loadDriver();
  std::optional<int> device = driver ? openDevice(driver) : std::nullopt;
  if (!device)
    return "";
  auto *getName = find<int(char *, int, int)>(driver, "cuDeviceGetName");
  char name[256] = "";
  if (!getName || getName(name, sizeof name, *device) != 0)
    return "";
  return name;
}

std::optional<std::string> mlir::nm::detectChip() {
  void *driver = loadDriver();
  std::optional<int> device = driver ? openDevice(driver) : std::nullopt;
  if (!device)
    return std::nullopt;
  auto *getAttribute =
      find<int(int *, int, int)>(driver, "cuDeviceGetAttribute");
  int major = 0, minor = 0;
  if (!getAttribute ||
      getAttribute(&major, kComputeCapabilityMajor, *device) != 0 ||
      getAttribute(&minor, kComputeCapabilityMinor, *device) != 0)
    return std::nullopt;
  return ::nm::Chip::ofDevice(major, minor).str();
}
