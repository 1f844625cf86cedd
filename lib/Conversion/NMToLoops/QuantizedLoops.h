//===- QuantizedLoops.h - Values of few bits as loops -----------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_QUANTIZEDLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_QUANTIZEDLOOPS_H

#include "LoopEmitter.h"

namespace mlir::nm {

/// The byte, an i8, that has `values`, of i8: of each the low `bits` bits, with
/// 2^(bits-1) added, the first one in the lowest bits.
Value emitQuantizedByte(LoopEmitter &emitter, ValueRange values, int64_t bits);

/// The value, an i8, that such bytes have at `place`, of which the last index
/// counts values.
Value loadQuantized(LoopEmitter &emitter, Value bytes, ValueRange place,
                    int64_t bits);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_QUANTIZEDLOOPS_H
