//===- EpilogueBuilder.h - A product with another epilogue ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_EPILOGUEBUILDER_H
#define NM_DIALECT_NM_IR_EPILOGUEBUILDER_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Builds a product like `op`, on tensors, with another epilogue. Callers emit
/// the epilogue's ops where the rewriter stands between constructor and create.
class EpilogueBuilder {
public:
  /// Sums are of `sumType`.
  EpilogueBuilder(RewriterBase &rewriter, SparseProductOpInterface op,
                  Location loc, Type sumType);

  Value getSum() { return region.front().getArgument(0); }
  bool hasOperands() const { return !operands.empty(); }

  /// The element of `value`, whose dimensions `map` has from (batch..., m, n).
  Value addOperand(Value value, AffineMap map);
  /// The element that `op` stores for `sum`: `op`'s epilogue of it, or, where
  /// `op` has none, `sum` with C's element added.
  Value emitOwn(Value sum);
  /// The product before `place` that stores `stored`, to `c`.
  SparseProductOpInterface create(Operation *place, Value stored, Value c);

private:
  RewriterBase &rewriter;
  SparseProductOpInterface op;
  Location loc;
  Region region;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_EPILOGUEBUILDER_H
