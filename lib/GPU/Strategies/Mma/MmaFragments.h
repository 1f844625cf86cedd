//===- MmaFragments.h - Operands and sums of mma.sync -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMAFRAGMENTS_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMAFRAGMENTS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Format/TileLayout.h"

#include <array>
#include <limits>

namespace mlir::nm {

/// Rows and columns of the matrices that mma.sync and ldmatrix are made of, and
/// of the squares of 16-bit elements that one ldmatrix loads.
inline constexpr int64_t kMatrixSide = 8, kSquareSide = 16;

/// Sums of a lane of one instruction.
inline constexpr int64_t kMmaSums = 4;

/// The operand of mma.sync that a square is of: the one of 16 rows, or two of 8
/// columns, each of which has its words side by side.
enum class MmaRole { Rows, Columns };

/// A lane's words of a square [16 k x 16 columns] of which ldmatrix transposed
/// the four matrices: lane l has k 2 (l % 4) and the next of column l / 4. Of
/// rows, words 0 and 1 are of k 0 to 7, and words 1 and 3 of columns 8 to 15;
/// of columns the other way round.
using SquareWords = std::array<Value, 4>;

/// Where a lane's address of an ldmatrix of a square points to: row `k` of the
/// square, from column 8 * `half` on.
struct MatrixAddress {
  Value k, half;
};

/// A lane and its warp.
struct MmaLane {
  MmaLane(ThreadEmitter &emitter, Value thread);

  MatrixAddress addressFor(ThreadEmitter &emitter, MmaRole role) const;

  Value warp, lane;
  /// The lane's place in the matrices of sums (PTX ISA, "Matrix Fragments for
  /// mma.m16n8k16"): the lane has columns 2 * `pair` and the next of rows `row`
  /// and row + 8.
  Value row, pair;
};

/// Rows of 16-bit elements in workgroup memory, of whose 16-byte words
/// `swizzle` XORs the number: their place in elements. Row r is at place i of
/// them of which bit j is bit `order`[j] of r; past the list, at its own.
class MatrixRows {
public:
  MatrixRows(ThreadEmitter &emitter, int64_t columns,
             std::vector<::nm::BitXor> swizzle, std::vector<int64_t> order = {})
      : emitter(emitter), columns(columns), swizzle(std::move(swizzle)),
        order(std::move(order)) {}

  /// Where `row` starts, and what is XORed into its columns; both i32.
  struct RowOffset {
    Value start, swizzle;
  };
  RowOffset placeRow(Value row);
  /// Whether the place of a row of a window of `windowRows` is the sum of that
  /// of the window's first row and of another, and words change places alike in
  /// all rows of the window.
  bool areWindowsApart(int64_t windowRows) const {
    return !order.empty() && windowRows == int64_t(1) << order.front();
  }
  /// Row `inWindow` of the window that starts at `window`, where windows are
  /// apart.
  RowOffset placeRow(Value window, Value inWindow);
  /// The place of the word of `column` + `offset`, which start words, as an
  /// index.
  Value placeWord(const RowOffset &row, Value column, int64_t offset);

private:
  ThreadEmitter &emitter;
  int64_t columns;
  std::vector<::nm::BitXor> swizzle;
  std::vector<int64_t> order;
};

/// `index`, which is below `bound`, or the last one of dimension `dim` of
/// `memref` where that has fewer; it may have none, and has memory all the
/// same.
Value clampToDim(ThreadEmitter &emitter, Value memref, int64_t dim, Value index,
                 int64_t bound = std::numeric_limits<int64_t>::max());

/// A buffer in workgroup memory, in one dimension, in the order of its places.
Value flattenBuffer(ThreadEmitter &emitter, Value buffer);

/// Loads four matrices of eight rows of 16 bytes from `elements`, a memref of
/// one dimension of elements of 8 or 16 bits; those of 16 may be transposed,
/// where lanes 8 i to 8 i + 7 name the rows of matrix i by `place`: their words
/// of each.
SquareWords loadMatrices(ThreadEmitter &emitter, Value elements, Value place,
                         bool transpose);

/// Words of `type` as mma.sync and mma.sp take them.
SmallVector<Value> toFragment(ThreadEmitter &emitter, Type type,
                              ArrayRef<Value> words);

/// Clears what a square has of k from `count` on.
void clearRows(ThreadEmitter &emitter, const MmaLane &lane, MmaRole role,
               int64_t count, SquareWords &words);

/// The operands that mma.sp has and mma.sync lacks: the lane's word of
/// metadata, the sparsity selector, which names the lanes whose words count,
/// and whether mma.sp is spelled `ordered_metadata` (PTX ISA, "mma.sp").
struct MmaMetadata {
  Value word;
  int64_t selector;
  bool isOrdered;
};

/// Adds the product of a fragment of 16 rows and one of 8 columns, words of
/// `type`, f16, bf16, i8 or 8-bit floats, to the lane's four sums, by mma.sp
/// where the rows have `metadata`. Products of 8-bit floats start at zero, and
/// the CUDA cores add their sums.
void multiply(ThreadEmitter &emitter, Type type, ArrayRef<Value> rows,
              ArrayRef<Value> columns, MutableArrayRef<Value> sums,
              std::optional<MmaMetadata> metadata = std::nullopt);

/// The `value` of lane `lane`, an i32.
Value shuffleFrom(ThreadEmitter &emitter, Value value, Value lane);

/// Joins two rows of eight values, of which each of four neighbouring lanes has
/// two: an even lane gets the four of the first row that start at column 4
/// (pair / 2), an odd lane those of the second.
Value joinPairs(ThreadEmitter &emitter, const MmaLane &lane,
                ArrayRef<Value> first, ArrayRef<Value> second);

/// Transposes a matrix of 8 x 8 values, of which a lane has two neighbours of a
/// row, as MmaLane says.
SmallVector<Value> transposeMatrix(ThreadEmitter &emitter, const MmaLane &lane,
                                   ArrayRef<Value> values);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMAFRAGMENTS_H
