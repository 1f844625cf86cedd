//===- SplitFloatModel.h - The cost of split floats -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATMODEL_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATMODEL_H

#include "GPU/Select/GpuModels.h"

namespace nm {

/// How many times longer products of split floats take than the tensor cores
/// and shared memory allow: by two warpgroups; and by one, while which adds up
/// sums no other multiplies, or by two of 64 rows of A, whose instructions read
/// all that shared memory gives. Those of wgmma_sp are fitted to 38 times on an
/// H200, m of 64 to 4096, k and n of 4096 and 11008, tiles of 64 x 64 to 256 x
/// 64 and 192 x 128, one to four parts of k.
inline constexpr double kTwoGroupsFactor = 1.07, kOneGroupFactor = 1.37;

/// The microseconds of the kernel before the product, which makes the splits of
/// A that `product` has; 0 where it has none, or what makes A stores them.
double splitMicroseconds(const GpuProduct &product, const GpuChip &chip);

/// The microseconds of the kernel behind the product, which adds up `parts`
/// parts of k; 0 for one.
double addMicroseconds(const GpuProduct &product, const GpuChip &chip,
                       int64_t parts);

/// Bytes of the splits of an element of A or of a weight.
int64_t bytesOfSplits(const GpuProduct &product);

/// Products of splits that make up for one of f32, residuals among them.
int64_t productsOfSplitFloats(const GpuProduct &product, bool isCompensated);

/// Clocks that error compensation add to a tile of `rows` rows of the
/// instructions' k, beside their products.
double clocksOfCompensation(int64_t rows, const GpuChip &chip);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_SPLITFLOATMODEL_H
