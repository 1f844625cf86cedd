//===- CudnnModel.h - Times of cuDNN's convolutions -------------*- C++ -*-===//

#ifndef NM_GPU_SELECT_CUDNNMODEL_H
#define NM_GPU_SELECT_CUDNNMODEL_H

#include "nm/Format/ElementType.h"
#include "nm/Schedule/GpuChip.h"

#include <cstdint>

namespace nm {

/// A convolution, as cuDNN's model sees it.
struct ConvolutionSize {
  ElementType type = ElementType::F32;
  /// The places of all images' outputs.
  int64_t places = 1;
  int64_t channels = 1, outputs = 1, taps = 1;
  int64_t imageElements = 1;
};

/// The microseconds of cuDNN's convolution of an image whose channels are last;
/// negative where it has none.
double estimateCudnn(const ConvolutionSize &size, const GpuChip &chip);

} // namespace nm

#endif // NM_GPU_SELECT_CUDNNMODEL_H
