//===- ColInfoLoops.h - Lists of the rows that columns use ------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_COLINFOLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_COLINFOLOOPS_H

#include "LoopEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// The indices and lists of packed weights with col_info. A window of a tile of
/// columns has as many indices as its list has entries. Number i of either is
/// in panel i % (T/P) of the tile, as include/nm/Format/PackedForm.h says.
class ColInfo {
public:
  ColInfo(LoopEmitter &emitter, const ::nm::Pattern &pattern,
          const ::nm::PanelPacking &packing)
      : emitter(emitter), pattern(pattern), packing(packing) {}

  int64_t entries() const { return packing.unitsOfList(pattern); }
  /// Where index, or entry, `number` of a window lies in its array.
  SmallVector<Value> place(Value tile, Value window, Value number);
  /// The position in its window of the unit in `unitRow` and `column`.
  Value loadPosition(Value indices, Value lists, Value unitRow, Value column);

private:
  LoopEmitter &emitter;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
};

/// Emits the packing of the indices of `op`, with the lists.
void emitIndicesAndLists(LoopEmitter &emitter, PackOp op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_COLINFOLOOPS_H
