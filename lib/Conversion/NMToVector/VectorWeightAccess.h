//===- VectorWeightAccess.h - Reads packed and condensed weights *- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_VECTORWEIGHTACCESS_H
#define NM_LIB_CONVERSION_NMTOVECTOR_VECTORWEIGHTACCESS_H

#include "ProductTile.h"

namespace mlir::nm {

/// Weights as panels of columns, whether they are stored so (packed form) or
/// not (condensed form, whose last panel may be narrower).
class WeightAccess {
public:
  WeightAccess(VectorEmitter &emitter, const ProductTile &tile,
               const VectorSchedule &schedule);

  /// Columns of a panel, columns of a panel that share an index, and groups of
  /// such columns in a panel.
  int64_t panel;
  int64_t groupColumns;
  int64_t groups;
  /// Panels in all.
  Value panels;

  /// The values at `row` of the condensed form and `count` columns of the
  /// panel from `column` on, each in all lanes.
  SmallVector<Value> broadcasts(Value panelIndex, Value row, Value column,
                                int64_t count);
  /// Pairs of the values at rows `first` and `second` of `count` columns from
  /// `column` on, each in all lanes; of one row where `second` is null.
  SmallVector<Value> pairs(Value panelIndex, Value first, Value second,
                           Value column, int64_t count);
  /// Values of the `used` columns from `column` on; the lanes behind are
  /// unspecified numbers of the panel, or zero.
  Value values(Value panelIndex, Value row, int64_t column, int64_t used);
  /// The index of a unit and a group of columns, as an index.
  Value unitIndex(Value panelIndex, Value unit, Value group);
  /// The indices of the groups from `group` on, one in each lane: lane l has
  /// that of group + laneGroups[l]. The bits above the low ⌈log2 M⌉ of a lane
  /// are unspecified.
  Value unitIndices(Value panelIndex, Value unit, int64_t group,
                    ArrayRef<int64_t> laneGroups);

private:
  /// Columns of the condensed form, from the first one of the panel on.
  Value firstColumn(Value panelIndex) { return e.mul(panelIndex, panel); }
  Value loadValue(Value panelIndex, Value row, Value column);
  Value loadIndexBytes(Value panelIndex, Value unit, int64_t firstByte,
                       int64_t count);

  VectorEmitter &e;
  Value valuesMemref;
  Value indicesMemref;
  int64_t bn;
  bool packed;
  int64_t indexBits;
  /// The columns, and the block columns, of the condensed form.
  Value columns;
  Value blockColumns;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_VECTORWEIGHTACCESS_H
