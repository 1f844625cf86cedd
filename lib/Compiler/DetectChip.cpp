//===- DetectChip.cpp - The chip of the device that is here ---------------===//

#include "DetectChip.h"

#include "nm/Support/KernelObjects.h"

#include <cstdlib>

#include <dlfcn.h>

// As in cuda.h.
static constexpr int kComputeCapabilityMajor = 75;
static constexpr int kComputeCapabilityMinor = 76;

static std::optional<std::string> detect(void *driver) {
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto getDevice =
      reinterpret_cast<int (*)(int *, int)>(dlsym(driver, "cuDeviceGet"));
  auto getAttribute = reinterpret_cast<int (*)(int *, int, int)>(
      dlsym(driver, "cuDeviceGetAttribute"));
  int device = 0;
  int major = 0, minor = 0;
  if (!init || !getDevice || !getAttribute || init(0) != 0 ||
      getDevice(&device, 0) != 0 ||
      getAttribute(&major, kComputeCapabilityMajor, device) != 0 ||
      getAttribute(&minor, kComputeCapabilityMinor, device) != 0)
    return std::nullopt;
  return ::nm::Chip::ofDevice(major, minor).str();
}

/// Null where there is no driver.
static void *loadDriver() {
  // The same library that the runtime loads.
  const char *path = std::getenv("NM_CUDA_LIBRARY");
  // It stays loaded: a driver that has been initialized has threads.
  return dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

std::string mlir::nm::detectDevice() {
  void *driver = loadDriver();
  if (!driver)
    return "";
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto getDevice =
      reinterpret_cast<int (*)(int *, int)>(dlsym(driver, "cuDeviceGet"));
  auto getName = reinterpret_cast<int (*)(char *, int, int)>(
      dlsym(driver, "cuDeviceGetName"));
  int device = 0;
  char name[256] = "";
  if (!init || !getDevice || !getName || init(0) != 0 ||
      getDevice(&device, 0) != 0 || getName(name, sizeof name, device) != 0)
    return "";
  return name;
}

std::optional<std::string> mlir::nm::detectChip() {
  void *driver = loadDriver();
  return driver ? detect(driver) : std::nullopt;
}
