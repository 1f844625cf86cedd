//===- DequantizeWords.h - Quantized weights in registers -------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H
#define NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H

#include "GPU/Strategies/Mma/MmaFragments.h"

namespace mlir::nm {

/// The scales of the pairs of weights that a lane's four registers of an
/// instruction have.
using RegisterScales = std::array<Value, 4>;

/// Those of `scales`, two elements of `type`, which are of the first and of the
/// second of the rows that the lane has.
RegisterScales scaleRows(ThreadEmitter &emitter, Type type, Value scales);

/// The words of f16 or bf16, `type`, of a lane's eight weights of an
/// instruction, whose quantized values of `bits` bits are `words`, one or two
/// i32, in the order of SparseOperand::slotOf.
SquareWords dequantizeWords(ThreadEmitter &emitter, Type type, int64_t bits,
                            ArrayRef<Value> words,
                            const RegisterScales &scales);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_DEQUANTIZEWORDS_H
