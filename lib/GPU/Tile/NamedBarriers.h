//===- NamedBarriers.h - Barriers of some threads of a block ----*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_NAMEDBARRIERS_H
#define NM_LIB_GPU_TILE_NAMEDBARRIERS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::nm {

/// A block has barriers 0 to 15 (PTX ISA, `barrier`), of which gpu.barrier has
/// number 0. A role of at most seven warpgroups beside producers has these, one
/// for each: where it stores C through slots, and where it starts products.
inline constexpr int64_t kFirstStoreBarrier = 1, kFirstOrderBarrier = 8;

/// Waits until `threads` have come to barrier `number`.
inline void meetAt(ThreadEmitter &emitter, Value number, int64_t threads) {
  NVVM::BarrierOp::create(emitter.builder, emitter.loc, TypeRange(), number,
                          emitter.i32(threads), /*reductionOp=*/{},
                          /*reductionPredicate=*/Value());
}

/// Comes there, and does not wait.
inline void arriveAt(ThreadEmitter &emitter, Value number, int64_t threads) {
  NVVM::BarrierArriveOp::create(emitter.builder, emitter.loc, number,
                                emitter.i32(threads));
}

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_NAMEDBARRIERS_H
