//===- QuantizedSquares.h - Packed weights of 4 and 8 bits ------*- C++ -*-===//
//
// Where quantized weights of #nm.packing stand, which lanes convert for
// mma.sync. A square has 16 kept rows of a panel: of each 16 of its columns and
// the 16 rows, a lane has the eight values that mma.sp stores of a lane in the
// order of SparseOperand, whose stored rows are the kept ones here. The values
// that a lane has of all columns stand side by side, or, where these take more
// than 16 bytes, in pieces of 16 bytes.
//
// With panels of 32 columns and 4 bits, lane 0 has bytes 0 to 7 of a square:
// bytes 0 to 3 have values of columns 0 and 8, bytes 4 to 7 of columns 16 and
// 24.
//
//===----------------------------------------------------------------------===//

#ifndef NM_FORMAT_QUANTIZEDSQUARES_H
#define NM_FORMAT_QUANTIZEDSQUARES_H

#include "nm/Format/PackedForm.h"
#include "nm/Format/SparseOperand.h"

#include <algorithm>
#include <cstdint>

namespace nm {

class QuantizedSquares {
public:
  QuantizedSquares(const PanelPacking &packing, const Pattern &pattern)
      : panel(packing.panel), ofWindow(pattern.keptRows()),
        isSpread(packing.chunkRows != kSide) {
    fragment.storedBits = packing.bits;
  }

  static constexpr int64_t kSide = PanelPacking::kSquare,
                           kWindows = PanelPacking::kRunWindows, kLanes = 32;
  /// Values that a lane has of a square's 16 columns.
  static constexpr int64_t kValues = 8;

  /// A condensed row, and a column of a panel. `Int` is what counts: an
  /// integer, or what emits the arithmetic.
  template <typename Int>
  struct Element {
    Int row, column;
  };
  /// A square of a panel, and the number of a value in it.
  template <typename Int>
  struct Offset {
    Int square, value;
  };

  template <typename Int>
  Offset<Int> offsetOf(const Element<Int> &element) const;
  /// The inverse.
  template <typename Int>
  Element<Int> elementOf(const Offset<Int> &offset) const;

  /// Values of a byte, the low bits first, and what is added to each.
  int64_t valuesOfByte() const { return fragment.valuesOfByte(); }
  int64_t bias() const { return fragment.bias(); }
  /// Values that a lane has side by side.
  int64_t valuesOfPiece() const {
    return std::min(panel / kSide * kValues, 128 / fragment.storedBits);
  }
  /// Pieces that a lane has of a square.
  int64_t pieces() const { return panel / kSide * kValues / valuesOfPiece(); }

private:
  /// A lane's values of an instruction, in order Mma.
  SparseOperand fragment;
  int64_t panel, ofWindow;
  bool isSpread;
};

template <typename Int>
QuantizedSquares::Offset<Int>
QuantizedSquares::offsetOf(const Element<Int> &element) const {
  Int square = element.row / kSide, place = element.row % kSide;
  if (isSpread) {
    Int window = element.row / ofWindow, number = element.row % ofWindow;
    Int inEight = window % kWindows;
    square = window / kWindows * (ofWindow / 2) + number / 2;
    place = inEight % 4 * 2 + inEight / 4 + number % 2 * (kSide / 2);
  }
  Int ofBlock = fragment.positionOf<Int>({element.column % kSide, place});
  Int value = element.column / kSide * kValues + ofBlock % kValues;
  int64_t piece = valuesOfPiece();
  return {square, value / piece * (kLanes * piece) + ofBlock / kValues * piece +
                      value % piece};
}

template <typename Int>
QuantizedSquares::Element<Int>
QuantizedSquares::elementOf(const Offset<Int> &offset) const {
  int64_t piece = valuesOfPiece();
  Int value = offset.value / (kLanes * piece) * piece + offset.value % piece;
  Int lane = offset.value / piece % kLanes;
  auto place = fragment.placeOf<Int>(lane * kValues + value % kValues);
  Int row = offset.square * kSide + place.value;
  if (isSpread) {
    int64_t squares = ofWindow / 2;
    Int window = offset.square / squares * kWindows + place.value % 8 / 2 +
                 place.value % 2 * 4;
    row = window * ofWindow + offset.square % squares * 2 + place.value / 8;
  }
  return {row, value / kValues * kSide + place.column};
}

} // namespace nm

#endif // NM_FORMAT_QUANTIZEDSQUARES_H
