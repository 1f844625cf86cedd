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

/// Whether blocks of `rows` rows of A copy metadata and scales ahead with
/// quantized weights. Loaded to registers one tile ahead, they come later than
/// a short tile is made: 64 rows of 4 bits, k x n of 4096 x 11008, take 25.2 us
/// so and 29.6 else, 16 rows 12.0 and 12.8. One row and 32 rows take
/// longer, 9.6 and 21.1 beside 8.6 and 17.9, for fewer of their blocks fit (one
/// H200, 2026-11-28).
inline constexpr bool copiesMetadata(int64_t rows) {
  return rows == 16 || rows >= 64;
}

/// The bytes of these of a tile of `schedule`, 0 where they are not copied.
int64_t copiedMetadataBytes(const GpuProduct &product,
                            const GpuSchedule &schedule);

/// Sets the least times of such a product. `operationsPerClock` are those of a
/// multiprocessor, with zeros that it skips.
void setSparseFloors(const GpuProduct &product, const GpuChip &chip,
                     double operationsPerClock, GpuSchedule &schedule);

} // namespace nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDMODELS_H
