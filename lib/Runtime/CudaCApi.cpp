//===- CudaCApi.cpp - CUDA devices and streams from C ---------------------===//

#include "nm-c/Runtime.h"

#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"

#include <cstring>

using namespace nm;

static char *message(const Error &error) {
  return strdup(error.message.c_str());
}

extern "C" {

NM_RUNTIME_API void nmSetStream(void *stream) { setCurrentStream(stream); }

NM_RUNTIME_API void *nmGetStream(void) { return currentStream(); }

NM_RUNTIME_API char *nmCudaGetDeviceCount(int32_t *count) {
  *count = 0;
  Result<int> devices = countCudaDevices();
  if (!devices)
    return message(devices.error());
  *count = *devices;
  return nullptr;
}

NM_RUNTIME_API char *nmCudaGetDeviceChip(int32_t device, char chip[16]) {
  Result<CudaDeviceInfo> info = cudaDeviceInfo(device);
  if (!info)
    return message(info.error());
  std::string name = info->chip();
  constexpr size_t kRoom = 16;
  std::memcpy(chip, name.c_str(), std::min(name.size() + 1, kRoom));
  return nullptr;
}

NM_RUNTIME_API char *nmTakeError(void) {
  std::optional<Error> error = takeRecordedError();
  return error ? message(*error) : nullptr;
}
}
