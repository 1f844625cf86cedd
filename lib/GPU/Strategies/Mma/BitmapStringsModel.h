//===- BitmapStringsModel.h - mma_bitmap of weights anywhere ----*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSMODEL_H
#define NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

namespace nm {

/// Whether strategy mma_bitmap has the weights of `product` as
/// nm/Format/BitmapStrings.h says: unstructured ones of 16 bits, where lanes
/// find rows of A.
inline bool isOfStrings(const GpuProduct &product) {
  bool isHalf =
      product.type == ElementType::F16 || product.type == ElementType::BF16;
  return product.kept != 0 && isHalf && !product.isMMajor && !product.isVector;
}

/// The schedule of a product that isOfStrings.
Result<GpuSchedule> selectBitmapStringsSchedule(const GpuProduct &product,
                                                const GpuChip &chip);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_BITMAPSTRINGSMODEL_H
