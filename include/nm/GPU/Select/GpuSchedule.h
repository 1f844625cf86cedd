//===- GpuSchedule.h - How a product is mapped to a GPU ---------*- C++ -*-===//
//
// A product with N:M-sparse weights, and the schedules that the cost models of
// strategies choose for it.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_SELECT_GPUSCHEDULE_H
#define NM_GPU_SELECT_GPUSCHEDULE_H

#include "nm/Format/ElementType.h"
#include "nm/Format/Ell.h"
#include "nm/Format/Pattern.h"
#include "nm/Schedule/GpuChip.h"
#include "nm/Schedule/PatchRows.h"
#include "nm/Schedule/ScheduleFields.h"
#include "nm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>

namespace nm {

/// Whether blocks stage only the rows of A that their columns use.
enum class RowPacking { Never, WhereFaster, Always };

/// C[m x n] = A[m x k] * B[k x n] with B of `pattern`.
struct GpuProduct {
  /// m where it is not known.
  static constexpr int64_t kUnknown = -1;
  /// The m that an unknown one is scheduled for.
  static constexpr int64_t kTypicalRows = 1024;

  Pattern pattern;
  /// Rows of A of one batch entry.
  int64_t m = kUnknown;
  int64_t n = 0;
  int64_t k = 0;
  /// The element types of A and B, and of C.
  ElementType type = ElementType::F32;
  ElementType outputType = ElementType::F32;
  /// The bf16 splits that a sum of f32 operands may be made of; 1 where it may
  /// not, and of operands of other types.
  int64_t splits = 1;
  /// Whether operands of f32 may be rounded to TensorFloat-32, which cuBLAS
  /// then multiplies.
  bool allowsTF32 = false;
  /// Whether sums of 8-bit floats may stay as the tensor cores make them, which
  /// cut them off.
  bool hasFastAccum = false;
  /// Bits of a weight that is quantized, and the rows of k that share its
  /// scale; 0 where weights are of `type`.
  int64_t weightBits = 0, scaleGroup = 0;
  /// How many unstructured weights are not zero, at most; 0 for other weights,
  /// and where no such number is given.
  int64_t kept = 0;
  /// The steps that they take as #nm.ell, with gaps of each of EllForm::kBits;
  /// none where they are not known yet.
  std::array<EllSteps, EllForm::kBits.size()> ellSteps = {};
  /// Whether A and C are vectors (nm.spmv); m is 1 then.
  bool isVector = false;
  /// Whether A's rows are the m of one k, which can be copied by 16 bytes to
  /// where they are read from.
  bool isMMajor = false;
  /// Whether C's rows are the m of one n.
  bool isCMMajor = false;
  /// Whether weights are in packed form before the product.
  bool isPacked = true;
  /// Elements between rows of A, where these are not its columns: known ones,
  /// or what unknown ones are a multiple of.
  int64_t strideOfA = 0;
  RowPacking rowPacking = RowPacking::Never;
  /// Whether sums are promoted in strategy simt, where that is given: otherwise
  /// where they are long, see SumChains.h.
  std::optional<bool> promote = std::nullopt;
  /// Whether an elementwise op makes A, for this product alone, which writes it
  /// in whatever order the product takes it in.
  bool isMadeElementwise = false;
  /// Whether the product before stores the splits of A, so that no kernel
  /// makes them.
  bool hasSplitsOfA = false;
  /// The products of a batch, each of `m` rows, which one kernel makes.
  int64_t batch = 1;
  /// Whether threads could read the image that A [k x m] are patches of.
  bool hasImage = false;
  /// Whether tensor copies could take the rows of A from elsewhere: those of A
  /// [m x k], which are patches, from their image, and those of A [k x m] that
  /// windows repeat from one that has each once.
  bool hasPixels = false;
  /// Whether a kernel puts that image's channels last before.
  bool isImageTransposed = false;
  /// The elements of the image, or of what has each row once.
  int64_t imageElements = 0;
  /// Whether its channels are neighbours in memory, rather than its pixels.
  bool hasChannelsLast = false;
  /// The rows of it that places take, where it has planes.
  ImagePart imagePart;
  /// The microseconds of the kernel that writes A where they do not; 0 where A
  /// is not made of patches.
  double patchMicroseconds = 0;
  /// Whether tensor copies can store C: its rows are of 16-bit elements, and
  /// start at multiples of 16 bytes.
  bool storesByTensor = false;
  /// Whether no pruned weight may meet an activation, as it would in dense
  /// weights, and in groups of a sparse operand that are filled up.
  bool avoidsPrunedWeights = false;

