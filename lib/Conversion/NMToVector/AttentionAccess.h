//===- AttentionAccess.h - Elements of nm.attention's operands --*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONACCESS_H
#define NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONACCESS_H

#include "VectorEmitter.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"

namespace mlir::nm {

/// Reads and writes the operands of an attention on memrefs by its loops.
class AttentionAccess : public AttentionOperands {
public:
  AttentionAccess(VectorEmitter &emitter, AttentionOp op)
      : AttentionOperands(op), e(emitter) {}

  bool hasMask() { return bool(op.getMask()); }
  /// Whether the operand has a dimension along `loop`.
  bool runsAlong(Operand operand, unsigned loop);
  /// Whether neighbours along `loop` are neighbours in memory.
  bool isContiguousAlong(Operand operand, unsigned loop);
  unsigned getRow() const { return loops.rows.back(); }
  /// A constant where it is static.
  Value sizeOf(unsigned loop);
  /// How many keys rows at `place` see, of which `causal` and a mask hide some:
  /// all, or the length of the place's batch.
  Value countKeys(const Place &place);
  /// The number of iterations of `loop` from `at` on, a multiple of the lanes,
  /// that are left for lanes: a constant where all vectors are whole.
  Value leftOf(unsigned loop, Value at);

  /// The element, as f32.
  Value load(Operand operand, const Place &place);
  /// The first `width` elements along `loop`, as f32, and zero in the other
  /// lanes.
  Value loadAlong(Operand operand, Place place, unsigned loop, Value width);
  /// Rounds and stores the first `width` lanes along the loop of widths.
  void storeOutput(Value vector, const Place &place, Value width);

  VectorEmitter &e;
};

/// Tiles of rows, which lanes run along, by tiles of keys.
void expandAttentionAlongRows(AttentionAccess &access);
/// Few rows: lanes run along depths, keys and widths.
void expandAttentionOfFewRows(AttentionAccess &access);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_ATTENTIONACCESS_H
