//===- CudaCApi.cpp - CUDA devices and streams from C ---------------------===//

#include "nm-c/Runtime.h"

#include "CApiTensor.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"

#include <cstring>

using namespace nm;

extern "C" {

NM_RUNTIME_API void nmSetStream(void *stream) { setCurrentStream(stream); }

NM_RUNTIME_API void *nmGetStream(void) { return currentStream(); }

NM_RUNTIME_API char *nmCudaGetDeviceCount(int32_t *count) {
  if (char *message = refuseNull({{"a place for the count", count}}))
    return message;
  *count = 0;
  Result<int> devices = countCudaDevices();
  if (!devices)
    return copyMessage(devices.error());
  *count = *devices;
  return nullptr;
}

NM_RUNTIME_API char *nmCudaGetDeviceChip(int32_t device, char chip[16]) {
  if (char *message = refuseNull({{"a place for the chip", chip}}))
    return message;
  Result<CudaDeviceInfo> info = cudaDeviceInfo(device);
  if (!info)
    return copyMessage(info.error());
  std::string name = info->chip();
  constexpr size_t kRoom = 16;
  std::memcpy(chip, name.c_str(), std::min(name.size() + 1, kRoom));
  return nullptr;
}

NM_RUNTIME_API char *nmTakeError(void) {
  std::optional<Error> error = takeRecordedError();
  return error ? copyMessage(*error) : nullptr;
}

NM_RUNTIME_API void nmRecordError(const char *text) {
  recordError(Error{text ? text : "an error without a text"});
}
}