  int64_t rows() const { return m == kUnknown ? kTypicalRows : m; }
  /// Rows of all products of the batch.
  int64_t allRows() const { return batch * rows(); }
  /// Elements that A is read from.
  int64_t elementsOfA() const {
    return hasImage || hasPixels ? imageElements : allRows() * k;
  }
  /// Whether what tensor cores of sm_90 sum is added to promoted sums of f32.
  bool promotesFloat8() const { return isFloat8(type) && !hasFastAccum; }
  /// Bits that a stored weight takes.
  int64_t bitsOfWeight() const {
    return weightBits != 0 ? weightBits : elementSize(type) * 8;
  }
  /// What the elements between rows of A are a multiple of, or that many.
  int64_t factorOfRows() const {
    if (strideOfA != 0)
      return strideOfA;
    return !isMMajor ? k : m == kUnknown ? 1 : m;
  }
};

/// The cost model's estimate of a schedule.
struct ScheduleEstimate {
  /// Shared memory of a block, in bytes.
  int64_t sharedBytes = 0;
  /// The estimate, and the least that the chip's multipliers and its memory
  /// allow.
  double microseconds = 0;
  double multiplyFloor = 0, memoryFloor = 0;
};

/// The fields of a schedule, and the estimate that they were chosen by.
struct GpuSchedule : ScheduleFields, ScheduleEstimate {};

/// Puts the fields that are given in place of those that were chosen, and the
/// ones that were chosen for other tiles in place of what does not fit these.
void takeGiven(const GivenFields &given, GpuSchedule &chosen);

/// The best of strategy simt by estimate, or why it has none.
Result<GpuSchedule> selectSimtSchedule(const GpuProduct &product,
                                       const GpuChip &chip);

/// Sets `tile.promote`, as the product wants it or as there is shared memory
/// for it beside the tile's stages; and how operands are copied, with what is
/// given, as it suits the tile's other fields.
void completeSimtTile(const GpuProduct &product, const GpuChip &chip,
                      const GivenFields &given, GpuSchedule &tile);

/// Sets how operands are copied, with what is given, as it suits the tile's
/// other fields.
void completeSimtCopies(const GpuProduct &product, const GpuChip &chip,
                        const GivenFields &given, GpuSchedule &tile);

/// Whether copies fit the tile; says what does not.
Status verifySimtCopies(const GpuProduct &product, const GpuSchedule &tile);

/// Rows of A whose sums fit in a thread's registers, in strategy gemv.
inline constexpr int64_t kMaxGemvRows = 16;

/// The best of strategy gemv, or why it has none.
Result<GpuSchedule> selectGemvSchedule(const GpuProduct &product,
                                       const GpuChip &chip);

/// The best of strategy gemv_columns, or why it has none.
Result<GpuSchedule> selectGemvColumnsSchedule(const GpuProduct &product,
                                              const GpuChip &chip);
/// The steps that #nm.ell has room for with gaps of `bits`: of weights that are
/// not known yet, all that k rows can take.
int64_t countEllRoom(const GpuProduct &product, int64_t bits);

/// The best of strategy simt_columns, or why it has none.
Result<GpuSchedule> selectSimtColumnsSchedule(const GpuProduct &product,
                                              const GpuChip &chip);

/// The best of strategy mma_sync, or why it has none.
Result<GpuSchedule> selectMmaSyncSchedule(const GpuProduct &product,
                                          const GpuChip &chip);

/// How strategy mma_sync packs weights for `tile`: in panels of the largest
/// power of two in a unit's columns that fits the block's, and in chunks, which
/// lanes load to registers, where windows keep an even number of rows, tiles
/// have a multiple of eight of them, and blocks have many rows; those of few
/// want more of the weights in flight than registers hold. Quantized weights,
/// of `tile.bits`, have panels that fit the warp's columns, and squares.
PanelPacking chooseMmaSyncPacking(const Pattern &pattern,
                                  const GpuSchedule &tile);
/// Whether the packing has such chunks.
bool hasMmaSyncFragments(const PanelPacking &packing);

/// The best of strategy mma_sp, or why it has none; with `pairs` of weights in
/// the form of wgmma_sp.
Result<GpuSchedule> selectMmaSpSchedule(const GpuProduct &product,
                                        const GpuChip &chip,
                                        bool pairs = false);

/// The best of strategy mma_bitmap, or why it has none.
Result<GpuSchedule> selectMmaBitmapSchedule(const GpuProduct &product,
                                            const GpuChip &chip);

/// The best of strategy mma_image, or why it has none.
Result<GpuSchedule> selectMmaImageSchedule(const GpuProduct &product,
                                           const GpuChip &chip);

/// The best of strategy wgmma_sp, or why it has none.
Result<GpuSchedule> selectWgmmaSpSchedule(const GpuProduct &product,
                                          const GpuChip &chip);

/// Kept rows that strategy gemv takes in one step, of weights with index rows
/// of `indexRowRows` kept rows: those, or a part of one that is no larger than
/// can be unrolled.
int64_t gemvStepRows(int64_t indexRowRows);

/// The time of cuBLAS' product with dense weights, whether the runtime can call
/// it or not; negative for types that it has none of.
double estimateCublas(const GpuProduct &product, const GpuChip &chip);

/// The panel that a tile's columns are packed in for a pattern: a unit's
/// columns where a warp's lie in one and 16-byte accesses fit in, else the
/// whole tile, if units do.
int64_t choosePanel(const Pattern &pattern, int64_t blockN, int64_t warpN);

/// Whether the kept units of `pattern` are worth a tile each along k, for which
/// strategy `simt` reads their rows of A and no others.
bool canGatherUnits(const Pattern &pattern);

} // namespace nm

#endif // NM_GPU_SELECT_GPUSCHEDULE_H
