//===- SparseOperandModels.h - What mma_sp and wgmma_sp share ---*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDMODELS_H
#define NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDMODELS_H

#include "nm/GPU/Select/GpuSchedule.h"

#include <optional>
#include <string>

namespace nm {

/// What is expected of a product with a sparse operand of tensor cores, and
/// what came, where `product` is none: "a matrix, but got a vector". Elements
/// may be sums of `splits` splits.
std::optional<std::string> whyNoSparseOperand(const GpuProduct &product,
                                              int64_t splits = 1);

/// The same where `chip` has no mma.sp of `type`: PTX has one of 8-bit floats
/// for Hoppers and data centers' Blackwells, too, of which ptxas makes two of
/// f16 and some 80 other instructions.
std::optional<std::string> whyNoMmaSp(ElementType type, const GpuChip &chip);

/// Whether `schedule` has a block tile that is more than 64 wide and at least
/// twice as large as the product, along m or n.
bool isTooLarge(const GpuProduct &product, const GpuSchedule &schedule);

/// The best of strategy wgmma_sp for a product of split floats.
Result<GpuSchedule> selectWgmmaSpSplitFloats(const GpuProduct &product,
                                             const GpuChip &chip);

/// Bytes of an operand's element, and rows of k in 128 bytes of a row of A.
int64_t sparseBytes(const GpuProduct &product);
int64_t sparseTileRows(const GpuProduct &product);

/// The bytes of metadata and scales that blocks of `schedule` copy with a tile
/// of quantized weights; 0 where they copy none.
int64_t copiedMetadataBytes(const GpuProduct &product,
                            const GpuSchedule &schedule);

/// Sets the least times of such a product. `operationsPerClock` are those of a
/// multiprocessor, with zeros that it skips.
void setSparseFloors(const GpuProduct &product, const GpuChip &chip,
                     double operationsPerClock, GpuSchedule &schedule);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDMODELS_H
