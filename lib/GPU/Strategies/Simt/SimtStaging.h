//===- SimtStaging.h - Operand tiles of strategy simt -----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H
#define NM_LIB_GPU_STRATEGIES_SIMT_SIMTSTAGING_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Strategies/Simt/SimtCopies.h"

namespace mlir::nm {

/// The cases of #nm.simt's fields that the cost model has others for.
inline ::nm::CopyOfA getCopyOfA(CopyWay way) {
  switch (way) {
  case CopyWay::Direct:
    return ::nm::CopyOfA::Direct;
  case CopyWay::Matrices:
    return ::nm::CopyOfA::Matrices;
  case CopyWay::Elements:
    return ::nm::CopyOfA::Elements;
  case CopyWay::Squares:
    return ::nm::CopyOfA::Squares;
  case CopyWay::Bulk:
  case CopyWay::Tensor:
    break;
  }
  llvm_unreachable("a way of copying of strategy simt");
}
inline ::nm::LayoutOfA getLayoutOfA(TileOrder order) {
  switch (order) {
  case TileOrder::KMajor:
    return ::nm::LayoutOfA::KMajor;
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
