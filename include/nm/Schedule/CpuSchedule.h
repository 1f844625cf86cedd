//===- CpuSchedule.h - The CPU's schedules and what they cost ---*- C++ -*-===//
//
// Which loop order, register tile, packing and task size a product gets on a
// CPU, and how long it and the dense product are estimated to take.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_CPUSCHEDULE_H
#define NM_SCHEDULE_CPUSCHEDULE_H

#include "nm/Format/ElementType.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/Pattern.h"
#include "nm/Schedule/ScheduleFields.h"
#include "nm/Support/Error.h"

#include <cstdint>

namespace nm {

/// A CPU as the model sees it. The defaults are one core of an AMD EPYC 9004
/// (Zen 4) at its boost clock.
struct CpuTarget {
  int64_t vectorBits = 512;
  /// Vector registers: 32 of AVX-512, NEON and RISC-V, 16 of AVX2 and SSE.
  int64_t registers = 32;
  /// Whether tables can be looked up by permutes (AVX-512F, AVX2).
  bool permutes = true;
  int64_t threads = 1;
  double gigahertz = 3.7;
  /// Bits of fused multiply-adds begun in a cycle, over all units.
  double fmaBitsPerCycle = 512;
  /// Multiply-adds of a type that a tuned BLAS does in the time of one of f32
  /// by the vector units, on the best unit for that type: 2 of bf16 by
  /// AVX512_BF16.
  double f32Rate = 1;
  double bf16Rate = 1;
  double f16Rate = 1;
  double i8Rate = 1;
  /// Cycles of a sparse product by vectors beside those of a Zen 5, where
  /// multipliesTwoWide, and else of a Zen 4.
  double vectorCycles = 1;
  /// Whether there is a tile unit for bf16 (AMX).
  bool tiles = false;
  /// Whether vectors put zeros between values of 16 bits (AVX512_VBMI2), so
  /// that tiles for bf16 are kept without theirs.
  bool expands = false;
  /// Whether there is one for i8 (AMX).
  bool byteTiles = false;
  /// Whether vectors sum products of quads of i8 (AVX512_VNNI of 512 bits, or
  /// sdot of Arm).
  bool dots = false;
  /// Whether vectors multiply matrices of two rows and two columns on Arm: of
  /// i8 by smmla, of bf16 by bfmmla.
  bool i8Matrices = false;
  bool bf16Matrices = false;
  /// Whether vectors of 512 bits sum products of pairs of bf16 (AVX512_BF16) at
  /// the rate of f32's, which are twice as many: on AMD's.
  bool bf16Pairs = false;
  /// Whether shuffles of vectors of 512 bits begin beside multiplications, so
  /// that weights of four columns are loaded together: on AMD's.
  bool shufflesWeights = false;
  /// Whether vectors of 512 bits choose bytes beside the products of words
  /// (AVX512_VBMI): on AMD's, which begin three of either in a cycle.
  bool choosesBytes = false;
  /// Whether vectors of 512 bits put zeros between elements of 32 bits
  /// (AVX512F), and between those of 16 and 8 bits (AVX512_VBMI2).
  bool expandsLanes = false;
  bool expandsShort = false;
  /// What one core, and all of them together, read from memory, GB/s.
  double coreBandwidth = 28;
  double memoryBandwidth = 45;

  /// Whether two vectors of 512 bits are multiplied in a cycle, as by Zen 5 and
  /// Intel's servers; Zen 4 multiplies one.
  bool multipliesTwoWide() const { return fmaBitsPerCycle >= 1024; }
  /// 32-bit lanes of a vector.
  int64_t lanes() const { return vectorBits / 32; }
  double denseRate(ElementType type) const;
  /// Whether vectors along m multiply pairs of `type`.
  bool multipliesPairs(ElementType type) const {
    return bf16Pairs && type == ElementType::BF16;
  }
  bool multipliesMatrices(ElementType type) const {
    return type == ElementType::BF16 ? bf16Matrices
                                     : type == ElementType::I8 && i8Matrices;
  }
  /// Whether vectors along n multiply words of `type` that their lanes choose.
  bool choosesWords(ElementType type) const {
    return choosesBytes &&
           (type == ElementType::BF16 ? bf16Pairs
                                      : type == ElementType::I8 && dots);
  }
  /// Rows of k of a lane where vectors along n expand weights of `type`, packed
  /// as in BitmapPanels.h; 0 where they do not.
  int64_t expandedRows(ElementType type) const {
    if (type == ElementType::I8)
      return expandsLanes && expandsShort && dots ? 4 : 0;
    if (!expandsLanes || isFloat8(type))
      return 0;
    return expandsShort && multipliesPairs(type) ? 2 : 1;
  }
  /// Whether strategy `amx` can be had for operands of `type`, of any pattern:
  /// by tiles, or by vectors in the same packed form.
  bool canTile(ElementType type) const {
    return multipliesMatrices(type) ||
           (type == ElementType::BF16
                ? tiles
                : type == ElementType::I8 && (dots || byteTiles));
  }
  /// This processor as one that cannot take strategy `amx`.
  CpuTarget withoutTiles() const {
    CpuTarget target = *this;
    target.tiles = target.byteTiles = target.dots = false;
    target.i8Matrices = target.bf16Matrices = target.choosesBytes = false;
    return target;
  }
};

/// Cycles in which an element is laid out elsewhere, or a sum is moved.
inline constexpr double kLayOutCycles = 0.75;

/// C[m x n] = A[m x k] * B[k x n] with B of `pattern`.
struct CpuProduct {
  Pattern pattern;
  ElementType type = ElementType::F32;
  /// Rows of A in all batches; kUnknown where dynamic.
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  /// Whether A is [k x m], planes of an image say.
  bool isMMajor = false;
  /// Whether A is patches of an image.
  bool isImage = false;

