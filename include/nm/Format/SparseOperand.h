//===- SparseOperand.h - Weights that tensor cores skip ---------*- C++ -*-===//
//
//
// Tensor cores skip the zeros of an operand of which each aligned group of four
// along k keeps two (PTX ISA, "Sparse matrix storage"). Weights are that
// operand, A of the instruction, so that its rows are the columns of B. Any
// pattern is one whose groups keep at most two: where a group keeps fewer,
// zeros fill it up.
//
// Columns of B are cut into blocks of 16 or 64, as many as the instruction has
// rows, and k into steps of 64, which are two instructions of 16-bit elements
// or one of 8-bit ones. Values are [blocks x steps x 32*rows], in the order
// that the instruction wants them, and metadata, beside them as indices,
// [blocks x steps x 8*rows] bytes.
//
// A column's values of a group are those of the two kept positions i0 < i1, of
// which metadata has the 4 bits i0 | i1 << 2. A group that keeps one position p
// has the other of its pair, 0 and 1 or 2 and 3, too, and one that keeps none
// has positions 0 and 1. In the group in which the last window ends, one
// position p is beside 3. What fills up is zero, but meets an activation: see
// `fillsUpSparseOperand`. Of split floats it is told apart from a weight; see
// SplitFloats.h.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_SPARSEOPERAND_H
#define NM_FORMAT_SPARSEOPERAND_H

#include "nm/Format/Condensed.h"
#include "nm/Format/ElementType.h"
#include "nm/Format/Pattern.h"
#include "nm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nm {

/// The most rows that weights of `pattern` keep of `rows` rows that begin at a
/// multiple of as many.
int64_t mostKeptOfRows(const Pattern &pattern, int64_t rows);
/// That of an aligned group of four.
int64_t mostKeptOfGroup(const Pattern &pattern);

/// Whether weights of `pattern` can be a sparse operand: 2:4, 2:8 and such with
/// M a multiple of four, 1:M of any M > 1, and of units of two rows 1:M of an
/// even M; units may have any number of columns.
bool fitsSparseOperand(const Pattern &pattern);

/// Whether zeros are stored that stand for pruned weights, each of which makes
/// NaN of an infinite or NaN activation. Not where every group keeps two.
bool fillsUpSparseOperand(const Pattern &pattern);

/// Whether a sparse operand may have elements of `type`.
bool isSparseOperandType(ElementType type);

/// Windows of an even number of rows as groups of four, of which neighbours
/// share two: of six rows, rows 0 to 3 and 2 to 5. Where M - 2 of M rows are
/// kept, the kept rows 2g and 2g + 1 are in group g, for row i of them is one
/// of i, i + 1 and i + 2 (SlideSparse, arXiv 2603.05232). So they are 2:4 of
/// what has the shared rows twice.
struct OverlappingGroups {
  static constexpr int64_t kRows = 4, kStep = 2, kKept = 2;

  int64_t windowRows;

  int64_t groups() const { return windowRows / kStep - 1; }
  int64_t keptRows() const { return kKept * groups(); }
  /// Rows that the groups of a window have in all.
  int64_t rowsOfWindow() const { return kRows * groups(); }
  /// Rows that the groups of all windows of `k` rows have; the last window may
  /// be ragged.
  int64_t rows(int64_t k) const {
    return (k + windowRows - 1) / windowRows * rowsOfWindow();
  }
  /// The first row in its window of the group that has kept row `row`.
  template <typename Int>
  Int firstRowOfKept(const Int &row) const {
    return row % keptRows() / kKept * kStep;
  }
  /// The row of k that is row `row` of those that the groups have.
  template <typename Int>
  Int rowOfK(const Int &row) const {
    Int group = row / kRows;
    return group / groups() * windowRows + group % groups() * kStep +
           row % kRows;
  }
};

struct SparseOperand {
  /// mma.sp takes A from registers: each lane has its 16 bytes of an
  /// instruction side by side. wgmma.mma_async.sp takes it from shared memory:
  /// 16-byte chunk c of row r stands at byte 1024c + 128(r/8) + 16(r%8). With
  /// WgmmaPairs, column 16w + 2r + h of a block is the instruction's row
  /// 16w + r + 8h: a thread, which has sums of rows r and r + 8, then has those
  /// of two neighbouring columns.
  enum class Order { Mma, Wgmma, WgmmaPairs };

  Order order = Order::Mma;
  /// Bits of an element that is multiplied: 8 or 16.
  int64_t bits = 16;
  /// Bits of a value that is stored for an element of 16 bits, where it is
  /// quantized: 4 or 8, with 2^(storedBits-1) added, in bytes, the low bits
  /// first. 0 where values are elements.
  int64_t storedBits = 0;
  /// Splits of bf16 that each f32 value is stored as, 1 where it is itself. A
  /// step has the first splits of all its values, then the second ones.
  int64_t splits = 1;

