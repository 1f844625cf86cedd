//===- AttentionPlace.h - Where a kernel's attention lies -------*- C++ -*-===//

#ifndef NM_LIB_GPU_ATTENTION_ATTENTIONPLACE_H
#define NM_LIB_GPU_ATTENTION_ATTENTIONPLACE_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"

namespace mlir::nm {

/// The operands of an attention on memrefs by its loops. A list of all rows of
/// a head of keys has, for each row, those of its groups side by side.
class AttentionPlace : public AttentionOperands {
public:
  AttentionPlace(ThreadEmitter &emitter, AttentionOp op);

  int64_t getDepth() { return getStaticSize(loops.depth); }
  int64_t getWidth() { return getStaticSize(loops.width); }
  Value sizeOf(unsigned loop);
  /// Neighbours along `loop` that start at multiples of them, up to those of
  /// the widest access.
  int64_t getAlignment(Operand operand, unsigned loop);
  /// Puts head `head` of keys, of which the last batch runs fastest.
  void putHead(Place &place, Value head);
  /// Puts row `row` of the list, and returns its number among those of its
  /// group.
  Value putRow(Place &place, Value row);

  /// How many keys rows of the place's head see, of which `causal` and a mask
  /// hide some: all, or the length of the head's batch; i32.
  Value countKeys(const Place &ofHead);

  ThreadEmitter &e;
  /// Heads of keys, heads of queries for each, rows of each, and rows of the
  /// list; and keys.
  Value heads, groups, rows, allRows, keys;

private:
  Value product(ArrayRef<unsigned> over);
  /// Puts `number` of the loops' values, and returns what is left of it.
  Value split(Place &place, Value number, ArrayRef<unsigned> over);
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_ATTENTION_ATTENTIONPLACE_H
