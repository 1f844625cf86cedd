//===- ElementAccesses.h - Single elements on a GPU -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_ELEMENTACCESSES_H
#define NM_LIB_GPU_TILE_ELEMENTACCESSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Whether `op` itself reads or writes elements of memory.
bool touchesElements(Operation *op);

/// Puts loads and stores of single elements, which a parallel loop of one
/// iteration folds to, into a kernel of one thread: the host cannot reach the
/// GPU's memory. Loads whose value the host wants stay.
void launchElementAccesses(RewriterBase &rewriter, func::FuncOp function);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_ELEMENTACCESSES_H
