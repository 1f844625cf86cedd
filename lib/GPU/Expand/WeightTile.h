//===- WeightTile.h - Access to staged weights ------------------*- C++ -*-===//

#ifndef NM_LIB_GPU_EXPAND_WEIGHTTILE_H
#define NM_LIB_GPU_EXPAND_WEIGHTTILE_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Reads the weights of a product's tile, condensed or in packed form. Columns
/// and rows count from the tile's first.
class WeightTile {
public:
  WeightTile(SpMMOp op);

  int64_t unitRows() const { return numUnitRows; }
  int64_t rows() const { return numUnitRows * pattern.bk; }
  /// Emits an error where the form of the weights cannot be read.
  static LogicalResult verify(SpMMOp op);

  /// Weights [row, column] to [row, column + 3]; the column is a multiple of 4.
  Value loadValues(OpBuilder &builder, Value row, Value column);

  /// The positions in their windows, as i8, of the units of the column in
  /// `count` unit rows from `first` on.
  SmallVector<Value> loadPositions(OpBuilder &builder, Value first,
                                   int64_t count, Value column);

  /// Whether four columns from a multiple of four on have two or four units,
  /// whose positions one access reads.
  bool hasUnitsInChunk() const;
  /// The positions of those units, from `column` on, in unit row `row`.
  SmallVector<Value> loadPositionsOfChunk(OpBuilder &builder, Value row,
                                          Value column);

private:
  bool isPacked() const { return packing != nullptr; }
  /// The place of the position of `column`'s unit in unit row `row`.
  SmallVector<Value> positionIndices(OpBuilder &builder, Value row,
                                     Value column);
  SmallVector<Value> valueIndices(OpBuilder &builder, Value row, Value column);
  /// Whether the positions of a column are contiguous along the unit rows.
  bool hasContiguousColumns() const;
  SmallVector<Value> loadContiguous(OpBuilder &builder, Value first,
                                    int64_t count, Value panel);

  Location loc;
  ::nm::Pattern pattern;
  PackingAttr packing;
  Value values, indices;
  int64_t numUnitRows;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_WEIGHTTILE_H
