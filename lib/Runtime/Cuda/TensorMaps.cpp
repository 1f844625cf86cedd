//===- TensorMaps.cpp - Maps of tensors for kernels' copies ---------------===//

#include "Cuda/CudaDriver.h"
#include "Cuda/CudaModule.h"
#include "RecordedError.h"
#include "nm/Runtime/Export.h"

#include <cstdint>
#include <string>

using namespace nm;
using namespace nm::cuda;

/// `[4096, 777] elements, rows 8192 bytes apart, at 0x7f…`: what the driver may
/// refuse.
static std::string describe(uint32_t rank, const void *base,
                            const uint64_t *sizes, const uint64_t *strides) {
  std::string text = "of [";
  for (uint32_t d = rank; d-- > 0;)
    text += std::to_string(sizes[d]) + (d > 0 ? ", " : "] elements");
  for (uint32_t d = 0; d + 1 < rank; ++d)
    text += (d == 0 ? ", " : " and ") + std::to_string(strides[d]) +
            (d + 2 < rank ? "" : " bytes apart");
  return text + ", at " + std::to_string(reinterpret_cast<uintptr_t>(base)) +
         ", which must be a multiple of 16";
}

/// Calls the driver's `encode`, called `name`, and records the error that it
/// returns; no kernel is launched then.
template <typename Find, typename... Args>
static int32_t encodeByDriver(Find find, const std::string &name, void *map,
                              int32_t type, uint32_t rank, void *base,
                              const uint64_t *sizes, const uint64_t *strides,
                              Args... args) {
  Result<Driver *> driver = Driver::get();
  if (!driver) {
    recordError(driver.error());
    return kInvalidValue;
  }
  auto encode = find((*driver)->api());
  if (!encode) {
    recordError(Error{"expected a CUDA driver with " + name +
                      ", of CUDA 12.0 or newer, for a kernel with tensor "
                      "copies"});
    return kInvalidValue;
  }
  int code = encode(map, type, rank, base, sizes, strides, args...);
  if (Status status = (*driver)->check(name.c_str(), code,
                                       describe(rank, base, sizes, strides));
      !status)
    recordError(status.error());
  return code;
}

extern "C" {

/// The driver's cuTensorMapEncodeTiled, with the same operands.
NM_RUNTIME_API int32_t nmEncodeTensorMap(void *map, int32_t type, uint32_t rank,
                                         void *base, const uint64_t *sizes,
                                         const uint64_t *strides,
                                         const uint32_t *box,
                                         const uint32_t *elementStrides,
                                         int32_t interleave, int32_t swizzle,
                                         int32_t promotion, int32_t fill) {
  return encodeByDriver(
      [](const auto &api) { return api.cuTensorMapEncodeTiled; },
      "cuTensorMapEncodeTiled", map, type, rank, base, sizes, strides, box,
      elementStrides, interleave, swizzle, promotion, fill);
}

/// The driver's cuTensorMapEncodeIm2col, with the same operands.
NM_RUNTIME_API int32_t nmEncodePixelMap(
    void *map, int32_t type, uint32_t rank, void *base, const uint64_t *sizes,
    const uint64_t *strides, const int32_t *lower, const int32_t *upper,
    uint32_t channels, uint32_t pixels, const uint32_t *elementStrides,
    int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill) {
  return encodeByDriver(
      [](const auto &api) { return api.cuTensorMapEncodeIm2col; },
      "cuTensorMapEncodeIm2col", map, type, rank, base, sizes, strides, lower,
      upper, channels, pixels, elementStrides, interleave, swizzle, promotion,
      fill);
}
}