  /// The form of weights of `type`.
  static SparseOperand of(Order order, ElementType type) {
    return {order, 8 * elementSize(type)};
  }

  /// Rows of B of an instruction, and instructions of a step.
  int64_t instructionRows() const { return kStepRows * 8 / bits; }
  int64_t instructions() const { return bits / 8; }
  /// Bytes that a step has of a column.
  int64_t bytesOfColumn() const {
    return kStepValues * (isQuantized() ? storedBits : bits) / 8;
  }

  /// Rows of B in a step, in groups of four, and values stored of them.
  static constexpr int64_t kStepRows = 64;
  static constexpr int64_t kGroupRows = 4;
  static constexpr int64_t kStepGroups = kStepRows / kGroupRows;
  static constexpr int64_t kStepValues = kStepRows / 2;

  /// Columns of B in a block: the instruction's m.
  int64_t columns() const { return order == Order::Mma ? 16 : 64; }
  int64_t valuesOfStep() const { return columns() * kStepValues; }
  bool isQuantized() const { return storedBits != 0; }
  /// The elements that a step's values are stored in: values, their splits, or
  /// bytes of quantized ones.
  int64_t elementsOfStep() const {
    return isQuantized() ? valuesOfStep() * storedBits / 8
                         : valuesOfStep() * splits;
  }
  /// Quantized values in a byte, and what is added to each.
  int64_t valuesOfByte() const { return 8 / storedBits; }
  int64_t bias() const { return int64_t(1) << (storedBits - 1); }
  int64_t bytesOfStep() const { return columns() * kStepGroups / 2; }

  /// Checks that weights of `pattern` and `type` can have the form.
  Status verify(const Pattern &pattern, ElementType type) const;

  int64_t blocks(const Pattern &pattern, int64_t n) const {
    return (pattern.paddedColumns(n) + columns() - 1) / columns();
  }
  int64_t steps(const Pattern &pattern, int64_t k) const {
    return (pattern.windows(k) * pattern.windowRows() + kStepRows - 1) /
           kStepRows;
  }
  /// The shapes of the values, in elements, and of the metadata, in bytes.
  std::array<int64_t, 3> valueShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {blocks(pattern, n), steps(pattern, k), elementsOfStep()};
  }
  std::array<int64_t, 3> indexShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {blocks(pattern, n), steps(pattern, k), bytesOfStep()};
  }

  /// A column of a block, and the number of a value stored of it in a step, 0
  /// to 31, or of a group, 0 to 15. `Int` is what counts: an integer, or what
  /// emits the arithmetic.
  template <typename Int>
  struct ValuePlace {
    Int column, value;
  };
  template <typename Int>
  struct GroupOffset {
    Int column, group;
  };
  /// Bits `shift` to `shift + 3` of a byte.
  template <typename Int>
  struct BitOffset {
    Int byte, shift;
  };

  /// Where in its step's values one stands.
  template <typename Int>
  Int positionOf(const ValuePlace<Int> &place) const;
  /// Which of a lane's values of an instruction is value `inRegister` of
  /// register `number` (0 to 3), of Order::Mma. Quantized ones are in words, of
  /// which a mask of two equal halves cuts out two values, bits 16 apart.
  template <typename Int>
  Int slotOf(const Int &number, const Int &inRegister) const;
  /// Which one stands at `position`.
  template <typename Int>
  ValuePlace<Int> placeOf(const Int &position) const;
  /// Where in its step's metadata a group's bits stand.
  template <typename Int>
  BitOffset<Int> bitsOf(const GroupOffset<Int> &place) const;
  /// The group whose bits the `half` (0 or 1) of `byte` of a step's metadata
  /// has.
  template <typename Int>
  GroupOffset<Int> groupOf(const Int &byte, int64_t half) const;

  /// The instruction's row that is a column of a block, and the inverse.
  template <typename Int>
  Int rowOf(const Int &column) const;
  template <typename Int>
  Int columnOf(const Int &row) const;

  bool operator==(const SparseOperand &other) const {
    return order == other.order && bits == other.bits &&
           storedBits == other.storedBits && splits == other.splits;
  }
};

/// How `order` is written, and the order that is written as `name`.
std::string_view orderName(SparseOperand::Order order);
std::optional<SparseOperand::Order> parseOrder(std::string_view name);