  static constexpr int64_t kUnknown = -1;
  /// Rows that stand for an unknown m in estimates.
  static constexpr int64_t kTypicalRows = 256;
};

/// How one product is computed; the fields of #nm.vector and #nm.amx.
struct CpuSchedule : ScheduleFields {
  CpuSchedule() { blockM = blockN = blockK = threadM = threadN = 1; }

  /// Whether of packed tiles, #nm.amx; else by vectors, #nm.vector.
  bool tiles = false;
  /// Whether vectors run along m; else along n.
  bool alongM = false;
  /// Estimates of this schedule, and of the dense product by a tuned BLAS of
  /// the same element type.
  double sparseMicroseconds = 0;
  double denseMicroseconds = 0;
};

/// The faster of strategies `vector` and, where the target can, `amx`.
CpuSchedule selectCpuSchedule(const CpuProduct &product,
                              const CpuTarget &target);

/// Whether tiles make `product` of weights that are packed without their
/// zeros: of bf16, in units of one row and of fewer columns than a tile.
bool expandsTiles(const CpuProduct &product, const CpuTarget &target);

/// Whether weights of strategy `amx` that are packed by `packing` are words of
/// 32 bits, two of bf16 or four of i8, whose lanes choose rows of A.
inline bool hasWords(const PanelPacking &packing) {
  return !packing.hasBitmaps() &&
         (packing.chunkRows == 2 || packing.chunkRows == 4);
}

/// Whether vectors along n make `product` of words of the kept weights of a
/// column, whose lanes choose what they meet: of units of one weight, half of
/// which are kept at most.
bool choosesWords(const CpuProduct &product, const CpuTarget &target);

/// Whether strategy `amx` can be had for `product`, which checkTiles lets pass.
bool canTile(const CpuProduct &product, const CpuTarget &target);

/// How many times as fast as strategy `amx` of weights that are packed without
/// their zeros, and serve all numbers of rows, a product by dense tiles or by
/// vectors must be, which need another packed form; 1 where it has no such
/// weights, or where the weights are so few that a second form matters less
/// than the time of a call.
int64_t marginOfOneForm(const CpuProduct &product, const CpuTarget &target);

/// Why tiles cannot make `product`, or nothing where they can.
Status checkTiles(const CpuProduct &product, const CpuTarget &target);

/// The schedule of strategy `amx`, for a product that checkTiles lets pass.
CpuSchedule selectTileSchedule(const CpuProduct &product,
                               const CpuTarget &target);

/// The schedule of strategy `vector` for a `product` of which `kept` weights
/// are not zero: the faster one of weights packed as columns (Columns.h) and,
/// for few rows, as panels with bitmaps (BitmapPanels.h), if the target expands
/// them.
CpuSchedule selectColumnsSchedule(const CpuProduct &product, int64_t kept,
                                  const CpuTarget &target);

/// Columns of a panel that vectors read weights by, packed or as they are
/// condensed: as wide as the sums of four rows, which few rows are computed by
/// at a time; fewer read it in parts, or several panels together.
int64_t choosePanel(const CpuProduct &product, const CpuTarget &target,
                    bool packs);

/// Whether L1 has `rows` rows of `bytes` bytes each that begin `stride` bytes
/// apart, at the beginning of a line.
bool isInL1(int64_t rows, int64_t bytes, int64_t stride);

/// Microseconds that all threads take to read the weights of `product` packed
/// by `packing`, and that a tuned BLAS takes for the dense product.
double weightReadTime(const CpuProduct &product, const CpuTarget &target,
                      const PanelPacking &packing);
double denseProductTime(const CpuProduct &product, const CpuTarget &target);

} // namespace nm

#endif // NM_SCHEDULE_CPUSCHEDULE_H
