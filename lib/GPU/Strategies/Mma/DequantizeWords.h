//===- DequantizeWords.h - Quantized weights in registers -------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H
#define NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H

#include "GPU/Strategies/Mma/MmaFragments.h"

namespace mlir::nm {

/// The words of f16 or bf16, `type`, of a lane's eight weights of an
/// instruction, whose quantized values of `bits` bits are `words`, one or two
/// i32, in the order of SparseOperand::slotOf. `scales`, two elements, are of
/// the first and the second of the rows that the lane has.
SquareWords dequantizeWords(ThreadEmitter &emitter, Type type, int64_t bits,
                            ArrayRef<Value> words, Value scales);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H
