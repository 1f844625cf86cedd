//===- SimtStaging.h - Operand tiles of strategy simt -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Strategies/Simt/SimtCopies.h"

namespace mlir::nm {

/// The cases of #nm.simt's fields that the cost model has others for.
inline ::nm::CopyOfA getCopyOfA(CopyKind way) {
  switch (way) {
  case CopyKind::Direct:
    return ::nm::CopyOfA::Direct;
  case CopyKind::Matrices:
    return ::nm::CopyOfA::Matrices;
  case CopyKind::Elements:
    return ::nm::CopyOfA::Elements;
  case CopyKind::Squares:
    return ::nm::CopyOfA::Squares;
  case CopyKind::Bulk:
  case CopyKind::Tensor:
    break;
  }
  llvm_unreachable("a way of copying of strategy simt");
}
inline ::nm::LayoutOfA getLayoutOfA(TileOrder order) {
  switch (order) {
  case TileOrder::MMajor:
    return ::nm::LayoutOfA::MMajor;
  case TileOrder::Interleaved:
    return ::nm::LayoutOfA::Interleaved;
  case TileOrder::RowMajor:
    return ::nm::LayoutOfA::RowMajor;
  }
  llvm_unreachable("an order of a tile");
}

/// Copies the operand tiles of `op`, which has a schedule of strategy simt, to
/// workgroup memory.
LogicalResult stageSimtOperands(OpBuilder &builder, SpMMOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H
