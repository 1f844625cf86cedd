//===- VerifyMaps.h - Checks of ops that have indexing maps -----*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_IR_VERIFYMAPS_H
#define NM_LIB_DIALECT_NM_IR_VERIFYMAPS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// An operand's name, its map and its type.
struct MappedOperand {
  StringRef name;
  AffineMap map;
  ShapedType type;
};

/// Checks that the maps have the same loops, and name another one for each
/// dimension of their operand.
LogicalResult verifyMaps(Operation *op, ArrayRef<MappedOperand> operands);

/// Checks that dimensions along one loop have the same size, where it is known.
LogicalResult verifyLoopSizes(Operation *op, ArrayRef<MappedOperand> operands);

/// The sizes of the loops, ShapedType::kDynamic where they are not known.
SmallVector<int64_t> getSizesOfLoops(ArrayRef<MappedOperand> operands);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_VERIFYMAPS_H
