//===- LoopWeightAccess.h - Reads condensed and packed weights --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_LOOPWEIGHTACCESS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_LOOPWEIGHTACCESS_H

#include "LoopEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"

#include <array>
#include <memory>

namespace mlir::nm {

/// Where one index lies in a packed panel: in index row `row`, from bit `shift`
/// of byte `byte` on, and in `nextByte` where it straddles two. A field of a
/// bitmap is one bit.
struct IndexField {
  Value row;
  Value byte;
  Value nextByte;
  Value shift;

  static IndexField at(LoopEmitter &emitter, const ::nm::PanelPacking &packing,
                       const ::nm::Pattern &pattern, Value unitRow,
                       Value group);
  /// The bit of position `index` of the window of `unitRow`, of bitmaps.
  static IndexField inBitmap(LoopEmitter &emitter,
                             const ::nm::PanelPacking &packing,
                             const ::nm::Pattern &pattern, Value unitRow,
                             Value group, Value index);

private:
  /// The field from bit `bit` of a group's string or an index row on.
  static IndexField atBit(LoopEmitter &emitter,
                          const ::nm::PanelPacking &packing,
                          const ::nm::Pattern &pattern, Value unitRow,
                          Value group, Value bit);
};

/// Whether some field of `bits` bits spans two bytes.
inline bool fieldsStraddleBytes(int64_t bits) {
  return bits != 0 && 8 % bits != 0;
}

/// Reads the weights of one op, which are condensed or in a packed form.
class WeightAccess {
public:
  virtual ~WeightAccess() = default;

  /// That of weights in packed form `form`, or condensed where it is null.
  static std::unique_ptr<WeightAccess> get(LoopEmitter &emitter,
                                           const ::nm::Pattern &pattern,
                                           PackedFormAttrInterface form,
                                           Value values, Value indices,
                                           Value lists = {});

  /// w, the condensed rows.
  virtual Value rows() = 0;
  /// The value at a condensed row and a column of B.
  virtual Value value(Value row, Value column) = 0;
  /// The k that the value there stands at; at or past the size of k in padding.
  virtual Value kOf(Value row, Value column) = 0;
};

/// What kOf returns for a row of k: `row` if `isKept` holds, else a k past all.
Value selectKeptRow(LoopEmitter &emitter, Value isKept, Value row);

/// Weights in the form of #nm.bitmap. Their rows are all of k.
std::unique_ptr<WeightAccess> getBitmapAccess(LoopEmitter &emitter,
                                              const ::nm::Pattern &pattern,
                                              Value values, Value indices);

/// Emits the packing of one weight to that form.
void emitBitmap(LoopEmitter &emitter, PackOp op);

/// Whether `values` have elements of 8 bits.
bool areBytes(Value values);

/// The last two subscripts of row `row`, column `column` of a panel in values,
/// bytes or others, that are stored in tiles; see PackedForm.h.
std::array<Value, 2> placeInTiles(LoopEmitter &emitter,
                                  const ::nm::PanelPacking &packing,
                                  bool areBytes, Value row, Value column);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_LOOPWEIGHTACCESS_H
