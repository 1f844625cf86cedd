//===- WeightAccess.h - Reads condensed and packed weights ------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_WEIGHTACCESS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_WEIGHTACCESS_H

#include "LoopEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Where one index lies in a packed panel: in index row `row`, from bit `shift`
/// of byte `byte` on, and in `nextByte` where it straddles two.
struct IndexField {
  Value row;
  Value byte;
  Value nextByte;
  Value shift;

  static IndexField at(LoopEmitter &emitter, const ::nm::PanelPacking &packing,
                       const ::nm::Pattern &pattern, Value unitRow,
                       Value group);
};

/// Whether some field of `bits` bits spans two bytes.
inline bool fieldsStraddleBytes(int64_t bits) { return 8 % bits != 0; }

/// The weights of one op, condensed or packed.
class WeightAccess {
public:
  WeightAccess(LoopEmitter &emitter, const ::nm::Pattern &pattern,
               PackingAttr packing, Value values, Value indices)
      : emitter(emitter), pattern(pattern), packing(packing), values(values),
        indices(indices) {}

  /// w, the condensed rows.
  Value rows();
  /// The value at a condensed row and a column of B.
  Value value(Value row, Value column);
  /// The k that the value there stands at; at or past the size of k in padding.
  Value kOf(Value row, Value column);

private:
  /// The position in its window of the unit that holds (row, column).
  Value unitPosition(Value row, Value column);
  Value loadField(Value panel, Value unitRow, Value group);

  LoopEmitter &emitter;
  ::nm::Pattern pattern;
  PackingAttr packing;
  Value values, indices;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_WEIGHTACCESS_H
