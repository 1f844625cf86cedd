//===- SparseOperandLoops.h - Sparse operands as loops ----------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_SPARSEOPERANDLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_SPARSEOPERANDLOOPS_H

#include "LoopWeightAccess.h"

namespace mlir::nm {

/// Weights in the form of #nm.sparse_operand. Their rows are the two of each
/// group of four.
class SparseOperandAccess : public WeightAccess {
public:
  SparseOperandAccess(LoopEmitter &emitter, SparseOperandAttr form,
                      Value values, Value indices)
      : emitter(emitter), values(values), indices(indices),
        operand(form.getOperand(
            cast<ShapedType>(values.getType()).getElementType())) {}

  Value rows() override;
  Value value(Value row, Value column) override;
  Value kOf(Value row, Value column) override;

private:
  /// The block and the step of a value, and its position there.
  SmallVector<Value> placeOf(Value row, Value column);
  SmallVector<Value> loadSplits(Value row, Value column);

  LoopEmitter &emitter;
  Value values, indices;
  ::nm::SparseOperand operand;
};

/// Emits the packing of one weight to that form.
void emitSparseOperand(LoopEmitter &emitter, PackOp op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_SPARSEOPERANDLOOPS_H
