//===- GpuProductCost.h - What a product takes on a GPU ---------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_GPUPRODUCTCOST_H
#define NM_LIB_GPU_SELECT_GPUPRODUCTCOST_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/GPU/Select/GpuSchedule.h"

namespace mlir::nm {

/// Columns that share what little there is of an index of dense weights.
inline constexpr int64_t kDenseColumns = 32;

/// What the cost models know of `op`.
::nm::GpuProduct getGpuProduct(SparseProductOpInterface op);

/// The image that tensor copies could take the A [m x k] of `op` from, a line
/// of channels at once; with `transposes`, of an A [k x m] that a kernel would
/// transpose.
std::optional<CopiedImage> findPixels(SparseProductOpInterface op,
                                      bool transposes = false);

/// Elements between the rows of a temporary A of `bits` with `columns`, as
/// nm-pad-rows lays them out, or what unknown ones are a multiple of; 0 where
/// it leaves them.
int64_t getPaddedStride(int64_t columns, bool isMMajor, int64_t bits);

/// `pad_a` of a schedule of `product`, which is `op` with an A that may be
/// another, and is stored as `splits`: where that is or may be made in memory
/// of its own, and its rows start elsewhere; else 0.
int64_t choosePadding(SparseProductOpInterface op,
                      const ::nm::GpuProduct &product, int64_t splits);

/// `padA` as the parameter of a schedule, which has none for 0.
inline std::optional<int64_t> asPadding(int64_t padA) {
  return padA != 0 ? std::optional(padA) : std::nullopt;
}

/// Why no cost model has anything to say about `op`, if so.
std::optional<std::string> whyUnknown(SparseProductOpInterface op);

/// What A a product could be given: the one that it has, a transposition of it,
/// or a copy of it whose rows nm-pad-rows lays out.
enum class ActivationForm { AsIs, Transposed, Copied };

/// What the models know of `op` with another A, which an op before it makes.
::nm::GpuProduct getGpuProduct(SparseProductOpInterface op,
                               ActivationForm form);

/// The microseconds of cuBLAS for `product`, which is `op` with A in `form`,
/// and of the copy that it takes of an A whose elements of a row are apart;
/// negative where it is not known.
double estimateLibrary(SparseProductOpInterface op,
                       const ::nm::GpuProduct &product,
                       const ::nm::GpuChip &chip, ActivationForm form);

/// Why a batch-invariant module calls cuBLAS for no product of floats.
inline constexpr StringLiteral
    kSumsDependOnRows("the order of cuBLAS' sums may depend on m");

/// Whether the sums of a row of `op` must not depend on how many rows there
/// are.
bool isBatchInvariant(SparseProductOpInterface op);

/// Why cuBLAS has no product like `product`, which is `op` with an A that may
/// be another, if so. `estimate` is that of estimateLibrary; on demand, cuBLAS
/// is asked at run time.
std::optional<std::string> whyNotCublas(SparseProductOpInterface op,
                                        const ::nm::GpuProduct &product,
                                        double estimate, bool isDemanded);

/// Whether weights are a dense matrix that comes with each call, which is best
/// left as it is.
bool isDenseOfEachCall(SparseProductOpInterface op);

/// Whether selection gives such weights units of few columns.
bool narrowsDenseUnits(SparseProductOpInterface op);

/// Whether the library takes the weights of `op` in columns alone, which of our
/// own strategies loops read.
bool needsColumns(SparseProductOpInterface op);

/// Whether the operands have 8 bits.
bool isOfBytes(SparseProductOpInterface op);

/// Dense weights with the k of each column side by side.
PackingAttr getColumnPacking(SparseProductOpInterface op);

/// What selection is told by its options.
struct SelectionOptions {
  /// The schedule that products are to have; null where it is free.
  ScheduleAttrInterface given;
  bool denseFallback = true;
  /// Whether zeros that infinite and NaN activations would meet are refused,
  /// even where the schedule that is given asks for them.
  bool exactPattern = false;

  /// Whether no pruned weight may meet an activation of `product`.
  bool avoidsPrunedWeights(const ::nm::GpuProduct &product) const {
    return (!denseFallback && !given) ||
           (exactPattern && ::nm::isFloat(product.type));
  }
  /// The product of our own that is given beside the library's, but for loops;
  /// null where none is.
  ScheduleAttrInterface getOwnOfLibrary() const;
};

/// Why the weights of cuBLAS' product of bytes, `product`, stay row-major, if
/// so.
std::optional<StringRef> whyRowMajor(SparseProductOpInterface op,
                                     const ::nm::GpuProduct &product,
                                     const SelectionOptions &options);

/// Whether a copy of A would have other rows than A has, or may have.
bool canBeCopied(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_GPUPRODUCTCOST_H