/// Writes values and metadata of `from`, of the shapes above. Quantized values
/// are bytes before, of which the low bits are stored, and those of which
/// splits are stored are f32. `operand` must be of the weights' type and
/// satisfy verify, and the indices verifyIndices.
void packSparseOperand(const CondensedView &from, const SparseOperand &operand,
                       void *values, uint8_t *metadata);

/// The inverse: writes the dense B [k x n], of bytes where it is quantized, and
/// of f32 where splits are stored.
void unpackSparseOperand(const void *values, const uint8_t *metadata,
                         const SparseOperand &operand, const Pattern &pattern,
                         int64_t k, int64_t n, void *dense);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

// mma.sp m16n8: a lane has four registers of rows lane/4 and 8 more, and of
// the stored columns of lane%4 and of four lanes more (see MmaFragments.h). A
// register has two values of 16 bits, of which the two instructions of a step
// come one after the other, or four of 8 bits.

template <typename Int>
Int SparseOperand::rowOf(const Int &column) const {
  if (order != Order::WgmmaPairs)
    return column;
  return column / 16 * 16 + column / 2 % 8 + column % 2 * 8;
}

template <typename Int>
Int SparseOperand::columnOf(const Int &row) const {
  if (order != Order::WgmmaPairs)
    return row;
  return row / 16 * 16 + row % 8 * 2 + row / 8 % 2;
}

template <typename Int>
Int SparseOperand::positionOf(const ValuePlace<Int> &place) const {
  const Int row = rowOf(place.column), &value = place.value;
  int64_t perWord = 128 / bits, perRegister = 32 / bits;
  if (order != Order::Mma)
    return value / perWord * (64 * perWord) + row * perWord + value % perWord;
  Int lane = row % 8 * 4 + value / perRegister % 4;
  Int number = row / 8 + value / (4 * perRegister) % 2 * 2;
  return value / (2 * perWord) * (32 * perWord) + lane * perWord +
         slotOf<Int>(number, value % perRegister);
}

template <typename Int>
Int SparseOperand::slotOf(const Int &number, const Int &inRegister) const {
  if (storedBits == 4)
    return number + inRegister * 4;
  if (storedBits == 8)
    return number / 2 * 4 + number % 2 + inRegister * 2;
  return number * (32 / bits) + inRegister;
}

template <typename Int>
SparseOperand::ValuePlace<Int>
SparseOperand::placeOf(const Int &position) const {
  int64_t perWord = 128 / bits, perRegister = 32 / bits;
  if (order != Order::Mma)
    return {columnOf(Int(position / perWord % 64)),
            position / (64 * perWord) * perWord + position % perWord};
  Int lane = position / perWord % 32, number = position / perRegister % 4,
      inRegister = position % perRegister;
  if (storedBits == 4) {
    number = position % 4;
    inRegister = position / 4 % 2;
  } else if (storedBits == 8) {
    number = position / 4 % 2 * 2 + position % 2;
    inRegister = position / 2 % 2;
  }
  return {lane / 4 + number % 2 * 8, position / (32 * perWord) * (2 * perWord) +
                                         number / 2 * (4 * perRegister) +
                                         lane % 4 * perRegister + inRegister};
}

// Each lane of the warp that has 16 rows has a word. Of 16-bit elements it is
// for both instructions, the selector of each of which names two lanes of four:
// four groups of a row and of the row 8 below. Of 8-bit elements it has eight
// groups of one row, and the next lane has those of the row 8 below.

template <typename Int>
SparseOperand::BitOffset<Int>
SparseOperand::bitsOf(const GroupOffset<Int> &place) const {
  const Int row = rowOf(place.column), &group = place.group;
  Int lane = row % 8 * 4, nibble = group;
  if (bits == 8) {
    lane = lane + row / 8 % 2 + group / 8 * 2;
    nibble = group % 8;
  } else {
    lane = lane + group / 4;
    nibble = row / 8 % 2 * 4 + group % 4;
  }
  return {row / 16 * 128 + lane * 4 + nibble / 2, nibble % 2 * 4};
}

template <typename Int>
SparseOperand::GroupOffset<Int> SparseOperand::groupOf(const Int &byte,
                                                       int64_t half) const {
  Int lane = byte / 4 % 32, nibble = byte % 4 * 2 + half;
  Int row = byte / 128 * 16 + lane / 4;
  if (bits == 8)
    return {columnOf(Int(row + lane % 2 * 8)), lane / 2 % 2 * 8 + nibble};
  return {columnOf(Int(row + nibble / 4 * 8)), lane % 4 * 4 + nibble % 4};
}

} // namespace nm

#endif // NM_FORMAT_SPARSEOPERAND_H
