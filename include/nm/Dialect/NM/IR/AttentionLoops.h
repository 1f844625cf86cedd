//===- AttentionLoops.h - What the loops of nm.attention are ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_ATTENTIONLOOPS_H
#define NM_DIALECT_NM_IR_ATTENTIONLOOPS_H

#include "nm/Dialect/NM/IR/Contractions.h"

#include <optional>

namespace mlir::nm {

/// The loops of nm.attention by what they are, those of several in their own
/// order. The last one of `rows` is that of rows, and the others are groups of
/// heads.
struct AttentionLoops {
  SmallVector<unsigned> batches, rows;
  unsigned keys, depth, width;
};

/// The loops of maps of Q, K, V and O; none where they are not as (C2) has it.
std::optional<AttentionLoops> getAttentionLoops(AffineMap q, AffineMap k,
                                                AffineMap v, AffineMap o);

AttentionLoops getAttentionLoops(AttentionOp op);
/// The maps of the mask and of lengths; null where there are none.
AffineMap getMaskMap(AttentionOp op);
AffineMap getLengthsMap(AttentionOp op);
AffineMap getOutputMap(AttentionOp op);

/// The operands of an attention by its loops.
class AttentionOperands {
public:
  enum Operand : unsigned { Q, K, V, Mask, Lengths, O };
  /// A value for each loop; null where the loop's value is not known.
  using Place = SmallVector<Value>;

  explicit AttentionOperands(AttentionOp op)
      : op(op), loops(getAttentionLoops(op)) {}

  Type getElement() { return op.getOperandType(0).getElementType(); }
  Place createPlace() { return Place(op.getMap(0).getNumDims()); }
  Value valueOf(Operand operand) { return op->getOperand(numberOf(operand)); }
  /// The operand's dimension along `loop`; none where it has none.
  std::optional<int64_t> findDim(Operand operand, unsigned loop);
  /// A value that has a dimension along `loop`, and that dimension.
  std::pair<Value, int64_t> findSize(unsigned loop);
  int64_t getStaticSize(unsigned loop);
  /// The product of the sizes of `over`; none where one is not static.
  std::optional<int64_t> countStatic(ArrayRef<unsigned> over);
  /// Whether rows that share a head of keys are certainly at most those of a
  /// warp's tensor cores, as in a step of decoding.
  bool hasFewRows();
  /// Loads the length of the place's batch, 0 where the length is less; an
  /// index. The operands are memrefs, and there are lengths.
  Value loadLength(OpBuilder &builder, Location loc, const Place &place);
  /// The place's value for each dimension of the operand.
  SmallVector<Value> indicesOf(Operand operand, const Place &place);

  AttentionOp op;
  const AttentionLoops loops;

private:
  unsigned numberOf(Operand operand) {
    if (operand == O)
      return op->getNumOperands() - 1;
    return operand == Lengths && !op.getMask() ? unsigned(Mask) : operand;
  }
};

/// Keys that a block of few rows has at least, where several share the keys of
/// a head.
inline constexpr int64_t kKeysOfPart = 128;

/// The most parts of a head's keys, as many as a warp has lanes.
inline constexpr int64_t kMostKeyParts = 32;

/// Blocks that run at once, two for each of an H100's multiprocessors.
inline constexpr int64_t kBlocksAtOnce = 264;

/// In how many parts blocks of a GPU's kernel have the keys of rows that are
/// not few: several where the time that they save is more than adding them up
/// takes. 1 where a size is not static.
int64_t countKeyParts(AttentionOp op);

/// Whether that may be several where a size that is not static says so.
bool mayHaveKeyParts(AttentionOp op);

/// Whether a GPU's kernel certainly has one block for each head of keys, whose
/// results need not be added up.
bool isOnePart(AttentionOp op);

/// Why a GPU's kernel does not take an attention of such operands, on tensors
/// or memrefs; none where it does.
std::optional<StringRef> whyNoAttentionKernel(AttentionOp op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_ATTENTIONLOOPS_H
