//===- BitmapStringsLoops.h - Weights kept anywhere, as bits ----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_BITMAPSTRINGSLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_BITMAPSTRINGSLOOPS_H

#include "LoopWeightAccess.h"

namespace mlir::nm {

/// Weights in the form of nm/Format/BitmapStrings.h. Their rows are all of k.
std::unique_ptr<WeightAccess>
getBitmapStringsAccess(LoopEmitter &emitter, Value values, Value indices);

/// Emits the packing of one weight to that form.
void emitBitmapStrings(LoopEmitter &emitter, PackOp op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_BITMAPSTRINGSLOOPS_H
