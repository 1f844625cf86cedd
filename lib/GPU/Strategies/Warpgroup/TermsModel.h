//===- TermsModel.h - What products of terms take beside them ---*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSMODEL_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSMODEL_H

#include "GPU/Select/GpuModels.h"

namespace nm {

/// Of the kernel before, which makes the terms of A that `product` has.
double splitMicroseconds(const GpuProduct &product, const GpuChip &chip);

/// Of the kernel behind, which adds up `parts` parts of k; 0 for one.
double addMicroseconds(const GpuProduct &product, const GpuChip &chip,
                       int64_t parts);

/// Bytes of the terms of an element of A or of a weight.
int64_t bytesOfTerms(const GpuProduct &product);

/// Products of terms that make up for one of f32, residuals among them.
int64_t productsOfTerms(const GpuProduct &product, bool hasResiduals);

/// Clocks that residuals add to a tile of `rows` rows of the instructions' k,
/// beside their products.
double clocksOfResiduals(int64_t rows);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_TERMSMODEL_H
