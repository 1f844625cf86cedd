//===- SparseOperandModels.h - What mma_sp and wgmma_sp share ---*- C++ -*-===//

#ifndef NM_LIB_SCHEDULE_SPARSEOPERANDMODELS_H
#define NM_LIB_SCHEDULE_SPARSEOPERANDMODELS_H

#include "nm/Schedule/GpuSchedule.h"

#include <optional>
#include <string>

namespace nm {

/// What is no product with a sparse operand of tensor cores, if so, and what is
/// expected instead: "a matrix, but got a vector". Elements may be sums of
/// `terms` terms.
std::optional<std::string> whyNoSparseOperand(const GpuProduct &product,
                                              int64_t terms = 1);

/// The best of strategy wgmma_sp for a product of terms of f32.
Result<GpuSchedule> selectWgmmaSpTerms(const GpuProduct &product,
                                       const GpuChip &chip);

/// Bytes of an operand's element, and rows of k of which 128 bytes of a row of
/// A are.
int64_t sparseBytes(const GpuProduct &product);
int64_t sparseTileRows(const GpuProduct &product);

/// Sets the least times of one, whose zeros that are skipped are of the
/// operations that a multiprocessor makes in a clock.
void setSparseFloors(const GpuProduct &product, const GpuChip &chip,
                     double operationsPerClock, GpuSchedule &schedule);

} // namespace nm

#endif // NM_LIB_SCHEDULE_SPARSEOPERANDMODELS_H
